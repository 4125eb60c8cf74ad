"""Converts the fields of an answer, which are JSON Schemas, to the inputs of an HTML form, and the typed values to JSON.

A value that cannot be converted to the type of its field stays text. The schema then refuses it with its usual message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, floor, isfinite
from typing import Final

from stepless.compile.reading.strict_json import strict_json
from stepless.errors import InvalidRequest
from stepless.limits import MAX_ANSWER_FIELDS
from stepless.model.json import JSON
from stepless.runtime.verbs.changes.answering import unknown_field

PREFIX: Final = "answer."  # before the name of a field in the form: a field may be called `decision`
_LENGTHS: Final = (("minlength", "minLength"), ("maxlength", "maxLength"))
_RANGE: Final = (("min", "exclusiveMinimum"), ("min", "minimum"), ("max", "exclusiveMaximum"), ("max", "maximum"))
_BOUNDS: Final[Mapping[str, Sequence[tuple[str, str]]]] = {  # control → (attribute, keyword of the schema); the last one counts
    "text": (*_LENGTHS, ("pattern", "pattern")), "lines": _LENGTHS,
    "whole": (*_RANGE, ("step", "multipleOf")), "number": (*_RANGE, ("step", "multipleOf")),
}  # fmt: skip
_LONG_TEXT: Final = 200  # a text that may be longer than this gets several lines
_WHOLE: Final = re.compile(r"[-+]?[0-9]{1,300}")
_DECIMAL: Final = re.compile(r"[-+]?[0-9]{1,300}(\.[0-9]{1,300})?([eE][-+]?[0-9]{1,3})?")


@dataclass(frozen=True, slots=True)
class Field:
    """One input. `control` is text, lines, number, whole, check or choice. `choices` are (value, label). `bounds` are attributes
    of the control. `faults` describe what is wrong with the typed value, one sentence each."""

    name: str
    label: str
    hint: str
    control: str
    choices: Sequence[tuple[str, str]]
    value: str
    bounds: Mapping[str, str] = field(default_factory=dict)
    faults: Sequence[str] = ()


def fields_of(
    schemas: Mapping[str, JSON], typed: Mapping[str, str] | None = None, faults: Mapping[str, Sequence[str]] | None = None
) -> Sequence[Field]:
    """Returns the inputs in the order of the schemas, filled with the typed values, else with the defaults of the schemas.
    `faults` are by field name, as `faults_by_field` returns them."""
    shown = list(schemas.items())[:MAX_ANSWER_FIELDS]
    faulty = faults or {}
    return [_field(name, schema if isinstance(schema, dict) else {}, typed, faulty.get(name, ())) for name, schema in shown]


def faults_by_field(violations: Sequence[str], schemas: Mapping[str, JSON]) -> tuple[list[str], dict[str, list[str]]]:
    """Splits the violations of an answer into those about the whole answer and those about one field. The latter are by field
    name, with the name removed from the sentence."""
    whole, by_field = list[str](), dict[str, list[str]]()
    names = sorted(list(schemas)[:MAX_ANSWER_FIELDS], key=len, reverse=True)
    for sentence in violations:
        name = next((name for name in names if sentence.startswith((f"{name}:", f"{name}.", f"{name}["))), None)
        if name is None:
            whole.append(sentence)
        else:
            by_field.setdefault(name, []).append(sentence[len(name) :].removeprefix(":").strip())
    return whole, by_field


def shown_answer(schemas: Mapping[str, JSON], answer: JSON) -> Sequence[tuple[str, str]]:
    """Returns the fields of an answer for display, as (label, value) in the order of the schemas."""
    given = answer if isinstance(answer, dict) else {}
    fields = (entry for entry in fields_of(schemas) if entry.name.removeprefix(PREFIX) in given)
    return [(entry.label, _said(given[entry.name.removeprefix(PREFIX)])) for entry in fields]


def _said(value: JSON) -> str:
    return {True: "Yes", False: "No"}[value] if isinstance(value, bool) else _shown(value)


def _field(name: str, schema: Mapping[str, JSON], typed: Mapping[str, str] | None, faults: Sequence[str]) -> Field:
    choices = [(json.dumps(choice), _shown(choice)) for choice in schema.get("enum") or ()]
    if typed is not None:
        value = typed.get(PREFIX + name, "")
    else:
        value = _default(schema.get("default"), bool(choices))
    control = "choice" if choices else _control(schema)
    return Field(
        name=PREFIX + name,
        label=str(schema.get("title") or name),
        hint=str(schema.get("description") or ""),
        control=control,
        choices=choices,
        value=value,
        bounds=dict(_bounds(control, schema)),
        faults=faults,
    )


def _bounds(control: str, schema: Mapping[str, JSON]) -> Iterator[tuple[str, str]]:
    """The limits that a browser can check. They are never stricter than the schema, which decides."""
    for attribute, keyword in _BOUNDS.get(control, ()):
        value = schema.get(keyword)
        if keyword == "pattern":
            if isinstance(value, str):  # a schema matches anywhere in the text, a browser the whole text
                yield attribute, f".*(?:{value}).*"
        elif isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value):
            yield attribute, json.dumps(_inclusive(control, keyword, value))


def _inclusive(control: str, keyword: str, value: float) -> float:
    """An exclusive limit of whole numbers as the nearest inclusive one: HTML has only inclusive limits."""
    if control != "whole" or not keyword.startswith("exclusive"):
        return value
    return ceil(value) - 1 if keyword == "exclusiveMaximum" else floor(value) + 1


def _control(schema: Mapping[str, JSON]) -> str:
    kind = _type(schema)
    if kind in ("", "string"):
        longest = schema.get("maxLength")
        return "lines" if isinstance(longest, int) and longest > _LONG_TEXT else "text"
    return {"integer": "whole", "number": "number", "boolean": "check"}.get(kind, "lines")


def _type(schema: Mapping[str, JSON]) -> str:
    """The type of the typed value; "" if any type is allowed."""
    kinds = schema.get("type", "")
    return next((kind for kind in kinds if kind != "null"), "null") if isinstance(kinds, list) else str(kinds)


def _shown(value: JSON) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _default(value: JSON, is_choice: bool) -> str:
    if value is None or value is False:
        return ""
    return json.dumps(value) if is_choice else _shown(value)


def typed_answer(schemas: Mapping[str, JSON], typed: Mapping[str, str]) -> dict[str, JSON] | None:
    """Returns the answer of a form. Empty fields are left out, an unticked box is false. None if there are no schemas.

    Raises `InvalidRequest` 422 for an unknown field.
    """
    unknown = sorted(name for name in typed if name.startswith(PREFIX) and name.removeprefix(PREFIX) not in schemas)
    if unknown:
        message = unknown_field(unknown[0].removeprefix(PREFIX), schemas)
        raise InvalidRequest(message, place=unknown[0][:100], status=422, mend="leave it out")
    answer: dict[str, JSON] = {}
    for name, schema in schemas.items():
        text, rules = typed.get(PREFIX + name, ""), schema if isinstance(schema, dict) else {}
        if text or (_type(rules) == "boolean" and not rules.get("enum")):
            answer[name] = _value(rules, text)
    return answer if schemas else None


def _value(schema: Mapping[str, JSON], text: str) -> JSON:
    for choice in schema.get("enum") or ():
        if text == json.dumps(choice):
            return choice
    match _type(schema):
        case "boolean":
            return text.lower() in ("true", "on", "yes", "1")
        case "integer" if _WHOLE.fullmatch(text.strip()):
            return int(text)
        case "number" if _DECIMAL.fullmatch(text.strip()):
            number = int(text) if _WHOLE.fullmatch(text.strip()) else float(text)
            return number if isfinite(number) else text
        case "object" | "array" | "null":
            return _json_or_text(text)
    return text


def _json_or_text(text: str) -> JSON:
    try:
        return strict_json(text.encode())
    except InvalidRequest:
        return text
