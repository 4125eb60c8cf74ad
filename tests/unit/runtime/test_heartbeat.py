"""A function that continues after its attempt has ended learns it from its next call of heartbeat: a thread cannot be stopped."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from stepless.model.work import NodeFailure
from stepless.nodes import KIND_CODE
from stepless.nodes.function import FunctionCall, function
from stepless.runtime.session.budget import Budget

begun, ended = threading.Event(), threading.Event()
codes: list[str] = []


@function("heartbeat.long")
def long(call: FunctionCall) -> None:
    """Works until it is told that nobody waits for it."""
    begun.set()
    try:
        while True:
            call.heartbeat()
    except NodeFailure as failure:
        codes.append(failure.code)
        ended.set()
        raise


@function("heartbeat.short")
def short(call: FunctionCall) -> str:
    call.heartbeat()
    return "done"


def node(call: str, **more: Any) -> dict[str, Any]:
    return {"type": "function", "with": {"call": call}, **more}


@pytest.fixture
def at_work(machine: Any) -> Any:
    begun.clear()
    ended.clear()
    codes.clear()
    machine.world.kind_code["function"] = KIND_CODE["function"]
    return machine


def test_a_function_whose_time_is_up_is_told_to_stop(at_work: Any) -> None:
    run_id = at_work.start({"a": node("heartbeat.long", timeout_ms=40)})
    at_work.drain()
    assert ended.wait(10) and codes == ["attempt_over"]
    assert at_work.view(run_id).nodes["a"].code == "timeout"


def test_a_function_of_a_cancelled_run_is_told_to_stop(at_work: Any) -> None:
    run_id = at_work.start({"a": node("heartbeat.long"), "b": node("heartbeat.short")})

    async def cancelled_meanwhile() -> None:
        message = at_work.queue.receive(at_work.clock.now_ms())
        running = asyncio.create_task(at_work.runner.run(message, Budget(60_000)))
        assert await asyncio.to_thread(begun.wait, 10)
        at_work.service.cancel(run_id)
        at_work.runner.sessions[run_id].poke()
        await running

    asyncio.run(cancelled_meanwhile())
    assert ended.wait(10) and codes == ["attempt_over"]
    assert at_work.view(run_id).status == "cancelled"


def test_a_function_that_somebody_waits_for_works_on(at_work: Any) -> None:
    run_id = at_work.start({"a": node("heartbeat.short")})
    at_work.drain()
    assert at_work.view(run_id).nodes["a"].output == "done"
