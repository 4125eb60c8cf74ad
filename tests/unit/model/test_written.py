"""What is read of a document is what its models read: the same defaults and meanings, whatever was written."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from stepless.model import document, policies, validation
from stepless.model.written import View, field

PARTS: list[tuple[type[validation.DocumentPart], dict[str, Any]]] = [
    (validation.AfterDocument, {"from": "a"}),
    (validation.EdgeDocument, {"source": "a", "target": "b"}),
    (validation.JoinDocument, {}),
    (validation.RetryDocument, {}),
    (validation.NodeDocument, {"type": "join"}),
    (validation.RateLimitDocument, {"max": 3, "per": "1m"}),
    (validation.BodyDocument, {"nodes": {}}),
    (validation.Document, {"id": "w", "nodes": {}}),
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
AS_WRITTEN = {"after", "edges", "condition", "vars"}  # a reader finds these as they were written


def fields(model: type[BaseModel]) -> dict[str, str]:
    """By the name that is written, the model's attribute."""
    return {field.alias or name: name for name, field in model.model_fields.items()}


def read(model: type[validation.DocumentPart], raw: dict[str, Any]) -> Any:
    """What a reader of the document is given: a view, or the values of a policy."""
    part = model.declaration
    return part(raw) if issubclass(part, View) else part(**raw)


def plain(value: Any) -> Any:
    """What a model, a view or a policy holds, without any of them."""
    if isinstance(value, BaseModel):
        return {name: plain(getattr(value, name)) for name in type(value).model_fields}
    if isinstance(value, View):
        return {name: plain(getattr(value, name)) for name in value.fields}
    if hasattr(value, "_asdict"):
        return {name: plain(item) for name, item in value._asdict().items()}
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


@pytest.mark.parametrize(("model", "least"), PARTS, ids=lambda given: getattr(given, "__name__", ""))
def test_what_is_not_written_has_the_default_of_the_model(model: type[validation.DocumentPart], least: dict[str, Any]) -> None:
    judged = model.model_validate(least)
    for name in model.model_fields:
        assert plain(getattr(read(model, least), name)) == plain(getattr(judged, name)), name


@pytest.mark.parametrize(("model", "least"), PARTS, ids=lambda given: getattr(given, "__name__", ""))
def test_what_is_written_is_read_as_the_model_reads_it(model: type[validation.DocumentPart], least: dict[str, Any]) -> None:
    raw = {**least, **FULL[model.__name__]}
    assert set(raw) == set(fields(model)), "every field is tried"
    judged = model.model_validate(raw)
    for name in set(model.model_fields) - AS_WRITTEN:
        assert plain(getattr(read(model, raw), name)) == plain(getattr(judged, name)), name


@pytest.mark.parametrize(("model", "least"), PARTS, ids=lambda given: getattr(given, "__name__", ""))
def test_what_was_given_is_distinguished_from_defaults(model: type[validation.DocumentPart], least: dict[str, Any]) -> None:
    if issubclass(model.declaration, View):
        names = fields(model)
        assert {names[name] for name in read(model, least).given} == model.model_validate(least).model_fields_set


def test_every_declared_part_of_the_document_has_a_model() -> None:
    with_models = {model.declaration for model in validation.DocumentPart.__subclasses__()}
    views = {part for part in vars(document).values() if isinstance(part, type) and issubclass(part, View) and part is not View}
    rules = {part for part in vars(policies).values() if hasattr(part, "_fields") and isinstance(part, type)}
    assert views | rules == with_models


def test_a_field_of_an_unknown_type_is_refused_when_the_models_are_made() -> None:
    class Strange(View):
        __slots__ = ()
        size: Furlongs = field(1)  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(NameError, match="Furlongs"):
        validation._model("Strange", Strange)
