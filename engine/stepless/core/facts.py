"""Defines the facts that the core receives from outside. Each is a value, and carries any time or random number with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from stepless.model.json import JSON
from stepless.model.kind import Outcome, Pause

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class Begin(NamedTuple):
    """The run's first fact. `meta` is attached by the caller: trigger, tags, parent. `reused` maps instances to their result in
    an earlier run (the payload of `node.completed`): these complete with it instead of running. `kept` is what else is taken
    over from that run, in the form of `core/reused_outcomes.py`. `holds` were requested before the run began, so that it begins
    held. """

    inputs: JSON = None
    meta: Mapping[str, JSON] = _NOTHING
    reused: Mapping[str, Mapping[str, JSON]] = _NOTHING
    holds: tuple[HoldChanged, ...] = ()
    kept: Mapping[str, JSON] = _NOTHING


class Completed(NamedTuple):
    """An attempt completed. `usage` counts input_tokens and output_tokens, where there were any."""

    instance: str
    attempt: int
    outcome: Outcome
    usage: Mapping[str, int] = _NOTHING


class Failure(NamedTuple):
    """Why an attempt failed. `cause` is matched against `retry_on`; `code` is shown and routed on; `family` is one of
    processing, execution, policy, upstream, timeout. `exception` is the description by `raised.described` of the exception in
    author code that caused it. For a moderation, `phase` says what was flagged: `input` or `output`. `inner` is the cause
    of what failed inside of a container or a child run, which is matched too."""

    cause: str = "provider_error"
    code: str = ""
    message: str = ""
    family: str = "execution"
    retry_after_ms: int | None = None
    causes: tuple[Mapping[str, JSON], ...] = ()
    exception: Mapping[str, JSON] | None = None
    phase: str = ""
    inner: str = ""


class Failed(NamedTuple):
    """An attempt failed or timed out. The caller draws `chance` in [0, 1] once, and it is recorded: the jitter. `usage` is what
    the attempt used nevertheless."""

    instance: str
    attempt: int
    failure: Failure
    chance: float = 1.0
    usage: Mapping[str, int] = _NOTHING


class Suspended(NamedTuple):
    """An attempt ended in a pause."""

    instance: str
    attempt: int
    pause: Pause


class Answered(NamedTuple):
    """A pause was answered. The caller has ensured that this is the winning answer. `at_ms` is when the person decided; None
    stands for the instant of the core's decision."""

    instance: str
    handle: str
    answer: JSON = None
    by: str | None = None
    at_ms: int | None = None


class Expired(NamedTuple):
    """A pause's deadline passed before any answer won."""

    instance: str


class ChildChanged(NamedTuple):
    """A child run paused, resumed or ended. `status` is a run status; `output`, `error` and the `cause` of that are those of
    its end. `run` is the child run, "" where it is not known: a signal of one that the instance no longer waits for changes
    nothing."""

    instance: str
    status: str
    output: JSON = None
    error: Mapping[str, JSON] | None = None
    run: str = ""
    cause: str = ""


@dataclass(frozen=True, slots=True)
class ClockSetBack:
    """The clock shows an earlier instant than when some timers of the run began."""


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed: everything that is due at the decision's instant happens."""


class Received(NamedTuple):
    """A message reached the inbox of the run. `id` names it among the messages of the run; `key` is the key by which its sender
    addressed the run, None if the sender named the run. `at_ms` is when it was sent."""

    id: str
    name: str
    data: JSON
    key: str | None
    by: str | None
    at_ms: int


class CancelRequested(NamedTuple):
    by: str | None = None
    reason: str | None = None


class HoldChanged(NamedTuple):
    """Returns the signal by which an operator holds the run or releases it. `number` counts these facts from 1, in the order of
    their acceptance."""

    number: int
    held: bool
    by: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Recovered:
    """No process executes the attempts that had started and not settled. `died`: because the process that executed them ended
    without a word. Otherwise it went on, but could not continue this run."""

    died: bool = True


@dataclass(frozen=True, slots=True)
class Stopped:
    """The process stops in order and has cancelled all attempts of the run."""


class Continued(NamedTuple):
    """The run continues in another invocation. `hops` counts them."""

    hops: int


class Postponed(NamedTuple):
    """An attempt did not begin, because it was late: for the instant that its rate had reserved, or for its invocation."""

    instance: str
    attempt: int


class Logged(NamedTuple):
    """A node logged a line."""

    instance: str
    attempt: int
    text: str


class Streamed(NamedTuple):
    """A piece of a node's output: text, or media {type, url, mime} with an empty text. The core numbers the pieces, so that a
    new attempt or process continues the count."""

    instance: str
    attempt: int
    text: str
    media: Mapping[str, str] | None = None


class Noticed(NamedTuple):
    """A notice of a pause was sent, or failed: `fault` then says why. `number` counts the notices sent before it."""

    instance: str
    number: int
    fault: str | None = None


AttemptFact = Completed | Failed | Suspended | Logged | Streamed | Postponed
Asked = CancelRequested | HoldChanged
Fact = (
    Begin | AttemptFact | Answered | Expired | ChildChanged | Received | Tick | ClockSetBack | Asked | Recovered | Stopped
    | Continued | Noticed
)
