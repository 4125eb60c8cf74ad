"""Scenarios and their results: the methods and assertions of `WorkflowTest`, as users of the fixture use them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepless.errors import DocumentRefused, InvalidRequest, NotFound
from stepless.testing import Simulation, WorkflowTest, fails, returns, simulate

DOCUMENT: dict[str, Any] = {
    "id": "small",
    "variables": {"x": 0},
    "env": ["KEY"],
    "nodes": {
        "a": {"type": "function", "with": {"call": "test.echo"}, "retry": {"attempts": 3, "backoff_ms": 1000}},
        "w": {"type": "approval", "after": "a", "with": {"message": "Go on?"}},
        "y": {"type": "function", "after": "w.approved", "with": {"call": "test.echo"}},
        "n": {"type": "function", "after": "w.rejected", "with": {"call": "test.echo"}},
        "l": {"type": "loop", "after": "y", "with": {"times": 3, "body": {"nodes": {
            "s": {"type": "function", "with": {"call": "test.echo"}},
        }}}},
        "k": {"type": "transform", "after": "a", "with": {"value": "{{ len(${KEY}) }}"}},
    },
}  # fmt: skip


@pytest.fixture
def small(workflow: Callable[..., WorkflowTest]) -> WorkflowTest:
    return workflow(DOCUMENT).env(KEY="four")


@pytest.fixture
def done(small: WorkflowTest) -> Simulation:
    small.script("a", fails("timeout", takes="2s"), returns({"n": 1}, sets={"x": 7}))
    return small.script("s@l[1]", returns("second", takes="1m")).answer("w", "approved", at="1h").run()


def test_a_scenario_plays_out_on_the_virtual_clock(done: Simulation) -> None:
    done.assert_completed().assert_status("completed").assert_attempts("a", 2).assert_output("a", {"n": 1})
    assert done.variables == {"x": 7}
    assert done.node("a").ended_ms == 2_000 + 1_000 + 1
    assert done.node("w").ended_ms == 3_600_000
    assert done.outputs == {"k": 4, "l": ["s", "second", "s"]}
    assert done.path() == ("a", "w", "k", "y", "l", "s@l[0]", "s@l[1]", "s@l[2]")


def test_what_holds_may_be_asserted(done: Simulation, small: WorkflowTest) -> None:
    done.assert_ran("s", times=3).assert_ran("s@l[1]", times=1).assert_ran("s").assert_not_run("n").assert_skipped("n")
    done.assert_skipped("n", reason="branch_not_taken")
    small.script("a", fails(code="boom")).run().assert_failed().assert_failed(code="boom").assert_failed("a", code="boom")
    small.script("a").run(entry="a").assert_completed()


def test_without_an_answer_it_stays_paused(workflow: Callable[..., WorkflowTest]) -> None:
    workflow(DOCUMENT).env(KEY="four").run().assert_paused().assert_waiting("w").assert_not_run("y", "n")
    workflow(DOCUMENT).env(KEY="four").cancel(at="1h").run().assert_status("cancelled")


WRONG: dict[str, Callable[[Simulation], object]] = {
    "the run is completed, not failed": lambda done: done.assert_failed(),
    "the run is completed, not paused": lambda done: done.assert_paused(),
    "y is completed, not failed": lambda done: done.assert_failed("y"),
    "y ran 1 times, not 2": lambda done: done.assert_ran("y", times=2),
    "n did not run": lambda done: done.assert_ran("n"),
    "y ran 1 times, not 0": lambda done: done.assert_not_run("n", "y"),
    "y is completed, not skipped": lambda done: done.assert_skipped("y"),
    "n is skipped (branch_not_taken), not skipped (halted)": lambda done: done.assert_skipped("n", reason="halted"),
    "w is completed, not waiting": lambda done: done.assert_waiting("w"),
    "a took 2 attempts, not 1": lambda done: done.assert_attempts("a", 1),
    "the output of y is 'y', not 'z'": lambda done: done.assert_output("y", "z"),
    "s has 3 records, not one; name one of s@l[0], s@l[1], s@l[2]": lambda done: done.node("s"),
    "s@l[7] is not skipped: the run did not reach it": lambda done: done.assert_skipped("s@l[7]"),
}


@pytest.mark.parametrize(("sentence", "ask"), WRONG.items(), ids=WRONG)
def test_a_wrong_guess_is_told_with_what_happened(done: Simulation, sentence: str, ask: Callable[[Simulation], object]) -> None:
    with pytest.raises(AssertionError) as told:
        ask(done)
    first, second, *lines = str(told.value).splitlines()
    assert (first, second) == (sentence, "what happened:")
    assert lines[0] == "       0:00:00  a  completed at 0:00:03.001"


def test_a_failed_run_is_told_with_its_cause(small: WorkflowTest) -> None:
    with pytest.raises(AssertionError, match="the run is failed, not completed: a, boom: out of order"):
        small.script("a", fails(code="boom", message="out of order")).run().assert_completed()


def test_a_name_that_is_not_there_passes_for_nothing(done: Simulation, small: WorkflowTest) -> None:
    with pytest.raises(AssertionError, match=r"no node 'yy'\. Did you mean `y`"):
        done.assert_not_run("yy")
    for slip in (lambda: small.script("aa"), lambda: small.answer("ww", "approved"), lambda: small.script("t@l[0]")):
        with pytest.raises(InvalidRequest, match="no node"):
            slip()


@pytest.mark.parametrize("time", ["soon", "1 h", ""])
def test_a_time_that_is_none_is_refused(small: WorkflowTest, time: str) -> None:
    with pytest.raises(InvalidRequest, match="not a duration"):
        small.cancel(at=time)


def test_faults_of_the_workflow_are_all_told(workflow: Callable[..., WorkflowTest]) -> None:
    nodes = {"a": {"type": "nothing"}, "b": {"type": "transform", "after": "c", "with": {"value": 1}}}
    with pytest.raises(DocumentRefused) as told:
        workflow({"id": "bad", "nodes": nodes}).run()
    assert len(told.value.findings) == 2


def test_a_file_is_found_beside_the_test_or_from_where_pytest_started(
    workflow: Callable[..., WorkflowTest], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    path = tmp_path / "small.yaml"
    path.write_text("id: small\nnodes:\n  a: {type: transform, with: {value: 1}}\n", "utf-8")
    assert workflow(path).run().assert_completed().outputs == {"a": 1}
    from_root = "examples/refund-approval/workflow.yaml"
    assert (request.config.rootpath / from_root).exists()
    assert workflow(from_root).document["id"] == "refund-approval"
    with pytest.raises(InvalidRequest, match="cannot be read"):
        workflow("nowhere.yaml")


# -- messages and keys ------------------------------------------------------------------------------------------------------

ORDER: dict[str, Any] = {
    "id": "order", "key": "<input.id>", "on_conflict": "replace", "cancel_on": ["cancelled"],
    "messages": {"payment": {"data": {"type": "object", "required": ["amount"]}, "keep": "10m"}, "cancelled": {}},
    "nodes": {
        "order": {"type": "manual"},
        "paid": {"type": "receive", "after": "order", "with": {
            "message": "payment", "where": "<message.amount> >= <order.amount>", "timeout": "3d",
        }},
        "ship": {"type": "function", "after": "paid", "with": {"call": "test.echo"}},
        "remind": {"type": "function", "after": "paid.timeout", "with": {"call": "test.echo"}},
    },
}  # fmt: skip


def test_a_message_comes_at_its_time(workflow: Callable[..., WorkflowTest]) -> None:
    order = workflow(ORDER).send("payment", {"amount": 1}, at="1h").send("payment", {"amount": 9}, at="2d", id="evt-1", by="shop")
    done = order.run({"id": "A", "amount": 5}).assert_completed().assert_ran("ship").assert_not_run("remind")
    assert done.node("paid").ended_ms == 2 * 86_400_000
    assert done.node("paid").output["message"] == {"id": "evt-1", "name": "payment", "key": None, "at": 172_800_000, "by": "shop"}
    done.assert_unread("payment")
    workflow(ORDER).run({"id": "A", "amount": 5}).assert_ran("remind").assert_unread()
    workflow(ORDER).send("cancelled", at=5).run({"id": "A", "amount": 5}).assert_status("cancelled")


def test_a_message_for_a_key_reaches_the_run_that_has_it(workflow: Callable[..., WorkflowTest]) -> None:
    order = workflow(ORDER).send("payment", {"amount": 9}, at=5, key="B").send("payment", {"amount": 8}, at=9, key="A")
    assert order.run({"id": "A", "amount": 5}).node("paid").output["amount"] == 8
    late = workflow(ORDER).send("payment", {"amount": 9}, at=5, key="B", keep=0, id="lost").run({"id": "A", "amount": 5})
    assert late.assert_ran("remind").undelivered == ("lost",)
    assert order.run({"amount": 5}, key="A").assert_ran("ship").status == "completed"


def test_starts_with_a_delay_that_replace_each_other_are_a_debounce(workflow: Callable[..., WorkflowTest]) -> None:
    order = workflow(ORDER)
    order.start({"id": "A", "amount": 2}, at="2m", delay="5m").start({"id": "A", "amount": 3}, at="4m", delay="5m")
    done = order.send("payment", {"amount": 3}, at="5m", key="A").run({"id": "A", "amount": 1}, delay="5m").assert_completed()
    assert (done.node("order").started_ms, done.node("order").output["amount"]) == (9 * 60_000, 3)


def test_a_held_run_and_a_rerun(workflow: Callable[..., WorkflowTest]) -> None:
    held = workflow(ORDER).hold(at=5).send("payment", {"amount": 9}, at=10).release(at="1h").run({"id": "A", "amount": 5})
    assert held.node("ship").started_ms == 3_600_000
    again = workflow(ORDER).send("payment", {"amount": 9}, at=10).rerun("ship", at="1h").run({"id": "A", "amount": 5})
    assert (again.node("ship").started_ms, again.node("paid").output["amount"]) == (3_600_000, 9)
    with pytest.raises(InvalidRequest, match="has not ended"):
        workflow(ORDER).rerun("ship", at="1h").run({"id": "A", "amount": 5})


def test_simulate_takes_messages_as_data() -> None:
    messages = [{"name": "payment", "data": {"amount": 5}, "at": "1h"}]
    assert simulate(ORDER, {"id": "A", "amount": 5}, messages=messages).assert_completed().node("paid").ended_ms == 3_600_000


WRONG_MESSAGES: dict[str, tuple[type[Exception], Callable[[WorkflowTest], object]]] = {
    r"no message `paymnt`.*`payment`": (NotFound, lambda order: order.send("paymnt").run({"id": "A"})),
    "does not fit the message `payment`": (InvalidRequest, lambda order: order.send("payment", {}).run({"id": "A"})),
    "not a duration": (InvalidRequest, lambda order: order.send("payment", {"amount": 1}, at="soon")),
    "have no key": (InvalidRequest, lambda order: order.run({"amount": 1})),
    "a key is a text or a number": (InvalidRequest, lambda order: order.send("payment", {"amount": 1}, key="").run({"id": "A"})),
    "has the key of the run": (InvalidRequest, lambda order: order.start({"id": "B"}, at=5).run({"id": "A"})),
    "unread are payment, not no messages": (
        AssertionError, lambda order: order.send("payment", {"amount": 1}).run({"id": "A", "amount": 5}).assert_unread(),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("told", "wrong"), WRONG_MESSAGES.items(), ids=WRONG_MESSAGES)
def test_a_message_that_cannot_be_is_told(
    workflow: Callable[..., WorkflowTest], told: str, wrong: tuple[type[Exception], Callable[[WorkflowTest], object]]
) -> None:
    kind, act = wrong
    with pytest.raises(kind, match=told):
        act(workflow(ORDER))


def test_importing_the_plug_in_loads_no_engine() -> None:
    code = "import sys, stepless.testing.plugin; print([m for m in sys.modules if m.startswith('stepless.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3])
    assert done.stdout.strip() == "['stepless.testing', 'stepless.testing.plugin']"
