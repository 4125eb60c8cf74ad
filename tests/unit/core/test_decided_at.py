"""The time of a decision is when the person decided, even if the runner processes it later."""

from __future__ import annotations

from typing import Any

from stepless.compile import compile_document
from stepless.core.decide import decide
from stepless.core.events import Event, EventType
from stepless.core.facts import Answered, Begin
from stepless.core.fold import fold
from stepless.core.state import State
from stepless.nodes import KINDS

ASKED_MS, DECIDED_MS, HEARD_MS = 1_700_000_000_000, 1_700_000_005_000, 1_700_000_900_000
DOCUMENT: Any = {"id": "ask", "nodes": {"ask": {"type": "approval", "with": {"message": "Go on?"}}}}


def asked() -> tuple[State, list[Event]]:
    state = State(compile_document(DOCUMENT, KINDS), "run_1")
    return state, list(decide(state, [Begin({})], ASKED_MS).events)


def output_of(events: list[Event]) -> Any:
    return next(event.data["output"] for event in events if event.type is EventType.NODE_COMPLETED)


def test_an_approval_puts_out_when_the_person_decided() -> None:
    state, log = asked()
    events = decide(state, [Answered("ask", "approved", {}, "Ada", DECIDED_MS)], HEARD_MS).events
    assert output_of(list(events))["at"] == "2023-11-14T22:13:25.000Z"
    again = State(state.graph, "run_1")
    for event in [*log, *events]:
        fold(again, event)
    assert again.ended


def test_a_log_that_does_not_say_when_tells_when_the_runner_heard() -> None:
    state, _ = asked()
    events = decide(state, [Answered("ask", "approved", {}, "Ada")], HEARD_MS).events
    assert output_of(list(events))["at"] == "2023-11-14T22:28:20.000Z"
    assert all("decided_at" not in event.data for event in events)
