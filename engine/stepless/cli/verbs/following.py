"""Follows a run through the API: reads its events as they arrive and shows its progress."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from time import monotonic
from typing import Any, Final

from stepless.cli.reach.gateway import Gateway
from stepless.cli.terminal.formatting import in_colour
from stepless.cli.terminal.live import PlainLines, Silence, Tree, Watcher, can_move
from stepless.cli.terminal.progress import Progress
from stepless.cli.terminal.timeline import glyphs_for
from stepless.compile import compile_document
from stepless.errors import SteplessError
from stepless.limits import CLIENT_WAIT_MS, FOLLOW_MS, PAGE_EVENTS
from stepless.nodes import KINDS

Envelope = Mapping[str, Any]
_FOLLOWED: Final = {"prefer": f"wait={CLIENT_WAIT_MS / 1000:g}"}
_AT_ONCE: Final = {"prefer": "wait=0"}


def events(gateway: Gateway, run_id: str, after: int = 0) -> Iterator[Envelope]:
    """Yields the events above `after`, up to now."""
    while True:
        page = _page(gateway, run_id, after, _AT_ONCE)
        yield from page["events"]
        after = page["cursor"]
        if page["ended"] or not page["events"]:
            return


def pages(gateway: Gateway, run_id: str, after: int = 0, tick: Callable[[], None] | None = None) -> Iterator[Sequence[Envelope]]:
    """Pages of events as they arrive, until the last event of the run; a page is empty if nothing happened for a while. `tick` is
    called many times a second in between."""
    with ThreadPoolExecutor(1) as asking:
        while True:
            asked = asking.submit(_page, gateway, run_id, after, _FOLLOWED)
            while not wait([asked], None if tick is None else FOLLOW_MS / 1000).done:
                if tick is not None:
                    tick()
            page = asked.result()
            yield page["events"]
            after = page["cursor"]
            if page["ended"]:
                return


def _page(gateway: Gateway, run_id: str, after: int, headers: Mapping[str, str]) -> Any:
    query = {"afterEventId": after, "limit": PAGE_EVENTS}
    return gateway.ask("GET", "runs", run_id, "events", query=query, headers=headers, quietly=headers is not _AT_ONCE)


def progress_of(gateway: Gateway, run: Mapping[str, Any]) -> Progress | None:
    """Returns the progress of a run before its first event. None if this installation cannot compile the workflow, for example
    without a plug-in that it needs."""
    try:
        version = gateway.ask("GET", "workflows", run["workflow"], "versions", str(run["version"]))
        return Progress(compile_document(version["document"], KINDS))
    except SteplessError:
        return None


def watch(gateway: Gateway, run: Mapping[str, Any], *, silently: bool) -> Progress | None:
    """Shows a run until it ends, or until only an answer can continue it. Returns the progress."""
    progress = progress_of(gateway, run)
    watcher = _watcher(progress, run, silently)
    moved = True
    try:
        for page in pages(gateway, run["id"], tick=(lambda: watcher.show(())) if isinstance(watcher, Tree) else None):
            if progress is not None:
                progress.add(page)
            watcher.show(page)
            if not page and moved and _stuck(gateway.ask("GET", "runs", run["id"], quietly=True)):
                break
            moved = bool(page)
    finally:
        watcher.close()
    return progress


def _stuck(run: Mapping[str, Any]) -> bool:
    """Whether it waits for answers only."""
    waits = [pause["resume_at"] is None and pause["reason"] != "subrun" for pause in run["pauses"]]
    return run["status"] == "paused" and all(waits)


def _watcher(progress: Progress | None, run: Mapping[str, Any], silently: bool) -> Watcher:
    if silently or progress is None:
        return Silence()
    if not can_move():
        return PlainLines(progress)
    from rich.console import Console

    console = Console(highlight=False, no_color=not in_colour())
    return Tree(progress, f"{run['workflow']}  {run['id']}", glyphs_for(sys.stdout.encoding), _clock(progress), console)


def _clock(progress: Progress) -> Callable[[], int]:
    """The server's time, estimated from its events: the clocks of two machines may differ."""
    seen, at = 0, monotonic()

    def now_ms() -> int:
        nonlocal seen, at
        if progress.now_ms != seen:
            seen, at = progress.now_ms, monotonic()
        return seen + round((monotonic() - at) * 1000)

    return now_ms
