"""Registers the Python callables that workflows may call, by name."""

from __future__ import annotations

import importlib
import inspect
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeVar

from stepless.errors import AuthorError, ConfigError
from stepless.limits import MAX_FUNCTION_NAME_CHARACTERS
from stepless.model.work import NodeFailure

if TYPE_CHECKING:
    from stepless.model.signature import ReadSignature, Signature
    from stepless.nodes.function.binding import Binding

NAME: Final = r"^[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*)*$"
ENTRY_POINTS: Final = "stepless.functions"
MODULES_VARIABLE: Final = "STEPLESS_MODULES"
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, eq=False)
class Function:
    """A registered callable. Its parameters are read at its first call, because that may import many modules."""

    name: str
    callable: Callable[..., Any]
    result: Callable[[Any], Any] | None = None
    """What every result goes through before it is stored."""

    @cached_property
    def is_async(self) -> bool:
        return inspect.iscoroutinefunction(self.callable) or inspect.iscoroutinefunction(type(self.callable).__call__)

    @cached_property
    def binding(self) -> Binding:
        from stepless.nodes.function.binding import bind_parameters

        return bind_parameters(self.name, self.callable)

    def signature(self) -> Signature:
        """Returns its parameters. Raises `NodeFailure` (config, `invalid_function`) if it cannot be called with named
        arguments."""
        return self.binding.signature

    @property
    def origin(self) -> str:
        return f"{getattr(self.callable, '__module__', '?')}.{getattr(self.callable, '__qualname__', repr(self.callable))}"


_FUNCTIONS: dict[str, Function] = {}


def function(name: str) -> Callable[[F], F]:
    """Registers a sync or async callable, so that `call: name` runs it. The callable itself does not change.

    Its parameters are filled by name from the node's `args` and validated against their type hints. A parameter that is annotated
    `FunctionCall` receives the call itself. Sync callables run in a thread. The callable must return JSON, pydantic models or
    dataclasses. Raises `ConfigError` for a name that is malformed or taken by another callable.
    """
    if len(name) > MAX_FUNCTION_NAME_CHARACTERS or not re.match(NAME, name):
        raise ConfigError(f"{name!r:.100} is not a valid name for a function",
                          mend="use dot-separated words, such as payments.refund")

    def register(callable: F) -> F:
        entry = Function(name, callable)
        known = _FUNCTIONS.get(name)
        if known is not None and known.origin != entry.origin:
            raise ConfigError(f"`{name}` is already the name of {known.origin}", place=entry.origin, mend="choose another name")
        _FUNCTIONS[name] = entry
        return callable

    return register


node: Final = function
"""An alias of `function`. Prefer `function`, which is also the name of the kind that calls it."""


_LATER: dict[str, tuple[str, Callable[[], None]]] = {}


def later(prefix: str, module: str, register: Callable[[], None]) -> None:
    """Has `register` called when a function whose name begins with `prefix` is first asked for and not registered. `module` is
    the one that asks for this."""
    _LATER[prefix] = (module, register)


def replace(name: str, callable: Callable[..., Any]) -> None:
    """Registers a callable, in place of any former one of the name. Its results go through what those of that one did."""
    former = _FUNCTIONS.get(name)
    _FUNCTIONS[name] = Function(name, callable, former.result if former is not None else None)


def convert_results(name: str, result: Callable[[Any], Any]) -> None:
    """Has every result of a registered function go through `result`, which must not raise."""
    _FUNCTIONS[name] = Function(name, _FUNCTIONS[name].callable, result)


def _register_late(name: str) -> None:
    """Registers what waits for a name like this. One that fails leaves the name unknown, with the reason."""
    for prefix in [prefix for prefix in _LATER if name.startswith(prefix)]:
        _LATER.pop(prefix)[1]()


def register_waiting() -> None:
    """Registers all that waits for its name to be asked for. What is refused stays unknown: the caller names it."""
    for prefix in list(_LATER):
        with suppress(AuthorError):
            _LATER.pop(prefix)[1]()


def find(name: object) -> Function:
    """Returns the function of that name. Raises `NodeFailure` (config) if none is registered in this process."""
    entry = _FUNCTIONS.get(name) if isinstance(name, str) else None
    if entry is None and isinstance(name, str) and _LATER:
        try:
            _register_late(name)
        except AuthorError as error:
            raise NodeFailure("config", error.code, str(error), retryable=False) from error
        entry = _FUNCTIONS.get(name)
    if entry is None:
        raise NodeFailure(
            "config", "unknown_function", f"no function is registered as {name!r:.100}", retryable=False,
            mend=f"register it with @function, and name its module in {MODULES_VARIABLE}",
        )
    return entry


@contextmanager
def replacing_registrations(modules: Collection[str]) -> Iterator[None]:
    """Removes the functions that these modules registered, so that the block can import the modules again. If the block raises,
    restores all functions. Calls in progress keep their callables."""
    before, waiting = dict(_FUNCTIONS), dict(_LATER)
    _FUNCTIONS.clear()
    _LATER.clear()
    try:
        yield
    except BaseException:
        _FUNCTIONS.clear()
        _FUNCTIONS.update(before)
        _LATER.clear()
        _LATER.update(waiting)
        raise
    for prefix, entry_of in waiting.items():
        if entry_of[0] not in modules:
            _LATER.setdefault(prefix, entry_of)
    for name, entry in before.items():
        if getattr(entry.callable, "__module__", None) not in modules:
            _FUNCTIONS.setdefault(name, entry)


def name_of(callable: Callable[..., Any]) -> str:
    """Returns the name of a registered callable. Raises `ConfigError` (unknown_callable) for a callable that is not
    registered."""
    for entry in _FUNCTIONS.values():
        if entry.callable is callable:
            return entry.name
    place = getattr(callable, "__qualname__", repr(callable)[:100])
    message, mend = "the callable is not registered", "decorate it with @function(…)"
    raise ConfigError(message, code="unknown_callable", place=place, mend=mend)


def names() -> frozenset[str]:
    """Returns the names of all registered functions."""
    return frozenset(_FUNCTIONS)


def signatures() -> Mapping[str, ReadSignature]:
    """Returns all registered functions by name, each with the callable that reads its signature."""
    return {name: entry.signature for name, entry in _FUNCTIONS.items()}


def load_modules(names: Iterable[str] | None = None) -> None:
    """Imports the modules that register functions: `names`, by default those of STEPLESS_MODULES (comma-separated), and the
    `stepless.functions` entry points of installed packages.

    Raises `ConfigError` with the name of a module that cannot be imported, and the reason.
    """
    if names is None:
        names = os.environ.get(MODULES_VARIABLE, "").split(",")
    for name in filter(None, map(str.strip, names)):
        _load(name, MODULES_VARIABLE, lambda name=name: importlib.import_module(name))  # type: ignore[misc]  # binds early
    from importlib.metadata import entry_points  # imports the e-mail parser, which is slow

    for point in entry_points(group=ENTRY_POINTS):
        _load(point.value, f"entry point `{point.name}` of {ENTRY_POINTS}", point.load)


def _load(name: str, place: str, load: Callable[[], object]) -> None:
    try:
        load()
    except Exception as error:
        raise ConfigError(
            f"{name} cannot be imported: {type(error).__name__}: {error}", code="module_not_loaded", place=place,
            mend="correct the module, or check its name and that it is installed",
        ) from error
