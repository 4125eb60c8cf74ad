"""Attempts that begin at once: always in a task of their own, and never at the cost of the others in the process."""

from __future__ import annotations

import asyncio
import contextvars
import selectors
from collections.abc import Callable
from time import monotonic
from typing import Any

import pytest

from stepless.limits import TURN_MS
from stepless.ports import Call, Message
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.execution.eager import start_now
from stepless.runtime.session.runner import InvocationEnd

Node = Callable[..., dict[str, Any]]
WORD: contextvars.ContextVar[str] = contextvars.ContextVar("WORD", default="unset")


def test_work_that_never_waits_is_over_at_once_in_a_task_and_a_context_of_its_own() -> None:
    seen: list[asyncio.Task[Any] | None] = []

    async def work() -> None:
        seen.append(asyncio.current_task())
        WORD.set("inside")

    async def scene() -> None:
        me = asyncio.current_task()
        task = start_now(asyncio.get_running_loop(), work(), "a")
        assert task.done() and seen == [task] and asyncio.current_task() is me and task is not me
        assert WORD.get() == "unset"
        assert task not in asyncio.all_tasks()

    asyncio.run(scene())


def test_what_else_is_scheduled_while_a_task_is_made_is_called_in_its_turn() -> None:
    """The garbage collector may run the finalizer of any object at that instant."""
    seen: list[str] = []

    async def work() -> None:
        seen.append("work")

    async def scene() -> None:
        loop = asyncio.get_running_loop()

        class Name(str):
            def __str__(self) -> str:  # called by the constructor of the task
                loop.call_soon(seen.append, "other")
                return "a"

        start_now(loop, work(), Name("a"))
        assert seen == ["work"] and "call_soon" not in vars(loop)
        await asyncio.sleep(0)
        assert seen == ["work", "other"]

    asyncio.run(scene())


def test_work_that_waits_continues_in_the_same_task_and_can_be_cancelled() -> None:
    seen: list[asyncio.Task[Any] | None] = []

    async def work() -> None:
        for _ in range(3):
            seen.append(asyncio.current_task())
            await asyncio.sleep(0)
        await asyncio.Event().wait()

    async def scene() -> None:
        task = start_now(asyncio.get_running_loop(), work(), "a")
        assert len(seen) == 1 and not task.done()
        for _ in range(5):
            await asyncio.sleep(0)
        assert seen == [task] * 3
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scene())


def test_an_error_stays_in_the_task() -> None:
    async def work() -> None:
        raise ZeroDivisionError

    async def scene() -> None:
        task = start_now(asyncio.get_running_loop(), work(), "a")
        assert isinstance(task.exception(), ZeroDivisionError)

    asyncio.run(scene())


def test_the_task_factory_of_the_host_is_used() -> None:
    made: list[str] = []

    def factory(loop: asyncio.AbstractEventLoop, work: Any, **options: Any) -> Any:
        made.append("task")
        return asyncio.Task(work, loop=loop, **options)

    async def scene() -> None:
        loop = asyncio.get_running_loop()
        loop.set_task_factory(factory)
        await start_now(loop, asyncio.sleep(0), "a")
        loop.set_task_factory(None)
        assert made == ["task"]

    asyncio.run(scene())


def test_a_loop_of_another_kind_gets_an_ordinary_task() -> None:
    """Its queue may be somewhere else, and hold something else at its end."""

    class Other(asyncio.SelectorEventLoop):
        def call_soon(self, callback: Any, *args: Any, context: Any = None) -> Any:
            handle = super().call_soon(callback, *args, context=context)
            super().call_soon(lambda: None)
            return handle

    async def work() -> str:
        return "done"

    async def scene() -> None:
        assert await start_now(asyncio.get_running_loop(), work(), "a") == "done"  # type: ignore[arg-type, func-returns-value]

    with asyncio.Runner(loop_factory=lambda: Other(selectors.DefaultSelector())) as runner:
        runner.run(scene())


def test_a_timeout_in_a_node_cancels_the_node_and_not_the_runner(machine: Any, node: Node) -> None:
    tasks: list[asyncio.Task[Any] | None] = []

    async def impatient(call: Call) -> str:
        tasks.append(asyncio.current_task())
        try:
            async with asyncio.timeout(0.001):
                await asyncio.Event().wait()
        except TimeoutError:
            return "tired"
        return "never"

    async def scene() -> None:
        machine.behaviours["a"] = machine.behaviours["b"] = impatient
        run_id: str = machine.start({"a": node(), "b": node("a")})
        mine = asyncio.current_task()
        assert await machine.runner.run(Message(run_id, "start"), Budget(60_000)) is InvocationEnd.ENDED
        assert machine.view(run_id).status == "completed"
        assert len({*tasks, mine}) == 3

    asyncio.run(scene())


def test_a_node_that_cancels_its_own_task_stops_no_runner(machine: Any, node: Node) -> None:
    async def rash(call: Call) -> str:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        return "done"

    async def scene() -> str:
        machine.behaviours["a"] = rash
        run_id: str = machine.start({"a": node(), "b": node("a")})
        async with asyncio.timeout(20):
            await machine.runner.run(Message(run_id, "start"), Budget(60_000))
        return run_id

    assert machine.view(asyncio.run(scene())).status == "completed"


def test_others_in_the_process_proceed_while_a_run_never_waits(machine: Any, node: Node) -> None:
    """Each node takes more than its turn, so the others proceed between any two of them."""
    turns = 0

    async def busy(call: Call) -> str:
        until = monotonic() + 1.5 * TURN_MS / 1000
        while monotonic() < until:
            pass
        return "done"

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def scene() -> None:
        names = [f"n{number}" for number in range(20)]
        machine.behaviours.update(dict.fromkeys(names, busy))
        run_id: str = machine.start({name: node(*names[:at][-1:]) for at, name in enumerate(names)})
        beside = asyncio.ensure_future(others())
        await machine.runner.run(Message(run_id, "start"), Budget(60_000))
        beside.cancel()
        assert machine.view(run_id).status == "completed"

    asyncio.run(scene())
    assert turns >= 19
