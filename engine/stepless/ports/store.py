"""Defines the ports for stored runs: the store and the blobs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

T = TypeVar("T")

ERASED: Final = "erased"
"""The status of a header that `mark_erased` has changed."""
RECEIVER: Final = "-"
"""The owner of a lease that was granted: it belongs to the process that receives the hint."""
SUCCESSOR: Final = "+"
"""The owner of a lease that its holder has passed on: it belongs to the process that receives the holder's message."""
MESSAGE: Final = "message"
"""The kind of those signals of which a run may get any number."""
SHARD: Final = "shd_"  # the beginning of the ids of runs that no listing has, and that the sweep finds like others
GRANTED: Final = (RECEIVER, SUCCESSOR)
"""The owners of leases that several processes may have received."""


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


@dataclass(frozen=True, slots=True)
class PublishedVersion(Version):
    """One version without its document, and with what is attached to it."""

    created_ms: int
    attached: bytes | None


class RunHead(NamedTuple):
    """A run's header. `inputs` and `meta` are encoded JSON. `sequence` is the last committed event that the writer reported (a
    hint; the log is authoritative). `due_ms` is when the sweep should check the run next, None when it need not. `epoch` counts
    how often the lease was taken; `owner` and `lease_until_ms` describe the present lease. `spent` is an encoded tally, empty
    where usage is not counted. `waits` says what the run waited for when it last became idle: words of `core.history.waits`,
    space-separated; for a failed run, the node that failed. `exported` says up to which event the run's log was exported, in
    the words of `runtime.exporting.cursors`; empty where nothing is exported. `expires_ms` is when an ended run may be
    removed, None to keep it. The `status` of a run whose content was erased is ERASED."""

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
    exported: str = ""
    expires_ms: int | None = None


class Lease(NamedTuple):
    """The right to append to a run until `until_ms`. `epoch` fences older holders. `spent` and `exported` are the header's values
    when the lease was taken."""

    run_id: str
    owner: str
    epoch: int
    until_ms: int
    spent: bytes = b""
    exported: str = ""

    def passed_on(self, until_ms: int, spent: bytes | None, exported: str | None) -> Lease:
        """Returns the lease that `update_run` returns when it passes this one on."""
        spent, exported = self.spent if spent is None else spent, self.exported if exported is None else exported
        return Lease(self.run_id, SUCCESSOR, self.epoch + 1, until_ms, spent, exported)


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


class AuditEntry(NamedTuple):
    """A request of a person. `id` is unique; `body` is encoded JSON."""

    at_ms: int
    id: str
    body: bytes


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
    """Runs, logs, inboxes, versions. Every implementation passes the suite `stepless.testing.contracts`."""

    def check(self) -> None:
        """Raises `StoreUnavailable` unless the store responds and accepts writes."""
        ...

    # -- versions -------------------------------------------------------------------------------------------------
    def put_version(
        self, workflow_id: str, hash: str, document: bytes, now_ms: int, entries: Collection[str] = (),
        *, attached: bytes | None = None, expected: int | None = None, replace: bool = False,
    ) -> StoredVersion:
        """Stores a version, numbered one above the last. For the hash of the newest version, returns that version unchanged;
        an older hash gets a new number (a roll-back is a publication). From now on, `list_entries` finds the workflow by each
        kind in `entries`.

        `attached` is the metadata of the version, and replaces what is attached to a version that is returned unchanged; None
        leaves that as it is. With `expected`, raises `VersionMoved`, and stores nothing but `entries`, if the newest version has
        another number (0: there is none) and another hash. Of several concurrent callers with the same `expected` and different
        hashes, exactly one succeeds. With `replace`, `document` takes the place of the document of a version that is returned
        unchanged, because that is damaged."""
        ...

    def get_attached(self, workflow_id: str, number: int) -> bytes | None:
        """Returns the metadata of a version; None if nothing is, or if there is no such version."""
        ...

    def get_version(self, workflow_id: str, number: int | None = None, *, hash: str | None = None) -> StoredVersion | None:
        """Returns the version with this number, or the newest with this hash; without either, the newest version."""
        ...

    def newest_version(self, workflow_id: str) -> Version | None:
        """Identifies the newest version. The cost does not grow with the size of its document."""
        ...

    def list_versions(self, workflow_id: str, *, before: int | None = None, limit: int = 100) -> Sequence[PublishedVersion]:
        """Returns the newest versions, at most `limit`, the newest first; with `before`, of those with a smaller number. The
        documents are not read."""
        ...

    def list_workflows(self, *, limit: int = 100, cursor: str | None = None) -> Page[StoredVersion]:
        """Returns the newest version of every workflow, sorted by workflow id ascending."""
        ...

    def list_entries(self, kind: str, *, limit: int = 100, cursor: str | None = None) -> Page[Version]:
        """Returns the newest version of every workflow of which any version was published with this kind in its `entries`; sorted
        by workflow id ascending. Other workflows cost nothing, and the documents are not read, as with `newest_version`."""
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

    def replace_claim(
        self, key: str, former: bytes | None, value: bytes, now_ms: int, expires_ms: int | None = None
    ) -> bool:
        """Stores `value`, with this expiry (None: it never expires), if the unexpired value is `former` (None: if there is none).
        False, and no change, if it is another. Of several concurrent callers with the same `former` and different values, exactly
        one succeeds."""
        ...

    # -- lines: the runs that wait for a limit ------------------------------------------------------------------------
    def join_line(self, line: str, position: str) -> None:
        """Adds a position to a line; does nothing if it is there. Every `read_line` that begins afterwards sees it."""
        ...

    def leave_line(self, line: str, position: str) -> None:
        """Removes a position from a line; does nothing if it is not there."""
        ...

    def read_line(self, line: str, *, limit: int) -> Sequence[str]:
        """Returns the first places of a line, in the order of their UTF-8 bytes. Read-your-writes, also for the writes of
        others."""
        ...

    # -- runs -------------------------------------------------------------------------------------------------------
    def create_run(self, head: RunHead) -> bool:
        """Stores a new header. Returns False and changes nothing when the run id exists."""
        ...

    def get_run(self, run_id: str) -> RunHead | None: ...

    def list_runs(self, filter: RunFilter, *, limit: int = 100, cursor: str | None = None) -> Page[RunHead]:
        """Returns headers, newest first (created_ms, then run_id, descending), without erased runs. Paging neither repeats nor
        omits a run that exists for the whole time; runs created during paging appear only in a new listing."""
        ...

    def list_due(self, now_ms: int, *, limit: int = 100, after: tuple[int, str] | None = None) -> Sequence[RunHead]:
        """Runs whose `due_ms` has passed, the longest overdue first, then by run id. With `after` (due_ms, run_id), only those
        that follow it in this order."""
        ...

    def due_parts(self) -> int:
        """Returns into how many parts `each_due` can be divided; 1 if dividing saves nothing."""
        ...

    def each_due(self, now_ms: int, part: tuple[int, int] = (0, 1)) -> Iterator[Sequence[RunHead]]:
        """Pages of the runs whose `due_ms` has passed, each once, roughly the longest overdue first; a page may be empty. With
        `part` (number, count), only those of one part: together, the parts 0 … count - 1 hold every run once."""
        ...

    # -- the lease --------------------------------------------------------------------------------------------------
    def take_lease(self, run_id: str, owner: str, now_ms: int, until_ms: int) -> Lease | None:
        """Takes the lease if it is free, expired at `now_ms` or already this owner's, and raises its epoch by one. None while
        another owner holds it, or when the run does not exist or is erased. Sets `due_ms` to `until_ms`, so that the sweep finds
        the run of a holder that dies."""
        ...

    def grant_lease(self, run_id: str, until_ms: int) -> bool:
        """Takes the lease for RECEIVER, unless an owner is recorded, even one whose lease has expired, or the run is erased.
        Returns whether it did. Raises the epoch and sets `due_ms` like `take_lease`. Several processes may receive the hint: the
        first append decides which of them holds the lease."""
        ...

    def update_run(
        self, lease: Lease, now_ms: int, *, status: str | None = None, sequence: int | None = None, meta: bytes | None = None,
        due_ms: int | None = None, until_ms: int | None = None, release: bool = False, spent: bytes | None = None,
        waits: str | None = None, exported: str | None = None, expires_ms: int | None = None, grant_ms: int | None = None,
    ) -> Lease:
        """Changes the header under a lease. With `release`, frees the lease and stores `due_ms` (None: the run needs no check),
        or the earliest instant of a `touch_run` since the lease was taken, if that is earlier. A second release of the same lease
        changes nothing. With `grant_ms` instead, passes the lease on, and returns it: raises the epoch, makes SUCCESSOR the owner
        until `grant_ms`, and sets `due_ms` to it; touches still hold at the next release, and a repetition changes nothing.
        Without either, extends the lease to `until_ms` (if given) and sets `due_ms` to the lease's end.
        `spent`, `waits`, `exported`, `expires_ms` and `meta` replace the header's values. Raises `LeaseLost` when the header's
        epoch is not the lease's, or when a lease to pass on was released."""
        ...

    def touch_run(self, run_id: str, due_ms: int) -> bool:
        """Brings the run's `due_ms` forward to `due_ms` if it is later or None. Needs no lease, and still holds after the present
        lease ends: a later holder sees everything written before the touch, the present holder may not. False when the run does
        not exist or is erased."""
        ...

    # -- the audit log ----------------------------------------------------------------------------------------------
    def put_audit(self, entry: AuditEntry, expires_ms: int) -> None:
        """Stores an entry, or replaces the one with the same `at_ms` and `id`. It is listed until `expires_ms`, and then
        deleted."""
        ...

    def list_audit(
        self, now_ms: int, since_ms: int, until_ms: int, *, limit: int = 100, cursor: str | None = None
    ) -> Page[AuditEntry]:
        """Returns the unexpired entries with `since_ms` <= `at_ms` < `until_ms`, newest first (at_ms, then id, descending)."""
        ...

    # -- removal ----------------------------------------------------------------------------------------------------
    def expect_expiry(self, workflow_id: str, retention_ms: int, now_ms: int) -> None:
        """Announces that runs of this workflow may get an `expires_ms` that is `retention_ms` after their end. Call it before the
        first such `update_run`. Costs nothing when this process has called it before."""
        ...

    def list_expired(self, now_ms: int, *, limit: int = 100) -> Sequence[RunHead]:
        """Headers whose `expires_ms` has passed. Returns them again until they are removed or kept. A run that took longer than
        SHORT_RUN_MS may be missing (`list_due` has it, if its `due_ms` is its `expires_ms`), and others may be late by
        EXPIRY_SLACK_MS and SHORT_RUN_MS."""
        ...

    def keep_run(self, run_id: str, until_ms: int) -> bool:
        """Moves `expires_ms` of a run without a lease holder to `until_ms`, and `due_ms` with it. False if the run does not
        exist, has no `expires_ms` or is erased."""
        ...

    def mark_erased(self, lease: Lease, now_ms: int, meta: bytes, due_ms: int) -> None:
        """Turns the header of an ended run into that of an erased one, and frees the lease. Only the ids, the version, the times
        and the sequence remain; `meta` replaces the former value, and the inputs are `null`. Raises `LeaseLost` when the header's
        epoch is not the lease's."""
        ...

    def erase_run(self, run_id: str, due_ms: int | None = None) -> None:
        """Removes the log, the snapshot and the inbox of a run. Without `due_ms` removes the header as well, last. With it, keeps
        the header of an erased run and sets its `due_ms`; as long as the header exists, every `append` that was refused before
        is still refused. May be repeated, also after it was interrupted."""
        ...

    def overwrite_removed(self) -> bool:
        """Removes the bytes of removed and replaced records from the store's files. False while other processes prevent it: call
        it again later. Costs nothing when nothing was removed since."""
        ...

    # -- the log ----------------------------------------------------------------------------------------------------
    def append(self, run_id: str, batch: Batch) -> None:
        """Writes one batch durably. Raises `AppendConflict` when a batch already holds `batch.first` (even with the same bytes),
        or when the store can detect that the log does not end at `batch.first - 1`. Raises `LimitExceeded` above
        MAX_BATCH_BYTES. After a StoreUnavailable the batch may or may not be stored."""
        ...

    def read_log(self, run_id: str, after: int = 0, *, limit_bytes: int = 4_000_000) -> Sequence[Batch]:
        """Batches with events above `after`, in order: at least one if there are any, then as many as `limit_bytes` has room for.
        Read-your-writes."""
        ...

    def put_snapshot(self, run_id: str, sequence: int, data: bytes) -> None:
        """Stores the state after `sequence`. May delete an older snapshot, and never replaces a newer one."""
        ...

    def get_snapshot(self, run_id: str) -> tuple[int, bytes] | None:
        """Returns the newest snapshot, with its sequence number."""
        ...

    # -- the inbox --------------------------------------------------------------------------------------------------
    def put_signal(self, run_id: str, signal: Signal) -> Signal:
        """Stores a signal once per (kind, identity) and returns the stored one: equal to the argument if it was first.
        Raises `LimitExceeded` above MAX_SIGNAL_BYTES or MAX_INBOX_SIGNALS untaken ones."""
        ...

    def get_signal(self, run_id: str, kind: str, identity: str) -> Signal | None: ...

    def read_inbox(self, run_id: str) -> Sequence[Signal]:
        """Returns the signals that are not yet taken, oldest first."""
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


class Blobs(Protocol):
    """Large values of runs."""

    def put(self, data: bytes, run_id: str = "") -> str:
        """Stores the bytes for a run and returns their key: `{run_id}/{SHA-256 in hexadecimal}`. Storing the same bytes for the
        same run again costs nothing. Without a run, the key is the hash alone, as in former releases; such a value may be shared
        by runs, and `erase` does not remove it."""
        ...

    def get(self, key: str) -> bytes | None: ...

    def erase(self, run_id: str) -> None:
        """Removes all values that were stored for this run. May be repeated."""
        ...

    def list_shared(self, after: str = "", *, limit: int = 1000) -> Sequence[str]:
        """Returns the keys of values without a run, above `after`, in order."""
        ...

    def forget(self, keys: Sequence[str]) -> None:
        """Removes values without a run, at most 1,000. May be repeated. Raises `ValueError` for a key of a run."""
        ...
