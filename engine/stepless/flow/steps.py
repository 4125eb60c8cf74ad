"""Defines `@step`, a function that a node calls, and `@part`, a piece of a workflow that is written once and used several
times."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping
from functools import cached_property
from typing import Any, Final, Generic, ParamSpec, TypeVar, Unpack, overload

from typing_extensions import TypedDict

from stepless.errors import ConfigError
from stepless.flow.calling import playable
from stepless.flow.clock import work
from stepless.flow.compiler.origin import Origin, signature_of
from stepless.flow.number_checks import Results
from stepless.flow.plain import as_node_error, owned, seen, stand_in
from stepless.flow.source import origin_of
from stepless.flow.words import mark
from stepless.model.json import JSON
from stepless.model.work import NodeFailure
from stepless.nodes.function import function as register
from stepless.nodes.function.binding import Binding, bind_parameters
from stepless.nodes.function.registry import convert_results

P = ParamSpec("P")
R = TypeVar("R")


class StepOptions(TypedDict, total=False):
    """The options of a step: an `id`, and the fields of every node (docs/write/reference.md#nodes)."""

    id: str
    label: str
    retry: Mapping[str, JSON]
    timeout_ms: int
    delivery: str
    concurrency: Mapping[str, JSON]
    rate: Mapping[str, JSON]
    moderation: str
    moderation_on_error: str
    output_contract: Mapping[str, JSON]


class _Call(Coroutine[Any, Any, R]):
    """A call of a step that runs when it is awaited; one that is never awaited is none, as in a graph."""

    def __init__(self, begin: Callable[[], Coroutine[Any, Any, R]]) -> None:
        self._begin = begin
        self._begun: Coroutine[Any, Any, R] | None = None

    def __await__(self) -> Generator[Any, None, R]:
        return self._begin().__await__()

    def send(self, value: Any, /) -> Any:
        self._begun = self._begun or self._begin()
        return self._begun.send(value)

    def throw(self, kind: Any, value: Any = None, traceback: Any = None, /) -> Any:
        self._begun = self._begun or self._begin()
        return self._begun.throw(kind if value is None else value)

    def close(self) -> None:
        if self._begun is not None:
            self._begun.close()


class Step(Generic[P, R]):
    """A registered function, which a workflow awaits. Awaited elsewhere it calls the function: with copies of its arguments, and
    with every exception as a `NodeError`."""

    def __init__(self, function: Callable[P, Any], name: str, options: Mapping[str, Any] | None = None) -> None:
        self.function: Final = function
        self.name: Final = name
        self.options: Final[Mapping[str, Any]] = options or {}
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.__module__ = function.__module__

    def with_(self, **options: Unpack[StepOptions]) -> Step[P, R]:
        """Returns the same step with these options at one call: `await pay.with_(retry={"attempts": 3})(order.id)`."""
        return Step(self.function, self.name, {**self.options, **options})

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Coroutine[object, None, R]:
        return _Call(lambda: self._begun(*args, **kwargs))

    async def _begun(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return await work(lambda: self._run(*args, **kwargs))

    async def _run(self, *args: P.args, **kwargs: P.kwargs) -> R:
        function = stand_in(self.name) or self.function
        try:
            given = self._arguments(*map(owned, args), **{name: owned(value) for name, value in kwargs.items()})
            seen(self.name, given)
            result = function(*given.args, **given.kwargs)
            done: R = owned(self._results(await result if inspect.isawaitable(result) else result))
        except Exception as error:
            raise as_node_error(error) from error
        return done

    def _arguments(self, *args: Any, **kwargs: Any) -> inspect.BoundArguments:
        """The arguments as a run passes them: as the types of their parameters. A run refuses those that do not fit."""
        bound = signature_of(self.function).bind(*args, **kwargs)
        binding = self._binding
        if binding is not None:
            for name in binding.checks:
                if name in bound.arguments:
                    bound.arguments[name] = binding.validated(name, bound.arguments[name])
        return bound

    @cached_property
    def _binding(self) -> Binding | None:
        try:
            return bind_parameters(self.name, self.function)
        except NodeFailure:  # a run fails with it, and a type checker has said so
            return None

    @cached_property
    def _results(self) -> Results:
        return Results(self.function)


mark(Step, "step")


class _Decorator:
    """What `@step("name")` returns: for coroutines and for plain functions, which run in a thread."""

    def __init__(self, name: str) -> None:
        self._name = name

    @overload
    def __call__(self, function: Callable[P, Awaitable[R]]) -> Step[P, R]: ...
    @overload
    def __call__(self, function: Callable[P, R]) -> Step[P, R]: ...
    def __call__(self, function: Callable[..., Any]) -> Step[..., Any]:
        register(self._name)(function)
        convert_results(self._name, Results(function))
        return Step(function, self._name)


def step(name: str) -> _Decorator:
    """Registers a function under a name, as `stepless.function` does, and makes it a step. Raises `ConfigError` for a name that
    is malformed or taken."""
    if not isinstance(name, str):
        called = getattr(name, "__name__", repr(name))
        raise ConfigError("`@step` takes the name of the step", place=called, mend=f'write @step("{called}")')
    return _Decorator(name)


class Part(Generic[P, R]):
    """A coroutine of several steps, which is written into the graph of each workflow that awaits it. Awaited elsewhere it is the
    coroutine."""

    def __init__(self, function: Callable[P, Coroutine[Any, Any, R]]) -> None:
        self.function: Final = function
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Coroutine[object, None, R]:
        return playable(self.function)(*args, **kwargs)

    def origin(self) -> Origin:
        """Returns its source. Raises `FlowRefused` (source_missing)."""
        return self._origin

    @cached_property
    def _origin(self) -> Origin:
        return origin_of(self.function)


mark(Part, "part")


def part(function: Callable[P, Coroutine[Any, Any, R]]) -> Part[P, R]:
    """Makes a coroutine a part: its statements are compiled where it is awaited, also inside of `gather` and loops. It must not
    call itself. Raises `ConfigError` for what is no coroutine."""
    if not inspect.iscoroutinefunction(function):
        name = getattr(function, "__name__", repr(function))
        raise ConfigError("a part is an `async def` of several steps", place=name, mend="put @part, without brackets, above it")
    return Part(function)
