"""Rerun: a new run of the old version; completed nodes upstream are taken over, the others run."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from stepless.errors import Conflict, InvalidRequest, NotFound, SteplessError
from stepless.nodes.function import FunctionCall, function
from stepless.ports import Message
from stepless.runtime.session.budget import Budget
from stepless.runtime.verbs.reads.inspecting import RunView
from stepless.runtime.wiring.local import Local, local

ran: list[str] = []
broken: set[str] = set()


@function("rerun.step")
async def step(call: FunctionCall, n: Any = None, seen: Any = None, many: Any = None) -> Any:
    ran.append(call.instance)
    if call.instance in broken:
        raise ValueError("broken")
    return {"by": call.instance, "n": n, "seen": seen, "many": many}


def node(after: str | None = None, **args: str) -> dict[str, Any]:
    return {"type": "function", "with": {"call": "rerun.step", "args": args}, **({"after": after} if after else {})}


DOCUMENT = {
    "id": "rerun",
    "variables": {"seen": "nothing"},
    "nodes": {
        "first": node(n="<input.n>"),
        "note": {"type": "set", "after": "first", "with": {"variables": {"seen": "<first.n>"}}},
        "many": {"type": "loop", "after": "note", "with": {"times": 2, "body": {"nodes": {"inner": node()}}}},
        "last": node("many", seen="<workflow.seen>", many="<input>"),
        "aside": node("first"),
    },
}


@pytest.fixture
def engine() -> Local:
    ran.clear()
    broken.clear()
    engine = local(None)
    engine.service.publish(DOCUMENT)
    return engine


def finish(engine: Local, run_id: str) -> RunView:
    asyncio.run(engine.runner.run(Message(run_id, "start"), Budget(60_000)))
    return engine.service.run(run_id)


def test_a_rerun_from_the_failed_node_runs_that_node_alone(engine: Local) -> None:
    broken.add("last")
    old = finish(engine, engine.service.start("rerun", {"n": 5}).run_id)
    assert old.status == "failed"
    broken.clear()
    ran.clear()
    new = finish(engine, engine.service.rerun(old.head.run_id, node="last").run_id)
    assert ran == ["last"]
    assert new.status == "completed"
    assert new.nodes["last"].output["seen"] == 5
    assert new.nodes["last"].output["many"] == old.nodes["many"].output
    assert engine.service.run(old.head.run_id).status == "failed"


def test_a_rerun_from_the_start_may_have_other_inputs(engine: Local) -> None:
    old = finish(engine, engine.service.start("rerun", {"n": 5}).run_id)
    new = finish(engine, engine.service.rerun(old.head.run_id, inputs={"n": 6}, edited=True).run_id)
    assert new.nodes["last"].output["seen"] == 6


def test_a_rerun_from_a_node_with_other_inputs_gives_them_to_the_entries_and_reuses_the_rest(engine: Local) -> None:
    """What read the entry before, and completed, stays as it was: an admin who edits the inputs of a later node knows that."""
    engine.service.publish({
        "id": "entered",
        "nodes": {
            "begin": {"type": "manual"}, "before": node("begin", n="<begin.n>"),
            "late": node("before", n="<begin.n>", seen="<before.n>"),
        },
    })
    old = finish(engine, engine.service.start("entered", {"n": 1}).run_id)
    ran.clear()
    for inputs, edited, n in (({"n": 9}, True, 9), (None, False, 1)):
        again = engine.service.rerun(old.head.run_id, node="late", inputs=inputs, edited=edited, anywhere=True)
        new = finish(engine, again.run_id)
        assert (new.status, new.nodes["late"].output["n"], new.nodes["late"].output["seen"]) == ("completed", n, 1)
    assert ran == ["late", "late"]


def test_a_rerun_keeps_the_version_that_the_old_run_had(engine: Local) -> None:
    old = finish(engine, engine.service.start("rerun", {"n": 5}).run_id)
    engine.service.publish({**DOCUMENT, "nodes": {"only": node()}})
    new = finish(engine, engine.service.rerun(old.head.run_id).run_id)
    assert new.head.version == old.head.version


@pytest.mark.parametrize(
    ("name", "error", "code"),
    [
        ("inner", InvalidRequest, "inside_container"),
        ("inner@many[0]", Conflict, "predecessor_never_ran"),
        ("ghost", NotFound, "unknown_node"),
        ("last", Conflict, "predecessor_never_ran"),
    ],
)
def test_a_rerun_that_cannot_be_is_refused(engine: Local, name: str, error: type[SteplessError], code: str) -> None:
    broken.add("first")
    old = finish(engine, engine.service.start("rerun", {"n": 5}).run_id)
    with pytest.raises(error) as refused:
        engine.service.rerun(old.head.run_id, node=name)
    assert refused.value.code == code


def test_an_unknown_node_is_told_with_the_nearest_one(engine: Local) -> None:
    old = finish(engine, engine.service.start("rerun", {"n": 5}).run_id)
    for name, mend in (("lsat", "Did you mean `last`?"), ("ghost", "Known nodes are ")):
        with pytest.raises(NotFound) as refused:
            engine.service.rerun(old.head.run_id, node=name)
        assert refused.value.mend.startswith(mend)
