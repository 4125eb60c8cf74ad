from __future__ import annotations

from typing import Any

import pytest
from starlette.requests import Request

from stepless.api.negotiation import preferred, requested_wait_s
from stepless.api.pages.answer_forms import fields_of, typed_answer


@pytest.mark.parametrize(
    ("schema", "control"),
    [
        ({"type": "string"}, "text"),
        ({"type": "string", "maxLength": 5_000}, "lines"),
        ({"type": "integer"}, "whole"),
        ({"type": "number"}, "number"),
        ({"type": "boolean"}, "check"),
        ({"type": ["null", "integer"]}, "whole"),
        ({"enum": ["a", 1, None]}, "choice"),
        ({"type": "array"}, "lines"),
        ({"type": "object"}, "lines"),
        ({}, "text"),
        (True, "text"),
    ],
)
def test_a_schema_becomes_an_input(schema: Any, control: str) -> None:
    (field,) = fields_of({"x": schema})
    assert (field.name, field.label, field.control) == ("answer.x", "x", control)


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "string"}, "12", "12"),
        ({"type": "integer"}, "12", 12),
        ({"type": "integer"}, " -3 ", -3),
        ({"type": "integer"}, "1.5", "1.5"),
        ({"type": "integer"}, "9" * 5_000, "9" * 5_000),
        ({"type": "integer"}, "٣", "٣"),
        ({"type": "number"}, "1.5", 1.5),
        ({"type": "number"}, "2", 2),
        ({"type": "number"}, "nan", "nan"),
        ({"type": "number"}, "1e400", "1e400"),
        ({"type": "boolean"}, "true", True),
        ({"type": "boolean"}, "", False),
        ({"enum": ["1", 1, True]}, "1", 1),
        ({"enum": ["1", 1, True]}, '"1"', "1"),
        ({"enum": ["1"]}, "other", "other"),
        ({"type": "array"}, "[1, 2]", [1, 2]),
        ({"type": "object"}, "{nonsense", "{nonsense"),
        (True, "anything", "anything"),
    ],
)
def test_what_is_typed_becomes_json_or_stays_text(schema: Any, text: str, value: Any) -> None:
    answer = typed_answer({"x": schema}, {"answer.x": text})
    assert answer == {"x": value} and type(answer["x"]) is type(value)


def test_what_was_typed_beats_the_default() -> None:
    schemas = {"a": {"default": "d"}, "b": {"type": "boolean", "default": True}, "c": {"enum": [1, 2], "default": 2}}
    assert [field.value for field in fields_of(schemas)] == ["d", "true", "2"]
    assert [field.value for field in fields_of(schemas, {"answer.a": "t"})] == ["t", "", ""]


def test_no_fields_make_no_answer() -> None:
    assert typed_answer({}, {"decision": "approved"}) is None


def request(**headers: str) -> Request:
    return Request({"type": "http", "headers": [(name.encode(), value.encode()) for name, value in headers.items()]})


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        (None, "text/html"),
        ("*/*", "text/html"),
        ("application/json", "application/json"),
        ("text/html, application/json", "text/html"),
        ("text/html;q=0.5, application/json", "application/json"),
        ("application/*", "application/json"),
        ("*/*, text/html;q=0", "application/json"),
        ("text/*;q=0.1, */*;q=0.2", "application/json"),
        ("image/png", "text/html"),
        ("application/json;q=nonsense, text/html;q=0.1", "text/html"),
    ],
)
def test_the_media_type_that_is_liked_best_is_chosen(accept: str | None, chosen: str) -> None:
    asked = request(accept=accept) if accept is not None else request()
    assert preferred(asked, "text/html", "application/json") == chosen


@pytest.mark.parametrize(
    ("prefer", "seconds"),
    [
        ("wait=5", 5),
        ("respond-async, wait=5", 5),
        ('Wait="7"', 7),
        ("wait=5; x=1", 5),
        ("wait=9000", 20),
        ("wait=-1", None),
        ("wait", None),
        ("", None),
    ],
)
def test_a_wished_wait_is_read_and_bounded(prefer: str, seconds: float | None) -> None:
    assert requested_wait_s(request(prefer=prefer)) == seconds
