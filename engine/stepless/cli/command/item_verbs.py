"""Declares the verbs for the items of `distributed` nodes."""

from __future__ import annotations

import argparse

from stepless.cli.command.verb import Verb, add_run, add_where


def _runs_items(command: argparse.ArgumentParser) -> None:
    add_run(command)
    command.add_argument("node", metavar="NODE", help="a node of the kind distributed")
    command.add_argument("--follow", "-f", action="store_true", help="show the progress until the node ends")
    command.add_argument("--concurrency", type=int, metavar="N", help="from now on, run so many items at once")
    command.add_argument("--tolerate", metavar="LIMIT", help="from now on, let so many items fail, like 20 or 1%%")
    add_where(command)


def _runs_item(command: argparse.ArgumentParser) -> None:
    add_run(command)
    command.add_argument("node", metavar="NODE", help="a node of the kind distributed")
    command.add_argument("index", type=int, metavar="INDEX", help="the number of the item, from 0")
    add_where(command)


RUNS_ITEMS = Verb("runs items", "stepless.cli.verbs.items:items", "show how far the items of a node have come", """\
  stepless runs items run_1a2b3c each
  stepless runs items run_1a2b3c each --follow
  stepless runs items run_1a2b3c each --concurrency 50 --tolerate 2%
""", _runs_items)  # fmt: skip
RUNS_ITEM = Verb("runs item", "stepless.cli.verbs.items:item", "show one item of a node, and what it returned", """\
  stepless runs item run_1a2b3c each 412
""", _runs_item)  # fmt: skip
