"""Takes a coroutine of the author's own modules, without a decorator, for a part: it is inlined where a workflow awaits it."""

from __future__ import annotations

import dis
import inspect
import sysconfig
from collections.abc import Iterator
from pathlib import PurePath
from types import CodeType, FunctionType
from typing import Any, Final
from weakref import WeakKeyDictionary

from stepless.flow.steps import Part

_INSTALLED: Final = {"site-packages", "dist-packages"}
_OF_PYTHON: Final = tuple(PurePath(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib"))
_MADE: WeakKeyDictionary[FunctionType, Helper] = WeakKeyDictionary()


class Helper(Part[..., Any]):
    """A coroutine without a decorator. `changed` is a name of its module that it reads and that a function changes, and the
    function; None if there is none."""

    def __init__(self, function: FunctionType) -> None:
        super().__init__(function)
        self.changed = _changed(function)


def as_part(value: Any) -> Helper | None:
    """Returns the part that a coroutine stands for; None for anything else, and for one of an installed package."""
    if not isinstance(value, FunctionType) or not inspect.iscoroutinefunction(value) or not _is_own(value):
        return None
    if value not in _MADE:
        _MADE[value] = Helper(value)
    return _MADE[value]


def _is_own(function: FunctionType) -> bool:
    path = PurePath(function.__code__.co_filename)
    return not (_INSTALLED & set(path.parts) or any(path.is_relative_to(one) for one in _OF_PYTHON)) and (
        not function.__module__.startswith("stepless.")
    )


def _changed(function: FunctionType) -> tuple[str, str] | None:
    names = function.__globals__
    read = set(_names(function.__code__, "LOAD_GLOBAL"))
    for value in list(names.values()):
        other = getattr(value, "function", value)  # of a step or a part
        if isinstance(other, FunctionType) and other.__globals__ is names:
            found = read & set(_names(other.__code__, "STORE_GLOBAL"))
            if found:
                return min(found), other.__name__
    return None


def _names(code: CodeType, operation: str) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname == operation:
            yield str(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant, operation)
