"""A secret that is written into the document is a warning, without repeating it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from stepless.compile import check_document
from stepless.nodes import KINDS

KEY = "sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"


def warned(with_: Mapping[str, Any], type_: str = "http") -> list[str]:
    """The places in `with` of the warnings."""
    document = {"id": "w", "nodes": {"begin": {"type": "manual"}, "call": {"type": type_, "after": "begin", "with": dict(with_)}}}
    found = [one for one in check_document(document, KINDS) if one.code == "secret_in_document"]
    assert all(one.severity.value == "warning" and KEY not in f"{one.message}{one.mend}" for one in found)
    return [one.path.removeprefix("nodes.call.with.") for one in found]


@pytest.mark.parametrize(("with_", "place"), [
    ({"url": "https://x.example", "headers": {"Authorization": f"Bearer {KEY}"}}, "headers.Authorization"),
    ({"url": "https://x.example", "headers": {"Authorization": "Basic YWRhOnNlY3JldDEyMw=="}}, "headers.Authorization"),
    ({"url": "https://x.example", "headers": {"X-Api-Key": "0123456789abcdef"}}, "headers.X-Api-Key"),
    ({"url": f"https://x.example/?a=1&b={KEY}"}, "url"),
    ({"url": "https://ada:hunter22@x.example/<begin.path>"}, "url"),
    ({"url": "https://x.example", "method": "PUT", "body": {"l": [{"password": "correcthorsebattery"}]}}, "body.l.0.password"),
    ({"url": "https://x.example", "method": "POST", "body": {"text": "AKIAIOSFODNN7EXAMPLE and <begin.name>"}}, "body.text"),
])
def test_a_literal_that_looks_like_a_secret_is_a_warning_at_its_place(with_: Mapping[str, Any], place: str) -> None:
    assert warned(with_) == [place]


@pytest.mark.parametrize("with_", [
    {"url": "https://x.example", "headers": {"Authorization": "Bearer ${API_KEY}", "X-Api-Key": "<begin.key>"}},
    {"url": "https://x.example", "headers": {"Authorization": "Basic ${USER}:${PASSWORD}", "Accept": "application/json"}},
    {"url": "https://x.example/users/ada@b.example", "method": "PUT", "body": {"password": "please reset it", "token": "short"}},
    {"url": "https://x.example/sketches/task-1", "method": "POST", "body": {"author": "a-very-long-name-of-a-person"}},
])
def test_a_reference_and_plain_words_are_none(with_: Mapping[str, Any]) -> None:
    assert warned(with_) == []


def test_code_is_looked_at_too_and_a_schema_is_not_taken_for_values() -> None:
    assert warned({"code": f"key = '{KEY}'\noutput = 1"}, "code") == ["code"]
    fields = {"type": "object", "properties": {"password": {"type": "string", "description": "passwordoftheperson"}}}
    assert warned({"prompt": "?", "message": "ask", "fields": fields}, "approval") == []


def test_a_webhook_is_warned_of_once() -> None:
    document = {"id": "w", "nodes": {"hook": {"type": "webhook", "with": {"path": "/a", "auth": {"bearer": KEY}}}}}
    assert [one.path for one in check_document(document, KINDS) if one.code == "secret_in_document"] == ["nodes.hook.with.auth"]
