"""The kind `router`: a model chooses the exit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from stepless.adapters.memory.models import ScriptedModels
from stepless.model.work import NodeFailure, Result
from stepless.nodes import model_kind_code
from stepless.ports import Call

ROUTES = {"refund": "wants money back", "repair": "wants it mended", "other": "anything else"}


def routed(make: Callable[..., Call], answer: Any, **params: Any) -> tuple[Result, ScriptedModels]:
    models = ScriptedModels([answer])
    call = make("router", {"prompt": "It broke, mend it!", **params}, {"routes": ROUTES})
    result = asyncio.run(model_kind_code(models)["router"](call))  # type: ignore[arg-type]  # a coroutine
    assert isinstance(result, Result)
    return result, models


@pytest.mark.parametrize(("answer", "reasoning"), [
    ({"object": {"route": "repair", "reasoning": "It says so."}}, "It says so."),
    ('Sure!\n```json\n{"route": " repair ", "reasoning": null}\n```', ""),
    (" repair\n", ""),
])  # fmt: skip
def test_the_node_is_left_by_the_route_that_the_model_names(call: Callable[..., Call], answer: Any, reasoning: str) -> None:
    result, _ = routed(call, answer)
    assert result.handle == "repair"
    assert result.value == {"route": "repair", "reasoning": reasoning, "alternatives": ["refund", "other"]}
    assert result.usage == {"input_tokens": 10, "output_tokens": 5}


def test_the_model_is_shown_the_routes_and_what_they_mean(call: Callable[..., Call]) -> None:
    _, models = routed(call, "other", system="You sort mail.")
    (question,) = models.asked
    assert all(f"- {name}: {meaning}" in question.system for name, meaning in ROUTES.items())
    assert question.system.startswith("You sort mail.")
    assert question.schema is not None
    assert question.schema["properties"]["route"]["enum"] == list(ROUTES)
    assert question.turns[0].text == "It broke, mend it!"


@pytest.mark.parametrize("answer", [
    {"object": {"route": "replace", "reasoning": "new"}}, {"object": {"route": ["repair"]}}, "}{", "{broken}", "NO_MATCH",
])  # fmt: skip
def test_an_unknown_route_fails_the_node_and_names_the_known_ones(call: Callable[..., Call], answer: Any) -> None:
    with pytest.raises(NodeFailure) as failed:
        routed(call, answer)
    assert (failed.value.cause, failed.value.code, failed.value.retryable) == ("contract_violated", "unknown_route", True)
    assert "refund, repair, other" in str(failed.value)


def test_there_must_be_something_to_choose_by(call: Callable[..., Call]) -> None:
    with pytest.raises(NodeFailure, match="no message to choose"):
        routed(call, "other", prompt=" ")
