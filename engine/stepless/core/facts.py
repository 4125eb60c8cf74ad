"""Facts: what the world tells the core. Each is a value; time and chance come in with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from stepless.model.json import JSON
from stepless.model.kind import Outcome, Pause

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class Begin(NamedTuple):
    """The run's first fact. `meta` is what people attach to it: trigger, tags, parent. `reused` maps node ids of the document
    to what they put out in a former run (the payload of their `node.completed`): they complete with that instead of running.
    `holds` were asked for before the run began, so that it begins held.
    """

    inputs: JSON = None
    meta: Mapping[str, JSON] = _NOTHING
    reused: Mapping[str, Mapping[str, JSON]] = _NOTHING
    holds: tuple[HoldChanged, ...] = ()


class Completed(NamedTuple):
    """An attempt answered. `usage` counts input_tokens and output_tokens where there were
    any."""

    instance: str
    attempt: int
    outcome: Outcome
    usage: Mapping[str, int] = _NOTHING


class Failure(NamedTuple):
    """Why an attempt failed. `cause` is what `retry_on` lists; `code` is shown and routed on; `family` is one of
    processing, execution, policy, upstream, timeout. `exception` is what `raised.told` says of the exception in author code
    behind it; `phase` tells of a moderation what was flagged, `input` or `output`."""

    cause: str = "provider_error"
    code: str = ""
    message: str = ""
    family: str = "execution"
    retry_after_ms: int | None = None
    causes: tuple[Mapping[str, JSON], ...] = ()
    exception: Mapping[str, JSON] | None = None
    phase: str = ""


class Failed(NamedTuple):
    """An attempt failed, timed out included. `chance` in [0, 1] is drawn once by the caller and recorded: the jitter. `usage`
    is what it used up all the same."""

    instance: str
    attempt: int
    failure: Failure
    chance: float = 1.0
    usage: Mapping[str, int] = _NOTHING


class Suspended(NamedTuple):
    """An attempt ended by waiting for somebody else."""

    instance: str
    attempt: int
    pause: Pause


class Answered(NamedTuple):
    """A pause was answered; the caller made sure that this is the one answer that counts. `at_ms` is when the person decided;
    None stands for the instant at which the core is told."""

    instance: str
    handle: str
    answer: JSON = None
    by: str | None = None
    at_ms: int | None = None


class Expired(NamedTuple):
    """A pause's deadline passed, and the deadline won against every answer."""

    instance: str


class ChildChanged(NamedTuple):
    """A child run paused, went on or ended. `status` is a run status; `output` and `error` are those of its end."""

    instance: str
    status: str
    output: JSON = None
    error: Mapping[str, JSON] | None = None


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed: everything due at the decision's instant happens."""


class CancelRequested(NamedTuple):
    by: str | None = None
    reason: str | None = None


class HoldChanged(NamedTuple):
    """Somebody holds the run, or releases it. `number` counts these from 1, in the order in which they were accepted."""

    number: int
    held: bool
    by: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Recovered:
    """This process took the run over from one that is gone: what was started and not settled is under way nowhere."""


class Continued(NamedTuple):
    """The run goes on in another invocation. `hops` counts them."""

    hops: int


class Logged(NamedTuple):
    """A node said something to people."""

    instance: str
    attempt: int
    text: str


class Streamed(NamedTuple):
    """A piece of a node's output: text, or media {type, url, mime} without. The core numbers the pieces, so that a new attempt or
    process goes on counting."""

    instance: str
    attempt: int
    text: str
    media: Mapping[str, str] | None = None


class Noticed(NamedTuple):
    """A notice of a pause was sent, or was not: then `fault` says why. `number` counts those before it that arrived."""

    instance: str
    number: int
    fault: str | None = None


AttemptFact = Completed | Failed | Suspended | Logged | Streamed
Asked = CancelRequested | HoldChanged
Fact = Begin | AttemptFact | Answered | Expired | ChildChanged | Tick | Asked | Recovered | Continued | Noticed
