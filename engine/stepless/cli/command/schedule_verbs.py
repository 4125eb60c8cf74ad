"""Declares the verbs for schedules, and the options by which a verb changes many runs."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from stepless.cli.command.verb import Verb, add_waiting, add_where, duration_ms, positive
from stepless.core.history.waits import WORDS
from stepless.limits import DEFAULT_BULK_COMMAND_RUNS, MAX_BULK_COMMAND_RUNS
from stepless.model.runs.filters import RUN_FILTERS, Form
from stepless.model.runs.statuses import STORED

_KNOWN: Final[Mapping[Form, Callable[[], Sequence[str]]]] = {Form.STATUS: lambda: STORED, Form.WAITING: lambda: WORDS}


def add_filter(command: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Adds the filter of `runs list`: an option for each row of RUN_FILTERS."""
    for row in RUN_FILTERS:
        known = _KNOWN[row.form]() if row.form in _KNOWN else None
        about = row.about if known is None else f"{row.about}: {', '.join(known)}"
        if row.form is Form.KEYWORDS:
            add_keyword(command, about)
        else:
            read = duration_ms if row.form is Form.DURATION else str
            command.add_argument(f"--{row.option}", dest=row.name, type=read, choices=known, metavar=row.metavar, help=about)


def add_keyword(command: argparse.ArgumentParser | argparse._ArgumentGroup, text: str) -> None:
    """Adds `--keyword`; `--tag` is its former name."""
    command.add_argument("--keyword", "--tag", action="append", default=[], metavar="WORD", help=text)


def add_runs(command: argparse.ArgumentParser) -> None:
    """Adds the choice of one run by its id, or of many by a filter."""
    command.add_argument("run", nargs="?", metavar="RUN", help="the run's id; or a filter instead")
    many = command.add_argument_group("many runs: the filter of `runs list`")
    add_filter(many)
    text = f"at most this many, the newest (default: %(default)s, at most {MAX_BULK_COMMAND_RUNS})"
    many.add_argument("--limit", type=positive, default=DEFAULT_BULK_COMMAND_RUNS, metavar="N", help=text)
    many.add_argument("--dry-run", action="store_true", help="only count the matching runs")
    many.add_argument("--yes", "-y", action="store_true", help="do not ask for confirmation")


def _list(command: argparse.ArgumentParser) -> None:
    command.add_argument("--workflow", metavar="ID", help="only schedules of this workflow")
    add_where(command)


def _one(command: argparse.ArgumentParser) -> None:
    command.add_argument("workflow", metavar="WORKFLOW", help="the workflow's id")
    command.add_argument("node", metavar="NODE", help="the id of its schedule")


def _pause(command: argparse.ArgumentParser) -> None:
    _one(command)
    command.add_argument("--reason", metavar="TEXT", help="stored with the pause")
    add_where(command)


def _resume(command: argparse.ArgumentParser) -> None:
    _one(command)
    add_where(command)


def _fire(command: argparse.ArgumentParser) -> None:
    _one(command)
    command.add_argument("--idempotency-key", metavar="KEY", help="a second request with this key returns the first run")
    add_waiting(command)
    add_where(command)


VERBS_OF_SCHEDULES = (
    Verb("schedules list", "stepless.cli.verbs.schedules:list_", "list schedules, with their next and last firing", """\
  stepless schedules list
  stepless schedules list --workflow nightly --json
""", _list),
    Verb("schedules pause", "stepless.cli.verbs.schedules:pause", "pause a schedule: it starts no run until it is resumed", """\
  stepless schedules pause nightly night --reason 'the warehouse is down'

The pause outlives new versions of the workflow.
""", _pause),
    Verb("schedules resume", "stepless.cli.verbs.schedules:resume", "resume a paused schedule", """\
  stepless schedules resume nightly night

The schedule's `catch_up` decides whether missed instants start runs now.
""", _resume),
    Verb("schedules fire", "stepless.cli.verbs.schedules:fire", "start a run now, as the schedule would", """\
  stepless schedules fire nightly night
  stepless schedules fire nightly night --idempotency-key by-hand-1 --wait

The next regular firing does not change.
""", _fire),
)  # fmt: skip
