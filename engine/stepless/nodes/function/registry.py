"""The Python callables that workflows may call, by name."""

from __future__ import annotations

import importlib
import inspect
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import entry_points
from typing import Any, Final, TypeVar

from stepless.errors import ConfigError
from stepless.limits import MAX_FUNCTION_NAME_CHARACTERS
from stepless.model.work import NodeFailure
from stepless.nodes.function.binding import Binding, bind_parameters

NAME: Final = r"^[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*)*$"
ENTRY_POINTS: Final = "stepless.functions"
MODULES_VARIABLE: Final = "STEPLESS_MODULES"
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, eq=False)
class Function:
    """A callable under its name. Its parameters are looked at when it is first called: that may import a lot."""

    name: str
    callable: Callable[..., Any]

    @cached_property
    def is_async(self) -> bool:
        return inspect.iscoroutinefunction(self.callable) or inspect.iscoroutinefunction(type(self.callable).__call__)

    @cached_property
    def binding(self) -> Binding:
        return bind_parameters(self.name, self.callable)

    @property
    def origin(self) -> str:
        return f"{getattr(self.callable, '__module__', '?')}.{getattr(self.callable, '__qualname__', repr(self.callable))}"


_FUNCTIONS: dict[str, Function] = {}


def function(name: str) -> Callable[[F], F]:
    """Registers a sync or async callable, so that `call: name` runs it; the callable itself stays as it is.

    Its parameters are filled by name from the node's `args` and validated against their type hints; one that is annotated
    `FunctionCall` is given the call itself. Sync callables run in a thread. What it returns must be JSON, pydantic models or
    dataclasses. Raises `ConfigError` for a name that is malformed or taken by another callable.
    """
    if len(name) > MAX_FUNCTION_NAME_CHARACTERS or not re.match(NAME, name):
        raise ConfigError(f"{name!r:.100} is no name for a function", mend="use words parted by dots, like payments.refund")

    def register(callable: F) -> F:
        entry = Function(name, callable)
        known = _FUNCTIONS.get(name)
        if known is not None and known.origin != entry.origin:
            raise ConfigError(f"`{name}` is already the name of {known.origin}", place=entry.origin, mend="choose another name")
        _FUNCTIONS[name] = entry
        return callable

    return register


def find(name: object) -> Function:
    """The function of that name. Raises `NodeFailure` (config) when nothing of that name is registered here."""
    entry = _FUNCTIONS.get(name) if isinstance(name, str) else None
    if entry is None:
        raise NodeFailure(
            "config", "unknown_function", f"no function is registered as {name!r:.100}", retryable=False,
            mend=f"register it with @function, and name its module in {MODULES_VARIABLE}",
        )
    return entry


def names() -> frozenset[str]:
    """The name of every function that is registered."""
    return frozenset(_FUNCTIONS)


def load_modules(names: Iterable[str] | None = None) -> None:
    """Imports the modules that register functions: `names`, or those of STEPLESS_MODULES (parted by commas) when left out,
    and those that installed packages announce as entry points of `stepless.functions`.

    Raises `ConfigError` naming the module that cannot be imported and why.
    """
    if names is None:
        names = os.environ.get(MODULES_VARIABLE, "").split(",")
    for name in filter(None, map(str.strip, names)):
        _load(name, MODULES_VARIABLE, lambda name=name: importlib.import_module(name))  # type: ignore[misc]  # binds early
    for point in entry_points(group=ENTRY_POINTS):
        _load(point.value, f"entry point `{point.name}` of {ENTRY_POINTS}", point.load)


def _load(name: str, place: str, load: Callable[[], object]) -> None:
    try:
        load()
    except Exception as error:
        raise ConfigError(
            f"{name} cannot be imported: {type(error).__name__}: {error}", code="module_not_loaded", place=place,
            mend="mend the module, or check the name and that it is installed",
        ) from error
