from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from stepless.adapters.memory.store import MemoryStore
from stepless.limits import DEAD_LETTER_RETRY_MS
from stepless.model.json import JSON
from stepless.ports import Lease, Message, RunHead
from stepless.runtime.hosting.deadletter import rest
from stepless.runtime.hosting.sweep import sweep
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.runner import Runner
from stepless.runtime.wiring.local import Local, local
from stepless.runtime.world import World

FAILING: dict[str, JSON] = {
    "id": "w",
    "nodes": {
        "ok": {"type": "http", "timeout_ms": 1_000, "with": {"method": "GET", "url": "http://127.0.0.1:9/"}},
        "then": {"type": "transform", "after": "ok.error", "with": {"value": 1}},
    },
}


class HearingMeter:
    """Keeps what it hears."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.times: dict[str, list[float]] = {}
        self.reported: list[tuple[str, Mapping[str, str | int]]] = []

    def count(self, name: str, number: int = 1) -> None:
        self.counts[name] += number

    def took(self, name: str, duration_ms: float) -> None:
        self.times.setdefault(name, []).append(duration_ms)

    def report(self, what: str, facts: Mapping[str, str | int]) -> None:
        self.reported.append((what, facts))


def heard(built: Local) -> tuple[World, HearingMeter]:
    meter = HearingMeter()
    return replace(built.world, meter=meter), meter


def test_a_run_is_counted_by_its_outcome_and_told_by_its_ids() -> None:
    built = local(None)
    world, meter = heard(built)
    built.service.publish(FAILING)
    run_id = built.service.start("w", {}).run_id
    asyncio.run(Runner(world).run(Message(run_id, "start"), Budget(10_000)))
    assert meter.counts["RunsStarted"] == meter.counts["RunsCompleted"] == 1
    assert meter.counts["Commits"] >= 2
    assert len(meter.times["NodeTime"]) == 1
    kinds = [what for what, _ in meter.reported]
    assert kinds == ["node.failed", "run.completed"]
    assert meter.reported[0][1]["instance"] == "ok"
    assert {facts["run"] for _, facts in meter.reported} == {run_id}


def test_a_hint_that_finds_a_live_lease_is_a_conflict() -> None:
    built = local(None)
    world, meter = heard(built)
    built.service.publish(FAILING)
    run_id = built.service.start("w", {}).run_id
    asyncio.run(Runner(world).run(Message(run_id, "continue"), Budget(10_000)))  # the lease is granted to another kind of hint
    assert meter.counts == {"LeaseConflicts": 1}


def due(run_id: str, due_ms: int) -> RunHead:
    return RunHead(run_id, "w", "hash", "running", 1, 1, b"{}", due_ms=due_ms)


def test_the_sweep_tells_how_long_the_oldest_has_waited() -> None:
    world, meter = heard(local(None))
    sweep(world)
    now_ms = world.clock.now_ms()
    world.store.create_run(due("old", now_ms - 90_000))
    world.store.create_run(due("new", now_ms - 10))
    assert sweep(world) == 2
    assert meter.counts["DueRuns"] == 2
    nobody, oldest = meter.times["OldestDueAge"]
    assert nobody == 0
    assert 90_000 <= oldest < 100_000


def test_a_dead_letter_rests_its_run_and_nothing_else() -> None:
    world, meter = heard(local(None))
    now_ms = world.clock.now_ms()
    world.store.create_run(due("stuck", now_ms - 1))
    assert rest(world, Message("stuck", "continue", 3))
    head = world.store.get_run("stuck")
    assert head is not None
    assert (head.status, head.owner) == ("running", None)
    assert head.due_ms is not None
    assert head.due_ms >= now_ms + DEAD_LETTER_RETRY_MS
    assert meter.counts == {"DeadLetters": 1}
    assert meter.reported == [("run.dead_letter", {"run": "stuck", "workflow": "w", "reason": "continue", "hops": 3})]


def test_a_dead_letter_of_a_run_that_somebody_takes_at_that_moment_leaves_it_to_them() -> None:
    class Contested(MemoryStore):
        def update_run(self, lease: Lease, now_ms: int, **given: Any) -> Lease:
            assert self.take_lease(lease.run_id, "somebody", now_ms, now_ms + 60_000) is not None
            return super().update_run(lease, now_ms, **given)

    world, meter = heard(local(None))
    world = replace(world, store=Contested())
    world.store.create_run(due("contested", world.clock.now_ms()))
    assert not rest(world, Message("contested", "start"))
    head = world.store.get_run("contested")
    assert head is not None
    assert head.owner == "somebody"
    assert not meter.reported


def test_a_dead_letter_of_a_run_that_ends_at_that_moment_leaves_nothing_due() -> None:
    class Ending(MemoryStore):
        def take_lease(self, run_id: str, owner: str, now_ms: int, until_ms: int) -> Lease | None:
            last = super().take_lease(run_id, "the last session", now_ms, now_ms + 60_000)
            assert last is not None
            self.update_run(last, now_ms, status="completed", release=True)
            return super().take_lease(run_id, owner, now_ms, until_ms)

    world, meter = heard(local(None))
    world = replace(world, store=Ending())
    world.store.create_run(due("ending", world.clock.now_ms()))
    assert not rest(world, Message("ending", "start"))
    head = world.store.get_run("ending")
    assert head is not None
    assert (head.status, head.owner, head.due_ms) == ("completed", None, None)
    assert not meter.reported


def test_a_dead_letter_of_a_run_that_is_alive_over_or_unknown_changes_nothing() -> None:
    world, meter = heard(local(None))
    now_ms = world.clock.now_ms()
    world.store.create_run(due("alive", now_ms))
    assert world.store.take_lease("alive", "somebody", now_ms, now_ms + 60_000) is not None
    world.store.create_run(due("over", now_ms)._replace(status="completed"))
    before = world.store.get_run("alive"), world.store.get_run("over")
    assert not any(rest(world, Message(run_id, "start")) for run_id in ("alive", "over", "unknown"))
    assert (world.store.get_run("alive"), world.store.get_run("over")) == before
    assert not meter.reported
