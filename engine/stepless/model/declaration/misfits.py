"""Translates pydantic's validation errors into messages for authors: one misfit per place, not one per form of a union.

The messages name types as in YAML and JSON. A misfit quotes a value only on request: at run time a value may be a secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple, TypeAlias

from pydantic_core import ErrorDetails, PydanticCustomError

from stepless.limits import PREVIEW_CHARACTERS
from stepless.model.json import JSON, Path
from stepless.model.texts.durations import DurationTooLong, parse_duration_ms, parse_retention_ms

UNION: Final = "union"
NOUNS: Final[Mapping[str, str]] = {  # what pydantic expected, by the type of its error
    "string_type": "text", "string_sub_type": "text", "int_type": "an integer", "int_parsing": "an integer",
    "int_from_float": "an integer", "int_parsing_size": "an integer", "float_type": "a number",
    "float_parsing": "a number", "decimal_type": "a number", "decimal_parsing": "a number", "bool_type": "true or false",
    "bool_parsing": "true or false", "list_type": "a list", "tuple_type": "a list", "set_type": "a list",
    "frozen_set_type": "a list", "dict_type": "an object", "model_type": "an object", "dataclass_type": "an object",
    "model_attributes_type": "an object", "dataclass_exact_type": "an object", "mapping_type": "an object",
    "none_required": "null",
    "date_type": "a date", "datetime_type": "an instant", "time_type": "a time of day", "time_delta_type": "a duration",
    "duration": "a duration",
}  # fmt: skip
_TEXT: Final = "text"
_WORDS: Final = ("literal_error", "enum")
_PLACED: Final = ("missing", "extra_forbidden", "missing_argument", "unexpected_keyword_argument")
_BOUNDS: Final[Mapping[str, str]] = {  # the fix of a value of the right type, by the type of pydantic's error
    "literal_error": "Write {expected}.", "enum": "Write {expected}.", "greater_than_equal": "Give {ge} or more.",
    "greater_than": "Give more than {gt}.", "less_than_equal": "Give {le} at most.", "less_than": "Give less than {lt}.",
    "too_short": "Give {min_length} at least.", "too_long": "Keep {max_length} at most.",
    "string_too_short": "Write {min_length} characters at least.", "string_too_long": "Keep {max_length} characters at most.",
    "string_pattern_mismatch": "It must match {pattern}.", "missing": "Add it.", "extra_forbidden": "Leave it out.",
    **dict.fromkeys(("union_tag_not_found", "union_tag_invalid"), "See the forms of this field in the reference."),
}  # fmt: skip
_OPENING: Final = re.compile(r"^(?:Value error, |Assertion failed, )?(?:(?:Input|String|Dictionary|List|Value|Tuple|Set) )?")
_COUNTED: Final = re.compile(r"(?: after validation)?, not [0-9]+$")
_DURATIONS: Final = "write it like 500ms, 90s, 15m, 2h, 3d or PT2H"
_FALSE: Final = ("no", "off", "false", "n")
_TRUE: Final = ("yes", "on", "true", "y")


class Misfit(NamedTuple):
    """An invalid value. `place` is its path in the validated value; `type` is pydantic's, or `union` if it matches none of
    several forms; `wanted` names the expected types; `location` is pydantic's own, with the tags of unions."""

    place: Path
    type: str
    message: str
    wanted: tuple[str, ...]
    value: Any
    context: Mapping[str, Any]
    location: Path

    def sentence(self, *, quoted: bool = True) -> str:
        """Returns the message, as the rest of a sentence that begins with the name: `should be text, not 30`. Without `quoted`,
        names the type of the value instead."""
        given = preview(self.value) if quoted else noun_of(self.value)
        if self.type == "missing" or self.type == "missing_argument":
            return "is missing"
        if self.type in ("extra_forbidden", "unexpected_keyword_argument"):
            return "is not known here"
        if self.type == "duration":
            return f"is {given}, which is not a duration" + ("" if quoted else f": {_DURATIONS}")
        if self.wanted:
            return f"should be {_either(self.wanted)}, not {given}"
        if self.type in ("union_tag_not_found", "union_tag_invalid"):
            return f"is {given}, which matches none of its forms"
        message = _COUNTED.sub("", _OPENING.sub("", self.message, count=1))
        message = message[:1].lower() + message[1:]
        if not message.startswith("should "):
            return f"does not fit: {message}"
        return f"{message}, not {given}" if quoted else message

    def fix_text(self, name: str) -> str:
        """Returns a suggestion for the value of `name`; empty where only the author can know it."""
        for wanted in self.wanted:
            if suggestion := _FIXES.get(wanted, _nothing)(name, self.value):
                return suggestion
        if self.wanted:
            return f"Give {_either(self.wanted)}."
        bound = _BOUNDS.get(self.type)
        return bound.format(**self.context) if bound is not None else ""


IsOpen: TypeAlias = Callable[[ErrorDetails], bool]
"""Tells whether an error is about a value that is known only at run time, and that may then be valid."""


def misfits(errors: Sequence[ErrorDetails], raw: JSON, is_open: IsOpen | None = None) -> list[Misfit]:
    """Returns every invalid place of `raw`, once each, in pydantic's order. `errors` are pydantic's errors for `raw`; those that
    are open are none.

    For a union, only the form with the value's type is reported: the author probably meant that one. If no form has that type,
    one misfit lists all their types. A form all of whose errors are open fits.
    """
    found = [(_steps(error, raw), error) for error in errors]
    if is_open is not None:
        found = _closed(found, 0, is_open)
    unique = {(misfit.place, misfit.type): misfit for misfit in _per_place(found, 0, raw)}
    return list(unique.values())


def read_duration_ms(value: object, parse: Callable[[str], int] = parse_duration_ms) -> int:
    """Parses a duration in milliseconds, as a field's validator. Raises `PydanticCustomError`."""
    if not isinstance(value, str):
        raise PydanticCustomError("duration", "should be text with a unit, like 90s, 15m, 2h, 3d or PT2H")
    try:
        return parse(value)
    except DurationTooLong as error:
        raise PydanticCustomError("duration_too_long", "{text}", {"text": str(error)}) from None
    except ValueError as error:
        raise PydanticCustomError("duration", "{text}", {"text": str(error)}) from None


def read_retention_ms(value: object) -> int:
    """Returns the same for a retention."""
    return read_duration_ms(value, parse_retention_ms)


def preview(value: Any) -> str:
    """Returns a value as shown in a message: a shortened scalar, or the noun for an object or a list."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int | float):
        return str(value)[:PREVIEW_CHARACTERS]
    return f"`{value[:PREVIEW_CHARACTERS]}`" if isinstance(value, str) else noun_of(value)


def meant_boolean(value: Any) -> bool | None:
    """Returns the meaning of a word such as `yes` or `off`; None for another value."""
    word = str(value).lower()
    return True if word in _TRUE else False if word in _FALSE else None


def noun_of(value: Any) -> str:
    """Returns the name of a value's type in messages."""
    for kinds, noun in ((type(None), "null"), (bool, "true or false"), (int | float, "a number"), (str, "text"),
                        (list | tuple, "a list"), (Mapping, "an object")):
        if isinstance(value, kinds):
            return noun
    return f"a {type(value).__name__}"


# -- one misfit per place ---------------------------------------------------------------------------------------------


class _Step(NamedTuple):
    """A step of pydantic's location. The tag of a union's form is not a step into the value."""

    name: int | str
    is_tag: bool


_Found = tuple[tuple[_Step, ...], ErrorDetails]


def _steps(error: ErrorDetails, raw: JSON) -> tuple[_Step, ...]:
    steps: list[_Step] = []
    value, last = raw, len(error["loc"]) - 1
    for place, step in enumerate(error["loc"]):
        in_list = isinstance(value, list | tuple) and isinstance(step, int) and step < len(value)
        inside = in_list or (isinstance(value, Mapping) and step in value)
        if inside:
            value = value[step]
        steps.append(_Step(step, is_tag=not inside and not (place == last and error["type"] in _PLACED)))
    return tuple(steps)


def _step_at(depth: int) -> Callable[[_Found], _Step | None]:
    return lambda each: each[0][depth] if len(each[0]) > depth else None


def _closed(found: Sequence[_Found], depth: int, is_open: IsOpen) -> list[_Found]:
    """The errors that are not open. A union has none if one of its forms has none."""
    kept: list[_Found] = []
    forms: dict[int | str, list[_Found]] = {}
    for at, group in groupby(found, key=_step_at(depth)):
        if at is None:
            kept += [each for each in group if not is_open(each[1])]
        elif at.is_tag:
            forms.setdefault(at.name, []).extend(group)
        else:
            kept += _closed(list(group), depth + 1, is_open)
    left = [_closed(form, depth + 1, is_open) for form in forms.values()]
    return kept + [each for form in left for each in form] if all(left) else kept


def _per_place(found: Sequence[_Found], depth: int, raw: JSON) -> Iterator[Misfit]:
    """The misfits of errors that share the first `depth` steps."""
    forms: dict[int | str, list[_Found]] = {}
    for at, group in groupby(found, key=_step_at(depth)):
        if at is None:
            yield from (_misfit(steps, error) for steps, error in group)
        elif at.is_tag:
            forms.setdefault(at.name, []).extend(group)
        else:
            yield from _per_place(list(group), depth + 1, raw)
    if forms:
        yield from _of_forms(list(forms.values()), depth, raw)


def _of_forms(forms: Sequence[Sequence[_Found]], depth: int, raw: JSON) -> Iterator[Misfit]:
    meant = [form for form in forms if not all(_is_of_another_type(steps, error, depth) for steps, error in form)]
    if meant:
        yield from _per_place(min(meant, key=_distance), depth + 1, raw)
        return
    nouns = dict.fromkeys(NOUNS.get(error["type"], _TEXT) for form in forms for _, error in form)
    first = _misfit(*forms[0][0])
    yield first._replace(type=UNION if len(nouns) > 1 else first.type, wanted=tuple(nouns))


def _distance(form: Sequence[_Found]) -> tuple[int, int]:
    """How far a value is from a form: fields that are missing or unknown tell forms apart better than wrong values."""
    return sum(error["type"] in _PLACED for _, error in form), len(form)


def _is_of_another_type(steps: Sequence[_Step], error: ErrorDetails, depth: int) -> bool:
    """Also of a word, if the value is an object or a list."""
    another = error["type"] in NOUNS or (error["type"] in _WORDS and isinstance(error["input"], Mapping | list))
    return another and all(step.is_tag for step in steps[depth:])


def _misfit(steps: Sequence[_Step], error: ErrorDetails) -> Misfit:
    place = tuple(step.name for step in steps if not step.is_tag)
    noun = NOUNS.get(error["type"])
    wanted = () if noun is None else (noun,)
    return Misfit(place, error["type"], error["msg"], wanted, error["input"], error.get("ctx", {}), tuple(error["loc"]))


# -- fixes ------------------------------------------------------------------------------------------------------------


def _either(nouns: Sequence[str]) -> str:
    return nouns[0] if len(nouns) == 1 else f"{', '.join(nouns[:-1])} or {nouns[-1]}"


def _nothing(name: str, value: Any) -> str:
    return ""


def _as_text(name: str, value: Any) -> str:
    return f'Put it in quotes: `"{preview(value)}"`.' if isinstance(value, bool | int | float) else ""


def _as_number(name: str, value: Any) -> str:
    if not isinstance(value, str):
        return ""
    if re.fullmatch(r"[-+]?[0-9]{1,15}(\.[0-9]+)?", value):
        return f"Take the quotes away: `{value}`."
    try:
        duration_ms = parse_duration_ms(value)
    except ValueError:
        return ""
    return f"Write `{duration_ms}`: the unit is milliseconds." if name.endswith("_ms") else ""


def _as_boolean(name: str, value: Any) -> str:
    meant = meant_boolean(value)
    return "" if meant is None else f"Write `{preview(meant)}`."


def _as_duration(name: str, value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return f"Give it a unit: `{value}s` are seconds, `{value}m` minutes; ms, h and d are the others."
    return f"{_DURATIONS[:1].upper()}{_DURATIONS[1:]}."


def _as_list(name: str, value: Any) -> str:
    return f"Write it as a list: `[{str(value)[:PREVIEW_CHARACTERS]}]`." if isinstance(value, str | int | float) else ""


def _as_object(name: str, value: Any) -> str:
    if not isinstance(value, list):
        return ""
    first = value[0] if value and isinstance(value[0], Mapping) else {}
    key = next((first[word] for word in ("id", "name") if isinstance(first.get(word), str)), None)
    shown = f"{name}: {{{key}: …}}" if key is not None else f"{name}: {{name: …}}"
    return f"Write each under its name instead of in a list, like `{shown}`."


_FIXES: Final[Mapping[str, Callable[[str, Any], str]]] = {
    "text": _as_text, "an integer": _as_number, "a number": _as_number, "true or false": _as_boolean, "a list": _as_list,
    "an object": _as_object, "a duration": _as_duration,
}  # fmt: skip
