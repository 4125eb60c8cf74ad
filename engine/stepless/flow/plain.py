"""Implements a flow's words for plain calls of the function, as in a unit test.

`acting` puts fakes in place of people, services and clocks:

    with acting(approval=lambda message: Answer(decision="rejected", approved=False)):
        assert await refund(order) == {"status": "denied"}
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from inspect import BoundArguments
from typing import Any, Final, Literal, TypeVar, overload

from pydantic import BaseModel

from stepless.errors import ConfigError
from stepless.flow import clock
from stepless.flow.messages import received, sent
from stepless.flow.outgoing import Outgoing, Sent, Started, recorded
from stepless.flow.surroundings import World
from stepless.flow.words import Answer, NodeError, Winner, code_of, mark
from stepless.limits import MAX_KEY_BYTES
from stepless.model.json import JSON
from stepless.model.runs.keys import key_of
from stepless.model.texts.durations import parse_duration_ms
from stepless.model.work import NodeFailure

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")

_FAKES: ContextVar[Mapping[str, Callable[..., Any]] | None] = ContextVar("stepless_flow_fakes", default=None)
_FIX: Final = "use `with acting(…)` in a test"


@contextmanager
def acting(
    *, approval: Callable[[str], Answer | bool | Awaitable[Answer | bool]] | None = None,
    callback: Callable[[str], JSON | Awaitable[JSON]] | None = None,
    messages: Sequence[Mapping[str, Any]] | None = None,
    sleep: Callable[[float | str], None] | None = None, now: Callable[[], str] | None = None,
    steps: Mapping[str, Callable[..., Any]] | None = None, called: Callable[[str, BoundArguments], None] | None = None,
    send: Callable[[Sent], Sequence[str] | None] | None = None, start: Callable[[Started], str | None] | None = None,
) -> Iterator[Outgoing]:
    """Answers approvals and callbacks inside the block, by their message, and replaces sleeps and the clock. Without it an
    approval is approved, a callback is answered with an empty object, and a sleep takes no time. `steps` are functions in place
    of those of steps, by the names of the steps; `called` gets each call of a step, before it.

    `messages` arrive while the workflow runs: each is `{"name", "data", "at"}`, where `at` is a duration from the beginning, such
    as `3h`, or milliseconds. Sleeps and timeouts move a virtual clock on, which takes no time. An answer that comes later is a
    coroutine: `async def approval(message): await sleep("2h"); return True`.

    Yields what workflows send and start inside the block: `sent` and `started`. `send` returns the ids of the runs that a message
    reaches, `start` the id of a run; both may raise a `NodeError`. Without them a message reaches one run."""
    given = {"approval": approval, "callback": callback, "sleep": sleep, "now": now, "called": called}
    fakes = {name: fake for name, fake in given.items() if fake is not None}
    fakes |= {f"step {name}": fake for name, fake in (steps or {}).items()}
    token = _FAKES.set({**(_FAKES.get() or {}), **fakes})
    kept = messages is None and clock.is_inside()
    world = clock.world() if kept else World(sent(messages or ()))
    around = clock.enter(world)
    try:
        with recorded(send, start) as outgoing:
            yield outgoing
    finally:
        clock.leave(around)
        _FAKES.reset(token)


def _fake(name: str) -> Callable[..., Any] | None:
    return (_FAKES.get() or {}).get(name)


def stand_in(step: str) -> Callable[..., Any] | None:
    """Returns the function that is called in place of a step's function."""
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
async def gather(*awaited: Awaitable[A], return_exceptions: Literal[False] = False) -> list[A]: ...
@overload
async def gather(*awaited: Awaitable[A], return_exceptions: bool) -> list[A | Exception]: ...
async def gather(*awaited: Awaitable[Any], return_exceptions: bool = False) -> Any:
    """Runs them at once, waits for all, and returns the list of their results. Raises the first failure by place; with
    `return_exceptions`, a failure is an item of the list."""
    fork = await clock.schedule().fork(awaited, clock.Until.ALL)
    if return_exceptions:
        return [fork.errors.get(place, fork.values.get(place)) for place in range(len(awaited))]
    for place in sorted(fork.errors):
        raise fork.errors[place]
    return [fork.values[place] for place in range(len(awaited))]


async def race(**branches: Awaitable[Any]) -> Winner:
    """Runs them at once, and returns the one that completes first, with its `name` and `value`; of several at one instant the
    first by place. The others are cancelled. One that fails loses; if all fail, the first failure by place is raised."""
    if not branches:
        raise ValueError("race takes at least one branch")
    fork = await clock.schedule().fork([*branches.values()], clock.Until.RETURN)
    if not fork.values:
        raise fork.errors[0]
    place = min(fork.values)
    return Winner(name=[*branches][place], value=fork.values[place])


async def sleep(duration: float | str) -> None:
    """Waits: a number of seconds, or a duration such as `15m`. A run that waits costs nothing."""
    schedule, fake = clock.schedule(), _fake("sleep")
    if fake is not None:
        fake(duration)
    await schedule.pause(parse_duration_ms(duration) if isinstance(duration, str) else round(duration * 1000))


async def approval(
    message: str, *, timeout: str | None = None,  # noqa: ASYNC109  # of the node
    fields: Mapping[str, Any] | None = None,
    approvers: str | Sequence[str] | None = None, notify: str | None = None, reminders: Sequence[str] | None = None,
    details: Sequence[Mapping[str, Any]] | None = None, asked_by: str | None = None,
) -> Answer:
    """Asks a person. The answer has `decision`, `approved`, `by`, `at`, and the fields of the question. After the `timeout` its
    decision is `timeout`. The parameters are those of the kind `approval` (docs/write/reference.md#approval)."""
    fake = _fake("approval")
    in_time, answer = await _answered(True if fake is None else fake(message), timeout)
    if not in_time:
        return Answer(decision="timeout", approved=False)
    if isinstance(answer, bool):
        return Answer(decision="approved" if answer else "rejected", approved=answer)
    return Answer.model_validate(answer)


async def callback(
    message: str, *, timeout: str | None = None,  # noqa: ASYNC109  # of the node
    fields: Mapping[str, Any] | None = None, notify: str | None = None,
) -> Any:
    """Waits until another system answers, and returns its answer. Fails with `wait_timeout` after the `timeout`."""
    fake = _fake("callback")
    in_time, answer = await _answered({} if fake is None else fake(message), timeout)
    if not in_time:
        raise _late()
    return answer


async def _answered(given: Any, timeout: str | None) -> tuple[bool, Any]:  # noqa: ASYNC109  # of the node
    """Whether an answer came in time, and the answer."""
    schedule = clock.schedule()
    if not inspect.isawaitable(given):
        return True, given
    if timeout is None:
        return True, await given
    fork = await schedule.fork([given, schedule.pause(parse_duration_ms(timeout))], clock.Until.RETURN)
    if 0 in fork.errors:
        raise fork.errors[0]
    return 0 in fork.values, fork.values.get(0)


def _late() -> NodeError:
    return NodeError("no answer arrived in time", code="wait_timeout")


async def receive(
    name: str, *, where: Callable[[Any], Any] | None = None, key: str | float | None = None,
    timeout: str | None = None,  # noqa: ASYNC109  # of the node
) -> Any:
    """Waits for a message, one of the workflow's `messages`, or takes one that has arrived. `where` is a lambda over its data: a
    message for which it is false stays for others. `key` is a further key of the run while it waits. Returns the data, as the
    model of the message; of a message without a model its fields, and `message` with `id`, `name`, `key`, `at` and `by`. Fails
    with `wait_timeout` after the `timeout`."""
    if key is not None and key_of(key) is None:
        raise ConfigError(f"a key has 1 to {MAX_KEY_BYTES} bytes of UTF-8, and this one does not", code="key_invalid", place=name)
    arrived, value = await received(name, where, None if timeout is None else parse_duration_ms(timeout))
    if not arrived:
        raise _late()
    return value


class Instant(str):
    """An instant as ISO 8601 text in UTC; it may be awaited."""

    __slots__ = ()

    def __await__(self) -> Generator[Any, None, str]:
        yield from ()
        return str(self)


def now() -> Instant:
    """Returns the time, as ISO 8601 text in UTC. In a run it is that of the decision, and recorded."""
    fake = _fake("now")
    if fake is not None:
        return Instant(fake())
    return Instant(datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"))  # noqa: TID251  # only in a test


for _word in (gather, race, sleep, approval, callback, receive, now):
    mark(_word, _word.__name__)


def as_node_error(error: Exception) -> NodeError:
    """Returns the failure of a step as a workflow catches it: as `NodeError`, with the code that the engine gives it, and also as
    the class that was raised."""
    if isinstance(error, NodeError):
        return error
    if isinstance(error, NodeFailure):
        return NodeError(error.message, code=error.code)
    return failure_of(type(error), str(error), code_of(type(error)))


def failure_of(kind: type[Exception], message: str, code: str | None) -> NodeError:
    """Returns a `NodeError` that is also an exception of this class."""
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
    """Returns a copy of what may be changed in place, as a step of a run has its own."""
    if isinstance(value, BaseModel):
        return value.model_copy(deep=True)
    if type(value) is dict:
        return {name: owned(item) for name, item in value.items()}
    if type(value) in (set, deque):
        return value.copy()
    return type(value)(map(owned, value)) if type(value) in (list, tuple) else value
