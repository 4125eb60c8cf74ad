"""Defines `send` and `start` for plain calls of a workflow, as in a unit test: nothing leaves the process, and what a workflow
sends and starts is recorded.

    with acting() as outgoing:
        await checkout(order)
    assert outgoing.started == [Started("ship/A-1", "ship", {"id": "A-1"}, key="A-1")]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

from stepless.errors import ConfigError
from stepless.flow.clock import work
from stepless.flow.compiler.origin import signature_of
from stepless.flow.messages import Declared
from stepless.flow.words import NodeError, mark, word_of
from stepless.limits import MAX_KEY_BYTES
from stepless.model.json import JSON
from stepless.model.runs.keys import key_of

_TO: Final = "write send(…, to=run_id), or send(…, workflow=order, key=…)"
_BEGINS: Final = "write delay, or at"


class Target(Protocol):
    """A workflow in Python, as `@workflow` makes it."""

    @property
    def id(self) -> str: ...
    @property
    def function(self) -> Callable[..., Any]: ...
    @property
    def messages(self) -> Declared: ...
    def inputs_of(self, given: Mapping[str, Any]) -> Any: ...


@dataclass(frozen=True, slots=True)
class Sent:
    """A message that a workflow has sent: to the run `to`, or to the runs of `workflow` that answer to `key`."""

    message: str
    data: JSON = None
    to: str | None = None
    workflow: str | None = None
    key: str | None = None
    start: bool = False
    inputs: JSON = None
    keep: str | None = None


@dataclass(frozen=True, slots=True)
class Started:
    """A run that a workflow has started, with the inputs that its entry receives."""

    run: str
    workflow: str
    inputs: JSON = None
    key: str | None = None
    delay: str | None = None
    at: str | int | None = None


@dataclass(slots=True)
class Outgoing:
    """What workflows have sent and started, in order. `runs` are the ids of runs that a message reaches, or None for one of its
    own; `run` is the id of a run that is started. Both may raise a `NodeError`."""

    sent: list[Sent] = field(default_factory=list)
    started: list[Started] = field(default_factory=list)
    runs: Callable[[Sent], Sequence[str] | None] | None = None
    run: Callable[[Started], str | None] | None = None
    outer: Outgoing | None = field(default=None, repr=False)

    def send(self, message: Sent) -> list[str]:
        reached = None if self.runs is None else self.runs(message)
        if reached is None and self.outer is not None:
            reached = self.outer.send(message)
        self.sent.append(message)
        return [message.to or f"{message.workflow}/{message.key}"] if reached is None else [*reached]

    def start(self, run: Started) -> str:
        chosen = None if self.run is None else self.run(run)
        if chosen is None and self.outer is not None:
            chosen = self.outer.start(run)
        chosen = chosen or f"{run.workflow}/{run.key or len(self.started) + 1}"
        self.started.append(replace(run, run=chosen))
        return chosen


_OUTGOING: ContextVar[Outgoing | None] = ContextVar("stepless_flow_outgoing", default=None)


@contextmanager
def recorded(
    runs: Callable[[Sent], Sequence[str] | None] | None, run: Callable[[Started], str | None] | None
) -> Iterator[Outgoing]:
    """Records what is sent and started inside the block."""
    outgoing = Outgoing(runs=runs, run=run, outer=_OUTGOING.get())
    token = _OUTGOING.set(outgoing)
    try:
        yield outgoing
    finally:
        _OUTGOING.reset(token)


async def send(
    message: str, data: Any = None, *, workflow: Target | str | None = None, key: str | float | None = None,
    to: str | None = None, start: bool = False, inputs: Any = None, keep: str | None = None,
) -> list[str]:
    """Sends a message to the run `to`, or to the runs of a workflow that answer to `key`. Returns the ids of the runs that have
    it. With `start`, exactly one run of the key gets it: the live one, or a new one that starts with `inputs`, or with the data.
    `keep` is how long the message waits for runs that begin to answer to the key. Fails with `no_receiver` if no run gets it, and
    as docs/write/messages.md says. However often the node is repeated, each run gets the message once."""
    if (to is None) == (workflow is None) or (workflow is None) != (key is None):
        raise ConfigError("a message goes to one run, or to the runs of a key", place=message, mend=_TO)
    if to is not None and (start or inputs is not None or keep is not None):
        why = "`start`, `inputs` and `keep` have no effect on a message to one run"
        raise ConfigError(why, place=message, mend="leave them out")
    return await work(lambda: _sent(message, data, workflow, key, Sent(message, to=to, start=start, keep=keep), inputs))


async def _sent(
    name: str, data: Any, workflow: Target | str | None, key: str | float | None, sent: Sent, inputs: Any
) -> list[str]:
    value, begin = _json(data), _json(inputs)
    if workflow is not None:
        sent = replace(sent, workflow=id_of(workflow), key=_checked(key))
    if workflow is not None and not isinstance(workflow, str):
        declared = workflow.messages
        if name not in declared.fields:
            raise NodeError(f"{workflow.id} declares no message `{name}`", code="unknown_message")
        contract = declared.contract(name)
        violations = () if contract is None else contract.violations(value)
        if violations:
            raise NodeError(f"the data does not fit the message `{name}`: {violations[0]}", code="message_invalid")
    return (_OUTGOING.get() or Outgoing()).send(replace(sent, data=value, inputs=begin))


async def start(
    workflow: Target | str, *args: Any, key: str | float | None = None, delay: str | None = None,
    at: str | int | None = None, **inputs: Any,
) -> str:
    """Starts a run of a workflow, with a log of its own, and returns its id without waiting for it. The arguments are those of
    the workflow's function; for the id of a workflow, its whole inputs or their fields by name. `key` is the key of the run,
    `delay` a time after which it begins, `at` an instant. However often the node is repeated, it starts one run; under a key that
    a live run has, `on_conflict` of the workflow says what happens."""
    if delay is not None and at is not None:
        raise ConfigError("`delay` and `at` both say when the run begins", place=id_of(workflow), mend=_BEGINS)
    return await work(lambda: _started(workflow, args, inputs, Started("", id_of(workflow), delay=delay, at=at), key))


async def _started(
    workflow: Target | str, args: Sequence[Any], inputs: Mapping[str, Any], run: Started, key: str | float | None
) -> str:
    given = _json(whole_inputs(workflow, args, inputs))
    return (_OUTGOING.get() or Outgoing()).start(replace(run, inputs=given, key=None if key is None else _checked(key)))


def whole_inputs(workflow: Target | str, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """Returns the inputs of a run for the arguments of its function. Raises `TypeError` for arguments that do not fit."""
    if not isinstance(workflow, str):
        return workflow.inputs_of(signature_of(workflow.function).bind(*args, **named).arguments)
    if len(args) > 1 or (args and named):
        raise TypeError(f"{workflow} takes its whole inputs, or their fields by name")
    return args[0] if args else dict(named)


def id_of(workflow: Target | str) -> str:
    if isinstance(workflow, str):
        return workflow
    if word_of(workflow) != "flow":
        raise ConfigError(f"{workflow!r:.60} is no workflow", place="workflow", mend="pass what @workflow(…) made, or its id")
    return workflow.id


def _checked(key: str | float | None) -> str:
    checked = key_of(key)
    if checked is None:
        raise NodeError(f"a key is a text or a number with 1 to {MAX_KEY_BYTES} bytes of UTF-8", code="key_invalid")
    return checked


def _json(value: Any) -> JSON:
    from stepless.nodes.json_value import to_json  # imported late: few workflows send

    return to_json(value)


for _word in (send, start):
    mark(_word, _word.__name__)
