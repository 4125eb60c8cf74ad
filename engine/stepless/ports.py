"""What the engine asks of the world: Protocols with their promises. Adapters fulfil them; nothing about a run is decided there.

Adapters see no engine types, only text keys, integers and encoded bytes. All instants are milliseconds since 1970 UTC.
Every verb may raise `StoreUnavailable` (try again) and nothing else than what it names. Verbs are synchronous and safe to
call from several threads. `Models`, `Sandbox` and `Aws` are the exceptions: they take seconds, so their verbs are coroutines,
cancelled when nobody waits for them any more, and they raise nothing but `NodeFailure`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from stepless.model.conversation import ModelAnswer, Question
from stepless.model.json import JSON
from stepless.model.program import Program, Ran

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """One published document. `number` counts from 1 per workflow; `hash` is the content hash; `document` canonical JSON."""

    workflow_id: str
    number: int
    hash: str
    document: bytes
    created_ms: int


@dataclass(frozen=True, slots=True)
class RunHead:
    """A run's header. `inputs` and `meta` are encoded JSON. `sequence` is the last committed event that the writer told of
    (a hint, the log decides). `due_ms` is when somebody should look at the run next, None when nobody needs to.
    `epoch` counts lease takings; `owner` and `lease_until_ms` describe the present lease."""

    run_id: str
    workflow_id: str
    version: str
    status: str
    created_ms: int
    updated_ms: int
    inputs: bytes
    meta: bytes = b"{}"
    sequence: int = 0
    due_ms: int | None = None
    epoch: int = 0
    owner: str | None = None
    lease_until_ms: int = 0


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to append to a run until `until_ms`; `epoch` fences older holders."""

    run_id: str
    owner: str
    epoch: int
    until_ms: int


@dataclass(frozen=True, slots=True)
class Batch:
    """Events `first`…`last` of a run, encoded. `epoch` is the writer's."""

    first: int
    last: int
    data: bytes
    epoch: int = 0


@dataclass(frozen=True, slots=True)
class Signal:
    """A fact from outside, kept until the run has taken it. (`kind`, `identity`) is put once: that is the single-use rule."""

    kind: str
    identity: str
    body: bytes
    created_ms: int
    taken: bool = False


@dataclass(frozen=True, slots=True)
class RunFilter:
    """All that are given must hold. `since_ms` compares `created_ms` (inclusive)."""

    workflow_id: str | None = None
    status: str | None = None
    since_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """`items` in the promised order; `cursor` is opaque and None on the last page."""

    items: tuple[T, ...] = ()
    cursor: str | None = None


class Store(Protocol):
    """Runs, logs, inboxes, versions. The contract suite in tests/contracts holds for every implementation."""

    # -- versions -------------------------------------------------------------------------------------------------
    def put_version(self, workflow_id: str, hash: str, document: bytes, now_ms: int) -> StoredVersion:
        """Stores a version, numbered one above the last. The hash of the newest version again answers that version
        unchanged; an older hash becomes a new number (a roll-back is a publication)."""
        ...

    def get_version(self, workflow_id: str, number: int | None = None, *, hash: str | None = None) -> StoredVersion | None:
        """By number or by hash (the newest with it); the newest one without either."""
        ...

    def list_workflows(self, *, limit: int = 100, cursor: str | None = None) -> Page[StoredVersion]:
        """The newest version of every workflow, by workflow id ascending."""
        ...

    # -- claims: webhook paths, idempotency keys --------------------------------------------------------------------
    def claim(self, key: str, value: bytes, now_ms: int, expires_ms: int | None = None) -> bytes:
        """Puts `value` under `key` unless an unexpired one is there; answers the value that stands. Of many concurrent
        callers exactly one value wins and all are told it."""
        ...

    def count(self, key: str, now_ms: int, expires_ms: int) -> int:
        """Adds one to the counter `key` and answers it; a new or expired counter starts at 1 and lives until `expires_ms`. Of
        many concurrent callers no two are answered the same number."""
        ...

    def get_claim(self, key: str, now_ms: int) -> bytes | None: ...

    def release_claim(self, key: str, value: bytes) -> bool:
        """Removes the claim if it still has this value."""
        ...

    # -- runs -------------------------------------------------------------------------------------------------------
    def create_run(self, head: RunHead) -> bool:
        """Puts a header once; False (and nothing changed) when the run id exists."""
        ...

    def get_run(self, run_id: str) -> RunHead | None: ...

    def list_runs(self, filter: RunFilter, *, limit: int = 100, cursor: str | None = None) -> Page[RunHead]:
        """Newest first (created_ms, then run_id, descending). Paging neither repeats nor omits a run that existed
        throughout; runs created while paging appear only on a fresh listing."""
        ...

    def list_due(self, now_ms: int, *, limit: int = 100) -> Sequence[RunHead]:
        """Runs whose `due_ms` has passed, the longest overdue first."""
        ...

    # -- the lease --------------------------------------------------------------------------------------------------
    def take_lease(self, run_id: str, owner: str, now_ms: int, until_ms: int) -> Lease | None:
        """The lease if it is free, expired at `now_ms` or already this owner's, its epoch one higher; None while somebody
        else holds it or when the run does not exist. Sets `due_ms` to `until_ms`: a holder that dies is found by it."""
        ...

    def update_run(
        self, lease: Lease, now_ms: int, *, status: str | None = None, sequence: int | None = None,
        due_ms: int | None = None, until_ms: int | None = None, release: bool = False,
    ) -> Lease:
        """Changes the header under a lease. With `release` the lease is freed and `due_ms` is stored as given (None: nobody
        needs to look). Without it the lease is extended to `until_ms` (if given) and `due_ms` follows the lease's end.
        Raises `LeaseLost` when the epoch is not the lease's."""
        ...

    def touch_run(self, run_id: str, due_ms: int) -> bool:
        """Brings `due_ms` forward to `due_ms` if it is later or None; needs no lease. False when the run does not exist."""
        ...

    # -- the log ----------------------------------------------------------------------------------------------------
    def append(self, run_id: str, batch: Batch) -> None:
        """Writes one batch durably, or raises `AppendConflict` when any batch already holds `batch.first` (also when its
        bytes are the same), or when the log does not end at `batch.first - 1` where the store can tell. Raises
        `LimitExceeded` above MAX_BATCH_BYTES. After a StoreUnavailable the batch may or may not be there."""
        ...

    def read_log(self, run_id: str, after: int = 0, *, limit_bytes: int = 4_000_000) -> Sequence[Batch]:
        """Batches that hold events above `after`, in order, at least one if there are any, then up to `limit_bytes`.
        Read-your-writes."""
        ...

    def put_snapshot(self, run_id: str, sequence: int, data: bytes) -> None:
        """Keeps the state after `sequence`; an older one may be forgotten. Never replaces a newer one."""
        ...

    def get_snapshot(self, run_id: str) -> tuple[int, bytes] | None:
        """The newest snapshot, with its sequence number."""
        ...

    # -- the inbox --------------------------------------------------------------------------------------------------
    def put_signal(self, run_id: str, signal: Signal) -> Signal:
        """Puts a signal once per (kind, identity); answers the one that stands: identical to the argument if it won.
        Raises `LimitExceeded` above MAX_SIGNAL_BYTES or MAX_INBOX_SIGNALS untaken ones."""
        ...

    def get_signal(self, run_id: str, kind: str, identity: str) -> Signal | None: ...

    def read_inbox(self, run_id: str) -> Sequence[Signal]:
        """The signals not yet taken, oldest first."""
        ...

    def take_signals(self, run_id: str, signals: Sequence[Signal]) -> None:
        """Marks them taken, after the events that they caused are committed. They stay readable by `get_signal`."""
        ...


@dataclass(frozen=True, slots=True)
class Message:
    """A hint that a run wants attention. Losing, doubling or delaying one costs time, never correctness."""

    run_id: str
    reason: str  # start, continue, signal, timer, sweep, child, fenced
    hops: int = 0


class Queue(Protocol):
    """At least once, in any order."""

    def send(self, message: Message, delay_ms: int = 0) -> None: ...


class Timers(Protocol):
    """Wakes a run at or after an instant; a firing is only a hint."""

    def arm(self, run_id: str, at_ms: int) -> None:
        """Idempotent; a later call for an earlier instant adds to, never replaces, what is armed."""
        ...

    def disarm(self, run_id: str) -> None:
        """Best effort."""
        ...


class Blobs(Protocol):
    """Large values by content hash."""

    def put(self, data: bytes) -> str:
        """Stores and answers the hash; the same bytes again cost nothing."""
        ...

    def get(self, key: str) -> bytes | None: ...


class Clock(Protocol):
    def now_ms(self) -> int:
        """Milliseconds since 1970 UTC. May step back; whoever measures a duration must not use it."""
        ...


class Secrets(Protocol):
    def get(self, name: str) -> str | None:
        """The value that `${name}` stands for; None when there is none."""
        ...


class Meter(Protocol):
    """Hears what happens, for those who operate the engine. Answers nothing and never raises."""

    def count(self, name: str, number: int = 1) -> None: ...

    def took(self, name: str, duration_ms: float) -> None: ...

    def tell(self, what: str, facts: Mapping[str, str | int]) -> None:
        """One line of a structured log. `facts` name the run and, where there is one, the instance."""
        ...


class Moderator(Protocol):
    def review(self, phase: str, value: JSON) -> str | None:
        """Why `value`, the `input` or `output` of a node, must not pass; None when it may. Any `SteplessError` means that
        nobody could tell: the gate then stays closed unless the node says otherwise."""
        ...


class Models(Protocol):
    async def ask(self, question: Question, delta: Callable[[str], None] | None = None) -> ModelAnswer:
        """One answer of a model, never tried twice here: retrying is the node's. With `delta` the text is also told piece by
        piece as it comes.

        Raises `NodeFailure`: timeout; rate_limit, with `retry_after_ms` when the provider says it; provider_error when it is out
        of reach or broke; http_error (not retryable) when it refuses the request; moderation when the model or a guard declines
        to answer; config for a provider or model that is not there.
        """
        ...


@dataclass(frozen=True, slots=True)
class Misfit:
    """What an operation would refuse. `path` is dotted: `service`, `action`, or `params` and what is below it."""

    path: str
    message: str


class Aws(Protocol):
    """Every service of AWS, by the names of boto3."""

    def check(self, service: str, action: str, params: Mapping[str, JSON]) -> Sequence[Misfit]:
        """What does not fit the operation's own model, without a call. Texts that hold references fit everywhere."""
        ...

    async def call(self, service: str, action: str, params: Mapping[str, JSON], *, token: str, timeout_ms: int) -> JSON:
        """One call, never repeated here. Where the operation takes an idempotency token, one that follows from `token` is sent.

        Raises `NodeFailure`: rate_limit for throttling; timeout; provider_error when the service failed or is out of reach;
        http_error (not retryable, `aws_<code>`) when it refuses; config for parameters or credentials that do not fit.
        """
        ...


class Sandbox(Protocol):
    async def run(self, program: Program) -> Ran:
        """Runs the code where it can compute and do nothing else: no network, no files, no environment, no other process,
        nothing left over from a former run.

        Raises `NodeFailure`: code_raised, with the line of the author's code; code_timeout; code_memory;
        code_output_too_large; result_not_json; sandbox_unavailable when the isolation cannot be had.
        """
        ...


@dataclass(slots=True)
class Call:
    """One attempt of an effectful node, as its kind sees it.

    `params` are the rendered parameters, `inputs` the merged inputs by param. `token` is stable across redeliveries and
    retries of one instance: send it along as an idempotency key. `deadline_ms` is the instant by which the engine gives
    up on the attempt, `started_ms` when it began, by the same clock (0: not told). `log` and `delta` may be called from
    any thread until the attempt ends.
    """

    run_id: str
    workflow_id: str
    instance: str
    node: str
    kind: str
    attempt: int
    params: Mapping[str, JSON]
    literals: Mapping[str, JSON]
    inputs: Mapping[str, JSON]
    token: str
    deadline_ms: int
    started_ms: int = 0
    log: Callable[[str], None] = field(default=lambda text: None)
    delta: Callable[[str], None] = field(default=lambda text: None)
    facts: Mapping[str, Any] = field(default_factory=dict)
