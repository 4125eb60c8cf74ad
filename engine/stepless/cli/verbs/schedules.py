"""Implements `schedules list`, `pause`, `resume` and `fire`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from stepless.cli.reach.gateway import opened
from stepless.cli.terminal.formatting import Column, put_json, say, table, when
from stepless.cli.verbs.run_changes import follow_up, me
from stepless.limits import MAX_LISTED_ITEMS
from stepless.model.json import JSON
from stepless.model.triggers.clock_changes import sentence

_COLUMNS: Final = (
    Column("WORKFLOW", least=12), Column("NODE", least=8), Column("FIRES", least=12), Column("NEXT"), Column("LAST", spare=True),
    Column("RUN", least=8, spare=True),
)  # fmt: skip


def list_(arguments: argparse.Namespace) -> int:
    with opened(arguments) as gateway:
        if arguments.workflow is not None:
            found = gateway.ask("GET", "workflows", arguments.workflow, "schedules")["schedules"]
        else:
            found, _ = gateway.listed("schedules", "schedules", MAX_LISTED_ITEMS)
        where = gateway.where
    if arguments.json:
        for schedule in found:
            put_json(schedule)
    elif found:
        say(table(_COLUMNS, rows_of(found)))
        for line in _clock_lines(found):
            print(line)
    else:
        print(f"No schedules in {where}. A workflow gets one with a node of the type `schedule`.")
    return 0


def rows_of(found: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """Returns the cells of the schedules of a response."""
    return [
        (each["workflow"], each["node"], fires(each), next_of(each), when((each["last"] or {}).get("at")), _run(each["last"]))
        for each in found
    ]


def fires(schedule: Mapping[str, Any]) -> str:
    """Returns when a schedule fires: `every 1h`, or `15 2 * * * Europe/Berlin`."""
    return f"every {schedule['rate']}" if schedule["rate"] else f"{schedule['cron']} {schedule['timezone']}"


def next_of(schedule: Mapping[str, Any]) -> str:
    """Returns the next firing in the local time zone, or why there is none."""
    if schedule["paused"] is not None and not schedule["paused"]["ending"]:
        return "paused"
    return when(schedule["next_at"]) or ("not known yet" if schedule["rate"] else "never")


def _clock_lines(found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The next change of the clocks that each schedule falls into."""
    for each in found:
        for change in each.get("clock_changes", ())[:1]:  # a server of a former release tells none
            first, last = (datetime.fromisoformat(change[name]) for name in ("first", "last"))
            what = sentence(change["kind"], first, last)
            after = f", next {when(change['at'])}" if change["kind"] == "skipped" and change["at"] else ""
            yield f"{each['workflow']} {each['node']}: {what}{after}"


def _run(last: Mapping[str, Any] | None) -> str:
    return "" if last is None else str(last["run_id"] or f"refused: {last['code']}")


def pause(arguments: argparse.Namespace) -> int:
    done = _ask(arguments, "pause", {"by": me(), "reason": arguments.reason})
    _print(arguments, done, "paused: it starts no run until it is resumed")
    return 0


def resume(arguments: argparse.Namespace) -> int:
    done = _ask(arguments, "resume", {"by": me()})
    number = len(done["started"])
    caught = f", {number} run{'' if number == 1 else 's'} of the pause started" if number else ""
    _print(arguments, done, f"resumed, next {next_of(done)}{caught}")
    return 0


def fire(arguments: argparse.Namespace) -> int:
    headers = {"idempotency-key": arguments.idempotency_key} if arguments.idempotency_key is not None else {}
    with opened(arguments) as gateway:
        path = ("workflows", arguments.workflow, "schedules", arguments.node, "fire")
        started = gateway.ask("POST", *path, body={"by": me()}, headers=headers)
        did = "was already started with this key" if started["replay"] else f"started by {arguments.node}"
        return follow_up(gateway, arguments, started["run_id"], f"{started['run_id']}  {did}", started)


def _ask(arguments: argparse.Namespace, verb: str, body: dict[str, JSON]) -> Mapping[str, Any]:
    path = ("workflows", arguments.workflow, "schedules", arguments.node, verb)
    with opened(arguments) as gateway:
        done: Mapping[str, Any] = gateway.ask("POST", *path, body=body)
    return done


def _print(arguments: argparse.Namespace, done: Mapping[str, Any], text: str) -> None:
    if arguments.json:
        put_json(done)
    else:
        print(f"{arguments.workflow} {arguments.node}  {text}")
