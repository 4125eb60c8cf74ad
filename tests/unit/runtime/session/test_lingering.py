"""Code that goes on after the end of its attempt, in real threads: what begins only when it has returned
(docs/understand/semantics.md#code-that-outlives-its-attempt)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from stepless.errors import StoreUnavailable
from stepless.limits import LAPSE_MS, LEASE_MS
from stepless.nodes.function.threads import Threads
from stepless.ports import Call, Message
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.permits.lingering import Lingering
from stepless.runtime.session.runner import InvocationEnd
from stepless.thread_calls import CountedPool, count_thread_calls

Node = Callable[..., dict[str, Any]]
WAIT_S = 20.0
TWICE = {"attempts": 2, "backoff_ms": 0}
ONE = {"max": 1}
SHORT_MS = 400  # a timeout that the first call misses and the second one keeps, on a busy machine too


class Sync:
    """A sync function whose first call blocks its thread until `gate` is set. `story` has the begin and the end of each call."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.story: list[str] = []
        self._threads = Threads()

    async def __call__(self, call: Call) -> str:
        def work() -> str:
            self.story.append(f"+{call.attempt}")
            if len(self.story) == 1:
                self.gate.wait(WAIT_S)
            self.story.append(f"-{call.attempt}")
            return "done"

        value, error = await self._threads.run(work)
        if error is not None:
            raise error
        return str(value)


@pytest.fixture
def sync() -> Iterator[Sync]:
    made = Sync()
    yield made
    made.gate.set()


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(WAIT_S):
        while True:
            if holds():
                return
            await asyncio.sleep(0)


def waits_for_return(machine: Any, run_id: str) -> bool:
    """Whether the retry of `a` is decided, and does not begin."""
    return bool(machine.types(run_id)[-2:] == ["node.retried a", "node.queued a"])


def scene(play: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(WAIT_S):
            await play()

    asyncio.run(bounded())


def begin(machine: Any, run_id: str, budget: Budget | None = None, reason: str = "start") -> asyncio.Task[InvocationEnd]:
    return asyncio.create_task(machine.runner.run(Message(run_id, reason), budget or Budget(60_000)))


# -- retries -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [{}, {"concurrency": ONE}], ids=["free", "limited"])
def test_a_retry_begins_when_the_thread_of_the_former_attempt_has_returned(
    machine: Any, node: Node, sync: Sync, limit: dict[str, Any]
) -> None:
    machine.behaviours["a"] = sync
    run_id = machine.start({"a": node(timeout_ms=SHORT_MS, retry=TWICE, **limit)})

    async def play() -> None:
        session = begin(machine, run_id)
        await until(lambda: waits_for_return(machine, run_id))
        assert sync.story == ["+1"]
        sync.gate.set()
        assert await session is InvocationEnd.ENDED

    scene(play)
    assert sync.story == ["+1", "-1", "+2", "-2"]
    assert machine.view(run_id).status == "completed"


def test_other_branches_go_on_while_the_code_of_one_lingers(machine: Any, node: Node, sync: Sync) -> None:
    """Also when the soft budget of the invocation is used up: such a session cannot hand over."""
    machine.behaviours["a"] = sync
    stuck = node(timeout_ms=SHORT_MS, retry=TWICE)
    run_id = machine.start({"a": stuck, "b": node("go"), "c": node("b"), "go": {"type": "manual"}})

    async def play() -> None:
        session = begin(machine, run_id, Budget(0))
        await until(lambda: {"node.completed c", "node.queued a"} <= set(machine.types(run_id)))
        sync.gate.set()
        await session

    scene(play)
    machine.drain()
    assert machine.view(run_id).status == "completed"


def test_the_next_session_of_the_process_waits_for_the_code_of_one_that_failed(machine: Any, node: Node, sync: Sync) -> None:
    machine.behaviours["a"] = sync
    run_id = machine.start({"a": node()})

    async def play() -> None:
        session = begin(machine, run_id)
        await until(lambda: sync.story == ["+1"])
        machine.runner.sessions[run_id]._arrivals.fail(StoreUnavailable("the store is gone"), "a")
        with pytest.raises(StoreUnavailable):
            await session
        machine.clock.set(machine.clock.now_ms() + LEASE_MS + 1)
        session = begin(machine, run_id, reason="sweep")
        await until(lambda: waits_for_return(machine, run_id))
        assert sync.story == ["+1"]
        sync.gate.set()
        await session

    scene(play)
    assert sync.story == ["+1", "-1", "+1", "-1"], "the attempt was cut off: it keeps its number"
    assert machine.view(run_id).status == "completed"


# -- slots -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["node", "workflow"])
@pytest.mark.parametrize("ends", ["cancelled", "timed_out"])
def test_a_slot_is_given_back_when_the_code_has_returned(
    machine: Any, node: Node, sync: Sync, where: str, ends: str
) -> None:
    machine.behaviours["a"] = sync
    limits = ({"concurrency": ONE}, {}) if where == "node" else ({}, {"concurrency": ONE})
    timeout = {"timeout": "1s"} if ends == "timed_out" else {}
    first = machine.start({"a": node(**limits[0])}, **limits[1], **timeout)
    second = machine.start({"a": node(**limits[0])}, **limits[1])

    async def play() -> None:
        session = begin(machine, first)
        await until(lambda: sync.story == ["+1"])
        if ends == "cancelled":
            machine.service.cancel(first)
        else:
            machine.clock.set(machine.clock.now_ms() + 1_001)
        await begin(machine, first, reason="signal")
        await until(lambda: machine.store.get_run(first).status == ends)
        assert await begin(machine, second) is InvocationEnd.PARKED
        assert sync.story == ["+1"]
        sync.gate.set()
        assert await session is InvocationEnd.ENDED

    scene(play)
    machine.drain()
    assert (machine.view(first).status, machine.view(second).status) == (ends, "completed")
    assert sync.story == ["+1", "-1", "+1", "-1"]


def test_a_cancel_of_prompt_code_writes_the_header_once_more_at_most(machine: Any, node: Node) -> None:
    """The renewal that shows the end early is for code that goes on."""

    async def for_ever(call: Call) -> str:
        await asyncio.Event().wait()
        return "never"

    machine.behaviours["a"] = for_ever
    run_id = machine.start({"a": node(concurrency=ONE)})

    async def play() -> None:
        session = begin(machine, run_id)
        await until(lambda: machine.calls["a"] == 1)
        machine.faults.names.clear()
        machine.service.cancel(run_id)
        await begin(machine, run_id, reason="signal")
        await session

    scene(play)
    assert machine.faults.names.count("update_run") == 1


# -- the end of the process --------------------------------------------------------------------------------------------


def test_a_session_that_stops_lets_its_lease_lapse_and_the_next_process_goes_on(machine: Any, node: Node, sync: Sync) -> None:
    machine.behaviours["a"] = sync
    run_id = machine.start({"a": node(timeout_ms=SHORT_MS, retry=TWICE, concurrency=ONE)})

    async def play() -> None:
        session = begin(machine, run_id)
        await until(lambda: waits_for_return(machine, run_id))
        machine.runner.sessions[run_id].stop()
        assert await session is InvocationEnd.CONTINUED
        assert machine.runner.lingering

    scene(play)
    head = machine.store.get_run(run_id)
    assert (head.owner is not None, head.lease_until_ms) == (True, machine.clock.now_ms() + LAPSE_MS)
    assert head.due_ms == head.lease_until_ms
    assert sync.story == ["+1"]
    sync.gate.set()  # the process has ended, and the code with it
    machine.runner = machine.process()
    machine.drain()
    assert machine.view(run_id).status == "completed"
    assert machine.clock.now_ms() >= head.lease_until_ms
    assert "run.recovered" not in machine.types(run_id), "an orderly end is no crash"


def test_a_session_that_stops_leaves_after_those_without_lingering_code(machine: Any, node: Node, sync: Sync) -> None:
    begun, release = asyncio.Event(), asyncio.Event()

    async def held(call: Call) -> str:
        begun.set()
        await release.wait()
        return "done"

    machine.behaviours |= {"a": sync, "b": held}
    lingering = machine.start({"a": node(timeout_ms=SHORT_MS, retry=TWICE)})
    other = machine.start({"b": node(), "c": node("b")})

    async def play() -> None:
        session, its = begin(machine, lingering), begin(machine, other)
        await begun.wait()
        await until(lambda: waits_for_return(machine, lingering))
        for active in list(machine.runner.sessions.values()):
            active.stop()
        release.set()
        assert await its is InvocationEnd.CONTINUED
        assert not session.done()
        await session

    scene(play)
    assert machine.types(other)[-2:] == ["node.completed b", "node.queued c"]


@pytest.mark.parametrize("ends", [False, True], ids=["goes on", "has ended"])
def test_an_invocation_that_is_used_up_leaves_the_code_to_the_end_of_its_process(
    machine: Any, node: Node, sync: Sync, ends: bool
) -> None:
    now = 0.0
    machine.behaviours["a"] = sync
    run_id = machine.start({"a": node(timeout_ms=SHORT_MS, retry=TWICE if not ends else {"attempts": 1}, concurrency=ONE)})

    async def play() -> None:
        nonlocal now
        session = begin(machine, run_id, Budget(60_000, hard=True, clock=lambda: now))
        await until(lambda: machine.runner.lingering and machine.runner.sessions[run_id].only_lingers)
        now = 56.0
        machine.runner.sessions[run_id].poke()
        assert await session is InvocationEnd.CONTINUED
        assert not await machine.runner.lingering.wait(0)

    scene(play)
    head = machine.store.get_run(run_id)
    assert head.owner is not None and head.status == ("failed" if ends else "running")
    sync.gate.set()
    machine.runner = machine.process()
    machine.drain()
    assert machine.store.get_run(run_id).owner is None
    assert machine.view(run_id).status == ("failed" if ends else "completed")


def test_the_process_hears_of_code_that_is_overdue(machine: Any, node: Node, sync: Sync) -> None:
    heard = asyncio.Event()
    machine.runner.lingering.most_ms = 1
    machine.runner.lingering.on_overdue = heard.set
    machine.behaviours["a"] = sync
    run_id = machine.start({"a": node(timeout_ms=SHORT_MS, retry=TWICE)})

    async def play() -> None:
        session = begin(machine, run_id)
        await heard.wait()
        assert machine.runner.lingering.overdue()
        assert list(machine.runner.lingering.names()) == [f"a of {run_id}"]
        sync.gate.set()
        await session
        assert not machine.runner.lingering

    scene(play)


# -- what is counted ---------------------------------------------------------------------------------------------------


def test_calls_of_a_tracked_pool_are_counted_until_they_return() -> None:
    gate = threading.Event()

    async def play() -> None:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(CountedPool(2))

        async def attempt() -> None:
            await asyncio.gather(asyncio.to_thread(gate.wait, WAIT_S), asyncio.to_thread(gate.wait, WAIT_S))

        calls = count_thread_calls(loop)
        work = asyncio.create_task(attempt())
        await until(lambda: calls.number == 2)
        work.cancel()
        await asyncio.wait([work])
        assert calls.number == 2
        returned = asyncio.Event()
        calls.returned = returned.set
        gate.set()
        await returned.wait()
        assert calls.number == 0

    try:
        scene(play)
    finally:
        gate.set()


def test_a_call_that_never_began_has_returned() -> None:
    gate = threading.Event()

    async def play() -> None:
        pool = CountedPool(1)
        pool.submit(gate.wait, WAIT_S)
        calls = count_thread_calls(asyncio.get_running_loop())
        waiting = asyncio.get_running_loop().run_in_executor(pool, gate.wait, WAIT_S)
        assert calls.number == 1
        waiting.cancel()
        await until(lambda: calls.number == 0)

    try:
        scene(play)
    finally:
        gate.set()


def test_an_attempt_that_completes_while_a_call_of_its_goes_on_keeps_its_slot(machine: Any, node: Node) -> None:
    """As a tool does that has timed out."""
    gate, pool = threading.Event(), CountedPool(1)

    async def leaves_a_call(call: Call) -> str:
        asyncio.get_running_loop().run_in_executor(pool, gate.wait, WAIT_S)
        return "done"

    machine.behaviours["a"] = leaves_a_call
    run_id = machine.start({"a": node(concurrency=ONE)})

    async def play() -> None:
        session = begin(machine, run_id)
        await until(lambda: machine.store.get_run(run_id).status == "completed")
        assert not session.done()
        gate.set()
        assert await session is InvocationEnd.ENDED

    try:
        scene(play)
    finally:
        gate.set()


def test_nothing_lingers_without_code() -> None:
    lingering = Lingering()
    assert not lingering and not lingering.of("run") and "a" not in lingering.of("run")
    assert asyncio.run(lingering.wait(0))


def test_runs_without_lingering_code_make_no_more_calls(machine: Any, node: Node) -> None:
    machine.world = replace(machine.world)
    run_id = machine.start({"a": node(), "b": node("a")})
    machine.drain()
    assert machine.view(run_id).status == "completed"
    assert machine.faults.names.count("update_run") == 1
