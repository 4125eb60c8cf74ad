"""A node that starts a run and does not wait for it: one run however often it is repeated, with a key, at a later time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from stepless.compile import check_document
from stepless.limits import LEASE_MS
from stepless.model.work import Result
from stepless.nodes import KINDS
from stepless.ports import Call, RunFilter, RunHead
from stepless.runtime.session.pauses.run_kinds import runner

ORDER: dict[str, Any] = {
    "id": "order",
    "nodes": {"begin": {"type": "manual"}, "done": {"type": "function", "after": "begin", "with": {"call": "f"}}},
}
SHOP: dict[str, Any] = {
    "nodes": {"begin": {"type": "manual"}, "go": {"type": "workflow", "after": "begin"}, "end": {
        "type": "transform", "after": "go", "with": {"value": "<go>"},
    }},
}  # fmt: skip


def shop(machine: Any, given: Any = None, *, retry: Any = None, end: Any = None, **params: Any) -> str:
    """Starts a run whose node `go` starts a run of `order`."""
    machine.world.kind_code["workflow"] = runner(machine.world)
    nodes = {**SHOP["nodes"]}
    nodes["go"] = {**nodes["go"], "with": {"workflow": "order", "wait": False, **params}, "retry": retry or {"attempts": 1}}
    nodes["end"] = end or nodes["end"]
    run_id: str = machine.start(nodes, given)
    return run_id


def runs(machine: Any, workflow: str = "order") -> Sequence[RunHead]:
    heads: Sequence[RunHead] = machine.store.list_runs(RunFilter(workflow), limit=100).items
    return heads


def order(machine: Any, **more: Any) -> None:
    machine.service.publish({**ORDER, **more})


def test_it_does_not_wait(machine: Any) -> None:
    order(machine)
    machine.behaviours["done"] = _fails
    parent = shop(machine, {"id": 7}, inputs={"id": "<begin.id>"})
    machine.drain()
    (head,) = runs(machine)
    assert machine.view(parent).outputs == {"end": {"run": head.run_id}}
    assert machine.view(head.run_id).status == "failed"
    trigger = machine.log(head.run_id)[0].data["meta"]["trigger"]
    assert trigger == {"kind": "workflow", "run": parent, "instance": "go"}
    assert "parent" not in machine.log(head.run_id)[0].data["meta"]


async def _fails(call: Any) -> Any:
    raise ValueError(call.node)


def test_it_goes_on_when_its_starter_is_cancelled(machine: Any) -> None:
    order(machine)
    wait = {"type": "wait", "after": "go", "with": {"for": "9h"}}
    parent = shop(machine, inputs={}, delay="1h", end=wait)
    machine.settle()
    machine.service.cancel(parent)
    machine.drain()
    assert machine.view(parent).status == "cancelled"
    assert [machine.view(head.run_id).status for head in runs(machine)] == ["completed"]


@pytest.mark.parametrize("key", [None, "A-1"])
@pytest.mark.parametrize("after", [False, True])
def test_a_death_at_any_call_starts_one_run(make_machine: Any, key: str | None, after: bool) -> None:
    """The inputs differ between the attempts, as those that read the clock do."""
    deaths = 0
    for at in range(1, 40):
        machine = make_machine()
        order(machine)
        faults, before = machine.faults, machine.faults.before
        dying = replace(machine.world, store=before(machine.store), queue=before(machine.queue), timers=before(machine.timers))
        faults.at, faults.after = at, after
        try:
            asyncio.run(runner(dying)(call(key, {"n": 1})))
        except Exception as error:
            if type(error).__name__ != "Died":
                raise
            deaths += 1
        machine.clock.set(machine.clock.now_ms() + LEASE_MS)
        faults.at = 0
        done = asyncio.run(runner(machine.world)(call(key, {"n": 2})))
        (head,) = runs(machine)
        assert done == Result({"run": head.run_id}), (at, after)
        machine.drain()
        assert machine.view(head.run_id).status == "completed", (at, after)
    assert deaths > 3


def call(key: str | None, inputs: Any) -> Call:
    params = {"workflow": "order", "wait": False, "inputs": inputs, **({"key": key} if key else {})}
    return Call("run_1", "shop", "go", "go", "workflow", 1, params, {}, {}, "run_1:go", 2**50)


def test_a_key_joins_the_live_run(machine: Any) -> None:
    order(machine, key="<input.id>")
    parents = [shop(machine, inputs={"id": "A-1"}, delay="1h") for _ in range(2)]
    machine.settle()
    (head,) = runs(machine)
    first, second = (machine.view(parent).outputs["end"] for parent in parents)
    assert (first, second) == ({"run": head.run_id}, {"run": head.run_id, "joined": True})
    machine.drain()
    assert machine.view(head.run_id).status == "completed"


def test_its_own_key_comes_first_and_may_be_refused(machine: Any) -> None:
    order(machine, key="<input.id>", on_conflict="refuse")
    shop(machine, inputs={"id": "A-1"}, key=7, delay="1h")
    machine.settle()
    (head,) = runs(machine)
    assert machine.service.runs_of_key("order", "7").live == head.run_id
    other = shop(machine, inputs={"id": "A-1"}, key="7")
    machine.settle()
    assert machine.view(other).nodes["go"].code == "key_taken"


def test_it_begins_later(machine: Any) -> None:
    order(machine)
    begun_ms = machine.clock.now_ms()
    shop(machine, {"at": begun_ms + 60_000}, inputs={}, begin_at="<begin.at>")
    machine.settle()
    (head,) = runs(machine)
    assert (head.status, machine.log(head.run_id)) == ("created", [])
    machine.drain()
    assert machine.log(head.run_id)[0].at_ms >= begun_ms + 60_000


@pytest.mark.parametrize(("params", "code"), [
    ({"begin_at": "2030-01-31T09:00:00"}, "invalid_config"), ({"begin_at": 2**42}, "invalid_config"),
    ({"key": ""}, "key_invalid"), ({"workflow": "odrer"}, "unknown_workflow"), ({"inputs": ["<begin>"] * 2}, "inputs_too_large"),
])  # fmt: skip
def test_what_cannot_be_started_fails_the_node(machine: Any, params: Any, code: str) -> None:
    order(machine)
    parent = shop(machine, "x" * 255_000, **params)
    machine.drain()
    assert (machine.view(parent).nodes["go"].code, len(runs(machine))) == (code, 0)


@pytest.mark.parametrize(("params", "found"), [
    ({"key": "A"}, "idle_setting with.key"), ({"delay": "1h"}, "idle_setting with.delay"),
    ({"wait": False, "delay": "1h", "begin_at": 5}, "exactly_one with"),
    ({"wait": False, "key": "A", "begin_at": "<input.at>"}, ""),
])  # fmt: skip
def test_what_a_document_may_say(params: Any, found: str) -> None:
    document = {"id": "shop", "nodes": {"go": {"type": "workflow", "with": {"workflow": "order", **params}}}}
    findings = [f"{one.code} {one.path.removeprefix('nodes.go.')}" for one in check_document(document, KINDS)]
    assert findings == ([found] if found else [])
