"""`runs list` and `workflows list`: in a module without heavy imports, so that they start fast."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any, Final

from stepless.cli.reach.gateway import opened
from stepless.cli.terminal.showing import Column, put_json, say, table, when

_RUNS: Final = (
    Column("RUN"), Column("WORKFLOW", least=12), Column("STATUS", least=21), Column("CREATED", spare=True),
    Column("KEYWORDS", least=8, spare=True),
)  # fmt: skip
_WORKFLOWS: Final = (
    Column("WORKFLOW"), Column("VERSION", right=True), Column("PUBLISHED", spare=True), Column("NAME", least=8, spare=True),
)  # fmt: skip


def runs(arguments: argparse.Namespace) -> int:
    query = {
        "workflow": arguments.workflow, "status": arguments.status, "waiting": arguments.waiting, "since": arguments.since,
        "tag": arguments.keyword,
    }  # fmt: skip
    with opened(arguments) as gateway:
        found, more = gateway.listed("runs", "runs", arguments.limit, query)
    if arguments.json:
        for run in found:
            put_json(run)
        return 0
    if not found:
        print(f"No matching runs in {gateway.where}." if any(query.values()) else f"No runs in {gateway.where} yet.")
        return 0
    rows = [(run["id"], _name(run), _at(run), when(run["created_at"]), " ".join(run["tags"])) for run in found]
    columns = _RUNS if any(run["tags"] for run in found) else _RUNS[:-1]
    say(table(columns, rows))
    if more:
        print(f"There are more runs. Show them with --limit {10 * arguments.limit}.")
    return 0


def _at(run: Mapping[str, Any]) -> str:
    """The summary of a run; an older server reports only the status."""
    return str(run.get("summary", run["status"]))


def _name(run: Mapping[str, Any]) -> str:
    """The workflow, and the number of the run if the workflow is `numbered`."""
    return f"{run['workflow']} #{run['number']}" if run.get("number") else str(run["workflow"])


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
    if more:
        print(f"There are more workflows. Show them with --limit {10 * arguments.limit}.")
    return 0
