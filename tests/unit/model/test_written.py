"""The views show what the models read: the same fields, defaults and meanings."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from stepless.model import document, written
from stepless.model.written import View

PAIRS: list[tuple[type[BaseModel], type[View], dict[str, Any]]] = [
    (document.AfterDocument, written.AfterView, {"from": "a"}),
    (document.EdgeDocument, written.EdgeView, {"source": "a", "target": "b"}),
    (document.JoinDocument, written.JoinView, {}),
    (document.RetryDocument, written.RetryView, {}),
    (document.NodeDocument, written.NodeView, {"type": "join"}),
    (document.RateLimitDocument, written.RateLimitView, {"max": 3, "per": "1m"}),
    (document.BodyDocument, written.BodyView, {"nodes": {}}),
    (document.Document, written.DocumentView, {"id": "w", "nodes": {}}),
]
FULL: dict[str, dict[str, Any]] = {
    "AfterDocument": {"param": "p", "key": "a[0].b", "condition": {"equals": None}, "merge": "json_object"},
    "EdgeDocument": {"handle": "error", "param": "p", "key": "a", "condition": {"truthy": True}, "merge": "concat"},
    "JoinDocument": {
        "mode": "count", "count": 2, "timeout_ms": 9, "on_timeout": "proceed", "errors": "best-effort", "min_success": 2,
        "losers": "cancel", "vars": "first-write", "on_conflict": "error",
    },
    "RetryDocument": {"attempts": 3, "backoff_ms": 1, "max_backoff_ms": 2, "retry_on": ["timeout"]},
    "NodeDocument": {
        "label": "L", "after": ["x", {"from": "y"}], "with": {"a": 1}, "enabled": False, "retry": {"attempts": 2},
        "timeout_ms": 5, "delivery": "at_most_once", "join": {"mode": "any"}, "merge": "last_write_wins",
        "on_parent_failure": "propagate", "default": 0, "input_contract": {"type": "object"}, "output_contract": {},
        "moderation": "both", "moderation_on_error": "allow",
    },
    "RateLimitDocument": {"by": "user.id"},
    "BodyDocument": {"edges": [{"source": "a", "target": "b"}]},
    "Document": {
        "name": "N", "description": "D", "variables": {"v": [1]}, "env": ["KEY"], "on_failure": "halt", "max_steps": 7,
        "numbered": True, "edges": [{"source": "a", "target": "b"}], "timeout": "PT2H", "concurrency": 2,
        "rate_limit": {"max": 1, "per": "2s"},
    },
}  # fmt: skip
UNSEEN = {"description"}  # for people alone


def fields(model: type[BaseModel]) -> dict[str, str]:
    """By the name that is written, the model's attribute."""
    return {field.alias or name: name for name, field in model.model_fields.items()}


def plain(value: Any) -> Any:
    """What a model or a view holds, without either."""
    match value:
        case BaseModel():
            return {attribute: plain(getattr(value, attribute)) for attribute in type(value).model_fields}
        case View():
            (model,) = (model for model, view, _ in PAIRS if view is type(value))
            return {name: plain(getattr(value, name)) for name in fields(model).values() if name not in UNSEEN}
        case dict():
            return {name: plain(item) for name, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
    return value


@pytest.mark.parametrize(("model", "view", "least"), PAIRS, ids=lambda given: getattr(given, "__name__", ""))
def test_a_view_has_the_fields_of_its_model(model: type[BaseModel], view: type[View], least: dict[str, Any]) -> None:
    shown = {name for base in view.__mro__ for name, value in vars(base).items() if isinstance(value, written.Field)}
    assert shown == set(fields(model).values()) - UNSEEN


@pytest.mark.parametrize(("model", "view", "least"), PAIRS, ids=lambda given: getattr(given, "__name__", ""))
def test_what_is_not_written_has_the_default_of_the_model(
    model: type[BaseModel], view: type[View], least: dict[str, Any],
) -> None:
    read = model.model_validate(least)
    for name in set(fields(model).values()) - UNSEEN:
        assert plain(getattr(view(least), name)) == plain(getattr(read, name)), name


@pytest.mark.parametrize(("model", "view", "least"), PAIRS, ids=lambda given: getattr(given, "__name__", ""))
def test_what_is_written_is_read_as_the_model_reads_it(model: type[BaseModel], view: type[View], least: dict[str, Any]) -> None:
    raw = {**least, **FULL[model.__name__]}
    assert set(raw) == set(fields(model)), "every field is tried"
    read = model.model_validate(raw)
    for name in set(fields(model).values()) - UNSEEN - {"after", "edges", "condition"}:  # these stay as they are written
        assert plain(getattr(view(raw), name)) == plain(getattr(read, name)), name


@pytest.mark.parametrize(("model", "view", "least"), PAIRS, ids=lambda given: getattr(given, "__name__", ""))
def test_what_the_author_wrote_is_told_from_what_is_so_by_default(
    model: type[BaseModel], view: type[View], least: dict[str, Any],
) -> None:
    names = fields(model)
    assert {names[name] for name in view(least).given} == model.model_validate(least).model_fields_set


def test_the_tests_of_a_condition_are_those_of_its_model() -> None:
    assert set(written.TESTS) == set(document.ConditionDocument.model_fields)
