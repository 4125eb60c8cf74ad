"""An answer's fields, which are JSON Schemas, as the inputs of an HTML form, and what was typed into them as JSON.

What cannot be read as its field's type stays text: the schema then refuses it, in the same words as for everybody else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Final

from stepless.compile.strict_json import strict_json
from stepless.errors import InvalidRequest
from stepless.limits import MAX_ANSWER_FIELDS
from stepless.model.json import JSON

PREFIX: Final = "answer."  # of a field's name in the form: a field may be called `decision`
_LONG_TEXT: Final = 200  # characters from which on a text gets several lines
_WHOLE: Final = re.compile(r"[-+]?[0-9]{1,300}")
_DECIMAL: Final = re.compile(r"[-+]?[0-9]{1,300}(\.[0-9]{1,300})?([eE][-+]?[0-9]{1,3})?")


@dataclass(frozen=True, slots=True)
class Field:
    """One input. `control` is text, lines, number, whole, check or choice; `choices` are (value, label)."""

    name: str
    label: str
    hint: str
    control: str
    choices: Sequence[tuple[str, str]]
    value: str


def fields_of(schemas: Mapping[str, JSON], typed: Mapping[str, str] | None = None) -> Sequence[Field]:
    """Inputs in the order of the schemas, filled with what was typed before, else with the schemas' defaults."""
    shown = list(schemas.items())[:MAX_ANSWER_FIELDS]
    return [_field(name, schema if isinstance(schema, dict) else {}, typed) for name, schema in shown]


def _field(name: str, schema: Mapping[str, JSON], typed: Mapping[str, str] | None) -> Field:
    choices = [(json.dumps(choice), _shown(choice)) for choice in schema.get("enum") or ()]
    if typed is not None:
        value = typed.get(PREFIX + name, "")
    else:
        value = _default(schema.get("default"), bool(choices))
    return Field(
        name=PREFIX + name,
        label=str(schema.get("title") or name),
        hint=str(schema.get("description") or ""),
        control="choice" if choices else _control(schema),
        choices=choices,
        value=value,
    )


def _control(schema: Mapping[str, JSON]) -> str:
    kind = _type(schema)
    if kind in ("", "string"):
        longest = schema.get("maxLength")
        return "lines" if isinstance(longest, int) and longest > _LONG_TEXT else "text"
    return {"integer": "whole", "number": "number", "boolean": "check"}.get(kind, "lines")


def _type(schema: Mapping[str, JSON]) -> str:
    """The type of what is typed in; "" when anything will do."""
    kinds = schema.get("type", "")
    return next((kind for kind in kinds if kind != "null"), "null") if isinstance(kinds, list) else str(kinds)


def _shown(value: JSON) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _default(value: JSON, is_choice: bool) -> str:
    if value is None or value is False:
        return ""
    return json.dumps(value) if is_choice else _shown(value)


def typed_answer(schemas: Mapping[str, JSON], typed: Mapping[str, str]) -> dict[str, JSON] | None:
    """The answer of a form: fields left empty are left out, a box without its tick is false. None without any schemas.

    Raises `InvalidRequest` 422 for a field that was not asked for.
    """
    unknown = sorted(name for name in typed if name.startswith(PREFIX) and name.removeprefix(PREFIX) not in schemas)
    if unknown:
        raise InvalidRequest(f"there is no field {unknown[0][:100]}", place=unknown[0][:100], status=422, mend="leave it out")
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
