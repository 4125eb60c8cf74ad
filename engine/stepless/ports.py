"""Defines the ports of the engine: the Protocols that adapters implement, with their guarantees. Adapters decide nothing about a
run.

Adapters see no engine types, only text keys, integers and encoded bytes. All instants are milliseconds since 1970 UTC.
Every method may raise `StoreUnavailable` (try again); otherwise it raises only what its docstring names. Methods are synchronous
and thread-safe. `Models`, `Sandbox` and `Aws` are the exceptions: their calls take seconds, so their methods are coroutines. The
engine cancels a call that it no longer waits for, and these methods raise only `NodeFailure`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

from stepless.model.call import Call as Call
from stepless.model.json import JSON

if TYPE_CHECKING:
    from stepless.model.conversation import ModelAnswer, Question
    from stepless.model.program import Program, Ran
    from stepless.model.tally import Tally

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Version:
    """Identifies one version of a workflow. `number` counts from 1 per workflow; `hash` is the content hash."""

    workflow_id: str
    number: int
    hash: str


@dataclass(frozen=True, slots=True)
class StoredVersion(Version):
    """One published document, as canonical JSON."""

    document: bytes
    created_ms: int


class RunHead(NamedTuple):
    """A run's header. `inputs` and `meta` are encoded JSON. `sequence` is the last committed event that the writer reported
    (a hint; the log is authoritative). `due_ms` is when the sweep should check the run next, None when it need not.
    `epoch` counts how often the lease was taken; `owner` and `lease_until_ms` describe the present lease. `spent` is an encoded
    tally, empty where usage is not counted. `waits` says what the run waited for when it last became idle: words of
    `core.history.waits`, space-separated."""

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
    spent: bytes = b""
    waits: str = ""


class Lease(NamedTuple):
    """The right to append to a run until `until_ms`. `epoch` fences older holders. `spent` is the header's value when the lease
    was taken."""

    run_id: str
    owner: str
    epoch: int
    until_ms: int
    spent: bytes = b""


class Batch(NamedTuple):
    """Events `first`…`last` of a run, encoded. `epoch` is the writer's. Immutable."""

    first: int
    last: int
    data: bytes
    epoch: int = 0


class Signal(NamedTuple):
    """A fact from outside, stored until the run has taken it. Each (`kind`, `identity`) is accepted once: the single-use rule."""

    kind: str
    identity: str
    body: bytes
    created_ms: int
    taken: bool = False


class RunFilter(NamedTuple):
    """Selects the runs that match every given field. `since_ms` compares `created_ms` (inclusive). `due` selects runs with a
    `due_ms`; its cost does not grow with the number of ended runs. `waiting` selects runs with this word in their `waits`."""

    workflow_id: str | None = None
    status: str | None = None
    since_ms: int | None = None
    due: bool = False
    waiting: str | None = None


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """`items` in the documented order; `cursor` is opaque, and None on the last page."""

    items: tuple[T, ...] = ()
    cursor: str | None = None


class Store(Protocol):
    """Runs, logs, inboxes, versions. Every implementation passes the contract suite in tests/contracts."""

    def check(self) -> None:
        """Raises `StoreUnavailable` unless the store responds and accepts writes."""
        ...

    # -- versions -------------------------------------------------------------------------------------------------
    def put_version(
        self, workflow_id: str, hash: str, document: bytes, now_ms: int, entries: Collection[str] = ()
    ) -> StoredVersion:
        """Stores a version, numbered one above the last. For the hash of the newest version, returns that version unchanged;
        an older hash gets a new number (a roll-back is a publication). From now on, `list_entries` finds the workflow by each
        kind in `entries`."""
        ...

    def get_version(self, workflow_id: str, number: int | None = None, *, hash: str | None = None) -> StoredVersion | None:
        """The version with this number, or the newest with this hash; without either, the newest version."""
        ...

    def newest_version(self, workflow_id: str) -> Version | None:
        """Identifies the newest version. The cost does not grow with the size of its document."""
        ...

    def list_workflows(self, *, limit: int = 100, cursor: str | None = None) -> Page[StoredVersion]:
        """The newest version of every workflow, sorted by workflow id ascending."""
        ...

    def list_entries(self, kind: str, *, limit: int = 100, cursor: str | None = None) -> Page[Version]:
        """The newest version of every workflow of which any version was published with this kind in its `entries`; sorted by
        workflow id ascending. Other workflows cost nothing, and the documents are not read, as with `newest_version`."""
        ...

    # -- claims: webhook paths, idempotency keys --------------------------------------------------------------------
    def claim(self, key: str, value: bytes, now_ms: int, expires_ms: int | None = None) -> bytes:
        """Stores `value` under `key` unless an unexpired value exists; returns the stored value. Of many concurrent callers
        exactly one value wins, and all of them receive it."""
        ...

    def count(self, key: str, now_ms: int, expires_ms: int) -> int:
        """Adds one to the counter `key` and returns it. A new or expired counter starts at 1 and lives until `expires_ms`. No two
        concurrent callers receive the same number."""
        ...

    def get_claim(self, key: str, now_ms: int) -> bytes | None: ...

    def release_claim(self, key: str, value: bytes) -> bool:
        """Removes the claim if it still has this value."""
        ...

    # -- runs -------------------------------------------------------------------------------------------------------
    def create_run(self, head: RunHead) -> bool:
        """Stores a new header. Returns False and changes nothing when the run id exists."""
        ...

    def get_run(self, run_id: str) -> RunHead | None: ...

    def list_runs(self, filter: RunFilter, *, limit: int = 100, cursor: str | None = None) -> Page[RunHead]:
        """Newest first (created_ms, then run_id, descending). Paging neither repeats nor omits a run that exists for the whole
        time; runs created during paging appear only in a new listing."""
        ...

    def list_due(self, now_ms: int, *, limit: int = 100, after: tuple[int, str] | None = None) -> Sequence[RunHead]:
        """Runs whose `due_ms` has passed, the longest overdue first, then by run id. With `after` (due_ms, run_id), only those
        that follow it in this order."""
        ...

    # -- the lease --------------------------------------------------------------------------------------------------
    def take_lease(self, run_id: str, owner: str, now_ms: int, until_ms: int) -> Lease | None:
        """Takes the lease if it is free, expired at `now_ms` or already this owner's, and raises its epoch by one. None while
        another owner holds it, or when the run does not exist. Sets `due_ms` to `until_ms`, so that the sweep finds the run of
        a holder that dies."""
        ...

    def update_run(
        self, lease: Lease, now_ms: int, *, status: str | None = None, sequence: int | None = None,
        due_ms: int | None = None, until_ms: int | None = None, release: bool = False, spent: bytes | None = None,
        waits: str | None = None,
    ) -> Lease:
        """Changes the header under a lease. With `release`, frees the lease and stores `due_ms` (None: the run needs no check),
        or the earliest instant of a `touch_run` since the lease was taken, if that is earlier. Without it, extends the lease to
        `until_ms` (if given) and sets `due_ms` to the lease's end.
        `spent` and `waits` replace the header's values.
        Raises `LeaseLost` when the header's epoch is not the lease's."""
        ...

    def touch_run(self, run_id: str, due_ms: int) -> bool:
        """Brings the run's `due_ms` forward to `due_ms` if it is later or None. Needs no lease, and still holds after the present
        lease ends: a later holder sees everything written before the touch, the present holder may not. False when the run does
        not exist."""
        ...

    # -- the log ----------------------------------------------------------------------------------------------------
    def append(self, run_id: str, batch: Batch) -> None:
        """Writes one batch durably. Raises `AppendConflict` when a batch already holds `batch.first` (even with the same bytes),
        or when the store can detect that the log does not end at `batch.first - 1`. Raises `LimitExceeded` above
        MAX_BATCH_BYTES. After a StoreUnavailable the batch may or may not be stored."""
        ...

    def read_log(self, run_id: str, after: int = 0, *, limit_bytes: int = 4_000_000) -> Sequence[Batch]:
        """Batches with events above `after`, in order: at least one if there are any, then up to `limit_bytes`.
        Read-your-writes."""
        ...

    def put_snapshot(self, run_id: str, sequence: int, data: bytes) -> None:
        """Stores the state after `sequence`. May delete an older snapshot, and never replaces a newer one."""
        ...

    def get_snapshot(self, run_id: str) -> tuple[int, bytes] | None:
        """The newest snapshot, with its sequence number."""
        ...

    # -- the inbox --------------------------------------------------------------------------------------------------
    def put_signal(self, run_id: str, signal: Signal) -> Signal:
        """Stores a signal once per (kind, identity) and returns the stored one: equal to the argument if it was first.
        Raises `LimitExceeded` above MAX_SIGNAL_BYTES or MAX_INBOX_SIGNALS untaken ones."""
        ...

    def get_signal(self, run_id: str, kind: str, identity: str) -> Signal | None: ...

    def read_inbox(self, run_id: str) -> Sequence[Signal]:
        """The signals that are not yet taken, oldest first."""
        ...

    def take_signals(self, run_id: str, signals: Sequence[Signal]) -> None:
        """Marks signals as taken, after the events that they caused are committed. `get_signal` still returns them."""
        ...


class Together(Protocol):
    def __call__(self) -> AbstractContextManager[None]:
        """Groups this thread's changes to the store inside the block: all become durable at its end, for the price of one.
        A refused call changes nothing and does not affect the others. When the block raises, no change is made. After a
        StoreUnavailable at the end of the block, all changes may be stored, or none."""
        ...


class Message(NamedTuple):
    """A hint that a run needs attention. A lost, duplicate or late hint costs time, never correctness. `spent` is an encoded
    tally of what its sender used for the run."""

    run_id: str
    reason: str  # start, continue, signal, timer, sweep, child, fenced
    hops: int = 0
    spent: bytes = b""


class Queue(Protocol):
    """Delivers messages at least once, in any order."""

    def send(self, message: Message, delay_ms: int = 0) -> None: ...


class Timers(Protocol):
    """Wakes a run at or after an instant. A firing is only a hint."""

    def arm(self, run_id: str, at_ms: int) -> None:
        """Idempotent. A later call for an earlier instant adds a timer and never replaces one."""
        ...

    def disarm(self, run_id: str) -> None:
        """Best effort."""
        ...


class Rhythm(NamedTuple):
    """When the schedule `node` fires: by `cron` (five or six fields, see `model.cron`) in `timezone`, or every `rate_ms` (whole
    minutes). Exactly one of the two is set."""

    node: str
    cron: str | None = None
    rate_ms: int | None = None
    timezone: str = "UTC"


class Calendar(Protocol):
    """Fires the schedules of published workflows, at least once per instant."""

    def keep(self, workflow_id: str, rhythms: Sequence[Rhythm]) -> None:
        """Replaces the workflow's schedules with exactly these. Idempotent; the next call completes an interrupted one.

        Raises `ConfigError` (schedule_refused) with the node whose rhythm is rejected, after all others were set.
        """
        ...


class Blobs(Protocol):
    """Large values by content hash."""

    def put(self, data: bytes) -> str:
        """Stores the bytes and returns their hash. Storing the same bytes again costs nothing."""
        ...

    def get(self, key: str) -> bytes | None: ...


class Clock(Protocol):
    def now_ms(self) -> int:
        """Milliseconds since 1970 UTC. May step back, so do not measure durations with it."""
        ...


class Secrets(Protocol):
    def get(self, name: str) -> str | None:
        """The value of `${name}`; None when it is not set. An empty text counts as not set."""
        ...


class Meter(Protocol):
    """Receives metrics and log lines for operators. Its methods return nothing and never raise."""

    def count(self, name: str, number: int = 1) -> None: ...

    def took(self, name: str, duration_ms: float) -> None: ...

    def report(self, what: str, facts: Mapping[str, str | int]) -> None:
        """Writes one line of a structured log. `facts` name the run and, where there is one, the instance."""
        ...


class Tallies(Protocol):
    """Counts billed requests, separately for each task that opens a tally, including the threads and tasks that it starts."""

    def open(self, begun: Tally) -> AbstractContextManager[None]:
        """Counts requests and time inside the block, starting from `begun`."""
        ...

    def take(self) -> Tally | None:
        """The count since the previous `take`; None outside a block."""
        ...


class Moderator(Protocol):
    def review(self, phase: str, value: JSON) -> str | None:
        """Why `value`, the `input` or `output` of a node, must not pass; None when it may. Any `SteplessError` means that the
        review was not possible: `value` then does not pass, unless the node allows it."""
        ...


class Models(Protocol):
    async def ask(self, question: Question, delta: Callable[[str], None] | None = None) -> ModelAnswer:
        """One answer of a model. Never retries: the node does. With `delta`, also passes on the text piece by piece as it
        arrives.

        Raises `NodeFailure`: timeout; rate_limit, with `retry_after_ms` when the provider gives it; provider_error when the
        provider is unreachable or failed; http_error (not retryable) when it rejects the request; moderation when the model or a
        guardrail declines to answer; config for an unknown provider or model.
        """
        ...


class Misfit(NamedTuple):
    """A parameter that an operation would reject. `path` is dotted: `service`, `action`, or `params` and a path below it."""

    path: str
    message: str


class Aws(Protocol):
    """Calls every service of AWS, by the names of boto3."""

    def check(self, service: str, action: str, params: Mapping[str, JSON]) -> Sequence[Misfit]:
        """Validates parameters against the operation's model, without a call. Texts with references are valid everywhere."""
        ...

    async def call(self, service: str, action: str, params: Mapping[str, JSON], *, token: str, timeout_ms: int) -> JSON:
        """Makes one call and never retries it. Where the operation takes an idempotency token, sends one derived from `token`.

        Raises `NodeFailure`: rate_limit for throttling; timeout; provider_error when the service failed or is unreachable;
        http_error (not retryable, `aws_<code>`) when it rejects the call; config for invalid parameters or credentials.
        """
        ...


class Sandbox(Protocol):
    async def run(self, program: Program) -> Ran:
        """Runs code in isolation: it can only compute. It has no network, files, environment or other processes, and sees nothing
        of an earlier run.

        Raises `NodeFailure`: code_raised, with the line of the author's code; code_timeout; code_memory;
        code_output_too_large; result_not_json; sandbox_unavailable when the code cannot be isolated.
        """
        ...
