"""Deadlines of attempts: the engine's own, whatever the node's code makes of them (docs/understand/semantics.md#attempts)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from time import monotonic
from typing import Any

import pytest

from stepless.ports import Call, Message
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.runner import InvocationEnd

Node = Callable[..., dict[str, Any]]
WAIT_S = 20.0


async def for_ever(call: Call) -> str:
    await asyncio.Event().wait()
    return "never"


def test_code_that_swallows_its_cancellation_does_not_outlive_its_deadline(machine: Any, node: Node) -> None:
    """The run goes on at the deadline; what the code says and answers afterwards is not heard."""

    async def scene() -> str:
        release, over, next_began = asyncio.Event(), asyncio.Event(), asyncio.Event()

        async def stubborn(call: Call) -> str:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                call.log("I stay")
                await release.wait()
                call.log("I am still here")
            over.set()
            return "late"

        async def following(call: Call) -> str:
            next_began.set()
            return "done"

        machine.behaviours |= {"a": stubborn, "b": following}
        run_id: str = machine.start({"a": node(timeout_ms=10), "b": node("a.error"), "w": approval("b")})
        async with asyncio.timeout(WAIT_S):
            session = asyncio.create_task(machine.runner.run(Message(run_id, "start"), Budget(60_000)))
            await next_began.wait()
            assert not over.is_set()
            release.set()
            assert await session is InvocationEnd.PARKED
            assert over.is_set()
        return run_id

    run_id = asyncio.run(scene())
    view = machine.view(run_id)
    assert (view.nodes["a"].status, view.nodes["a"].error["code"]) == ("failed", "timeout")
    assert view.nodes["b"].status == "completed"
    assert not any(event.type in ("node.log", "node.completed") and event.instance == "a" for event in machine.log(run_id))


def test_a_late_end_is_not_taken_for_that_of_the_next_attempt(machine: Any, node: Node) -> None:
    async def twice(call: Call) -> str:
        if call.attempt == 1:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                await asyncio.sleep(0)
            return "of the first"
        return "of the second"

    machine.behaviours["a"] = twice
    run_id = machine.start({"a": node(timeout_ms=10, retry={"attempts": 2, "backoff_ms": 0})})
    machine.drain()
    assert machine.calls == {"a": 2}
    assert machine.view(run_id).nodes["a"].output == "of the second"


def test_each_attempt_has_its_own_deadline(machine: Any, node: Node) -> None:
    """The shorter one passes although it was begun later, and the longer one although a shorter one was met before."""
    machine.behaviours |= {"long": for_ever, "short": for_ever}
    run_id = machine.start({"long": node(timeout_ms=60), "first": node(timeout_ms=20), "short": node("first", timeout_ms=5)})
    machine.drain()
    codes = {event.instance: event.data["error"]["code"] for event in machine.log(run_id) if "error" in event.data}
    timed_out = [event.instance for event in machine.log(run_id) if event.type == "node.timed_out"]
    assert codes.keys() >= {"long", "short"}
    assert timed_out == ["short", "long"]


@pytest.mark.parametrize("fault", [ValueError("no such thing"), RuntimeError()])
def test_what_a_kind_should_not_raise_fails_its_node_and_nothing_else(machine: Any, node: Node, fault: Exception) -> None:
    async def broken(call: Call) -> str:
        raise fault

    machine.behaviours["a"] = broken
    run_id = machine.start({"a": node(), "b": node("a.error")})
    machine.drain()
    view = machine.view(run_id)
    assert (view.nodes["a"].error["code"], view.nodes["b"].status) == ("kind_raised", "completed")


class Slow(dict[str, Any]):
    """A table whose entries take longer to load than their nodes may work."""

    def __getitem__(self, kind: str) -> Any:
        loaded = monotonic() + 0.1
        while monotonic() < loaded:
            pass
        return super().__getitem__(kind)


def test_loading_a_kinds_code_is_no_part_of_its_time(machine: Any, node: Node) -> None:
    machine.world = replace(machine.world, kind_code=Slow(machine.world.kind_code))
    machine.runner = machine.process()
    run_id = machine.start({"a": node(timeout_ms=50), "b": node(timeout_ms=50)})
    machine.drain()
    view = machine.view(run_id)
    assert [view.nodes[name].status for name in ("a", "b")] == ["completed", "completed"]


def test_code_that_cannot_be_loaded_fails_its_node(machine: Any, node: Node) -> None:
    machine.world = replace(machine.world, kind_code={})
    machine.runner = machine.process()
    run_id = machine.start({"a": node()})
    machine.drain()
    assert machine.view(run_id).nodes["a"].error["code"] == "kind_raised"


def approval(after: str) -> dict[str, Any]:
    return {"type": "approval", "after": after, "with": {"message": "Go on?"}}
