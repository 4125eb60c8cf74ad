"""Values that JSON does not have, as they are stored between two nodes."""

from __future__ import annotations

import json
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from program_steps import Line, Order

from stepless.flow.carried import decoded, encoded, same
from stepless.nodes.json_value import NotJson


class Colour(Enum):
    RED = "red"


@dataclass
class Point:
    x: int
    tags: set[str]


VALUES: list[Any] = [
    {1, "a"}, frozenset({(1, 2)}), (1, [2, {3}]), b"\xff\x00", date(2024, 2, 29), time(3, 4, 5, 6), datetime(2024, 1, 2, 3),  # noqa: DTZ001  # without a zone

    datetime(2024, 1, 2, tzinfo=UTC), datetime(2024, 1, 2, tzinfo=timezone(timedelta(hours=-5))),
    datetime(2024, 10, 27, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Berlin")), timedelta(days=-1, microseconds=3), Decimal("1.10"),
    UUID(int=7), {1: 2, (1, 2): "x"}, {"$stepless": 1}, float("inf"), float("nan"), Colour.RED, Point(1, {"a"}),
    Order(id="a", amount=3), [Line(sku="a", qty=1)], {"a": None, "b": [{"c": {1}}]}, Counter("aab"), OrderedDict(b=1, a=2),
    defaultdict(list, {"a": [1]}), deque([1, 2], maxlen=3), 1.0, 1, True, None, "ü",
]  # fmt: skip


IDS = [f"{number}_{type(one).__name__}" for number, one in enumerate(VALUES)]


@pytest.mark.parametrize("value", VALUES, ids=IDS)
def test_a_value_is_the_same_after_it_was_stored(value: Any) -> None:
    again = decoded(json.loads(json.dumps(encoded(value))))
    assert same(again, value)
    assert type(again) is type(value) or isinstance(value, dict)


def test_a_field_of_another_type_than_its_own_stays_so() -> None:
    order = Order(id="a", amount=3)
    order.amount = 7  # pydantic does not convert what is assigned
    again = decoded(encoded(order))
    assert type(again.amount) is int


WITHOUT = {"object": object(), "iterator": iter([]), "function": open, "factory": defaultdict(lambda: 1), "list": [object()]}


@pytest.mark.parametrize("value", WITHOUT.values(), ids=WITHOUT)
def test_what_has_no_value_is_refused(value: Any) -> None:
    with pytest.raises(NotJson):
        encoded(value)


def test_a_class_inside_of_a_function_is_refused() -> None:
    class Inner(Enum):
        ONE = 1

    with pytest.raises(NotJson, match="not in a module"):
        encoded(Inner.ONE)


def test_a_circle_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(NotJson, match="circular"):
        encoded(value)
