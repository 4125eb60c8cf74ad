"""The audit log lists requests in the order in which they began."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from stepless.adapters.memory.store import MemoryStore
from stepless.runtime.access.audit import AuditLog


class Clock:
    def __init__(self) -> None:
        self.at_ms = 1_000_000

    def now_ms(self) -> int:
        return self.at_ms


def test_entries_of_one_millisecond_are_listed_newest_first() -> None:
    clock = Clock()
    log = AuditLog(MemoryStore(), clock)
    for number in range(300):
        clock.at_ms += number % 100 == 0
        log.begin("ada", "hold_run", f"run_{number}")
    listed = log.search(limit=1_000).items
    assert [entry.target for entry in listed] == [f"run_{number}" for number in reversed(range(300))]
    assert len({entry.at_ms for entry in listed}) == 3


def test_entries_that_begin_at_once_are_each_kept() -> None:
    log = AuditLog(MemoryStore(), Clock())
    with ThreadPoolExecutor(8) as threads:
        begun = list(threads.map(lambda number: log.begin("ada", "hold_run", f"run_{number}").id, range(200)))
    assert len({name[:10] for name in begun}) == 200, "each has a number of its own"
    assert sorted(begun, reverse=True) == [entry.id for entry in log.search(limit=1_000).items]
