"""Secrets: read through `${…}`, and never stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepless.core.facts import Answered, CancelRequested, Completed, Failed, Failure, Logged, Streamed, Suspended
from stepless.core.stored.codec import encode_batch
from stepless.core.stored.snapshot import encode_state
from stepless.model.kind import Outcome, Pause

SECRET = "s3cr3t-of-a-bank"
Make = Callable[..., Any]  # the fixture `play` of conftest.py


def leaky(play: Make, node: Callable[..., Any]) -> Any:
    """A run with work under way that may say anything."""
    return play({"a": node(), "w": {"type": "approval", "with": {"message": "Pay with ${KEY}?"}}}, env={"KEY": SECRET})


LEAKS: dict[str, Any] = {
    "an output": Completed("a", 1, Outcome({"deep": [f"key {SECRET}!"], SECRET: 1})),
    "a variable": Completed("a", 1, Outcome(1, variables={"x": [SECRET]})),
    "a response": Completed("a", 1, Outcome(None, respond={"status": 200, "body": SECRET})),
    "usage": Completed("a", 1, Outcome(1), usage={"input_tokens": 1}),
    "an error": Failed("a", 1, Failure("config", "refused", f"401 for {SECRET}", causes=({"message": SECRET},))),
    "an error's code": Failed("a", 1, Failure("config", f"no_{SECRET}")),
    "a retried error": Failed("a", 1, Failure("timeout", "timeout", f"no answer for {SECRET}")),
    "a log line": Logged("a", 1, f"Authorization: {SECRET}"),
    "streamed text": Streamed("a", 1, f"the key is {SECRET}"),
    "what people are shown": Suspended("a", 1, Pause("callback", details={"message": SECRET, "approvers": [SECRET]})),
    "an answer": Answered("w", "approved", {"comment": SECRET}, by=SECRET),
    "a cancel's reason": CancelRequested(by=SECRET, reason=f"because {SECRET}"),
}


@pytest.mark.parametrize("fact", [pytest.param(fact, id=name) for name, fact in LEAKS.items()])
def test_a_secret_never_reaches_the_log_or_a_snapshot(play: Make, node: Callable[..., Any], fact: Any) -> None:
    run = leaky(play, lambda: node(retry={"attempts": 2}))
    run.begin({"sent": SECRET})
    run.decide(fact)
    assert len(run.events) > 4, "the fact was taken"
    assert SECRET.encode() not in encode_batch(run.events)
    assert SECRET not in repr(run.folded().root.at(0).value)
    assert b"***" in encode_batch(run.events)
    run.state.meta = {}
    assert SECRET.encode() not in encode_state(run.state)


def test_the_work_itself_is_given_the_secret(play: Make) -> None:
    nodes = {"a": {"type": "function", "with": {"call": "test.echo", "args": {"key": "Bearer ${KEY}"}}}}
    decision = play(nodes, env={"KEY": SECRET}).begin()
    assert decision.dispatches[0].params["args"]["key"] == f"Bearer {SECRET}"


def test_an_expression_that_raises_does_not_tell_the_secret(play: Make) -> None:
    run = play({"a": {"type": "transform", "with": {"value": "{{ int(${KEY}) }}"}}}, env={"KEY": SECRET})
    run.begin()
    assert run.status("a") == "failed"
    assert SECRET.encode() not in encode_batch(run.events)


def test_a_longer_secret_goes_before_one_that_it_contains(play: Make, node: Callable[..., Any]) -> None:
    run = play({"a": node()}, env={"SHORT": "token", "LONG": "token-and-more"})
    run.begin()
    run.complete("a", "token-and-more, token")
    assert run.state.get("a").value == "***, ***"


WORDS = ["output", "error", "status", "paused", "running", "completed", "reason", "index", "human_input", "approved", "upstream",
         "upstream_failure", "node", "message", "exits", "body", "timeout", "ending", "instance"]  # fmt: skip


@pytest.mark.parametrize("word", WORDS)
def test_a_secret_that_is_a_word_of_the_engine_breaks_nothing(play: Make, node: Callable[..., Any], word: str) -> None:
    run = play({
        "a": node(), "b": node("a", on_parent_failure="propagate"),
        "h": {"type": "set", "after": "b.error", "with": {"variables": {word: 1}}},
        "w": {"type": "approval", "with": {"message": "Go on?"}}, "z": node("w.approved"),
    }, env={"KEY": word}, variables={word: 0})  # fmt: skip
    run.begin({"n": word})
    run.decide(Failed("a", 1, Failure("config", "boom")))
    run.decide(Answered("w", "approved", {}))
    run.complete("z")
    assert run.state.status == "completed"
    assert run.folded().root.at(2).cells[word].value == 1
    assert run.trace.nodes["b"].status == "failed"


def test_what_is_too_short_to_be_a_secret_is_left_alone(play: Make, node: Callable[..., Any]) -> None:
    run = play({"a": node()}, env={"RETRIES": "3", "STAGE": "dev"})
    run.begin()
    run.complete("a", "developed in 2023")
    assert run.state.get("a").value == "developed in 2023"
