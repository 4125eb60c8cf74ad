"""Calls the function of a workflow as a plain coroutine, with the names of asyncio meaning what they mean in a run."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from stepless.flow import asyncio_words

F = TypeVar("F", bound=Callable[..., Any])
_NEEDED: WeakKeyDictionary[Callable[..., Any], bool] = WeakKeyDictionary()


def playable(function: F) -> F:
    """Returns the function, with what a run does in place of asyncio. It reads the values that the names of its module have
    now."""
    if not isinstance(function, FunctionType):
        return function
    if function not in _NEEDED:
        _NEEDED[function] = bool(_replaced(function, set()))
    return _copied(function, {}) if _NEEDED[function] else function  # type: ignore[return-value]


def _copied(function: FunctionType, made: dict[FunctionType, FunctionType]) -> FunctionType:
    if function in made:
        return made[function]
    names = dict(function.__globals__)
    copy = made[function] = FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__qualname__, copy.__module__, copy.__doc__ = function.__qualname__, function.__module__, function.__doc__
    for name, value in _replaced(function, set()).items():
        names[name] = _copied(value, made) if isinstance(value, FunctionType) and value is names[name] else value
    return copy


def _replaced(function: FunctionType, seen: set[FunctionType]) -> Mapping[str, Any]:
    """The names of its module that mean something else in a run: asyncio, its functions, and coroutines that use them."""
    seen.add(function)
    found: dict[str, Any] = {}
    for name in _read(function.__code__):
        value = function.__globals__.get(name)
        if value is asyncio:
            found[name] = asyncio_words.MODULE
        elif not isinstance(value, ModuleType) and id(value) in asyncio_words.WORDS:
            found[name] = asyncio_words.WORDS[id(value)]
        elif inspect.iscoroutinefunction(value) and isinstance(value, FunctionType) and (value in seen or _replaced(value, seen)):
            found[name] = value
    return found


def _read(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _read(constant)
