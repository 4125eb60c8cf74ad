"""Exclusive attempts in a process with several runs (docs/understand/durability.md#deaths-of-the-process)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from stepless.errors import StoreUnavailable
from stepless.limits import LEASE_MS
from stepless.ports import Call, Message
from stepless.runtime.hosting.sweep import sweep
from stepless.runtime.session.budget import Budget

Node = Callable[..., dict[str, Any]]
MOST_TURNS = 100_000


class Work:
    """Attempts that last until they are let go. `begun` names them, and what else was in progress when each began."""

    def __init__(self) -> None:
        self.begun: list[tuple[str, frozenset[str]]] = []
        self.in_progress: dict[str, asyncio.Event] = {}

    async def __call__(self, call: Call) -> str:
        name = f"{call.run_id}:{call.instance}"
        self.begun.append((name, frozenset(self.in_progress)))
        self.in_progress[name] = asyncio.Event()
        try:
            await self.in_progress[name].wait()
        finally:
            del self.in_progress[name]
        return "done"


@pytest.fixture
def work() -> Work:
    return Work()


async def until(holds: Callable[[], bool]) -> None:
    for _ in range(MOST_TURNS):
        if holds():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never happens")


async def settle() -> None:
    """Lets everything happen that can happen now."""
    for _ in range(200):
        await asyncio.sleep(0)


def start(machine: Any, workflow: str, nodes: dict[str, Any]) -> str:
    machine.service.publish({"id": workflow, "nodes": nodes})
    return str(machine.service.start(workflow, {}).run_id)


def die(machine: Any, work: Work, *runs: str) -> None:
    """A process takes the runs, begins their attempts and dies. Its lease ends, and nothing else of it remains."""

    async def live() -> None:
        machine.runner = machine.process()
        tasks = [asyncio.create_task(machine.runner.run(Message(run, "sweep"), Budget(60_000))) for run in runs]
        await settle()
        assert work.in_progress
        sessions = list(machine.runner.sessions.values())
        for session in sessions:  # a dead process writes nothing
            session.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(live())
    while machine.queue.receive(machine.clock.now_ms() + 10**9) is not None:
        continue
    machine.clock.advance(LEASE_MS + 1)
    sweep(machine.world)


def test_an_exclusive_attempt_waits_for_other_runs_and_holds_back_theirs(machine: Any, node: Node, work: Work) -> None:
    machine.behaviours = dict.fromkeys(("a", "b", "x", "y"), work)
    doubted = start(machine, "doubted", {"a": node(), "b": node()})
    die(machine, work, doubted)
    die(machine, work, doubted)
    other = start(machine, "other", {"x": node(), "y": node("x")})
    third = start(machine, "third", {"x": node()})
    work.begun.clear()

    async def play() -> None:
        machine.runner = machine.process()
        run = lambda name: asyncio.create_task(machine.runner.run(Message(name, "start"), Budget(60_000)))  # noqa: E731
        tasks = [run(other)]
        await until(lambda: f"{other}:x" in work.in_progress)
        tasks.append(run(doubted))
        await settle()
        tasks.append(run(third))
        await settle()
        assert [name for name, _ in work.begun] == [f"{other}:x"], "in doubt, it waits; and the third run is held back"
        work.in_progress[f"{other}:x"].set()
        await until(lambda: f"{doubted}:a" in work.in_progress)
        await settle()
        assert set(work.in_progress) == {f"{doubted}:a"}, "y of the other run is held back, too"
        work.in_progress[f"{doubted}:a"].set()
        await until(lambda: f"{third}:x" in work.in_progress and f"{other}:y" in work.in_progress)
        await settle()
        assert f"{doubted}:b" not in work.in_progress, "those that were held back come first"
        work.in_progress[f"{third}:x"].set()
        work.in_progress[f"{other}:y"].set()
        await until(lambda: f"{doubted}:b" in work.in_progress)
        work.in_progress[f"{doubted}:b"].set()
        await asyncio.gather(*tasks)

    asyncio.run(play())
    alone = {f"{doubted}:a", f"{doubted}:b"}
    assert {name for name, beside in work.begun if name in alone and not beside} == alone
    assert [machine.view(run).status for run in (doubted, other, third)] == ["completed"] * 3


def test_what_was_held_back_begins_when_the_session_in_doubt_leaves(machine: Any, node: Node, work: Work) -> None:
    machine.behaviours = dict.fromkeys(("a", "x"), work)
    doubted = start(machine, "doubted", {"a": node()})
    die(machine, work, doubted)
    die(machine, work, doubted)
    other = start(machine, "other", {"x": node()})

    async def play() -> None:
        machine.runner = machine.process()
        first = asyncio.create_task(machine.runner.run(Message(doubted, "sweep"), Budget(60_000)))
        await until(lambda: f"{doubted}:a" in work.in_progress)
        second = asyncio.create_task(machine.runner.run(Message(other, "start"), Budget(60_000)))
        await settle()
        assert set(work.in_progress) == {f"{doubted}:a"}
        first.cancel()
        await until(lambda: f"{other}:x" in work.in_progress)
        work.in_progress[f"{other}:x"].set()
        await second

    asyncio.run(play())
    assert machine.view(other).status == "completed"


def test_a_session_that_an_outage_ended_is_no_death(machine: Any, node: Node, work: Work) -> None:
    """The attempt was interrupted, but the process that executed it is the one that executes it again."""
    machine.behaviours = {"a": work}
    run_id = start(machine, "small", {"a": node(), "b": node()})

    async def play() -> None:
        for _ in range(6):
            task = asyncio.create_task(machine.runner.run(Message(run_id, "sweep"), Budget(60_000)))
            await until(lambda: f"{run_id}:a" in work.in_progress)
            machine.runner.sessions[run_id]._arrivals.fail(StoreUnavailable("an outage"), "test")
            with pytest.raises(StoreUnavailable):
                await task
            machine.clock.advance(LEASE_MS + 1)
        task = asyncio.create_task(machine.runner.run(Message(run_id, "sweep"), Budget(60_000)))
        await until(lambda: f"{run_id}:a" in work.in_progress)
        work.in_progress[f"{run_id}:a"].set()
        await task

    asyncio.run(play())
    assert machine.view(run_id).status == "completed"
    recovered = [event for event in machine.log(run_id) if event.type == "run.recovered"]
    assert len(recovered) == 6 and not any(event.data.get("died", True) for event in recovered)
