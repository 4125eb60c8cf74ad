from typing import Any

import pytest
from pydantic import ValidationError

from stepless.compile import check_document
from stepless.model.kind import Nature, Part
from stepless.nodes import KINDS

LLM = KINDS["llm"]


def test_a_model_is_asked_in_an_effect_whose_schema_is_taken_as_it_stands() -> None:
    assert LLM.nature is Nature.EFFECT
    assert LLM.parts["response_schema"] is Part.LITERAL


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"prompt": "<a.b>", "system": "Be kind", "temperature": 1, "max_tokens": 100, "stream": True},
        {"messages": [{"role": "user", "content": {"a": 1}}], "response_schema": {"type": "object"}},
        {"tools": [{"call": "shop.find", "description": "finds", "parameters": {"type": "object"}, "args": {"shop": 1}}]},
    ],
)
def test_what_a_model_can_be_asked_is_accepted(params: Any, findings: Any) -> None:
    assert findings("llm", **params) == []


@pytest.mark.parametrize(
    "params",
    [
        {"messages": []},
        {"messages": [{"role": "tool", "content": "x"}]},
        {"messages": [{"role": "user"}]},
        {"temperature": 2.1},
        {"max_tokens": 0},
        {"tools": [{"call": "no name"}]},
        {"tools": [{"call": "a", "surplus": 1}]},
        {"response_schema": "object"},
        {"model": ""},
    ],
)
def test_what_no_model_can_be_asked_is_refused(params: Any) -> None:
    with pytest.raises(ValidationError):
        LLM.params.model_validate(params)


def test_two_conversations_and_a_schema_that_is_none_are_found(findings: Any) -> None:
    said = {"prompt": "x", "messages": [{"role": "user", "content": "y"}], "response_schema": {"type": "thing"}}
    found = findings("llm", **said)
    assert [(code, path) for code, path, _ in found] == [
        ("contradiction", ".prompt"),
        ("invalid_schema", ".response_schema.type"),
    ]


def test_references_may_stand_in_everything_but_the_schema() -> None:
    schema = {"type": "object", "description": "<not.read> ${NEITHER}"}
    node = {
        "type": "llm",
        "after": "s",
        "with": {
            "model": "<s.model>",
            "temperature": "<s.heat>",
            "prompt": "Hi <s.name>",
            "response_schema": schema,
            "tools": [{"call": "a", "args": {"b": "<s.b>"}}],
        },
    }
    document = {"id": "x", "nodes": {"s": {"type": "manual"}, "n": node}}
    assert check_document(document, KINDS) == ()
