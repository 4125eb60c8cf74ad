"""Describes the types of values that JSON does not have: those of which the form tells the type, and those that names carry in a
form of their own."""

from __future__ import annotations

import datetime
import inspect
import typing
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import is_dataclass
from decimal import Decimal
from enum import Enum
from typing import Any, Final
from uuid import UUID

from stepless.flow.compiler.facts.types import (
    ATOMS,
    CARRIED,
    REAL,
    SCALARS,
    UNKNOWN,
    UNSEEN,
    dict_of,
    is_carried,
    is_model,
    is_plain,
    list_of,
    members,
    remembered,
    union,
)

FOREIGN: Final = (
    set, frozenset, bytes, datetime.date, datetime.time, datetime.datetime, datetime.timedelta, Decimal, UUID,
    Counter, OrderedDict, defaultdict, deque,
)  # fmt: skip
"""Classes whose values JSON does not have."""


@remembered
def stored(kind: Any) -> Any:
    """Returns the type of what Python returns to the compiler's nodes: a value of a foreign class is carried."""
    found = members(kind)
    if kind in ATOMS or kind is CARRIED:
        return kind
    if len(found) > 1:
        return union(*map(stored, found))
    origin, arguments = typing.get_origin(found[0]), typing.get_args(found[0])
    if found[0] in FOREIGN or origin in FOREIGN or getattr(origin, "__name__", "") in ("Set", "AbstractSet", "MutableSet"):
        return CARRIED
    if origin in (list, dict) and any(is_carried(stored(one)) for one in arguments):
        if origin is list:
            return list_of(stored(arguments[0]))
        return dict_of(stored(arguments[-1])) if arguments[0] is str else CARRIED
    if inspect.isclass(found[0]) and issubclass(found[0], tuple) and hasattr(found[0], "_fields"):
        return CARRIED
    return CARRIED if origin is tuple and any(is_carried(stored(one)) for one in arguments if one is not ...) else kind


@remembered
def carried(kind: Any) -> Any:
    """Returns the type of what a block puts out whose value is said to be of a type: what JSON does not have, and what is not
    known, is carried. Models, classes of an enumeration, dataclasses and tuples of known types stay what they are."""
    if kind is CARRIED or kind is UNSEEN or kind in SCALARS or kind == REAL:
        return kind
    found = members(kind)
    if len(found) > 1:
        solid = [one for one in found if one is not type(None)]
        inner = carried(solid[0]) if len(solid) == 1 else CARRIED
        return inner if inner is CARRIED else kind if inner == solid[0] else typing.Optional[inner]  # noqa: UP045  # a value
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is list or origin is list:
        return list_of(carried(arguments[0]) if arguments else CARRIED)
    if kind is dict or origin is dict:
        return dict_of(carried(arguments[1])) if len(arguments) == 2 and arguments[0] is str else CARRIED
    if origin is tuple and arguments and all(one is ... or not is_carried(carried(one)) for one in arguments):
        return kind
    if is_model(kind) or (inspect.isclass(kind) and not arguments and (issubclass(kind, Enum) or is_dataclass(kind))):
        return kind
    return CARRIED


def is_foreign(kind: Any) -> bool:
    """Returns whether JSON does not keep values of a type as they are, while nothing is said of their form but the type."""
    return not is_plain(kind) and not is_carried(kind)


def conforms(value: Any, kind: Any) -> bool:
    """Returns whether a value that JSON keeps is of a type of JSON's, exactly."""
    for one in members(kind):
        origin, arguments = typing.get_origin(one), typing.get_args(one)
        if one is UNKNOWN or type(value) is one or (one == REAL and type(value) in (int, float)):
            return True
        if origin is list and type(value) is list:
            return all(conforms(item, arguments[0]) for item in value)
        if origin is dict and isinstance(value, dict):
            return all(conforms(item, arguments[1]) for item in value.values())
    return False
