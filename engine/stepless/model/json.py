"""Defines JSON values, their paths and their equality. All code treats a JSON value as immutable: never change one in place."""

from __future__ import annotations

import re
from typing import Any, Final, TypeAlias

JSON: TypeAlias = Any  # None | bool | int | float | str | list[JSON] | dict[str, JSON]; a recursive alias slows mypy down
Path: TypeAlias = tuple[str | int, ...]


_STEP: Final = re.compile(r"(?:^|(?<!^)\.)([^.\[\]]+)|\[(-?[0-9]{1,9})\]")


def parse_path(text: str) -> Path:
    """Returns the steps of a path such as `body.rows[0].id`; empty for the empty text. Raises `ValueError`."""
    if not text:
        return ()
    steps: list[str | int] = []
    at = 0
    while at < len(text):
        step = _STEP.match(text, at)
        if step is None:
            raise ValueError(f"{text!r} is not a dotted path like body.rows[0].id")
        steps.append(step[1] if step[1] is not None else int(step[2]))
        at = step.end()
    return tuple(steps)


def read_path(value: JSON, path: Path) -> JSON:
    """Returns the value at `path` inside `value`; None where a step does not exist. Texts are never indexed."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and -len(value) <= step < len(value):
            value = value[step]
        elif isinstance(value, list) and isinstance(step, str) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def has_step(value: JSON, step: str | int) -> bool:
    """Returns whether one step of a path leads to something in `value`, which may be null."""
    if isinstance(value, dict):
        return step in value
    if not isinstance(value, list):
        return False
    if isinstance(step, int):
        return -len(value) <= step < len(value)
    return step.isdecimal() and int(step) < len(value)


def encodable(text: str) -> bool:
    """Returns whether a text can be written as UTF-8: it has no half of a surrogate pair."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def equal(left: JSON, right: JSON) -> bool:
    """Compares by JSON type and value: `1 == 1.0`, but `1 != True` and `"5" != 5`."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(equal(value, right[key]) for key, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(equal, left, right))
    numbers = isinstance(left, int | float) and isinstance(right, int | float)
    return (numbers or type(left) is type(right)) and bool(left == right)
