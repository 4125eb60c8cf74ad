"""Compares and edits the values of a draft: JSON in which the order of keys is data.

Two objects with the same entries in another order are different values: the first true case of a router decides, and a loop over
an object takes its entries as they stand. Nothing is changed in place. Each function returns a new value, or the one that it was
given where nothing changes. A path is a sequence of keys; offsets in a text count code points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from stepless.model.json import JSON

Path: TypeAlias = tuple[str, ...]
Object: TypeAlias = dict[str, JSON]


class Nothing:
    """The type of `NOTHING`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "NOTHING"


NOTHING: Final = Nothing()
"""What stands at a path where there is no value; null is a value."""


def at(value: JSON, path: Sequence[str]) -> JSON:
    """Returns the value at the path, `NOTHING` where there is none."""
    for step in path:
        if not isinstance(value, dict) or step not in value:
            return NOTHING
        value = value[step]
    return value


def same(left: JSON, right: JSON) -> bool:
    """Returns whether two values have the same canonical text: types, numbers as written, and keys in the same order."""
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return len(left) == len(right) and all(
            a == b and same(left[a], right[b]) for a, b in zip(left, right, strict=True)
        )
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, float):
        return repr(left) == repr(right)
    return bool(left == right)


def key_after(value: JSON, key: str) -> str | None:
    """Returns the key that follows `key` in an object; None for the last one."""
    names = iter(value)
    for name in names:
        if name == key:
            return next(names, None)
    return None


def with_key(value: Object, key: str, leaf: JSON, before: str | None = None) -> Object:
    """Returns the object with `key` set. A new key stands before the key `before`, or last where that is None or missing."""
    if key in value or before is None or before not in value:
        return {**value, key: leaf}
    made: Object = {}
    for name, held in value.items():
        if name == before:
            made[key] = leaf
        made[name] = held
    return made


def with_leaf(value: JSON, path: Sequence[str], leaf: JSON, before: str | None = None) -> JSON:
    """Returns the value with `leaf` at the path, which makes objects on the way; `NOTHING` where a step on the way is no object.
    `before` places the first key that is made among its neighbours."""
    if not path:
        return leaf
    if value is NOTHING:
        value = {}
    if not isinstance(value, dict):
        return NOTHING
    step, rest = path[0], path[1:]
    held = value.get(step, NOTHING)
    inner = with_leaf(held, rest, leaf, before if held is not NOTHING else None) if rest else leaf
    return NOTHING if inner is NOTHING else with_key(value, step, inner, before)


def without(value: JSON, path: Sequence[str]) -> JSON:
    """Returns the value without what stands at the path."""
    if not path or not isinstance(value, dict) or path[0] not in value:
        return value
    step, rest = path[0], path[1:]
    if not rest:
        return {key: held for key, held in value.items() if key != step}
    inner = without(value[step], rest)
    return value if inner is value[step] else {**value, step: inner}


def spliced(text: str, start: int, removed: int, new: str) -> str:
    """Returns the text with `removed` characters from `start` on replaced by `new`; a start behind the end is the end."""
    start = min(start, len(text))
    return text[:start] + new + text[start + removed:]


def texts(value: JSON, path: Path = ()) -> list[tuple[Path, str]]:
    """Returns every text in a value with its path, in the order of keys. Lists are values of their own: texts in them have no
    path."""
    found: list[tuple[Path, str]] = []
    waiting: list[tuple[Path, JSON]] = [(path, value)]
    while waiting:
        place, held = waiting.pop()
        if isinstance(held, str):
            found.append((place, held))
        elif isinstance(held, dict):
            waiting.extend(((*place, key), inner) for key, inner in reversed(held.items()))
    return found
