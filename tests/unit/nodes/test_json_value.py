import math
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel

from stepless.nodes.json_value import NotJson, copied, to_json


class Colour(StrEnum):
    RED = "red"


class Rank(IntEnum):
    TOP = 1


class Shape(Enum):
    ROUND = ("o", 1)


class Point(NamedTuple):
    x: int
    y: int


@dataclass
class Order:
    id: str
    lines: tuple[Any, ...] = ()


class Refund(BaseModel):
    at: datetime
    amount: float = 1.5


@pytest.mark.parametrize(("value", "json"), [
    (None, None), (True, True), (3, 3), (2.5, 2.5), ("ä😀", "ä😀"), ([1, [2]], [1, [2]]), ((1, (2,)), [1, [2]]),
    ({"a": {"b": ()}}, {"a": {"b": []}}),
    (Colour.RED, "red"), (Rank.TOP, 1), (Shape.ROUND, ["o", 1]), (Point(1, 2), [1, 2]), (MappingProxyType({"a": 1}), {"a": 1}),
    (Order("o1", (Order("o2"),)), {"id": "o1", "lines": [{"id": "o2", "lines": []}]}),
    ({"r": [Refund(at=datetime(2026, 1, 1, tzinfo=UTC))]}, {"r": [{"at": "2026-01-01T00:00:00Z", "amount": 1.5}]}),
])
def test_what_python_returns_becomes_json(value: object, json: Any) -> None:
    assert to_json(value) == json
    assert type(to_json(value)) is type(json)


@pytest.mark.parametrize(("value", "path", "told"), [
    ({"items": [0, 1, 2, {"when": datetime(2026, 1, 1, tzinfo=UTC)}]}, "$.items[3].when", "datetime"),
    ({1: "a"}, "$", "key 1"), ({"a": {None: 1}}, "$.a", "key None"), ([math.nan], "$[0]", "nan"), ({"a": math.inf}, "$.a", "inf"),
    ("\ud800", "$", "surrogate"), ({"a": ["\udfff"]}, "$.a[0]", "surrogate"), ({"\ud800": 1}, "$.\ud800", "surrogate"),
    (1 << 1025, "$", "1024 bits"), (b"x", "$", "bytes"), ({1, 2}, "$", "set"), (Order, "$", "type"),
    ([Order("o", (Decimal(1),))], "$[0].lines[0]", "Decimal"),
    (Refund(at=datetime(2026, 1, 1, tzinfo=UTC), amount=math.nan), "$.amount", "nan"),
], ids=str)
def test_what_json_has_no_word_for_is_named_with_its_place(value: object, path: str, told: str) -> None:
    with pytest.raises(NotJson, match=told) as found:
        to_json(value)
    assert found.value.path == path


def test_a_circle_is_found_and_not_followed() -> None:
    circle: list[Any] = []
    circle.append({"again": circle})
    with pytest.raises(NotJson, match="circular"):
        to_json(circle)


@pytest.mark.parametrize("copy", [copied, to_json])
def test_a_copy_shares_nothing_that_can_be_changed(copy: Any) -> None:
    value: Any = {"a": [{"b": []}]}
    twin = copy(value)
    twin["a"][0]["b"].append(1)
    twin["a"].append(2)
    assert value == {"a": [{"b": []}]}
