"""What a run waits for: in its header, in its view, in the text for people, and in searches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepless.core.decision import iso
from stepless.core.history.waits import WORDS, summary
from stepless.model.work import NodeFailure
from stepless.ports import Call, RunFilter
from stepless.runtime.session.pauses import children
from stepless.runtime.verbs.reads.searching import summary_of

Node = Callable[..., dict[str, Any]]
ASK: dict[str, Any] = {"type": "approval", "with": {"message": "Go on?"}}
CALLBACK: dict[str, Any] = {"type": "callback", "with": {}}
NAP: dict[str, Any] = {"type": "wait", "with": {"for": "2h"}}


def rest(machine: Any, run_id: str) -> None:
    """Until the run waits for nothing but the clock or somebody."""
    while machine.queue.next_ms() is not None and machine.queue.next_ms() <= machine.clock.now_ms():
        machine.step()


def told(machine: Any, run_id: str) -> tuple[str, str, str]:
    """Its header's words, and what people are told of the header and of the whole run."""
    head = machine.store.get_run(run_id)
    view = machine.view(run_id)
    assert head.waits == " ".join(view.waits)
    return head.waits, summary_of(head, machine.clock.now_ms()), view.summary


@pytest.mark.parametrize(("nodes", "word", "words"), [
    ({"a": ASK}, "answer", "waiting for an answer"),
    ({"a": CALLBACK}, "answer", "waiting for an answer"),
    ({"a": ASK, "b": CALLBACK}, "answer", "waiting for an answer"),
])  # fmt: skip
def test_people_and_programs_are_waited_for(machine: Any, nodes: dict[str, Any], word: str, words: str) -> None:
    run_id = machine.start(nodes)
    rest(machine, run_id)
    assert told(machine, run_id) == (word, words, words)


def test_an_instant_is_told(machine: Any) -> None:
    run_id = machine.start({"a": NAP})
    rest(machine, run_id)
    words = f"waiting until {iso(machine.clock.now_ms() + 7_200_000)}"
    assert told(machine, run_id) == ("time", words, words)


def test_a_back_off_is_told_although_the_run_is_running(machine: Any, node: Node) -> None:
    async def fails(call: Call) -> str:
        raise NodeFailure("rate_limit", "busy", "later")

    machine.behaviours["a"] = fails
    run_id = machine.start({"a": node(retry={"attempts": 2, "backoff_ms": 60_000, "max_backoff_ms": 60_000})})
    rest(machine, run_id)
    assert machine.store.get_run(run_id).status == "running"
    assert told(machine, run_id) == ("retry", "waiting for a retry", "waiting for a retry")


def test_a_child_run_is_told(machine: Any, node: Node) -> None:
    machine.service.publish({"id": "child", "nodes": {"a": ASK}})
    run_id = machine.start({"c": {"type": "workflow", "with": {"workflow": "child"}}})
    machine.world.kind_code.update(workflow=children.caller(machine.world))
    rest(machine, run_id)
    assert told(machine, run_id) == ("child", "waiting for a child run", "waiting for a child run")


def test_a_hold_is_told_before_everything_else(machine: Any) -> None:
    run_id = machine.start({"a": ASK, "b": NAP})
    rest(machine, run_id)
    machine.service.hold(run_id, by="ops")
    rest(machine, run_id)
    words, of_head, of_run = told(machine, run_id)
    assert words == "held answer time"
    assert of_head == "held, waiting for an answer and for a time"
    assert of_run.startswith("held, waiting for an answer and until ")
    machine.service.release(run_id)
    rest(machine, run_id)
    assert told(machine, run_id)[0] == "answer time"


def test_what_has_ended_or_not_begun_waits_for_nothing(machine: Any, node: Node) -> None:
    run_id = machine.start({"a": node()})
    assert told(machine, run_id) == ("", "created", "created")
    machine.drain()
    assert told(machine, run_id) == ("", "completed", "completed")
    asked = machine.start({"a": ASK})
    rest(machine, asked)
    machine.service.cancel(asked)
    machine.drain()
    assert told(machine, asked) == ("", "cancelled", "cancelled")


def test_runs_are_found_by_each_word(machine: Any) -> None:
    asked, napping = machine.start({"a": ASK}), machine.start({"a": NAP})
    rest(machine, asked)
    machine.service.hold(asked)
    rest(machine, asked)
    found = {word: [head.run_id for head in machine.service.search(RunFilter(waiting=word)).items] for word in WORDS}
    assert found == {word: [asked] if word in ("held", "answer") else [napping] if word == "time" else [] for word in WORDS}


def test_what_is_under_way_is_told_with_what_is_waited_for() -> None:
    assert summary("running", ("answer",), busy=True) == "running, waiting for an answer"
    assert summary("running", ("held",), busy=True) == "running, held"
    assert summary("paused", (), busy=False) == "paused"
    assert summary("timed_out", ("answer",), busy=False) == "timed out"
    assert summary("running", ("retry", "child"), busy=False) == "waiting for a retry and for a child run"
