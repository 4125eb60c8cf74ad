"""Evaluates lifted expressions in the process of their module, with arguments that have their annotated types again."""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic import TypeAdapter
from pydantic.errors import PydanticUserError

from stepless.flow.compiler.attachments import LiftedExpression
from stepless.flow.compiler.facts.types import UNKNOWN, is_failure, solid
from stepless.flow.plain import failure_of, owned
from stepless.flow.words import Answer, NodeError, code_of, record
from stepless.model.work import NodeFailure


def evaluator(expression: LiftedExpression) -> Callable[..., Any]:
    """Returns the function that a node calls for an expression. An exception of the expression fails it as one of Python's own,
    so that `except NodeError` does not take it; a `NodeError` that a helper raises stays one."""
    names = ", ".join(expression.arguments)
    source = f"lambda {names}: ({expression.source})"
    compiled = compile(source, f"<{expression.name}>", "eval")
    rebuild = {name: _rebuilder(kind, expression.globals) for name, kind in expression.arguments.items()}
    function: list[Callable[..., Any]] = []

    def evaluate(**given: Any) -> Any:
        if not function:
            function.append(eval(compiled, dict(expression.globals)))
        try:
            arguments = {name: rebuild[name](value) for name, value in given.items()}
            before = {name: owned(value) for name, value in arguments.items()}
            result = function[0](**arguments)
            changed = [name for name, value in arguments.items() if value != before[name]]
            if changed:
                message = f"`{changed[0]}` was changed in place, which no other node sees"
                raise NodeFailure("config", "argument_changed", message, retryable=False, mend="return the new value")
            return result
        except NodeFailure:
            raise
        except Exception as error:
            raise NodeFailure("config", code_of(type(error)), str(error), retryable=False, origin=error) from error

    evaluate.__qualname__ = expression.name
    evaluate.__module__ = str(expression.globals.get("__name__", ""))
    return evaluate


def _rebuilder(kind: Any, names: Mapping[str, Any]) -> Callable[[Any], Any]:
    if kind is Answer or solid(kind) is Answer:
        return Answer.model_validate
    if is_failure(kind):
        return lambda value: _error(value, names)
    if kind is UNKNOWN:
        return record
    try:
        adapter = TypeAdapter(kind)
    except PydanticUserError:
        return record
    return lambda value: adapter.validate_python(value, by_alias=True, by_name=True)


def _error(value: Mapping[str, Any], names: Mapping[str, Any]) -> NodeError:
    """The failure as an exception of the class that has its code, among those of flows, of the module, and of Python."""
    message, code = str(value.get("message", "")), str(value.get("code", "")) or None
    for kind in (*_subclasses(NodeError), *names.values(), *vars(builtins).values()):
        if inspect.isclass(kind) and issubclass(kind, Exception) and kind is not NodeError and code_of(kind) == code:
            return failure_of(kind, message, code)
    return NodeError(message, code=code)


def _subclasses(kind: type[NodeError]) -> Iterator[type[NodeError]]:
    for one in kind.__subclasses__():
        if one.__module__ != failure_of.__module__:  # made for an exception of another class, below
            yield one
            yield from _subclasses(one)
