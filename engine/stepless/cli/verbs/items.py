"""Implements `runs items` and `runs item`: how far the items of a `distributed` node have come, and one of them."""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

from stepless.cli.reach.gateway import opened
from stepless.cli.terminal.formatting import brief, coloured, fields, put_json, say, width
from stepless.cli.terminal.progress import duration
from stepless.cli.terminal.timeline import glyphs_for
from stepless.errors import InvalidRequest
from stepless.model.json import JSON
from stepless.model.runs.statuses import ENDED

_LOOK_S: Final = 1.0
_BAR: Final = 40  # columns, at most
_TOLERANCE: Final = re.compile(r"(\d+)|(\d+(?:\.\d+)?)%")
_SHOWN: Final = 600  # characters of a value next to its label


def items(arguments: argparse.Namespace) -> int:
    with opened(arguments) as gateway:
        place = ("runs", arguments.run, "nodes", arguments.node)
        if changes := _changes(arguments):
            gateway.ask("PATCH", *place, body=changes)
        found = gateway.ask("GET", *place, "items")
        while arguments.follow and found["status"] not in ENDED:
            _draw(bar(found))
            time.sleep(_LOOK_S)
            found = gateway.ask("GET", *place, "items")
        if arguments.follow:
            _draw("")
        if arguments.json:
            put_json(found)
        else:
            say(_lines(found, arguments))
    return 0


def item(arguments: argparse.Namespace) -> int:
    with opened(arguments) as gateway:
        found = gateway.ask("GET", "runs", arguments.run, "nodes", arguments.node, "items", str(arguments.index))
        if arguments.json:
            put_json(found)
            return 0
        again = f"stepless runs rerun {arguments.run} --from {arguments.node} --items {arguments.index}"
        error = f"{found['error']['code']}: {found['error']['message']}" if found["error"] else ""
        values = [(name, "" if found[name] is None else brief(found[name], _SHOWN)) for name in ("item", "result")]
        say([f"item {found['index']:,}  {coloured(found['status'])}", *fields([*values, ("error", error), ("again", again)])])
    return 0


def bar(found: Mapping[str, Any]) -> str:
    """Returns the progress as one line: a bar, counts, items a second, and the time that is left."""
    total, done = found["total"], found["completed"] + found["failed"]
    told = [f"{done:,} of {total:,}"]
    if found["failed"]:
        told.append(f"{found['failed']:,} failed")
    told.append(f"{found['per_second']:,.0f}/s" if found["per_second"] >= 10 else f"{found['per_second']:,.1f}/s")
    if found["left_ms"]:
        told.append(f"{duration(found['left_ms'])} left")
    text = ", ".join(told)
    columns = max(0, min(_BAR, width() - len(text) - 3))
    full = columns * done // total if total else columns
    return f"{glyphs_for(sys.stdout.encoding).work * full}{'.' * (columns - full)}  {text}"


def _draw(line: str) -> None:
    """Replaces the last line of a terminal; elsewhere, the progress is not shown."""
    if sys.stdout.isatty():
        sys.stdout.write(f"\r\x1b[K{line}")
        sys.stdout.flush()


def _changes(arguments: argparse.Namespace) -> dict[str, JSON]:
    changes: dict[str, JSON] = {}
    if arguments.concurrency is not None:
        changes["concurrency"] = arguments.concurrency
    if arguments.tolerate is not None:
        if (given := _TOLERANCE.fullmatch(arguments.tolerate)) is None:
            message = f"--tolerate is {arguments.tolerate!r}"
            raise InvalidRequest(message, code="usage", mend="use a number of items, like 20, or a share, like 1%")
        changes["tolerate"] = {"count": int(given[1])} if given[1] else {"percent": float(given[2])}
    return changes


def _lines(found: Mapping[str, Any], arguments: argparse.Namespace) -> Iterator[str]:
    yield f"{arguments.node}  {coloured(found['status'])}"
    yield bar(found)
    shards, codes = found["shards"], ", ".join(f"{code} {count:,}" for code, count in found["codes"].items())
    others = "; those of some are not counted" if found["more"] else ""
    yield from fields([
        ("shards", f"{shards['ended']:,} of {shards['total']:,} have ended, {shards['running']:,} run{others}"),
        ("stopped", found["stopped"] or ""), ("failed", codes),
    ])  # fmt: skip
    for failure in found["failures"]:
        yield f"  {failure['index']:>9,}  {failure['error']['code']}  {brief(failure['item'], 60)}"
    if found["failed"] and found["status"] in ENDED:
        yield f"\nTo run them again: stepless runs rerun {arguments.run} --from {arguments.node} --items failed"
