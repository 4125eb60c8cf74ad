"""How a function is described to a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from pydantic import Field

from stepless.model.work import NodeFailure
from stepless.nodes.function import FunctionCall, describe, function


@dataclass
class Item:
    name: str


def other_item() -> type:
    @dataclass
    class Item:
        number: int

    return Item


Other = other_item()


@function("described.order")
def order(item: Item, count: Annotated[int, Field(ge=1, description="how many")], note: str = "", *, call: FunctionCall) -> None:
    """Orders
    something.

    Details that nobody needs to know.
    """


@function("described.two")
def two(first: Item, second: Other, third: object, **more: Any) -> None: ...  # type: ignore[valid-type]  # made at run time


@function("described.odd")
def odd(when: Annotated[Any, Field()], how: type[int]) -> None: ...


def test_parameters_are_told_with_their_types_and_without_what_the_engine_fills_in() -> None:
    said, schema = describe("described.order")
    assert said == "Orders\nsomething."
    assert set(schema["properties"]) == {"item", "count", "note"}
    assert schema["properties"]["count"] == {"type": "integer", "minimum": 1, "description": "how many"}
    assert schema["properties"]["item"]["properties"] == {"name": {"title": "Name", "type": "string"}}
    assert (schema["required"], schema["additionalProperties"]) == (["count", "item"], False)


def test_what_json_schema_has_no_word_for_is_left_open() -> None:
    said, schema = describe("described.odd")
    assert (said, schema["properties"]) == ("", {"when": {}, "how": {}})
    assert describe("described.two")[1]["properties"]["third"] == {}
    assert "additionalProperties" not in describe("described.two")[1]


def test_a_function_that_is_not_there_is_named() -> None:
    with pytest.raises(NodeFailure, match="nowhere"):
        describe("described.nowhere")
