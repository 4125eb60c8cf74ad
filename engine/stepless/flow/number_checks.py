"""Checks for `True` and `False` where an annotation says a number. A type checker takes `True` for an `int`, and JSON does
not."""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, TypeAlias

from stepless.flow.compiler.facts.types import bare, members
from stepless.flow.compiler.origin import hints_of

Convert: TypeAlias = Callable[[Any], Any]
_LISTS: Final = (list, typing.get_origin(Sequence[int]))
_OBJECTS: Final = (dict, typing.get_origin(Mapping[str, int]))


def numbers_of(kind: Any) -> Convert | None:
    """Returns the function that makes 1 and 0 of true and false in a value of this type, where the type says `int` or `float`
    and not `bool`, also in lists, tuples and objects. Models do so themselves. None for a type without numbers."""
    found = members(bare(kind))
    scalar = any(one in (int, float) for one in found) and all(one is not bool and one is not Any for one in found)
    items = {origin: made for one in found if (origin := typing.get_origin(one)) is not None and (made := _inside(one, origin))}
    if not scalar and not items:
        return None

    def convert(value: Any) -> Any:
        if type(value) is bool:
            return int(value) if scalar else value
        for origin, inside in items.items():
            if isinstance(value, origin) and not isinstance(value, str):
                return inside(value)
        return value

    return convert


def _inside(kind: Any, origin: Any) -> Convert | None:
    """What converts the items of a value that contains others."""
    given = typing.get_args(kind)
    if origin is tuple:
        if len(given) == 2 and given[1] is ...:
            every = numbers_of(given[0])
            return every and (lambda value: tuple(map(every, value)))
        places = [numbers_of(one) for one in given]
        if not any(places):
            return None
        return lambda value: tuple(make(one) if make else one for make, one in zip(places, value, strict=True)) \
            if len(value) == len(places) else value  # fmt: skip
    if origin in _LISTS and given:
        each = numbers_of(given[0])
        return each and (lambda value: list(map(each, value)) if isinstance(value, list) else value)
    if origin in _OBJECTS and len(given) == 2:
        under = numbers_of(given[1])
        return under and (lambda value: {name: under(one) for name, one in value.items()})
    return None


class Results:
    """Converts what a function returns, by its annotation, which is read at its first call."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @cached_property
    def _convert(self) -> Convert | None:
        return numbers_of(hints_of(self._function).get("return", Any))

    def __call__(self, value: Any) -> Any:
        return value if self._convert is None else self._convert(value)
