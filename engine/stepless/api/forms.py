"""An answer's fields, which are JSON Schemas, as the inputs of an HTML form, and what was typed into them as JSON.

What cannot be read as its field's type stays text: the schema then refuses it, in the same words as for everybody else.
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
from stepless.runtime.verbs.answering import unknown_field

PREFIX: Final = "answer."  # of a field's name in the form: a field may be called `decision`
_LENGTHS: Final = (("minlength", "minLength"), ("maxlength", "maxLength"))
_RANGE: Final = (("min", "exclusiveMinimum"), ("min", "minimum"), ("max", "exclusiveMaximum"), ("max", "maximum"))
_BOUNDS: Final[Mapping[str, Sequence[tuple[str, str]]]] = {  # control → attribute, keyword of the schema; the last one counts
    "text": (*_LENGTHS, ("pattern", "pattern")), "lines": _LENGTHS,
    "whole": (*_RANGE, ("step", "multipleOf")), "number": (*_RANGE, ("step", "multipleOf")),
}  # fmt: skip
_LONG_TEXT: Final = 200  # characters from which on a text gets several lines
_WHOLE: Final = re.compile(r"[-+]?[0-9]{1,300}")
_DECIMAL: Final = re.compile(r"[-+]?[0-9]{1,300}(\.[0-9]{1,300})?([eE][-+]?[0-9]{1,3})?")


@dataclass(frozen=True, slots=True)
class Field:
    """One input. `control` is text, lines, number, whole, check or choice; `choices` are (value, label); `bounds` are attributes
    of the control; `faults` say what is wrong with what was typed, a sentence each."""

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
    """Inputs in the order of the schemas, filled with what was typed before, else with the schemas' defaults. `faults` are by the
    name of the field, as `parted` tells them."""
    shown = list(schemas.items())[:MAX_ANSWER_FIELDS]
    faulty = faults or {}
    return [_field(name, schema if isinstance(schema, dict) else {}, typed, faulty.get(name, ())) for name, schema in shown]


def parted(violations: Sequence[str], schemas: Mapping[str, JSON]) -> tuple[list[str], dict[str, list[str]]]:
    """What a contract says of an answer: the sentences that are about the whole, and those about one field, by its name and
    without it."""
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
    """The fields of an answer for people, (label, value) each, in the order of the schemas."""
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
    """What a browser can hold an input to: never more than the schema asks, which has the last word."""
    for attribute, keyword in _BOUNDS.get(control, ()):
        value = schema.get(keyword)
        if keyword == "pattern":
            if isinstance(value, str):  # a schema looks for it anywhere in the text, a browser wants it to be the whole
                yield attribute, f".*(?:{value}).*"
        elif isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value):
            yield attribute, json.dumps(_inclusive(control, keyword, value))


def _inclusive(control: str, keyword: str, value: float) -> float:
    """An exclusive bound of whole numbers as the nearest one that is inclusive; a browser knows no other."""
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
        told = unknown_field(unknown[0].removeprefix(PREFIX), schemas)
        raise InvalidRequest(told, place=unknown[0][:100], status=422, mend="leave it out")
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
