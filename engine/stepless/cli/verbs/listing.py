"""Implements `runs list` and `workflows list`: in a module without heavy imports, so that they start fast."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

from stepless.cli.reach.gateway import opened
from stepless.cli.terminal.formatting import Column, put_json, say, table, when
from stepless.cli.terminal.progress import duration
from stepless.cli.verbs.bulk import query_of
from stepless.limits import MAX_LISTED_ITEMS

_RUNS: Final = (
    Column("RUN"), Column("WORKFLOW", least=12), Column("STATUS", least=21), Column("FAILED", least=8),
    Column("CREATED", spare=True), Column("DURATION", right=True, spare=True), Column("KEYWORDS", least=8, spare=True),
)  # fmt: skip
_NEEDED: Final = ("FAILED", "KEYWORDS")  # columns that are shown only if a run has a cell for them
_WORKFLOWS: Final = (
    Column("WORKFLOW"), Column("VERSION", right=True), Column("PUBLISHED", spare=True), Column("NAME", least=8, spare=True),
)  # fmt: skip


def runs(arguments: argparse.Namespace) -> int:
    query, limit = query_of(arguments), MAX_LISTED_ITEMS if arguments.all else min(arguments.limit, MAX_LISTED_ITEMS)
    with opened(arguments) as gateway:
        found, cursor = gateway.listed("runs", "runs", limit, query, cursor=arguments.cursor)
    if arguments.json:
        for run in found:
            put_json(run)
    elif found:
        shown = [column for column in _RUNS if column.title not in _NEEDED or any(map(_CELLS[column.title], found))]
        say(table(shown, [[_CELLS[column.title](run) for column in shown] for run in found]))
    else:
        filtered = any(query.values()) or arguments.cursor
        print(f"No matching runs in {gateway.where}." if filtered else f"No runs in {gateway.where} yet.")
    if cursor is not None:  # standard output has only runs, for programs
        sys.stdout.flush()
        sys.stderr.write(f"There are more runs. Show them with --limit {10 * limit}, --all, or --cursor {cursor}\n")
    return 0


def _at(run: Mapping[str, Any]) -> str:
    """The summary of a run; an older server reports only the status."""
    return str(run.get("summary", run["status"]))


def _name(run: Mapping[str, Any]) -> str:
    """The workflow, and the number of the run if the workflow is `numbered`."""
    return f"{run['workflow']} #{run['number']}" if run.get("number") else str(run["workflow"])


def _took(run: Mapping[str, Any]) -> str:
    """The time from the start to the end or to now; an older server does not report it."""
    return duration(run["duration_ms"]) if "duration_ms" in run else ""


_CELLS: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "RUN": lambda run: str(run["id"]),
    "WORKFLOW": _name,
    "STATUS": _at,
    "CREATED": lambda run: when(run["created_at"]),
    "DURATION": _took,
    "FAILED": lambda run: str(run.get("failed_node") or ""),
    "KEYWORDS": lambda run: " ".join(run["tags"]),
}


def workflows(arguments: argparse.Namespace) -> int:
    with opened(arguments) as gateway:
        found, more = gateway.listed("workflows", "workflows", arguments.limit)
    if arguments.json:
        for version in found:
            put_json(version)
        return 0
    if not found:
        print(f"No workflows in {gateway.where} yet. Publish one with `stepless publish FILE`.")
        return 0
    say(table(_WORKFLOWS, [(each["id"], str(each["version"]), when(each["published_at"]), each["name"]) for each in found]))
    if more is not None:
        print(f"There are more workflows. Show them with --limit {10 * arguments.limit}.")
    return 0
