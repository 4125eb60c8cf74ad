"""Defines the kind `function`: its parameters, and the code that calls the registered function."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any, Final

from pydantic import Field

from stepless.limits import MAX_ERROR_CHARACTERS, MAX_FUNCTION_NAME_CHARACTERS
from stepless.model.json import JSON
from stepless.model.kind import Kind, Nature, Part
from stepless.model.work import NodeFailure, Result
from stepless.nodes.function.registry import NAME, Function, find
from stepless.nodes.function.threads import Threads
from stepless.nodes.json_value import NotJson, to_json
from stepless.nodes.params import Name, Params
from stepless.ports import Call
from stepless.raised import message_of


class FunctionParams(Params):
    """The function and its arguments."""

    call: str = Field(pattern=NAME, max_length=MAX_FUNCTION_NAME_CHARACTERS)
    """The name of a registered function."""
    args: dict[Name, JSON] = Field(default_factory=dict)
    """The function's arguments by name, validated against its type hints."""


def _named(written: Mapping[str, JSON]) -> Mapping[str, str]:
    call = written.get("call")
    return {"call": call} if isinstance(call, str) else {}


KIND = Kind(
    "function", Nature.EFFECT, FunctionParams, "calls registered Python code; returns its result",
    parts={"call": Part.LITERAL}, functions=_named, arguments="args", is_tool=True,
    brief=("call",),
    icon="M10.5 3.2C8.6 2.6 8 3.6 7.8 5l-1 6.4c-.3 1.5-1 2.2-2.6 1.6M4.8 6.8h5.4",
)

_THREADS: Final = Threads()


async def run(call: Call) -> Result:
    """Calls the function and returns its result as JSON.

    Raises `NodeFailure`: config for invalid arguments, timeout for a TimeoutError, execution for a result that is not JSON,
    provider_error for any other exception, with the exception's name as its code.
    """
    function = find(call.literals.get("call"))
    args = call.params.get("args", {})
    if type(args) is not dict and not isinstance(args, Mapping):  # the first test is cheap, and nearly always enough
        raise NodeFailure("config", "invalid_arguments", f"{function.name}: `args` is {type(args).__name__}, not an object",
                          retryable=False, mend="pass the arguments by name")
    arguments = function.binding.bind(args, call)
    if function.is_async:
        try:
            value = await function.callable(**arguments)
        except NodeFailure:
            raise
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise  # the engine cancelled the attempt; the function did not raise this itself
            raise _failure(error) from error
        except Exception as error:
            raise _failure(error) from error
    else:
        value = await _in_thread(function, arguments)
    if function.result is not None:
        value = function.result(value)
    try:
        return Result(to_json(value))
    except NotJson as found:
        raise NodeFailure("execution", "result_not_json", f"{function.name} returned a value that is not JSON: {found}",
                          retryable=False, mend=found.mend) from found


async def _in_thread(function: Function, arguments: Mapping[str, Any]) -> Any:
    value, error = await _THREADS.run(lambda: function.callable(**arguments))
    if isinstance(error, NodeFailure):
        raise error
    if error is not None:
        raise _failure(error) from error
    return value


def _failure(error: BaseException) -> NodeFailure:
    message = message_of(error)[:MAX_ERROR_CHARACTERS]
    if isinstance(error, TimeoutError):
        return NodeFailure("timeout", "timeout", message, origin=error)
    return NodeFailure("provider_error", _snake_case(type(error).__name__), message, origin=error)


def _snake_case(name: str) -> str:
    """`HTTPStatusError` → `http_status_error`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
