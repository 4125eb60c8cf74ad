"""Of a run and its reruns the last one counts, whatever a rerun does meanwhile, and however many other runs there are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import pytest

from stepless.adapters.memory.clock import SettableClock
from stepless.adapters.memory.store import MemoryStore
from stepless.limits import MAX_RERUN_LOOKS, MAX_SEARCHED_RUNS
from stepless.ports import Page, RunFilter, RunHead
from stepless.runtime.related_runs import note_rerun
from stepless.runtime.verbs.overviews.failures import failures
from stepless.runtime.verbs.starts.repeated_runs import Repeated, is_repeated, repeated_of
from stepless.runtime.wiring.local import local
from stepless.runtime.world import World

NOW_MS = 1_700_000_000_000


class Moving(MemoryStore):
    """A store in which one run has the next of `statuses` at every listing; at last it keeps the last one."""

    def __init__(self, run_id: str, statuses: Sequence[str]) -> None:
        super().__init__()
        self._run_id, self._statuses = run_id, list(statuses)

    def list_runs(self, filter: RunFilter, *, limit: int = 100, cursor: str | None = None) -> Page[RunHead]:
        status = self._statuses.pop(0) if len(self._statuses) > 1 else self._statuses[0]
        self._runs[self._run_id] = self._runs[self._run_id]._replace(status=status)
        return super().list_runs(filter, limit=limit, cursor=cursor)


def over(store: MemoryStore) -> World:
    return replace(local(None).service.world, store=store, clock=SettableClock(NOW_MS))


def add(store: MemoryStore, run_id: str, status: str, created_ms: int, of: str | None = None) -> RunHead:
    meta = b"{}" if of is None else json.dumps({"rerun": {"of": of, "from": None}}).encode()
    head = RunHead(run_id, "check", "v", status, created_ms, created_ms, b"{}", meta)
    store.create_run(head)
    return head


def found(world: World) -> list[str]:
    return [run_id for group in failures(world, since_ms=0).groups for run_id in group.runs]


WAYS = [[*way, end] for way in product(("running", "paused"), repeat=6) for end in ("completed", "failed", "timed_out")]


def test_a_rerun_that_moves_between_any_two_reads_is_never_missed() -> None:
    for way in WAYS:
        store = Moving("again", ["created", *way])
        add(store, "first", "failed", 1)
        add(store, "again", "created", 2, of="first")
        for _ in range(len(way)):
            assert "first" not in found(over(store)), way


def test_what_is_repeated_is_found_through_cancelled_reruns_only_if_a_later_one_was_not() -> None:
    store = MemoryStore()
    heads = [add(store, "first", "failed", 1), add(store, "other", "failed", 1)]
    add(store, "again", "cancelled", 2, of="first")
    add(store, "other-again", "cancelled", 2, of="other")
    assert repeated_of(over(store), heads, None) == Repeated()
    add(store, "third", "paused", 3, of="again")
    assert repeated_of(over(store), heads, "check") == Repeated(frozenset({"first"}))


def test_behind_more_runs_than_are_read_reruns_are_looked_up_and_the_rest_is_unsure() -> None:
    store = MemoryStore()
    world = over(store)
    heads = [add(store, f"run_{number}", "failed", 1) for number in range(MAX_RERUN_LOOKS)]
    for rerun, status in (("run_0", "timed_out"), ("run_1", "cancelled")):
        note_rerun(world, rerun, f"{rerun}-again")
        add(store, f"{rerun}-again", status, 2, of=rerun)
    for number in range(MAX_SEARCHED_RUNS):
        add(store, f"late_{number}", "timed_out", 3)
    assert repeated_of(world, heads, None) == Repeated(frozenset({"run_0"}))
    assert [is_repeated(world, run_id) for run_id in ("run_0", "run_1", "run_2")] == [True, False, False]
    more = [*heads, *(add(store, f"more_{number}", "failed", 1) for number in range(2))]
    assert repeated_of(world, more, None) == Repeated(frozenset({"run_0"}), unsure=True)


@pytest.mark.parametrize(("failed", "unsure"), [(MAX_RERUN_LOOKS, False), (MAX_RERUN_LOOKS + 1, True)])
def test_where_the_list_of_failed_runs_is_cut_itself_it_is_not_taken_to_be_whole(failed: int, unsure: bool) -> None:
    """The rerun timed out, and is older than all runs that timed out and are read."""
    store = MemoryStore()
    world = over(store)
    for number in range(failed):
        add(store, f"run_{number:03}", "failed", 1)
    note_rerun(world, f"run_{failed - 1:03}", "again")
    add(store, "again", "timed_out", 2, of=f"run_{failed - 1:03}")
    for number in range(MAX_SEARCHED_RUNS):
        add(store, f"late_{number}", "timed_out", 3)
        note_rerun(world, f"late_{number}", f"done_{number}")
        add(store, f"done_{number}", "completed", 4, of=f"late_{number}")
    answer = failures(world, since_ms=0)
    assert answer.more and answer.unsure is unsure
