"""Implements a flow's words for plain calls of the function, as in a unit test.

`acting` puts fakes in place of people, services and clocks:

    with acting(approval=lambda message: Answer(decision="rejected", approved=False)):
        assert await refund(order) == {"status": "denied"}
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from inspect import BoundArguments
from typing import Any, Final, TypeVar, overload

from pydantic import BaseModel

from stepless.flow.words import Answer, NodeError, code_of, mark
from stepless.model.json import JSON
from stepless.model.work import NodeFailure

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")

_FAKES: ContextVar[Mapping[str, Callable[..., Any]] | None] = ContextVar("stepless_flow_fakes", default=None)
_FIX: Final = "use `with acting(…)` in a test"


@contextmanager
def acting(
    *, approval: Callable[[str], Answer | bool] | None = None, callback: Callable[[str], JSON] | None = None,
    sleep: Callable[[float | str], None] | None = None, now: Callable[[], str] | None = None,
    steps: Mapping[str, Callable[..., Any]] | None = None, called: Callable[[str, BoundArguments], None] | None = None,
) -> Iterator[None]:
    """Answers approvals and callbacks inside the block, by their message, and replaces sleeps and the clock. Without it an
    approval is approved, a callback is answered with an empty object, and a sleep takes no time. `steps` are functions in place
    of those of steps, by the names of the steps; `called` gets each call of a step, before it."""
    given = {"approval": approval, "callback": callback, "sleep": sleep, "now": now, "called": called}
    fakes = {name: fake for name, fake in given.items() if fake is not None}
    fakes |= {f"step {name}": fake for name, fake in (steps or {}).items()}
    token = _FAKES.set({**(_FAKES.get() or {}), **fakes})
    try:
        yield
    finally:
        _FAKES.reset(token)


def _fake(name: str) -> Callable[..., Any] | None:
    return (_FAKES.get() or {}).get(name)


def stand_in(step: str) -> Callable[..., Any] | None:
    """What is called in place of a step's function."""
    return _fake(f"step {step}")


def seen(step: str, arguments: BoundArguments) -> None:
    """Passes a call of a step to `called`."""
    fake = _fake("called")
    if fake is not None:
        fake(step, arguments)


@overload
async def gather(first: Awaitable[A], /) -> list[A]: ...
@overload
async def gather(first: Awaitable[A], second: Awaitable[B], /) -> tuple[A, B]: ...
@overload
async def gather(first: Awaitable[A], second: Awaitable[B], third: Awaitable[C], /) -> tuple[A, B, C]: ...
@overload
async def gather(
    first: Awaitable[A], second: Awaitable[B], third: Awaitable[C], fourth: Awaitable[D], /
) -> tuple[A, B, C, D]: ...
@overload
async def gather(*awaited: Awaitable[A]) -> list[A]: ...
async def gather(*awaited: Awaitable[Any]) -> Any:
    """Runs them at once, waits for all, and returns the list of their results. Raises the first failure by place."""
    results = await asyncio.gather(*awaited, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return list(results)


async def sleep(duration: float | str) -> None:
    """Waits: a number of seconds, or a duration such as `15m`. A run that waits costs nothing."""
    fake = _fake("sleep")
    if fake is not None:
        fake(duration)


async def approval(
    message: str, *, timeout: str | None = None,  # noqa: ASYNC109  # of the node
    fields: Mapping[str, Any] | None = None,
    approvers: str | Sequence[str] | None = None, notify: str | None = None, reminders: Sequence[str] | None = None,
) -> Answer:
    """Asks a person. The answer has `decision`, `approved`, `by`, `at`, and the fields of the question. After the `timeout` its
    decision is `timeout`. The parameters are those of the kind `approval` (docs/write/reference.md#approval)."""
    fake = _fake("approval")
    answer = True if fake is None else fake(message)
    if isinstance(answer, bool):
        return Answer(decision="approved" if answer else "rejected", approved=answer)
    return Answer.model_validate(answer)


async def callback(
    message: str, *, timeout: str | None = None,  # noqa: ASYNC109  # of the node
    fields: Mapping[str, Any] | None = None, notify: str | None = None,
) -> Any:
    """Waits until another system answers, and returns its answer. Fails with `wait_timeout` after the `timeout`."""
    fake = _fake("callback")
    return {} if fake is None else fake(message)


class Instant(str):
    """An instant as ISO 8601 text in UTC; it may be awaited."""

    __slots__ = ()

    def __await__(self) -> Generator[Any, None, str]:
        yield from ()
        return str(self)


def now() -> Instant:
    """The time, as ISO 8601 text in UTC. In a run it is that of the decision, and recorded."""
    fake = _fake("now")
    if fake is not None:
        return Instant(fake())
    return Instant(datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"))  # noqa: TID251  # only in a test


for _word in (gather, sleep, approval, callback, now):
    mark(_word, _word.__name__)


def as_node_error(error: Exception) -> NodeError:
    """The failure of a step as a workflow catches it: as `NodeError`, with the code that the engine gives it, and also as the
    class that was raised."""
    if isinstance(error, NodeError):
        return error
    if isinstance(error, NodeFailure):
        return NodeError(error.message, code=error.code)
    return failure_of(type(error), str(error), code_of(type(error)))


def failure_of(kind: type[Exception], message: str, code: str | None) -> NodeError:
    """A `NodeError` that is also an exception of this class."""
    if issubclass(kind, NodeError):
        made = kind.__new__(kind)
        NodeError.__init__(made, message, code=code)
        return made
    try:
        other = type(kind.__name__, (NodeError, kind), {"__init__": NodeError.__init__})(message, code=code)
    except TypeError:  # the classes have incompatible layouts
        return NodeError(message, code=code)
    return other if isinstance(other, NodeError) else NodeError(message, code=code)


def owned(value: Any) -> Any:
    """A copy of what may be changed in place, as a step of a run has its own."""
    if isinstance(value, BaseModel):
        return value.model_copy(deep=True)
    if type(value) is dict:
        return {name: owned(item) for name, item in value.items()}
    return type(value)(map(owned, value)) if type(value) in (list, tuple) else value
