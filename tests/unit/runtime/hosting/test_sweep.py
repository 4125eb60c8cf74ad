"""The sweep, which finds every run whose message or timer was lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepless.errors import Conflict
from stepless.limits import LEASE_MS, MAX_PAGE_ITEMS, START_GRACE_MS
from stepless.ports import Call, Message, RunHead
from stepless.runtime.hosting.sweep import adopt, sweep
from stepless.runtime.inbox import answer_signal
from stepless.runtime.session.budget import Budget
from stepless.runtime.wiring.local import Local, local

Node = Callable[..., dict[str, Any]]


def test_only_what_is_overdue_is_hinted_at(machine: Any, node: Node) -> None:
    run_id = machine.start({"t": {"type": "wait", "with": {"for": "1h"}}})
    machine.queue.receive(machine.clock.now_ms())  # the message gets lost
    assert sweep(machine.world) == 0
    machine.clock.advance(LEASE_MS)
    assert sweep(machine.world) == 1
    machine.invoke(machine.queue.receive(machine.clock.now_ms()))
    machine.timers.disarm(run_id)  # and so does the timer
    machine.clock.advance(3_600_000 - 1)
    assert sweep(machine.world) == 0
    machine.clock.advance(1)
    assert sweep(machine.world) == 1
    machine.drain()
    assert machine.view(run_id).status == "completed"
    machine.clock.advance(10**9)
    assert sweep(machine.world) == 0


def abandoned(machine: Any, node: Node) -> str:
    """A run whose process died while its node was at work."""

    async def scene() -> str:
        begun = asyncio.Event()

        async def held(call: Call) -> str:
            if machine.calls["a"] > 1:
                return "again"
            begun.set()
            await asyncio.Event().wait()
            return "never"

        machine.behaviours["a"] = held
        run_id: str = machine.start({"a": node(), "b": node("a")})
        running = asyncio.create_task(machine.runner.run(Message(run_id, "start"), Budget(60_000)))
        await begun.wait()
        running.cancel()
        return run_id

    run_id = asyncio.run(scene())
    machine.queue.receive(machine.clock.now_ms())
    machine.runner = machine.process()
    return run_id


def test_a_dead_holder_is_found_when_its_lease_is_over(machine: Any, node: Node) -> None:
    run_id = abandoned(machine, node)
    machine.clock.advance(LEASE_MS - 1)
    assert sweep(machine.world) == 0
    machine.clock.advance(1)
    assert sweep(machine.world) == 1
    machine.drain()
    assert machine.view(run_id).status == "completed"
    assert machine.calls == {"a": 2, "b": 1}
    assert "run.recovered" in machine.types(run_id)


def test_whoever_knows_to_be_alone_need_not_wait_for_it(machine: Any, node: Node) -> None:
    run_id = abandoned(machine, node)
    before_ms = machine.clock.now_ms()
    assert adopt(machine.world) == 1
    assert adopt(machine.world) == 0
    assert sweep(machine.world) == 1
    machine.drain()
    assert machine.view(run_id).status == "completed"
    assert machine.clock.now_ms() == before_ms


# -- one file, one process after another ------------------------------------------------------------------------------


async def serve(engine: Local, run_id: str, status: str) -> None:
    """Serves until the run has that status."""
    changed = asyncio.Event()
    engine.host.on_ending = lambda _: changed.set()
    serving = asyncio.create_task(engine.host.serve())
    async with asyncio.timeout(20):
        while engine.service.run(run_id).status != status:
            await changed.wait()
            changed.clear()
    assert await engine.host.stop()
    await serving


def test_a_file_is_taken_over_by_the_next_process(tmp_path: Path) -> None:
    nodes = {"t": {"type": "transform", "with": {"value": "kept"}},
             "w": {"type": "approval", "after": "t", "with": {"message": "Go on?"}},
             "z": {"type": "transform", "after": "w.approved", "with": {"value": "<t>"}}}  # fmt: skip
    engine = local(tmp_path / "runs.db")
    engine.service.publish({"id": "small", "nodes": nodes})
    run_id = engine.service.start("small", {}).run_id
    asyncio.run(serve(engine, run_id, "paused"))
    with pytest.raises(Conflict):
        local(tmp_path / "runs.db")
    token = engine.service.run(run_id).pauses[0].token
    now_ms = engine.world.clock.now_ms()
    assert engine.world.store.take_lease(run_id, "whoever died", now_ms, now_ms + 60_000) is not None
    engine.close()

    engine = local(tmp_path / "runs.db")
    try:
        assert engine.adopted == 1
        assert token is not None
        engine.service.answer(token, "approved", {})
        asyncio.run(serve(engine, run_id, "completed"))
        assert engine.service.run(run_id).outputs == {"z": "kept"}
    finally:
        engine.close()


def test_a_lease_behind_many_overdue_runs_is_adopted_too(machine: Any, node: Node) -> None:
    store, now_ms = machine.world.store, machine.clock.now_ms()
    for number in range(MAX_PAGE_ITEMS + 100):
        assert store.create_run(RunHead(f"old{number}", "wf", "h", "created", 1, 1, b"{}", due_ms=number))
    run_id = abandoned(machine, node)
    assert adopt(machine.world) == 1
    adopted = store.get_run(run_id)
    assert (adopted.owner, adopted.due_ms) == (None, now_ms)


def test_an_answer_whose_giver_died_while_the_run_was_leaving_is_found_by_the_sweep(machine: Any) -> None:
    run_id = machine.start({"ask": {"type": "approval", "with": {"message": "Go on?"}}})
    machine.drain()
    store, now_ms = machine.world.store, machine.clock.now_ms()
    lease = store.take_lease(run_id, "a runner", now_ms, now_ms + LEASE_MS)
    store.touch_run(run_id, now_ms + START_GRACE_MS)
    store.update_run(lease, now_ms, status="paused", release=True)  # it has looked for the last time, and the giver dies after:
    store.put_signal(run_id, answer_signal("ask", "approved", None, None, now_ms))
    assert sweep(machine.world) == 0
    machine.clock.advance(START_GRACE_MS)
    assert sweep(machine.world) == 1
    machine.drain()
    assert machine.view(run_id).status == "completed"
