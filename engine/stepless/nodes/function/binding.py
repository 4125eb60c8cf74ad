"""Binds a node's `args` to the parameters of a Python callable, and validates them."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError

from stepless.model.declaration.misfits import IsOpen, Misfit, misfits
from stepless.model.json import JSON
from stepless.model.runs.traceparent import TRACE
from stepless.model.signature import Signature
from stepless.model.work import NodeFailure
from stepless.nodes.function.call import FunctionCall
from stepless.nodes.json_value import copied
from stepless.ports import Call

_POSITIONAL_ONLY: Final = inspect.Parameter.POSITIONAL_ONLY
_VAR_POSITIONAL: Final = inspect.Parameter.VAR_POSITIONAL
_VAR_KEYWORD: Final = inspect.Parameter.VAR_KEYWORD
_NO_HEADERS: Final[Mapping[str, str]] = {}
_UNCHECKED: Final = (inspect.Parameter.empty, Any, object)


@dataclass(frozen=True, slots=True)
class Check:
    """Validates one argument. A value whose type is exactly `plain` needs no validation; most values have it, which is fast."""

    plain: type | None
    adapter: TypeAdapter[Any]


@dataclass(frozen=True, slots=True)
class Binding:
    """The parameters of one callable. `parameters` are those that can be passed by name, in the callable's order; `checks` are
    those whose type hints require validation."""

    name: str
    parameters: tuple[str, ...]
    accepted: frozenset[str]
    required: frozenset[str]
    checks: Mapping[str, Check]
    takes_any: bool
    call_parameter: str | None

    def bind(self, args: Mapping[str, JSON], call: Call) -> dict[str, Any]:
        """Returns the keyword arguments of a call; the function may change their values. Raises `NodeFailure` (config,
        `invalid_arguments`) that names the arguments that are missing, unexpected or of the wrong type."""
        names = args.keys()
        if names != self.accepted:
            self._refuse_unfit(names)
        arguments = {name: copied(value) for name, value in args.items()} if args else {}
        for name in self.checks:
            if name in arguments:
                arguments[name] = self.validated(name, arguments[name])
        if self.call_parameter is not None:
            arguments[self.call_parameter] = FunctionCall(
                call.run_id, call.workflow_id, call.instance, call.attempt, call.token, call.deadline_ms, call.log, call.delta,
                call.heartbeat, **(call.trace_headers if TRACE in call.facts else _NO_HEADERS),
            )
        return arguments

    def _refuse_unfit(self, names: typing.AbstractSet[str]) -> None:
        missing = sorted(self.required - names)
        unexpected = [] if self.takes_any else sorted(names - self.accepted)
        faults = [f"{word} {', '.join(f'`{name}`' for name in some)}"
                  for word, some in (("missing", missing), ("unexpected", unexpected)) if some]
        if faults or self.call_parameter in names:
            raise self._invalid("; ".join(faults) or f"`{self.call_parameter}` is filled in by the engine")

    def validated(self, name: str, value: Any) -> Any:
        """Returns a value for a parameter that has a check, as its type. Raises `NodeFailure` (config, `invalid_arguments`)."""
        check = self.checks[name]
        if type(value) is check.plain:
            return value
        try:
            return check.adapter.validate_python(value, by_alias=True, by_name=True)
        except ValidationError as refused:
            misfit = misfits(refused.errors(include_url=False), value)[0]
            place = ".".join(map(str, (name, *misfit.place)))
            raise self._invalid(f"`{place}` {misfit.sentence(quoted=False)}") from refused

    @property
    def signature(self) -> Signature:
        return Signature(self.parameters, self.required, self.takes_any, self.call_parameter, self._misfits)

    def _misfits(self, name: str, value: JSON, is_open: IsOpen) -> Sequence[Misfit]:
        """The faults that a call with this value for a parameter would find; none if a validator of the author's raises."""
        check = self.checks.get(name)
        if check is None or type(value) is check.plain:
            return ()
        try:
            check.adapter.validate_python(copied(value), by_alias=True, by_name=True)
        except ValidationError as refused:
            return misfits(refused.errors(include_url=False), value, is_open)
        except Exception:  # raised by a validator of the author's: the call itself reports it
            return ()
        return ()

    def _invalid(self, message: str) -> NodeFailure:
        takes = ", ".join(self.parameters) or "no arguments"
        return NodeFailure("config", "invalid_arguments", f"{self.name}: {message}", retryable=False, mend=f"it takes {takes}")


def bind_parameters(name: str, callable: Callable[..., Any]) -> Binding:
    """Reads the callable's signature. Raises `NodeFailure` (config, `invalid_function`) if it cannot be called with named
    arguments."""
    accepted: list[str] = []
    required: set[str] = set()
    checks: dict[str, Check] = {}
    takes_any, call_parameter = False, None
    hints = _hints(name, callable)
    for parameter in _signature(name, callable).parameters.values():
        hint = hints.get(parameter.name, parameter.empty)
        if parameter.kind is _VAR_KEYWORD:
            takes_any = True
        elif parameter.kind is _POSITIONAL_ONLY:
            raise _unfit(name, f"its parameter `{parameter.name}` cannot be passed by name", "remove the `/`, or wrap it")
        elif hint is FunctionCall:
            call_parameter = parameter.name
        elif parameter.kind is not _VAR_POSITIONAL:
            accepted.append(parameter.name)
            if parameter.default is parameter.empty:
                required.add(parameter.name)
            if not any(hint is plain for plain in _UNCHECKED):
                checks[parameter.name] = _check(name, parameter.name, hint)
    return Binding(name, tuple(accepted), frozenset(accepted), frozenset(required), checks, takes_any, call_parameter)


_PLAIN: Final = (str, int, float, bool, list, dict)


def _check(name: str, parameter: str, hint: Any) -> Check:
    plain = hint if hint in _PLAIN else None
    try:
        return Check(plain, TypeAdapter(hint))
    except (PydanticUserError, NameError) as error:
        raise _unfit(name, f"JSON cannot become the type of `{parameter}`, {hint!r:.100}", "annotate it with a type that "
                     "pydantic validates, or remove the annotation") from error


def _hints(name: str, callable: Callable[..., Any]) -> dict[str, Any]:
    target = callable
    while hasattr(target, "func"):  # functools.partial
        target = target.func
    if not inspect.isroutine(target):
        target = type(target).__call__
    try:
        return typing.get_type_hints(target, include_extras=True)
    except (NameError, TypeError, AttributeError) as error:
        raise _unfit(name, f"its type hints cannot be read: {error}", "import the types of its hints at run time too") from error


def _signature(name: str, callable: Callable[..., Any]) -> inspect.Signature:
    try:
        return inspect.signature(callable)
    except (ValueError, TypeError) as error:
        raise _unfit(name, f"its parameters cannot be read: {error}", "wrap it in a function of your own") from error


def _unfit(name: str, message: str, mend: str) -> NodeFailure:
    return NodeFailure("config", "invalid_function", f"{name}: {message}", retryable=False, mend=mend)
