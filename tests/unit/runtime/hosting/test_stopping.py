"""A process that stops in order: what goes on is cancelled and begins again elsewhere, and counts as no death."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from stepless.ports import Call
from stepless.runtime.hosting.host import Host

Node = Callable[..., dict[str, Any]]
MOST_TURNS = 100_000


def life(machine: Any, run_id: str, until: Callable[[], bool]) -> bool:
    """One process that serves until something holds and then stops in order. Returns whether it drained by itself."""

    async def serve() -> bool:
        machine.runner = machine.process()
        host = Host(machine.world, machine.runner, machine.queue, machine.timers, budget_ms=60_000, drain_ms=20)
        serving = asyncio.create_task(host.serve())
        for _ in range(MOST_TURNS):
            if until():
                break
            await asyncio.sleep(0)
        assert until()
        drained = await host.stop()
        await serving
        return drained

    return asyncio.run(serve())


@pytest.mark.parametrize("stops", [1, 5])
def test_attempts_that_go_on_when_the_process_stops_begin_again_and_count_no_death(
    machine: Any, node: Node, stops: int
) -> None:
    begun, forever = [], True

    async def work(call: Call) -> str:
        begun.append((call.instance, call.attempt))
        if forever:
            await asyncio.Event().wait()
        return "done"

    machine.behaviours = {"a": work, "b": work}
    run_id = machine.start({"a": node(), "b": node()})
    for number in range(stops):
        assert not life(machine, run_id, lambda number=number: len(begun) == 2 * (number + 1))
        head = machine.store.get_run(run_id)
        assert head.owner is None, "the lease was released"
    forever = False
    life(machine, run_id, lambda: machine.view(run_id).status == "completed")
    assert set(begun) == {("a", 1), ("b", 1)}
    assert "run.recovered" not in machine.types(run_id)
    assert not any(event.data.get("exclusive") for event in machine.log(run_id))


def test_an_attempt_at_most_once_that_goes_on_when_the_process_stops_has_an_unknown_outcome(machine: Any, node: Node) -> None:
    begun = []

    async def work(call: Call) -> str:
        begun.append(call.instance)
        await asyncio.Event().wait()
        return "never"

    machine.behaviours = {"a": work}
    run_id = machine.start({"a": node(delivery="at_most_once")})
    life(machine, run_id, lambda: bool(begun))
    life(machine, run_id, lambda: machine.view(run_id).status == "failed")
    assert begun == ["a"]
    assert machine.view(run_id).error["code"] == "outcome_unknown"
