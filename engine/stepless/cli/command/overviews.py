"""Declares the verbs about many runs and versions at once: open questions, failures, health, diffs."""

from __future__ import annotations

import argparse

from stepless.cli.command.verb import LISTED, Verb, add_where, cursor, positive


def _limited(command: argparse.ArgumentParser) -> None:
    command.add_argument("--limit", type=positive, default=LISTED, metavar="N", help="at most this many (default: %(default)s)")
    command.add_argument("--cursor", metavar="CURSOR", help="continue a listing: the cursor that it ended with")
    add_where(command)


def _approvals(command: argparse.ArgumentParser) -> None:
    command.add_argument("--workflow", metavar="ID", help="only questions of this workflow")
    command.add_argument("--due-before", metavar="INSTANT", help="only questions due up to this, like 2026-01-31T12:00:00Z")
    command.add_argument("--assigned", action="store_true", help="only questions whose approvers name you")
    command.add_argument("--decided", action="store_true", help="list who decided what, the newest first, instead")
    _limited(command)


def _errors(command: argparse.ArgumentParser) -> None:
    command.add_argument("--workflow", metavar="ID", help="only failures of this workflow")
    text = "only runs created at or after this, like 2026-01-31T12:00:00Z (default: the last seven days)"
    command.add_argument("--since", metavar="INSTANT", help=text)
    add_where(command)


def _stats(command: argparse.ArgumentParser) -> None:
    command.add_argument("workflow", nargs="?", metavar="WORKFLOW", help="the workflow's id (default: list all workflows)")
    command.add_argument("--window", default="24h", metavar="TIME", help="runs created in the last TIME (default: %(default)s)")
    _limited(command)


def _diff(command: argparse.ArgumentParser) -> None:
    command.add_argument("workflow", metavar="WORKFLOW", help="the workflow's id")
    command.add_argument("--from", dest="former", type=positive, metavar="N", help="the former version; needs --to")
    command.add_argument("--to", type=positive, metavar="N", help="the later version; needs --from")
    command.add_argument("--against", metavar="N", help="compare the draft with this version (default: with its base)")
    command.add_argument("--seq", type=cursor, metavar="N", help="the draft as it was after this item (default: as it is now)")
    add_where(command)


def _versions(command: argparse.ArgumentParser) -> None:
    command.add_argument("workflow", metavar="WORKFLOW", help="the workflow's id")
    command.add_argument("--before", type=positive, metavar="N", help="only versions with a lower number")
    command.add_argument("--limit", type=positive, default=LISTED, metavar="N", help="at most this many (default: %(default)s)")
    add_where(command)


VERBS_OF_OVERVIEWS = (
    Verb("approvals", "stepless.cli.verbs.overviews:approvals", "list the open questions of runs, nearest deadline first", """\
  stepless approvals
  stepless approvals --workflow refund --json
  stepless approvals --decided

Needs the role approve. `runs resume` answers a question.
""", _approvals),
    Verb("errors", "stepless.cli.verbs.overviews:errors", "list the failures of runs in groups, the last failure first", """\
  stepless errors
  stepless errors --workflow refund --since 2026-01-31T12:00:00Z
  stepless errors --json | jq .runs

Of a run and its reruns, the last one counts.
""", _errors),
    Verb("stats", "stepless.cli.verbs.overviews:stats", "show the health of workflows: runs, failures, durations, cost", """\
  stepless stats
  stepless stats refund --window 7d
""", _stats),
    Verb("diff", "stepless.cli.verbs.overviews:diff", "compare two versions of a workflow, or its draft with its base", """\
  stepless diff refund --from 2 --to 3
  stepless diff refund                     # the draft with its base
  stepless diff refund --against 2
""", _diff),
)  # fmt: skip

# These stand among the other verbs of their groups.
WORKFLOWS_VERSIONS = Verb(
    "workflows versions", "stepless.cli.verbs.overviews:versions", "list the versions of a workflow, the newest first", """\
  stepless workflows versions refund
""", _versions,
)  # fmt: skip
DRAFTS_LIST = Verb("drafts list", "stepless.cli.verbs.overviews:drafts", "list the drafts", """\
  stepless drafts list
""", _limited)  # fmt: skip
