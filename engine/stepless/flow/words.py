"""Defines the words of a flow that its compiler knows too: errors, answers, and the marks of awaitables. Pure."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ConfigDict, field_validator

from stepless.model.work import NodeFailure

MESSAGE: Final = "message"
"""The name by which the `where` of a node reads a message, and the field with the facts of one in its output."""
_MARK: Final = "__stepless_word__"
_OF_ASYNCIO: Final = {
    id(asyncio.sleep): "asyncio.sleep", id(asyncio.gather): "gather", id(asyncio.wait_for): "wait_for",
    id(asyncio.timeout): "timeout", id(asyncio.TaskGroup): "task_group", id(asyncio.create_task): "create_task",
    id(asyncio.ensure_future): "create_task", id(asyncio.wait): "wait",
    id(asyncio.as_completed): "as_completed",
}  # fmt: skip


class NodeError(NodeFailure):
    """A failure that a workflow raises and catches. Steps may raise it too.

    Its code is `code`, or the name of its class in snake case: `class CardDeclined(NodeError)` has the code `card_declined`. It
    is never tried again, whatever `retry_on` lists. What a step fails with is caught as a `NodeError`, in a test too.
    """

    def __init__(self, message: str = "", *, code: str | None = None) -> None:
        code = code or code_of(type(self))
        super().__init__("execution", code, message or code.replace("_", " "), retryable=False)


class Answer(BaseModel):
    """The answer to an approval: `decision` is `approved`, `rejected` or `timeout`. The fields of the question are attributes."""

    model_config = ConfigDict(extra="allow")

    decision: str = "approved"
    approved: bool = True
    by: str | None = None
    at: str | None = None

    if TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any: ...  # fields of the question, which a type checker cannot know


class Record(dict[str, Any]):
    """An object of which no type is known: its fields are keys, and attributes too."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name}: an object of which no type is known has no attributes that can be set")


def record(value: Any) -> Any:
    """Returns a value of JSON whose objects are records."""
    if isinstance(value, dict):
        return Record({name: record(item) for name, item in value.items()})
    return [record(item) for item in value] if isinstance(value, list) else value


class Winner(BaseModel):
    """The branch of a `race` that completed first: its name, and what it returned."""

    name: str
    value: Any = None

    @field_validator("value")
    @classmethod
    def _readable(cls, value: Any) -> Any:
        return record(value) if type(value) in (dict, list) else value


def snake(name: str) -> str:
    """Converts `HTTPStatusError` to `http_status_error`, as the engine names the exceptions of functions."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def code_of(kind: type[BaseException]) -> str:
    """Returns the code of a failure whose exception has this class."""
    if kind is UnboundLocalError:
        return "unbound_local"
    return "timeout" if issubclass(kind, TimeoutError) else snake(kind.__name__)


def mark(value: Any, word: str) -> Any:
    """Marks a function or class of the API, so that the compiler knows it under any name."""
    setattr(value, _MARK, word)
    return value


def word_of(value: Any) -> str:
    """Returns the mark of a value, also of a function or class of asyncio that a flow may use; empty for anything else."""
    word = getattr(value, _MARK, "")
    if not isinstance(word, str):
        return ""
    return word or _OF_ASYNCIO.get(id(value), "")


def result(value: Any) -> Any:
    """Returns the result of a task. Raises its failure."""
    if isinstance(value, Exception):
        raise value
    return value


def result_of(place: int, wanted: int, value: Any) -> Any:
    """As `result`, of the task at one place. Raises `InvalidStateError` if another one has ended."""
    if place != wanted:
        raise asyncio.InvalidStateError("Result is not set.")
    return result(value)


def results(values: list[Any]) -> list[Any]:
    """Returns the results of calls. Raises the first failure by place."""
    for value in values:
        result(value)
    return values
