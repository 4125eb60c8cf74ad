"""What the engine asks of the world: Protocols with their promises. Adapters fulfil them; nothing about a run is decided there.

Adapters see no engine types, only text keys, integers and encoded bytes. All instants are milliseconds since 1970 UTC.
Every verb may raise `StoreUnavailable` (try again) and nothing else than what it names. Verbs are synchronous and safe to
call from several threads. `Models`, `Sandbox` and `Aws` are the exceptions: they take seconds, so their verbs are coroutines,
cancelled when nobody waits for them any more, and they raise nothing but `NodeFailure`.
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
    """Which of a workflow's versions. `number` counts from 1 per workflow; `hash` is the content hash."""

    workflow_id: str
    number: int
    hash: str


@dataclass(frozen=True, slots=True)
class StoredVersion(Version):
    """One published document, as canonical JSON."""

    document: bytes
    created_ms: int


class RunHead(NamedTuple):
    """A run's header. `inputs` and `meta` are encoded JSON. `sequence` is the last committed event that the writer told of
    (a hint, the log decides). `due_ms` is when somebody should look at the run next, None when nobody needs to.
    `epoch` counts lease takings; `owner` and `lease_until_ms` describe the present lease. `spent` is an encoded tally, empty
    where nobody counts. `waits` are the words of `core.waits` for what the run waited for when it last came to rest, separated by
    blanks."""

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
    """The right to append to a run until `until_ms`; `epoch` fences older holders. `spent` is the header's at the taking."""

    run_id: str
    owner: str
    epoch: int
    until_ms: int
    spent: bytes = b""


class Batch(NamedTuple):
    """Events `first`…`last` of a run, encoded. `epoch` is the writer's. Never changed after it was made."""

    first: int
    last: int
    data: bytes
    epoch: int = 0


class Signal(NamedTuple):
    """A fact from outside, kept until the run has taken it. (`kind`, `identity`) is put once: that is the single-use rule."""

    kind: str
    identity: str
    body: bytes
    created_ms: int
    taken: bool = False


class RunFilter(NamedTuple):
    """All that are given must hold. `since_ms` compares `created_ms` (inclusive). `due` wants runs that have a `due_ms`: what it
    costs to find them does not grow with the runs that are over. `waiting` wants those with this word among their `waits`."""

    workflow_id: str | None = None
    status: str | None = None
    since_ms: int | None = None
    due: bool = False
    waiting: str | None = None


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """`items` in the promised order; `cursor` is opaque and None on the last page."""

    items: tuple[T, ...] = ()
    cursor: str | None = None


class Store(Protocol):
    """Runs, logs, inboxes, versions. The contract suite in tests/contracts holds for every implementation."""

    def check(self) -> None:
        """Raises `StoreUnavailable` unless the store answers, and keeps what it is given."""
        ...

    # -- versions -------------------------------------------------------------------------------------------------
    def put_version(
        self, workflow_id: str, hash: str, document: bytes, now_ms: int, entries: Collection[str] = ()
    ) -> StoredVersion:
        """Stores a version, numbered one above the last. The hash of the newest version again answers that version
        unchanged; an older hash becomes a new number (a roll-back is a publication). `entries` are the kinds by which
        `list_entries` shall find the workflow from now on."""
        ...

    def get_version(self, workflow_id: str, number: int | None = None, *, hash: str | None = None) -> StoredVersion | None:
        """By number or by hash (the newest with it); the newest one without either."""
        ...

    def newest_version(self, workflow_id: str) -> Version | None:
        """Which version is the newest; what that costs does not grow with its document."""
        ...

    def list_workflows(self, *, limit: int = 100, cursor: str | None = None) -> Page[StoredVersion]:
        """The newest version of every workflow, by workflow id ascending."""
        ...

    def list_entries(self, kind: str, *, limit: int = 100, cursor: str | None = None) -> Page[Version]:
        """Which version is the newest of every workflow that was published with this kind among its `entries`, now or in a
        version before; by workflow id ascending. Costs nothing for the others, and as little as `newest_version`."""
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

    def list_due(self, now_ms: int, *, limit: int = 100, after: tuple[int, str] | None = None) -> Sequence[RunHead]:
        """Runs whose `due_ms` has passed, the longest overdue first, then by run id; those behind `after` (due_ms, run_id) in
        this order, if given."""
        ...

    # -- the lease --------------------------------------------------------------------------------------------------
    def take_lease(self, run_id: str, owner: str, now_ms: int, until_ms: int) -> Lease | None:
        """The lease if it is free, expired at `now_ms` or already this owner's, its epoch one higher; None while somebody
        else holds it or when the run does not exist. Sets `due_ms` to `until_ms`: a holder that dies is found by it."""
        ...

    def update_run(
        self, lease: Lease, now_ms: int, *, status: str | None = None, sequence: int | None = None,
        due_ms: int | None = None, until_ms: int | None = None, release: bool = False, spent: bytes | None = None,
        waits: str | None = None,
    ) -> Lease:
        """Changes the header under a lease. With `release` the lease is freed and `due_ms` is stored as given (None: nobody
        needs to look), or the earliest instant of a `touch_run` since the lease was taken, if that is earlier. Without it the
        lease is extended to `until_ms` (if given) and `due_ms` follows the lease's end.
        `spent` and `waits` replace what the header has.
        Raises `LeaseLost` when the epoch is not the lease's."""
        ...

    def touch_run(self, run_id: str, due_ms: int) -> bool:
        """Brings `due_ms` forward to `due_ms` if it is later or None; needs no lease, and outlives the one that is held: whoever
        takes a lease sees what was written before the touch, whoever held one then may not. False when the run does not
        exist."""
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


class Together(Protocol):
    def __call__(self) -> AbstractContextManager[None]:
        """Changes that this thread makes to the store inside the block become durable together, at its end, for the price of one.
        A verb that is refused changes nothing and leaves the others as they are; when the block raises, none is made. After a
        StoreUnavailable at its end all of them may be there, or none."""
        ...


class Message(NamedTuple):
    """A hint that a run wants attention. Losing, doubling or delaying one costs time, never correctness. `spent` is an encoded
    tally of what its sender used for the run."""

    run_id: str
    reason: str  # start, continue, signal, timer, sweep, child, fenced
    hops: int = 0
    spent: bytes = b""


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


class Rhythm(NamedTuple):
    """When the schedule `node` fires: by `cron` (five or six fields, as `model.cron` reads them) in the clock of `timezone`, or
    every `rate_ms` (whole minutes). One of the two is given."""

    node: str
    cron: str | None = None
    rate_ms: int | None = None
    timezone: str = "UTC"


class Calendar(Protocol):
    """Fires the schedules of published workflows, at least once per instant."""

    def keep(self, workflow_id: str, rhythms: Sequence[Rhythm]) -> None:
        """From now on exactly these fire for the workflow. Idempotent; what a call left undone the next one does.

        Raises `ConfigError` (schedule_refused) naming the node whose rhythm cannot be kept, after the others were.
        """
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
        """The value that `${name}` stands for; None when there is none. The empty text counts as none."""
        ...


class Meter(Protocol):
    """Hears what happens, for those who operate the engine. Answers nothing and never raises."""

    def count(self, name: str, number: int = 1) -> None: ...

    def took(self, name: str, duration_ms: float) -> None: ...

    def tell(self, what: str, facts: Mapping[str, str | int]) -> None:
        """One line of a structured log. `facts` name the run and, where there is one, the instance."""
        ...


class Tallies(Protocol):
    """Counts what requests are billed for, apart for each task that opens a tally, with the threads and tasks that it starts."""

    def open(self, begun: Tally) -> AbstractContextManager[None]:
        """Inside the block requests are counted, from `begun` on, and the time since it began."""
        ...

    def take(self) -> Tally | None:
        """What was counted since the last time that somebody asked; None outside a block."""
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


class Misfit(NamedTuple):
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
