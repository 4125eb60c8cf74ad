"""A workflow that calls another: one child per instance, its notifications, its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepless.adapters.memory.store import MemoryStore
from stepless.adapters.sqlite.store import SqliteStore
from stepless.limits import LEASE_MS
from stepless.model.work import NodeFailure
from stepless.ports import Call, OpenStore, RunFilter
from stepless.runtime.headers import number_of
from stepless.runtime.session.pauses.children import caller, child_id
from stepless.runtime.verbs.reads.inspecting import RunView
from stepless.runtime.wiring.local import Local, assemble, local

CHILD = {
    "id": "child",
    "nodes": {
        "start": {"type": "manual"},
        "ask": {"type": "approval", "after": "start", "with": {"message": "Go on?", "fields": {"note": {"type": "string"}}}},
        "done": {"type": "transform", "after": "ask.approved", "with": {"value": {"got": "<start.n>", "note": "<ask.note>"}}},
        "no": {"type": "function", "after": "ask.rejected", "with": {"call": "nobody.knows"}},
    },
}
PARENT = {
    "id": "parent",
    "nodes": {
        "call": {"type": "workflow", "with": {"workflow": "child", "inputs": {"n": "<input.n>"}}},
        "after": {"type": "transform", "after": "call", "with": {"value": "<call.done.got>"}},
    },
}


@pytest.fixture
def engine() -> Local:
    engine = local(None)
    engine.service.publish(CHILD)
    engine.service.publish(PARENT)
    return engine


async def until(engine: Local, run_id: str, holds: Callable[[RunView], bool]) -> RunView:
    """Serves until the run is as wanted."""
    serving = asyncio.create_task(engine.host.serve())
    changed = asyncio.Event()
    engine.host.on_ending = lambda _: changed.set()
    try:
        async with asyncio.timeout(10):
            while not holds(view := engine.service.run(run_id)):
                await changed.wait()
                changed.clear()
    finally:
        await engine.host.stop()
        await serving
    return view


def status_is(status: str) -> Callable[[RunView], bool]:
    return lambda view: view.status == status


def token_of(engine: Local, run_id: str) -> str:
    (pause,) = engine.service.run(run_id).pauses
    assert pause.token is not None
    return pause.token


def next_process(engine: Local) -> Local:
    """Another process over the same store: a host is not served twice."""
    return assemble(OpenStore(engine.world.store, engine.world.blobs), 60_000, engine.world.secrets)


def test_a_child_that_pauses_pauses_its_parent_and_its_end_is_the_parents_result(engine: Local) -> None:
    parent = engine.service.start("parent", {"n": 7}).run_id
    child = child_id(f"{parent}:call")
    view = asyncio.run(until(engine, parent, status_is("paused")))
    assert view.nodes["call"].status == "waiting"
    assert engine.service.run(child).status == "paused"
    later = next_process(engine)
    later.service.answer(token_of(later, child), "approved", {"note": "fine"})
    view = asyncio.run(until(later, parent, status_is("completed")))
    assert view.outputs == {"after": 7}
    assert view.nodes["call"].output == {"done": {"got": 7, "note": "fine"}}


def test_a_child_that_fails_fails_the_node_that_called_it(engine: Local) -> None:
    parent = engine.service.start("parent", {"n": 7}).run_id
    asyncio.run(until(engine, parent, status_is("paused")))
    later = next_process(engine)
    later.service.answer(token_of(later, child_id(f"{parent}:call")), "rejected", None)
    view = asyncio.run(until(later, parent, status_is("failed")))
    assert view.nodes["call"].code == "child_failed"


def test_cancelling_the_parent_cancels_the_child(engine: Local) -> None:
    parent = engine.service.start("parent", {"n": 7}).run_id
    asyncio.run(until(engine, parent, status_is("paused")))
    later = next_process(engine)
    later.service.cancel(parent)
    asyncio.run(until(later, child_id(f"{parent}:call"), status_is("cancelled")))
    assert later.service.run(parent).status == "cancelled"


def test_workflows_that_call_each_other_for_ever_are_stopped(engine: Local) -> None:
    engine.service.publish({"id": "for-ever", "nodes": {"call": {"type": "workflow", "with": {"workflow": "for-ever"}}}})
    run = engine.service.start("for-ever", {}).run_id
    view = asyncio.run(until(engine, run, status_is("failed")))
    assert view.nodes["call"].code == "child_failed"
    assert len(engine.service.search(RunFilter()).items) == 26


def test_an_unknown_workflow_fails_the_node_that_calls_it(engine: Local) -> None:
    engine.service.publish({"id": "lost", "nodes": {"call": {"type": "workflow", "with": {"workflow": "nowhere"}}}})
    run = engine.service.start("lost", {}).run_id
    view = asyncio.run(until(engine, run, status_is("failed")))
    assert view.nodes["call"].code == "unknown_workflow"


# -- a caller that gives up -------------------------------------------------------------------------------------------


def slow_to_tell(machine: Any, before: bool = False) -> None:
    """Makes the machine's `workflow` nodes hang, after they have made their child or before."""
    start = caller(machine.world)

    async def run(call: Call) -> Any:
        paused = None if before else await start(call)
        await asyncio.Event().wait()
        return paused

    machine.world.kind_code["workflow"] = run


CALLER = {"c": {"type": "workflow", "with": {"workflow": "child", "inputs": {"n": 1}}, "timeout_ms": 30}}


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_child_whose_caller_ran_out_of_time_is_cancelled(make_machine: Any, tmp_path: Path, kind: str) -> None:
    store = MemoryStore() if kind == "memory" else SqliteStore(tmp_path / "runs.db")
    machine = make_machine(store)
    slow_to_tell(machine)
    machine.service.publish(CHILD)
    parent = machine.start(CALLER)
    machine.drain()
    assert (machine.view(parent).status, machine.view(parent).nodes["c"].code) == ("failed", "timeout")
    assert machine.view(child_id(f"{parent}:c")).status == "cancelled"
    if isinstance(store, SqliteStore):
        store.close()


def test_a_caller_that_is_tried_again_finds_the_child_that_it_made(make_machine: Any) -> None:
    machine = make_machine()
    machine.service.publish(CHILD)
    start = caller(machine.world)

    async def fails_after_its_start(call: Call) -> Any:
        await start(call)
        raise NodeFailure("provider_error", "broken", "the answer was lost")

    machine.world.kind_code["workflow"] = fails_after_its_start
    retry = {"attempts": 2, "backoff_ms": 60_000, "max_backoff_ms": 60_000}
    parent = machine.start({"c": {**CALLER["c"], "timeout_ms": 600_000, "retry": retry}})
    for _ in range(200):
        if "node.retried c" in machine.types(parent):
            break
        machine.step()
    machine.world.kind_code["workflow"] = start
    while machine.view(parent).status != "paused":
        assert machine.step()
    assert machine.view(child_id(f"{parent}:c")).status == "paused"
    assert len(machine.service.search(RunFilter("child")).items) == 1


# -- retry and timeout_ms of a caller ---------------------------------------------------------------------------------

FAILING = {"id": "failing", "nodes": {"f": {"type": "function", "with": {"call": "test.work"}}}}
WAITING = {"id": "waiting", "nodes": {"w": {"type": "wait", "with": {"for": "2d"}}}}
RETRY = {"attempts": 3, "backoff_ms": 60_000, "max_backoff_ms": 60_000}


def calling(make_machine: Any, *documents: Any) -> Any:
    """A machine whose `workflow` nodes start runs in its own world."""
    machine = make_machine()
    machine.world.kind_code["workflow"] = caller(machine.world)
    for document in documents:
        machine.service.publish(document)
    return machine


def children_of(machine: Any, workflow: str) -> list[str]:
    """The status of each child run, oldest first."""
    return [run.status for run in reversed(machine.service.search(RunFilter(workflow)).items)]


def test_each_attempt_of_a_caller_has_a_child_run_of_its_own(make_machine: Any) -> None:
    machine = calling(make_machine, FAILING)
    failures = iter([True, True, False])

    async def behaviour(call: Call) -> str:
        if next(failures):
            raise NodeFailure("provider_error", "down", "it is down")
        return "done"

    machine.behaviours["f"] = behaviour
    parent = machine.start({"c": {"type": "workflow", "with": {"workflow": "failing"}, "retry": RETRY}})
    machine.drain()
    assert (machine.view(parent).status, machine.view(parent).nodes["c"].output) == ("completed", {"f": "done"})
    assert children_of(machine, "failing") == ["failed", "failed", "completed"]
    assert machine.types(parent).count("node.retried c") == 2


def test_a_cause_that_is_not_listed_is_final(make_machine: Any) -> None:
    machine = calling(make_machine, FAILING)

    async def behaviour(call: Call) -> str:
        raise NodeFailure("execution", "odd", "its result cannot be used")

    machine.behaviours["f"] = behaviour
    parent = machine.start({"c": {"type": "workflow", "with": {"workflow": "failing"}, "retry": RETRY}})
    machine.drain()
    assert (machine.view(parent).status, children_of(machine, "failing")) == ("failed", ["failed"])


def test_the_time_of_a_caller_covers_its_child_run(make_machine: Any) -> None:
    machine = calling(make_machine, WAITING)
    retry = {**RETRY, "attempts": 2}
    parent = machine.start({"c": {"type": "workflow", "with": {"workflow": "waiting"}, "retry": retry, "timeout_ms": 600_000}})
    machine.drain()
    assert (machine.view(parent).status, machine.view(parent).nodes["c"].code) == ("failed", "timeout")
    assert children_of(machine, "waiting") == ["cancelled", "cancelled"]


def test_a_process_that_dies_while_attempts_of_a_caller_end_leaves_no_child_behind(make_machine: Any) -> None:
    """After any death, the parent ends as without one, and each attempt had one child run."""
    # a back-off with jitter could end within STAY_MS of an instant to which the test sets the clock: the session would stay
    retry = {"attempts": 2, "backoff_ms": 0}
    node = {"type": "workflow", "with": {"workflow": "waiting"}, "retry": retry, "timeout_ms": 600_000}
    for at in range(1, 100, 3):
        machine = calling(make_machine, WAITING)
        parent = machine.start({"c": node})
        machine.faults.at = at
        for _ in range(50):
            try:
                machine.drain()
                break
            except Exception as error:
                if type(error).__name__ != "Died":
                    raise
                machine.runner = machine.process()
                machine.clock.set(machine.clock.now_ms() + LEASE_MS)
        assert machine.view(parent).nodes["c"].code == "timeout", at
        assert children_of(machine, "waiting") == ["cancelled", "cancelled"], at


def test_a_caller_that_made_no_child_has_none_to_cancel(make_machine: Any) -> None:
    machine = make_machine()
    slow_to_tell(machine, before=True)
    machine.service.publish(CHILD)
    parent = machine.start(CALLER)
    machine.drain()
    assert machine.view(parent).status == "failed"
    assert machine.store.get_run(child_id(f"{parent}:c")) is None


def test_a_process_that_dies_while_a_caller_fails_leaves_no_child_behind(make_machine: Any) -> None:
    for at in range(1, 60):
        machine = make_machine()
        slow_to_tell(machine)
        machine.service.publish(CHILD)
        parent = machine.start(CALLER)
        machine.faults.at = at
        for _ in range(50):
            try:
                machine.drain()
                break
            except Exception as error:
                if type(error).__name__ != "Died":
                    raise
                machine.runner = machine.process()
                machine.clock.set(machine.clock.now_ms() + LEASE_MS)
        assert machine.view(parent).status == "failed", at
        assert machine.view(child_id(f"{parent}:c")).status == "cancelled", at


def test_a_child_run_has_its_number_once(engine: Local) -> None:
    """Also when the attempt that made it is repeated."""
    engine.service.publish({**CHILD, "numbered": True})
    call = Call("run_1", "parent", "call", "call", "workflow", 1, {"workflow": "child"}, {}, {}, "run_1:call", 0)
    for _ in range(2):
        asyncio.run(caller(engine.world)(call))
    (child,) = engine.service.search(RunFilter("child")).items
    assert number_of(child) == 1
    assert engine.service.start("child", {}).number == 2
