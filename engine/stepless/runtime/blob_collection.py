"""Collects the shared values of former releases: those that no run names any more.

Former releases stored a large value by its hash alone, so several runs may name the same one, and a run that is erased leaves
it. This release stores every value under its run, also when a rerun or a child run takes it over. So no process of this release
adds a name of a shared value to a log, and a value that no log names stays without a name.

All logs are read first, page by page, and then the values that none of them names are removed. A process that stops in between
loses nothing: `Names` is what it has to keep to continue.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from stepless.errors import LimitExceeded, LogUnreadable
from stepless.limits import MAX_NAMED_VALUES, MAX_PAGE_ITEMS
from stepless.ports import ERASED, Blobs, RunFilter, RunHead, Store
from stepless.runtime.runlog import RunLog

_PAGE = 100  # runs that are read before what was found is kept


@dataclass
class Names:
    """What the logs name, as far as they were read. `cursor` is where the listing of runs continues; `over` after its end.
    `unreadable` are runs whose log cannot be read: what they name is not known."""

    named: set[str] = field(default_factory=set)
    runs: int = 0
    cursor: str | None = None
    over: bool = False
    unreadable: list[str] = field(default_factory=list)


def read_names(store: Store, blobs: Blobs, names: Names, *, runs: int = _PAGE) -> None:
    """Reads the logs of `runs` more runs, the newest first. Runs that begin meanwhile name no shared value. Raises
    `LimitExceeded` (too_many_values)."""
    page = store.list_runs(RunFilter(), limit=runs, cursor=names.cursor)
    for head in page.items:
        _read(store, blobs, head, names)
    if len(names.named) > MAX_NAMED_VALUES:
        message = f"the runs name more than {MAX_NAMED_VALUES:,} shared values"
        raise LimitExceeded(message, code="too_many_values", mend="erase or expire older runs first")
    names.cursor, names.over = page.cursor, page.cursor is None


def _read(store: Store, blobs: Blobs, head: RunHead, names: Names) -> None:
    names.runs += 1
    log = RunLog(store, blobs, head.run_id)
    try:
        last = 0
        for event in log.read(named=True):
            names.named.update(key for key, _ in event.data.get("blobs", {}).values() if "/" not in key)
            last = event.sequence
        log.check_end(last, head.sequence)
    except LogUnreadable:
        now = store.get_run(head.run_id)
        if now is not None and now.status != ERASED:  # else it was removed meanwhile, and names nothing
            names.unreadable.append(head.run_id)


def unnamed(blobs: Blobs, names: Names) -> Iterator[list[str]]:
    """Yields the shared values that no log names, a page at a time. Values that are removed meanwhile change nothing."""
    after = ""
    while page := blobs.list_shared(after, limit=MAX_PAGE_ITEMS):
        after = page[-1]
        yield [key for key in page if key not in names.named]
