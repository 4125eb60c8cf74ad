from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from stepless.limits import MAX_DURATION_MS
from stepless.model.declaration.field_types import parse_key
from stepless.model.declaration.validation import Document, NodeDocument
from stepless.model.work import CAUSES


def node(**fields: Any) -> Any:
    return NodeDocument.model_validate({"type": "join", **fields})


def test_defaults_are_those_of_the_specification() -> None:
    read = node()
    assert (read.enabled, read.timeout_ms, read.delivery, read.merge) == (True, 60_000, "at_least_once", "last")
    assert (read.on_parent_failure, read.default, read.moderation, read.moderation_on_error) == ("skip", "", "off", "block")
    assert (read.retry.attempts, read.retry.backoff_ms, read.retry.max_backoff_ms) == (1, 500, 8_000)
    assert read.retry.retry_on == ["timeout", "provider_error", "rate_limit"]
    assert (read.join.mode, read.join.errors, read.join.min_success, read.join.losers) == ("all", "fail-fast", 1, "continue")
    assert (read.join.vars, read.join.on_conflict, read.join.on_timeout) == ("merge-all", "warn", "fail")
    document = Document.model_validate({"id": "d", "nodes": {"a": {"type": "join"}}})
    assert (document.on_failure, document.max_steps, document.timeout_ms, document.variables) == ("isolate", 10_000, None, {})


@pytest.mark.parametrize(("written", "meant"), [("last_write_wins", "last"), ("json_object", "object"), ("array", "array")])
def test_merges_have_the_names_of_the_ancestors_too(written: str, meant: str) -> None:
    assert node(merge=written).merge == meant


@pytest.mark.parametrize("cause", [*CAUSES, "moderation", "outcome_unknown"])
def test_every_known_cause_may_be_retried(cause: str) -> None:
    assert node(retry={"retry_on": [cause]}).retry.retry_on == [cause]


@pytest.mark.parametrize("fields", [
    {"timeout_ms": 0}, {"timeout_ms": MAX_DURATION_MS + 1}, {"timeout_ms": "2s"}, {"timeout_ms": 1.5}, {"timeout_ms": True},
    {"enabled": "yes"}, {"enabled": 1}, {"retry": {"attempts": 101}}, {"retry": {"backoff_ms": -1}}, {"retry": None},
    {"join": {"count": 0}}, {"join": {"min_success": 0}}, {"join": {"vars": "custom"}}, {"join": {"vars": {"custom": ""}}},
    {"after": {"frm": "a"}}, {"after": [["a"]]}, {"after": ""}, {"merge": "sum"}, {"input_contract": []}, {"default_": 1},
])
def test_what_does_not_fit_is_refused_and_never_coerced(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        node(**fields)


@pytest.mark.parametrize(("key", "steps"), [
    ("", ()), ("a", ("a",)), ("a.b", ("a", "b")), ("rows[0].id", ("rows", 0, "id")), ("[2]", (2,)), ("a[-1][1]", ("a", -1, 1)),
    ("content-type.x y", ("content-type", "x y")), ("0", ("0",)),
])
def test_a_key_is_a_dotted_path(key: str, steps: tuple[str | int, ...]) -> None:
    assert parse_key(key) == steps


@pytest.mark.parametrize("key", [".", "a.", ".a", "a..b", "a[", "a[x]", "a]", "a[0]b"])
def test_a_key_that_is_no_path_is_refused(key: str) -> None:
    with pytest.raises(PydanticCustomError):
        parse_key(key)


def test_a_document_does_not_change_once_it_is_read() -> None:
    with pytest.raises(ValidationError):
        node().enabled = False
