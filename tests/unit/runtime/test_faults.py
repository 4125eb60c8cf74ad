"""The loop under faults: a process dies, or the store is out of reach, at every call that a run makes
(docs/understand/durability.md#what-must-hold)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from stepless.errors import StoreUnavailable
from stepless.model.work import NodeFailure
from stepless.ports import Call

Node = Callable[..., dict[str, Any]]
Wide = Callable[[int], dict[str, Any]]


def eventful(node: Node) -> dict[str, Any]:
    return {
        "s": node(),
        "a": node("s"), "b": node("s", delivery="at_most_once"),
        "c": {"type": "set", "after": "s", "with": {"variables": {"x": 1}}},
        "w": {"type": "approval", "after": ["a", "b", "c"], "with": {"message": "Go on?"}},
        "t": {"type": "wait", "after": "w.approved", "with": {"for": "1h"}},
        "r": node("t", retry={"attempts": 3, "backoff_ms": 200_000, "max_backoff_ms": 200_000}),
        "l": {"type": "loop", "after": "r", "with": {"times": 2, "body": {"nodes": {"x": node()}}}},
        "z": node("l"),
    }  # fmt: skip


EVENTFUL = ("s", "a", "b", "c", "w", "t", "r", "l", "x@l[0]", "x@l[1]", "z")


async def second_time_lucky(call: Call) -> str:
    if call.attempt == 1:
        raise NodeFailure("timeout", "timeout", "not yet")
    return "good"


def play(machine: Any, node: Node, on_death: Callable[[], None], nodes: dict[str, Any] | None = None) -> str:
    """The eventful run to its end; whoever asks for something asks again after a fault."""
    machine.behaviours["r"] = second_time_lucky
    run_id = machine.start(nodes or eventful(node), variables={"x": 0})
    answered = False
    for _ in range(500):
        try:
            went_on = machine.step()
        except type(machine.faults.error):
            on_death()
            continue
        if not went_on or (not answered and machine.store.get_run(run_id).status == "paused"):
            if answered or "w" not in (nodes or eventful(node)):
                return run_id
            machine.service.answer_pause(run_id, "w", "approved", {})
            answered = True
    raise AssertionError("it never comes to rest")


def check(machine: Any, run_id: str, names: tuple[str, ...]) -> None:
    log = machine.log(run_id)
    assert machine.view(run_id).status == "completed"
    assert [event.sequence for event in log] == list(range(1, len(log) + 1))
    assert machine.completions(run_id) == Counter(names), "each exactly once"
    assert log[-1].type == "run.completed"
    assert machine.store.get_run(run_id).status == "completed"


def crash_points(make: Callable[[], Any], node: Node, nodes: Callable[[Node], dict[str, Any]]) -> int:
    machine = make()
    play(machine, node, lambda: None, nodes(node))
    return int(machine.faults.calls)


@pytest.mark.parametrize("after", [False, True], ids=["before it", "after it"])
def test_a_process_may_die_at_any_call(machine: Any, node: Node, after: bool) -> None:
    """Whatever the call was: the run ends as it would have, nothing completes twice, and only what was under way runs again."""
    nodes = {**eventful(node), "b": node("s")}
    for call in range(1, crash_points(type(machine), node, lambda node: nodes) + 1):
        world = type(machine)()
        world.faults.at, world.faults.after = call, after

        def next_process(world: Any = world) -> None:
            world.runner = world.process()

        run_id = play(world, node, next_process, nodes)
        check(world, run_id, EVENTFUL)
        again = {instance: n for instance, n in world.calls.items() if n > (2 if instance == "r" else 1)}
        assert len(again) <= 3, (call, world.faults.names[call - 1], again)
        assert all(n <= 3 for n in again.values())


@pytest.mark.parametrize("after", [False, True], ids=["not done", "done, and not told"])
def test_a_call_may_fail_and_nothing_runs_twice(machine: Any, node: Node, after: bool) -> None:
    """A store that is out of reach for a moment cuts off nothing: not even what must not run again."""
    total = crash_points(type(machine), node, eventful)
    for call in range(1, total + 1):
        world = type(machine)()
        world.faults.at, world.faults.after, world.faults.error = call, after, StoreUnavailable("throttled")
        run_id = play(world, node, lambda: None)
        check(world, run_id, EVENTFUL)
        assert world.calls == {"s": 1, "a": 1, "b": 1, "r": 2, "x@l[0]": 1, "x@l[1]": 1, "z": 1}, world.faults.names[call - 1]


def test_a_process_may_die_between_two_batches_of_one_decision(machine: Any, node: Node, wide: Wide) -> None:
    names = ("s", "z", *(f"t{i}" for i in range(40)))
    nodes = wide(40)
    total = crash_points(type(machine), node, lambda node: nodes)
    for call in range(1, total + 1):
        world = type(machine)()
        world.faults.at, world.faults.after = call, True

        def next_process(world: Any = world) -> None:
            world.runner = world.process()

        run_id = play(world, node, next_process, nodes)
        check(world, run_id, names)
