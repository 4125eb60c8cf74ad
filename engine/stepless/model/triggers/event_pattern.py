"""Matches events against event patterns, in the subset of EventBridge's language that is documented here.

A pattern is an object: every field must exist in the event and match. A field's value is a list, of which one entry must match,
or an object for the fields below. Entries are texts, numbers, true, false and null, which must be equal, or one of

    {prefix: "a"} {suffix: "z"} {equals-ignore-case: "a"} {wildcard: "a*z"} {exists: true|false}
    {anything-but: value, [values] or {prefix|suffix: …}} {numeric: [">=", 1, "<", 10]}

`$or: [pattern, …]` can be used together with fields. Where an event contains a list, one of its items must match.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from stepless.limits import MAX_PATTERN_ENTRIES
from stepless.model.json import JSON, equal

_OR: Final = "$or"
_NOTHING: Final = object()
_COMPARE: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def matches(pattern: Mapping[str, JSON], event: Any) -> bool:
    """Returns whether an event matches a pattern without `faults`."""
    for name, wanted in pattern.items():
        if name == _OR:
            if not any(matches(one, event) for one in wanted):
                return False
        elif not _fits(wanted, event.get(name, _NOTHING) if isinstance(event, Mapping) else _NOTHING):
            return False
    return True


def _fits(wanted: JSON, value: Any) -> bool:
    if isinstance(wanted, Mapping):
        return any(matches(wanted, item) for item in value) if isinstance(value, list) else matches(wanted, value)
    values = value if isinstance(value, list) else [value]
    return any(_entry_fits(entry, item) for entry in wanted for item in values or [_NOTHING])


def _entry_fits(entry: JSON, value: Any) -> bool:
    if not isinstance(entry, Mapping):
        return value is not _NOTHING and equal(entry, value)
    ((name, operand),) = entry.items()
    if name == "exists":
        return (value is not _NOTHING) is operand
    return value is not _NOTHING and _MATCHERS[name](operand, value)


def _anything_but(operand: JSON, value: Any) -> bool:
    if isinstance(operand, Mapping):
        return not _entry_fits(operand, value)
    return not any(equal(one, value) for one in (operand if isinstance(operand, list) else [operand]))


def _numeric(operand: JSON, value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return all(_COMPARE[operand[i]](value, operand[i + 1]) for i in range(0, len(operand), 2))


def _wildcard(operand: str, value: Any) -> bool:
    """Linear time per star: each piece matches at its first occurrence."""
    if not isinstance(value, str):
        return False
    first, *pieces = operand.split("*")
    if not pieces:
        return value == operand
    *middle, last = pieces
    if not value.startswith(first):
        return False
    at = len(first)
    for piece in middle:
        at = value.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return len(value) - len(last) >= at and value.endswith(last)


_MATCHERS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "prefix": lambda operand, value: isinstance(value, str) and value.startswith(operand),
    "suffix": lambda operand, value: isinstance(value, str) and value.endswith(operand),
    "equals-ignore-case": lambda operand, value: isinstance(value, str) and value.casefold() == operand.casefold(),
    "wildcard": _wildcard,
    "anything-but": _anything_but,
    "numeric": _numeric,
}


def faults(pattern: Mapping[str, JSON]) -> Iterator[tuple[str, str]]:
    """Yields (dotted path, sentence) for each part of a pattern that can never match or is not in this language."""
    count = 0
    stack: list[tuple[str, JSON]] = [("", dict(pattern))]
    while stack:
        path, value = stack.pop()
        count += 1
        if count > MAX_PATTERN_ENTRIES:
            yield path, f"a pattern has at most {MAX_PATTERN_ENTRIES} entries"
            return
        if isinstance(value, Mapping):
            if not value:
                yield path, "an empty object has no fields to match"
            stack += [(f"{path}.{name}".lstrip("."), item) for name, item in reversed(list(value.items()))]
        elif not isinstance(value, list) or not value:
            yield path, "expected a list of allowed values, or an object for the fields below"
        elif path.rpartition(".")[2] == _OR:
            wrong = [index for index, item in enumerate(value) if not isinstance(item, Mapping)]
            yield from ((f"{path}.{index}", "expected a pattern") for index in wrong)
            stack += [(f"{path}.{index}", item) for index, item in enumerate(value) if index not in wrong]
        else:
            yield from (fault for index, entry in enumerate(value) for fault in _entry_faults(entry, f"{path}.{index}"))


def _entry_faults(entry: JSON, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(entry, list):
        yield path, "a list inside a list matches nothing"
    if not isinstance(entry, Mapping):
        return
    if len(entry) != 1:
        yield path, "a matcher has exactly one key"
        return
    ((name, operand),) = entry.items()
    known = ", ".join((*_MATCHERS, "exists"))
    if name != "exists" and name not in _MATCHERS:
        yield path, f"`{name}` is not a matcher; use one of {known}"
    elif not _OPERANDS[name](operand):
        yield path, f"`{name}` does not accept {operand!r:.60}"


def _is_text(operand: JSON) -> bool:
    return isinstance(operand, str) and operand != ""


def _is_excluded(operand: JSON) -> bool:
    if isinstance(operand, Mapping):
        return len(operand) == 1 and all(name in ("prefix", "suffix") and _is_text(text) for name, text in operand.items())
    return bool(operand) if isinstance(operand, list) else True


def _is_comparison(operand: JSON) -> bool:
    return isinstance(operand, list) and len(operand) in (2, 4) and all(
        operand[i] in _COMPARE and isinstance(operand[i + 1], int | float) for i in range(0, len(operand), 2)
    )


_OPERANDS: Final[Mapping[str, Callable[[JSON], bool]]] = {
    "prefix": _is_text, "suffix": _is_text, "equals-ignore-case": _is_text, "wildcard": _is_text,
    "exists": lambda operand: isinstance(operand, bool), "anything-but": _is_excluded, "numeric": _is_comparison,
}  # fmt: skip
