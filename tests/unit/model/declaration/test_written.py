"""The views of a document return what its models return: the same defaults and meanings, for any input."""

from __future__ import annotations

from typing import Any

import pytest
from field_examples import EXAMPLES, examples_of
from pydantic import BaseModel

from stepless.model.declaration import document, policies, validation
from stepless.model.declaration.views import View, field

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
AS_WRITTEN = {"after", "nodes", "edges", "condition", "vars", "messages"}  # a reader finds these as they were written
AS_LISTS = {"on_failure_notify"}  # a reader finds one value as a list of one


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
    for written in EXAMPLES[model.__name__]:
        for example in examples_of(model.__name__, written):
            raw = {**least, **example.beside, written: example.value}
            judged = model.model_validate(raw)
            for name in set(model.model_fields) - AS_WRITTEN:
                expected = plain(getattr(judged, name))
                if name in AS_LISTS and isinstance(expected, str):
                    expected = [expected]
                assert plain(getattr(read(model, raw), name)) == expected, name


def test_a_field_that_only_a_later_engine_knows_is_not_read() -> None:
    node = document.NodeView({"type": "join", "retry": {"attempts": 2, "later": 1}, "join": {"mode": "any", "later": 1}})
    assert (node.retry, node.join) == (policies.Retry(attempts=2), policies.JoinRule(mode="any"))


@pytest.mark.parametrize("alias", document.MERGE_ALIASES)
def test_a_merge_has_its_other_names_in_views_too(alias: str) -> None:
    for view in (document.NodeView, document.EdgeView, document.AfterView):
        assert view({"merge": alias}).merge == document.MERGE_ALIASES[alias]


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
