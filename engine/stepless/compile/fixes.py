"""Suggests a fix for an invalid value when only one fix is right: the nearest name, the value in the
type that is wanted, an empty value where one is missing."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any, Final, get_args, get_origin

from pydantic import BaseModel, ValidationError

from stepless.compile.suggest import nearest
from stepless.limits import PREVIEW_CHARACTERS
from stepless.model.declaration.misfits import Misfit, meant_boolean, preview
from stepless.model.findings import Change, Fix, remove, use
from stepless.model.json import JSON, Path
from stepless.model.texts.durations import parse_duration_ms

_EMPTY: Final[tuple[JSON, ...]] = ("", [], {})
_BODY: Final = "body"  # an empty one would have a finding of its own
_NUMBER: Final = re.compile(r"[-+]?[0-9]{1,15}(\.[0-9]+)?")


def fix_of(misfit: Misfit, model: type[BaseModel], name: str, *, is_parameter: bool) -> Fix | None:
    """Returns the fix of a misfit, None if only the author can know it. `is_parameter`: of a kind, not of the document."""
    match misfit.type:
        case "extra_forbidden":
            near = nearest(name, field_names(model, misfit.location[:-1]))
            return remove(name) if near is None else use(near, change=Change.RENAME)
        case "missing":
            return _empty(misfit, model, name) if is_parameter and name != _BODY else None
        case "unknown_cause":
            return use(nearest(misfit.value, words(misfit.context["known"])))
        case "literal_error" if isinstance(misfit.value, str):
            return use(nearest(misfit.value, words(misfit.context["expected"])))
    for value in _meant(misfit, model, name):
        if _fits(misfit, model, value):
            return Fix(Change.REPLACE, f"Write `{_shown(value)}`", value)
    return None


def words(listed: str) -> list[str]:
    """Returns the words of a list in a message of pydantic."""
    return [word.strip(" '`") for part in listed.split(",") for word in part.split(" or ") if word.strip(" '`")]


def written_out(misfit: Misfit, model: type[BaseModel]) -> tuple[str, bool] | None:
    """Returns the field of an object for which a scalar in the place of the object is valid, and whether others are required:
    `attempts` for `retry: 3`."""
    if not isinstance(misfit.value, str | int | float):
        return None
    for inner in models_at(model, misfit.location):
        for field, about in inner.model_fields.items():
            if _takes(inner, about.alias or field, misfit.value):
                more = any(other.is_required() and other is not about for other in inner.model_fields.values())
                return about.alias or field, more
    return None


def _empty(misfit: Misfit, model: type[BaseModel], name: str) -> Fix | None:
    value: JSON
    for value in _EMPTY:
        if _fits(misfit, model, value):
            return Fix(Change.ADD, f"Add `{name}: {_shown(value)}`", value)
    return None


def _meant(misfit: Misfit, model: type[BaseModel], name: str) -> Iterator[JSON]:
    """The value in the types that are wanted."""
    value = misfit.value
    for wanted in misfit.wanted:
        match wanted:
            case "text" if isinstance(value, bool | int | float):
                yield preview(value)
            case "an integer" | "a number" if isinstance(value, str):
                yield from _number(name, value)
            case "true or false" if (meant := meant_boolean(value)) is not None:
                yield meant
            case "a list" if isinstance(value, str | int | float):
                yield [value]
            case "an object" if (found := written_out(misfit, model)) is not None and not found[1]:
                yield {found[0]: value}


def _number(name: str, text: str) -> Iterator[JSON]:
    if _NUMBER.fullmatch(text):
        yield float(text) if "." in text else int(text)
        return
    try:
        duration_ms = parse_duration_ms(text)
    except ValueError:
        return
    if name.endswith("_ms"):
        yield duration_ms


def _fits(misfit: Misfit, model: type[BaseModel], value: JSON) -> bool:
    """Whether the field takes a value. Items of lists and values by free names are not looked at."""
    field = misfit.place[-1] if misfit.place else 0
    if not isinstance(field, str):
        return False
    end = max(place for place, step in enumerate(misfit.location) if step == field)  # tags of unions may follow
    return any(_takes(inner, field, value) for inner in models_at(model, misfit.location[:end]))


def _takes(model: type[BaseModel], field: str, value: JSON) -> bool:
    if not any(field == (about.alias or name) for name, about in model.model_fields.items()):
        return False
    try:
        model.model_validate({field: value})
    except ValidationError as refused:
        return not any(error["loc"][:1] == (field,) for error in refused.errors(include_url=False))
    return True


def _shown(value: JSON) -> str:
    if isinstance(value, str):
        return f'"{value[:PREVIEW_CHARACTERS]}"'
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {preview(inner).strip('`')}" for name, inner in value.items()) + "}"
    return "[" + ", ".join(preview(inner).strip("`") for inner in value) + "]" if isinstance(value, list) else preview(value)


# -- the fields at a place --------------------------------------------------------------------------------------------


def models_at(model: type[BaseModel], location: Path) -> Collection[type[BaseModel]]:
    """Returns the models that are possible at a location in the form of pydantic."""
    models, skip = {model: None}, False
    for step in location:
        if skip:
            skip = False
            continue
        fields = [field for each in models for name, field in each.model_fields.items() if (field.alias or name) == step]
        if fields:
            models = {found: None for field in fields for found in _models_in(field.annotation)}
            skip = any(get_origin(field.annotation) is dict for field in fields)
    return models


def field_names(model: type[BaseModel], location: Path) -> list[str]:
    """Returns the fields that are possible at a location in the form of pydantic, by the names that the document uses."""
    return [field.alias or name for each in models_at(model, location) for name, field in each.model_fields.items()]


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        if isinstance(part, type) or get_args(part):
            yield from _models_in(part)
