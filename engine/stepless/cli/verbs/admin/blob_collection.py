"""Implements `blobs collect`: removes the shared values of former releases that no run names any more."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from stepless.cli.reach.gateway import DEFAULT_DB
from stepless.cli.terminal.formatting import put_json
from stepless.errors import Conflict, InvalidRequest
from stepless.limits import COLLECT_STATE_MS
from stepless.ports import OpenStore
from stepless.runtime.blob_collection import Names, read_names, unnamed


def collect(arguments: argparse.Namespace) -> int:
    """Reads what all runs name, and then removes what is left over. Keeps what it has read in --state, and continues there."""
    if not (arguments.dry_run or arguments.yes):
        message = "this removes values permanently"
        raise InvalidRequest(message, code="usage", mend="add --dry-run to count them, or --yes to remove them")
    state = Path(arguments.state) if arguments.state else None
    runs = _opened(arguments)
    try:
        names = _restored(state)
        while not names.over:
            read_names(runs.store, runs.blobs, names)
            _kept(state, names)
            if sys.stderr.isatty():
                sys.stderr.write(f"\rread {names.runs:,} runs")
        if names.unreadable:
            shown = ", ".join(names.unreadable[:5])
            message = f"the logs of {len(names.unreadable)} runs cannot be read, so their values are not known: {shown}"
            raise Conflict(message, code="runs_unreadable", mend="erase them, or continue them with the release that wrote them")
        removed = 0
        for keys in unnamed(runs.blobs, names):
            removed += len(keys)
            if not arguments.dry_run and keys:
                runs.blobs.forget(keys)
    finally:
        runs.close()
    if state is not None and not arguments.dry_run:
        state.unlink(missing_ok=True)
    shown_result = {"runs": names.runs, "named": len(names.named), "unnamed": removed, "removed": not arguments.dry_run}
    if arguments.json:
        put_json(shown_result)
    else:
        done = "would be removed" if arguments.dry_run else "removed"
        print(f"{removed:,} shared values {done}; {len(names.named):,} are named by {names.runs:,} runs")
    return 0


def _opened(arguments: argparse.Namespace) -> OpenStore:
    if bool(arguments.table) != bool(arguments.bucket) or (arguments.table and arguments.db):
        mend = "give --table and --bucket, or --db"
        raise InvalidRequest("a stack is a table and a bucket", code="usage", mend=mend)
    if arguments.table:
        from stepless.runtime.wiring.aws_stores import of_stack

        return of_stack(arguments.table, arguments.bucket)
    from stepless.runtime.wiring.stores import database_of, scheme_of

    file = arguments.db or DEFAULT_DB
    if scheme_of(file) is None and not Path(file).exists():
        raise InvalidRequest("there is no such file", code="no_runs_file", place=file, mend="check --db")
    return database_of(file).open()


def _restored(state: Path | None) -> Names:
    """What an interrupted command has read. Raises `Conflict` (state_too_old): a former release may have written since."""
    if state is None or not state.exists():
        return Names()
    try:
        kept = json.loads(state.read_text())
        begun_ms, names = int(kept.pop("begun_ms")), Names(**{**kept, "named": set(kept["named"])})
    except (ValueError, KeyError, TypeError) as error:
        message = "this is not a file of `blobs collect`"
        raise InvalidRequest(message, code="usage", place=str(state), mend="name another file") from error
    if _now_ms() - begun_ms > COLLECT_STATE_MS:
        mend = "remove the file to start over"
        raise Conflict("the saved progress is too old", code="state_too_old", place=str(state), mend=mend)
    return names


def _kept(state: Path | None, names: Names) -> None:
    if state is None:
        return
    begun_ms = _now_ms()
    if state.exists():
        begun_ms = int(json.loads(state.read_text())["begun_ms"])
    kept = {"begun_ms": begun_ms, "named": sorted(names.named), "runs": names.runs, "cursor": names.cursor, "over": names.over}
    new = state.with_name(f"{state.name}.new")
    new.write_text(json.dumps({**kept, "unreadable": names.unreadable}))
    os.replace(new, state)


def _now_ms() -> int:
    from stepless.runtime.wiring.stores import system_clock

    return system_clock().now_ms()
