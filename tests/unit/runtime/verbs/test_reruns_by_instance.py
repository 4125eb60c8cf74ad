"""A rerun from what failed, or from an instance: what it takes over inside turns and child runs, and with which tokens."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from stepless.errors import Conflict, InvalidRequest, NotFound, SteplessError
from stepless.model.work import NodeFailure
from stepless.nodes.function import FunctionCall, function
from stepless.ports import Message, OpenStore
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.pauses.children import child_id
from stepless.runtime.verbs.reads.inspecting import RunView
from stepless.runtime.verbs.starts.reruns import FAILED
from stepless.runtime.wiring.local import Local, assemble, local

calls: list[tuple[str, str]] = []  # instance and token
broken: dict[str, str] = {}  # the code with which an instance fails


@function("by_instance.pay")
def pay(call: FunctionCall, n: int = 0) -> int:
    calls.append((call.instance, call.token))
    code = broken.get(call.instance, broken.get(str(n)))
    if code == "timeout":
        raise NodeFailure("timeout", "timeout", "no answer in time")
    if code is not None:
        raise NodeFailure("http_error", code, "refused", retryable=False)
    return n


def pays(n: str = "0", **more: Any) -> dict[str, Any]:
    return {"type": "function", "with": {"call": "by_instance.pay", "args": {"n": n}}, **more}


def turns(kind: str, **more: Any) -> dict[str, Any]:
    body = {"nodes": {
        "first": pays(f"<{kind}.item>"),
        "sum": {"type": "set", "after": "first", "with": {"variables": {"total": "{{ <workflow.total> + <first> }}"}}},
        "last": pays("<workflow.total>", after="sum"),
    }}  # fmt: skip
    each = {"type": kind, "with": {"items": [1, 2, 3, 4], "body": body, **more}}
    return {"id": kind, "variables": {"total": 0}, "nodes": {"each": each, "end": pays("<workflow.total>", after="each")}}


@pytest.fixture
def engine() -> Local:
    calls.clear()
    broken.clear()
    return local(None)


def finish(engine: Local, run_id: str) -> RunView:
    """Serves until the run has ended, and forgets nothing of what its instances called."""

    async def until_ended() -> RunView:
        serving = asyncio.create_task(engine.host.serve())
        changed = asyncio.Event()
        engine.host.on_ending = lambda _: changed.set()
        try:
            async with asyncio.timeout(20):
                while (view := engine.service.run(run_id)).status in ("created", "running", "paused"):
                    await changed.wait()
                    changed.clear()
        finally:
            await engine.host.stop()
            await serving
        return view

    return asyncio.run(until_ended())


def next_process(engine: Local) -> Local:
    return assemble(OpenStore(engine.world.store, engine.world.blobs), 60_000, engine.world.secrets)


def failed_and_rerun(engine: Local, document: dict[str, Any], node: str = FAILED, **failures: str) -> tuple[RunView, RunView]:
    """A run with failures, and its rerun without them. `calls` then holds those of the rerun."""
    engine.service.publish(document)
    broken.update(failures)
    old = finish(engine, engine.service.start(document["id"], {}).run_id)
    broken.clear()
    calls.clear()
    later = next_process(engine)
    return old, finish(later, later.service.rerun(old.head.run_id, node=node).run_id)


def names() -> list[str]:
    return [name for name, _ in calls]


def test_a_loop_goes_on_in_the_turn_that_failed_with_the_variables_of_the_turns_before(engine: Local) -> None:
    old, new = failed_and_rerun(engine, turns("loop"), **{"last@each[2]": "refused"})
    assert old.status == "failed"
    assert names() == ["last@each[2]", "first@each[3]", "last@each[3]", "end"]
    assert (new.status, new.nodes["each"].output, new.nodes["end"].output) == ("completed", [1, 3, 6, 10], 10)


@pytest.mark.parametrize("kind", ["loop", "parallel"])
def test_of_a_container_that_was_tried_again_the_last_attempt_counts(engine: Local, kind: str) -> None:
    """The turns of the second attempt are 3 to 5, and 4 to 7 of a parallel; in the rerun they begin at 0."""
    document = turns(kind)
    document["nodes"]["each"]["retry"] = {"attempts": 2, "backoff_ms": 0, "retry_on": ["timeout"]}
    first = {"loop": 3, "parallel": 4}[kind]
    broken_turns = {"first@each[2]": "timeout", f"first@each[{first + 2}]": "timeout"}
    old, new = failed_and_rerun(engine, document, **broken_turns)
    assert old.status == "failed"
    again = [name for name in names() if name.endswith("@each[2]")]
    assert again == ["first@each[2]", "last@each[2]"] and not {"first@each[0]", "first@each[1]"} & set(names())
    assert dict(calls)["first@each[2]"] == f"{old.head.run_id}:first@each[{first + 2}]"
    assert (new.status, new.nodes["end"].status) == ("completed", "completed")


def test_an_instance_of_the_last_attempt_is_named_by_its_own_index(engine: Local) -> None:
    document = turns("loop")
    document["nodes"]["each"]["retry"] = {"attempts": 2, "backoff_ms": 0, "retry_on": ["timeout"]}
    broken_turns = {"first@each[2]": "timeout", "first@each[5]": "timeout"}
    old, new = failed_and_rerun(engine, document, node="first@each[4]", **broken_turns)
    assert (old.status, names()[0], new.status) == ("failed", "first@each[1]", "completed")
    with pytest.raises(SteplessError):
        next_process(engine).service.rerun(old.head.run_id, node="first@each[1]")


def test_a_parallel_repeats_any_subset_of_its_branches(engine: Local) -> None:
    old, new = failed_and_rerun(
        engine, turns("parallel", window=2, on_error="continue", max_consecutive_errors=2),
        **{"first@each[1]": "refused", "last@each[2]": "refused"},
    )  # fmt: skip
    assert old.status == "failed"
    done_before = {name for name, record in old.nodes.items() if record.status == "completed"}
    assert {"first@each[1]", "last@each[1]", "last@each[2]"} <= set(names())
    assert not done_before & set(names())
    assert (new.status, new.nodes["each"].output) == ("completed", [1, 2, 3, 4])


def test_a_tolerated_failure_stays_and_is_repeated_by_name(engine: Local) -> None:
    document = turns("parallel", on_error="continue")
    old, new = failed_and_rerun(engine, document, node="first@each[1]", **{"first@each[1]": "refused"})
    assert old.status == "completed"
    assert names() == ["first@each[1]", "last@each[1]", "end"]
    assert new.nodes["each"].output == [1, 2, 3, 4]
    with pytest.raises(Conflict) as refused:
        next_process(engine).service.rerun(old.head.run_id, node=FAILED)
    assert refused.value.code == "nothing_failed"


def test_a_failure_that_an_error_edge_handled_stays(engine: Local) -> None:
    document = {"id": "handled", "nodes": {
        "try": pays(), "undo": pays(after="try.error"), "then": pays(after="undo"), "side": pays(),
    }}  # fmt: skip
    _, new = failed_and_rerun(engine, document, **{"try": "refused", "then": "refused"})
    assert names() == ["then"]
    assert (new.status, new.nodes["try"].status, new.nodes["try"].code) == ("completed", "failed", "refused")


def test_what_a_join_ran_without_stays_and_what_needed_it_runs_again(engine: Local) -> None:
    document = {"id": "joined", "nodes": {
        "a": pays(), "b": pays(),
        "both": pays(after=["a", "b"], join={"errors": "best-effort", "min_success": 1}),
        "end": pays(after="both"),
    }}  # fmt: skip
    _, new = failed_and_rerun(engine, document, a="refused", end="refused")
    assert names() == ["end"]
    assert new.nodes["a"].status == "failed"


def test_the_first_arrival_of_a_join_is_the_one_of_the_former_run(engine: Local) -> None:
    document = {"id": "raced", "variables": {"winner": ""}, "nodes": {
        "slow": {"type": "wait", "with": {"for": "50ms"}}, "quick": pays(),
        "by_slow": {"type": "set", "after": "slow", "with": {"variables": {"winner": "slow"}}},
        "by_quick": {"type": "set", "after": "quick", "with": {"variables": {"winner": "quick"}}},
        "any": pays(after=["by_slow", "by_quick"], join={"mode": "any"}),
        "told": {"type": "transform", "after": "any", "with": {"value": "<workflow.winner>"}},
        "end": pays(after=["told", "by_slow"]),
    }}  # fmt: skip
    _, new = failed_and_rerun(engine, document, any="refused")
    assert "quick" not in names() and "any" in names()
    assert new.nodes["told"].output == "quick"


def test_a_token_is_kept_where_the_outcome_is_unknown(engine: Local) -> None:
    nodes = {"late": pays(), "no": pays(), "fine": pays(), "after": pays(after="late")}
    document = {"id": "tokens", "on_failure": "isolate", "nodes": nodes}
    old, new = failed_and_rerun(engine, document, late="timeout", no="refused")
    former, latter = old.head.run_id, new.head.run_id
    assert dict(calls) == {"late": f"{former}:late", "no": f"{latter}:no", "after": f"{latter}:after"}


def test_a_chain_of_reruns_keeps_the_oldest_token(engine: Local) -> None:
    engine.service.publish({"id": "chained", "nodes": {"late": pays(), "end": pays(after="late")}})
    broken["late"] = "timeout"
    run_id = first = finish(engine, engine.service.start("chained", {}).run_id).head.run_id
    for _ in range(2):
        later = next_process(engine)
        run_id = finish(later, later.service.rerun(run_id, node=FAILED).run_id).head.run_id
    assert [token for _, token in calls] == [f"{first}:late"] * 3
    broken["late"] = "refused"  # now it is known
    for _ in range(2):
        later = next_process(engine)
        run_id = finish(later, later.service.rerun(run_id, node=FAILED).run_id).head.run_id
    assert calls[-2][1] == f"{first}:late"
    assert calls[-1][1] == f"{run_id}:late"


def test_a_child_run_is_rerun_from_what_failed_in_it(engine: Local) -> None:
    engine.service.publish({"id": "child", "nodes": {"one": pays(), "two": pays(after="one"), "three": pays(after="two")}})
    body = {"nodes": {"call": {"type": "workflow", "with": {"workflow": "child"}}}}
    each = {"type": "loop", "with": {"times": 2, "body": body}}
    document = {"id": "parent", "nodes": {"each": each, "end": pays(after="each")}}
    old, new = failed_and_rerun(engine, document, two="timeout")
    assert old.status == "failed"
    assert names() == ["two", "three", "one", "two", "three", "end"]
    former = child_id(f"{old.head.run_id}:call@each[0]")
    assert calls[0] == ("two", f"{former}:two")
    child = next_process(engine).service.run(child_id(f"{new.head.run_id}:call@each[0]"))
    assert (new.status, child.status) == ("completed", "completed")
    assert json.loads(child.head.meta)["rerun"] == {"of": former, "from": FAILED}


def test_a_child_run_that_was_cancelled_with_its_parent_goes_on_in_the_rerun(engine: Local) -> None:
    ask = {"type": "approval", "after": "one", "with": {"message": "Go on?"}}
    engine.service.publish({"id": "child", "nodes": {"one": pays(), "ask": ask, "two": pays(after="ask.approved")}})
    engine.service.publish({"id": "parent", "nodes": {"call": {"type": "workflow", "with": {"workflow": "child"}}}})
    parent = engine.service.start("parent", {}).run_id
    child = child_id(f"{parent}:call")
    for run_id, reason in ((parent, "start"), (child, "start"), (parent, "child")):
        asyncio.run(engine.runner.run(Message(run_id, reason), Budget(60_000)))
    engine.service.cancel(parent)
    asyncio.run(engine.runner.run(Message(parent, "signal"), Budget(60_000)))  # the child run has not taken its cancel yet
    assert (engine.service.run(parent).status, engine.service.run(child).status) == ("cancelled", "paused")
    again = engine.service.rerun(parent, node=FAILED).run_id

    async def served() -> None:
        serving = asyncio.create_task(engine.host.serve())
        changed = asyncio.Event()
        engine.host.on_ending = lambda _: changed.set()
        async with asyncio.timeout(20):
            while not (pauses := engine.service.run(again).pauses) or engine.service.run(again).status != "paused":
                await changed.wait()
                changed.clear()
        assert pauses[0].reason == "subrun"
        await engine.host.stop()
        await serving

    asyncio.run(served())
    assert names() == ["one"]
    assert engine.service.run(child).status == "cancelled"
    (asked,) = engine.service.run(child_id(f"{again}:call")).pauses
    assert asked.reason == "human_input"


def test_an_answered_question_is_not_asked_again(engine: Local) -> None:
    document = {"id": "asked", "nodes": {
        "ask": {"type": "approval", "with": {"message": "Go on?"}}, "pay": pays(after="ask.approved"),
    }}  # fmt: skip
    engine.service.publish(document)
    broken["pay"] = "refused"
    run_id = engine.service.start("asked", {}).run_id

    asyncio.run(engine.runner.run(Message(run_id, "start"), Budget(60_000)))
    (pause,) = engine.service.run(run_id).pauses
    engine.service.answer(pause.token or "", "approved", None)
    assert finish(engine, run_id).status == "failed"
    broken.clear()
    again = next_process(engine)
    assert finish(again, again.service.rerun(run_id, node=FAILED).run_id).status == "completed"
    assert names() == ["pay", "pay"]


def test_ten_times_the_turns_take_ten_times_the_events(engine: Local) -> None:
    counts = []
    for items in (30, 300):
        document = {"id": f"many{items}", "nodes": {"each": {"type": "loop", "with": {
            "items": f"range({items})", "body": {"nodes": {"f": pays("<loop.item>")}},
        }}}}  # fmt: skip
        _, new = failed_and_rerun(engine, document, **{str(items - 1): "refused"})
        assert names() == [f"f@each[{items - 1}]"]
        counts.append(new.head.sequence)
        engine = next_process(engine)
    assert counts[1] <= 10 * counts[0]


def test_an_erased_run_is_not_taken_over(engine: Local) -> None:
    engine.service.publish({"id": "gone", "nodes": {"pay": pays(), "end": pays(after="pay")}})
    broken["end"] = "refused"
    old = finish(engine, engine.service.start("gone", {}).run_id)
    later = next_process(engine)
    again = later.service.rerun(old.head.run_id, node=FAILED)
    later.service.erase(old.head.run_id)
    assert finish(later, again.run_id).status == "cancelled"
    assert names() == ["pay", "end"]


@pytest.mark.parametrize(
    ("node", "error", "code"),
    [
        ("first@each[9]", Conflict, "predecessor_never_ran"),
        ("first@end[0]", NotFound, "unknown_node"),
        ("other@each[0]", NotFound, "unknown_node"),
        ("first@each", InvalidRequest, "inside_container"),
        ("first", InvalidRequest, "inside_container"),
    ],
)
def test_an_instance_that_is_none_is_refused(engine: Local, node: str, error: type[SteplessError], code: str) -> None:
    engine.service.publish(turns("loop"))
    old = finish(engine, engine.service.start("loop", {}).run_id)
    with pytest.raises(error) as refused:
        next_process(engine).service.rerun(old.head.run_id, node=node)
    assert refused.value.code == code


def test_other_inputs_for_what_failed_need_an_admin(engine: Local) -> None:
    engine.service.publish({"id": "other", "nodes": {"pay": pays()}})
    broken["pay"] = "refused"
    old = finish(engine, engine.service.start("other", {}).run_id)
    with pytest.raises(InvalidRequest) as refused:
        next_process(engine).service.rerun(old.head.run_id, node=FAILED, inputs={"n": 1}, edited=True)
    assert refused.value.code == "unknown_entry"


def test_a_node_whose_id_is_failed_can_be_named(engine: Local) -> None:
    document = {"id": "named", "nodes": {"pay": pays(), "failed": pays(after="pay")}}
    _, new = failed_and_rerun(engine, document, node="node:failed")
    assert (names(), new.status) == (["failed"], "completed")
