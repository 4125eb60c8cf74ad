"""Facts: what the world tells the core. Each is a value; time and chance come in with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from stepless.model.json import JSON
from stepless.model.kind import Outcome, Pause


@dataclass(frozen=True, slots=True)
class Begin:
    """The run's first fact. `meta` is what people attach to it: trigger, tags, parent. `reused` maps node ids of the document
    to what they put out in a former run (the payload of their `node.completed`): they complete with that instead of running.
    `holds` were asked for before the run began, so that it begins held.
    """

    inputs: JSON = None
    meta: Mapping[str, JSON] = field(default_factory=dict)
    reused: Mapping[str, Mapping[str, JSON]] = field(default_factory=dict)
    holds: tuple[HoldChanged, ...] = ()


@dataclass(slots=True)
class Completed:
    """An attempt answered. Never changed after it was made. `usage` counts input_tokens and output_tokens where there were
    any."""

    instance: str
    attempt: int
    outcome: Outcome
    usage: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an attempt failed. `cause` is what `retry_on` lists; `code` is shown and routed on; `family` is one of
    processing, execution, policy, upstream, timeout."""

    cause: str = "provider_error"
    code: str = ""
    message: str = ""
    family: str = "execution"
    retry_after_ms: int | None = None
    causes: tuple[Mapping[str, JSON], ...] = ()


@dataclass(frozen=True, slots=True)
class Failed:
    """An attempt failed, timed out included. `chance` in [0, 1] is drawn once by the caller and recorded: the jitter. `usage`
    is what it used up all the same."""

    instance: str
    attempt: int
    failure: Failure
    chance: float = 1.0
    usage: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Suspended:
    """An attempt ended by waiting for somebody else."""

    instance: str
    attempt: int
    pause: Pause


@dataclass(frozen=True, slots=True)
class Answered:
    """A pause was answered; the caller made sure that this is the one answer that counts."""

    instance: str
    handle: str
    answer: JSON = None
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Expired:
    """A pause's deadline passed, and the deadline won against every answer."""

    instance: str


@dataclass(frozen=True, slots=True)
class ChildChanged:
    """A child run paused, went on or ended. `status` is a run status; `output` and `error` are those of its end."""

    instance: str
    status: str
    output: JSON = None
    error: Mapping[str, JSON] | None = None


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed: everything due at the decision's instant happens."""


@dataclass(frozen=True, slots=True)
class CancelRequested:
    by: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class HoldChanged:
    """Somebody holds the run, or releases it. `number` counts these from 1, in the order in which they were accepted."""

    number: int
    held: bool
    by: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Recovered:
    """This process took the run over from one that is gone: what was started and not settled is under way nowhere."""


@dataclass(frozen=True, slots=True)
class Continued:
    """The run goes on in another invocation. `hops` counts them."""

    hops: int


@dataclass(frozen=True, slots=True)
class Logged:
    """A node said something to people."""

    instance: str
    attempt: int
    text: str


@dataclass(frozen=True, slots=True)
class Streamed:
    """A piece of a node's text output. The core numbers the pieces, so that a new attempt or process goes on counting."""

    instance: str
    attempt: int
    text: str


@dataclass(frozen=True, slots=True)
class Noticed:
    """A notice of a pause was sent, or was not: then `fault` says why. `number` counts those before it that arrived."""

    instance: str
    number: int
    fault: str | None = None


AttemptFact = Completed | Failed | Suspended | Logged | Streamed
Asked = CancelRequested | HoldChanged
Fact = Begin | AttemptFact | Answered | Expired | ChildChanged | Tick | Asked | Recovered | Continued | Noticed
