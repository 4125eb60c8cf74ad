"""Changes many runs with one command: `runs cancel`, `rerun`, `hold` and the others with the filter of `runs list` instead of a
run.

First the command lists the matching runs and shows how many there are. On a terminal it then asks; elsewhere it requires --yes.
It changes exactly the runs that it has listed, newest first, one request each, and reports each. A run that refuses does not stop
the others.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Any, Final

from stepless.cli.reach.gateway import Gateway, opened
from stepless.cli.terminal.formatting import put_json
from stepless.errors import InvalidRequest
from stepless.limits import MAX_BULK_COMMAND_RUNS, WAITING_LINE_DELAY_MS
from stepless.model.runs.filters import RUN_FILTERS

Change = Callable[[Gateway, str], str]
_WIPE: Final = "\r\x1b[2K"
_SENT: Final = {"keyword": "tag"}  # under its former name, which servers of former releases know
_STOPPING: Final = frozenset({"unreachable", "no_stepless", "unauthorized", "role_missing"})  # the next run fails as well


def query_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Returns the filter of the command line as a query of `GET /runs`."""
    return {_SENT.get(row.name, row.name): getattr(arguments, row.name) for row in RUN_FILTERS}


def is_bulk(arguments: argparse.Namespace) -> bool:
    """Returns whether the command names runs by a filter. Raises `InvalidRequest` (usage) unless there is either a run or a
    filter."""
    filtered = any(value not in (None, []) for value in query_of(arguments).values())
    if arguments.run is not None and filtered:
        raise InvalidRequest("give a run or a filter, not both", code="usage", mend="leave one of them out")
    if arguments.run is not None and (arguments.dry_run or arguments.yes):
        raise InvalidRequest("--dry-run and --yes are for a filter", code="usage", mend="leave them out")
    if arguments.run is None and not filtered:
        *options, last = (f"--{row.option}" for row in RUN_FILTERS)
        mend = f"give a run's id, or a filter: {', '.join(options)} or {last}"
        raise InvalidRequest("the command names no run", code="usage", mend=mend)
    if filtered and (getattr(arguments, "wait", False) or getattr(arguments, "go", False)):
        raise InvalidRequest("--wait and --go are for one run", code="usage", mend="leave them out")
    return filtered


def change_many(arguments: argparse.Namespace, verb: str, change: Change) -> int:
    """Applies `change`, which returns what it did, to each matching run. Returns 0 if all were changed, 1 if not."""
    with opened(arguments) as gateway:
        found, cursor = gateway.listed("runs", "runs", min(arguments.limit, MAX_BULK_COMMAND_RUNS), query_of(arguments))
        _announce(verb, found, cursor is not None, gateway.where, as_json=arguments.json)
        if arguments.dry_run or not found:
            return 0
        if not arguments.yes and not _confirmed(verb, len(found)):
            sys.stderr.write("Nothing was changed.\n")
            return 1
        return _change(gateway, arguments, verb, [run["id"] for run in found], change)


def _change(gateway: Gateway, arguments: argparse.Namespace, verb: str, run_ids: Sequence[str], change: Change) -> int:
    refused: Counter[str] = Counter()
    progress = _Progress(verb, len(run_ids))
    for number, run_id in enumerate(run_ids):
        try:
            done = change(gateway, run_id)
        except InvalidRequest as error:
            progress.wipe()
            _report(run_id, arguments.json, code=error.code, message=error.message)
            refused[error.code] += 1
            if error.code in _STOPPING:
                changed = number + 1 - refused.total()
                message = f"{changed} of {len(run_ids)} runs were changed, and the rest not tried: {error.message}"
                raise InvalidRequest(message, code=error.code, place=error.place, mend=error.mend) from error
        else:
            progress.wipe()
            _report(run_id, arguments.json, done=done)
        progress.show(number + 1)
    progress.wipe()
    if not arguments.json:
        reasons = ", ".join(f"{count} {code}" for code, count in sorted(refused.items()))
        print(f"{len(run_ids) - refused.total()} changed, {refused.total()} refused{f' ({reasons})' if reasons else ''}")
    return 1 if refused else 0


def _report(run_id: str, as_json: bool, *, done: str = "", code: str | None = None, message: str = "") -> None:
    if as_json:
        put_json({"run_id": run_id, "done": code is None, "result": done or None, "code": code, "message": message or None})
    else:
        print(f"{run_id}  {done}" if code is None else f"{run_id}  refused: {message} [{code}]", flush=True)


def _announce(verb: str, found: Sequence[Mapping[str, Any]], more: bool, where: str, *, as_json: bool) -> None:
    """Says how many runs match, by workflow and status."""
    counts = Counter((run["workflow"], run["status"]) for run in found)
    if as_json:
        rows = [{"workflow": workflow, "status": status, "runs": count} for (workflow, status), count in sorted(counts.items())]
        put_json({"action": verb, "matched": len(found), "more": more, "counts": rows})
        return
    if not found:
        print(f"No matching runs in {where}.")
        return
    print(f"{len(found)} matching run{'' if len(found) == 1 else 's'} in {where} to {verb}:")
    for (workflow, status), count in sorted(counts.items()):
        print(f"  {count:>6}  {workflow}, {status.replace('_', ' ')}")
    if more:
        print(f"There are more: these are the newest. --limit raises the number, up to {MAX_BULK_COMMAND_RUNS:,}.")
    sys.stdout.flush()


def _confirmed(verb: str, count: int) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        mend = "add --yes to change them, or --dry-run to only count them"
        raise InvalidRequest("there is no terminal to confirm at", code="usage", mend=mend)
    sys.stderr.write(f"{verb.capitalize()} {count} run{'' if count == 1 else 's'}? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


class _Progress:
    """A line on the terminal of standard error with the number of runs so far, shown when the command takes long."""

    def __init__(self, verb: str, total: int) -> None:
        self._verb, self._total, self._shown = verb, total, False
        self._began = monotonic()
        self._visible = sys.stderr.isatty()

    def show(self, done: int) -> None:
        if self._visible and monotonic() - self._began > WAITING_LINE_DELAY_MS / 1000:
            sys.stderr.write(f"{_WIPE}{self._verb}: {done} of {self._total}")
            sys.stderr.flush()
            self._shown = True

    def wipe(self) -> None:
        if self._shown:
            sys.stderr.write(_WIPE)
            sys.stderr.flush()
            self._shown = False
