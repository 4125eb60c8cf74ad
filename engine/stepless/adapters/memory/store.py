"""Implements the store in memory, as strict as the durable stores: it keeps encoded bytes, refuses the same values, orders the
same way."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest

from stepless.adapters.bounds import check_batch, check_signal, check_text, inbox_full, page_size
from stepless.adapters.memory.versions import MemoryVersions
from stepless.errors import AppendConflict, LeaseLost
from stepless.limits import MAX_INBOX_SIGNALS, MAX_MEMORY_AUDIT, MAX_PAGE_ITEMS
from stepless.model.stored.cursors import decode_cursor, encode_cursor
from stepless.ports import ERASED, RECEIVER, SHARD, AuditEntry, Batch, Lease, Page, RunFilter, RunHead, Signal


@dataclass(slots=True)
class _Records:
    """The data of one run other than its header."""

    log: list[Batch] = field(default_factory=list)
    snapshot: tuple[int, bytes] | None = None
    inbox: dict[tuple[str, str], Signal] = field(default_factory=dict)
    touched_ms: int | None = None  # the earliest touch since the lease was taken


class MemoryStore(MemoryVersions):
    """Plain dictionaries under one lock. Values are immutable, so callers and the store share them without copying."""

    def __init__(self) -> None:
        super().__init__()
        self._claims: dict[str, tuple[bytes, int | None]] = {}
        self._lines: dict[str, list[bytes]] = {}
        self._runs: dict[str, RunHead] = {}
        self._by_age: list[tuple[int, str]] = []
        self._records: dict[str, _Records] = {}
        self._audit: dict[tuple[int, str], tuple[AuditEntry, int]] = {}

    def check(self) -> None:
        """Does nothing: memory is always available."""

    # -- claims ---------------------------------------------------------------------------------------------------

    def claim(self, key: str, value: bytes, now_ms: int, expires_ms: int | None = None) -> bytes:
        check_text(key)
        with self._lock:
            existing = self._claim_at(key, now_ms)
            if existing is None:
                self._claims[key] = (value, expires_ms)
            return value if existing is None else existing

    def count(self, key: str, now_ms: int, expires_ms: int) -> int:
        check_text(key)
        with self._lock:
            existing = self._claim_at(key, now_ms)
            number = 1 if existing is None else int(existing) + 1
            self._claims[key] = (str(number).encode(), expires_ms if existing is None else self._claims[key][1])
            return number

    def get_claim(self, key: str, now_ms: int) -> bytes | None:
        with self._lock:
            return self._claim_at(key, now_ms)

    def release_claim(self, key: str, value: bytes) -> bool:
        with self._lock:
            if key not in self._claims or self._claims[key][0] != value:
                return False
            del self._claims[key]
            return True

    def replace_claim(
        self, key: str, former: bytes | None, value: bytes, now_ms: int, expires_ms: int | None = None
    ) -> bool:
        check_text(key)
        with self._lock:
            if self._claim_at(key, now_ms) != former:
                return False
            self._claims[key] = (value, expires_ms)
            return True

    # -- lines ----------------------------------------------------------------------------------------------------

    def join_line(self, line: str, position: str) -> None:
        check_text(line, position)
        with self._lock:
            positions, encoded = self._lines.setdefault(line, []), position.encode()
            if encoded not in positions:
                insort(positions, encoded)

    def leave_line(self, line: str, position: str) -> None:
        with self._lock:
            positions, encoded = self._lines.get(line, []), position.encode("utf-8", "replace")
            if encoded in positions:
                positions.remove(encoded)
            if not positions:
                self._lines.pop(line, None)

    def read_line(self, line: str, *, limit: int) -> Sequence[str]:
        with self._lock:
            return [position.decode() for position in self._lines.get(line, ())[: page_size(limit)]]

    def _claim_at(self, key: str, now_ms: int) -> bytes | None:
        value, expires_ms = self._claims.get(key, (None, None))
        return value if expires_ms is None or expires_ms > now_ms else None

    # -- runs -----------------------------------------------------------------------------------------------------

    def create_run(self, head: RunHead) -> bool:
        check_text(head.run_id, head.workflow_id, head.version, head.status)
        with self._lock:
            if head.run_id in self._runs:
                return False
            self._runs[head.run_id] = head
            if not head.run_id.startswith(SHARD):
                insort(self._by_age, (head.created_ms, head.run_id))
            return True

    def get_run(self, run_id: str) -> RunHead | None:
        with self._lock:
            return self._runs.get(run_id)

    def list_runs(self, filter: RunFilter, *, limit: int = 100, cursor: str | None = None) -> Page[RunHead]:
        limit, found = page_size(limit), list[RunHead]()
        with self._lock:
            for head in self._newest_first(cursor):
                if filter.since_ms is not None and head.created_ms < filter.since_ms:
                    break
                named = filter.workflow_id in (None, head.workflow_id) and filter.status in (None, head.status)
                waits = filter.waiting is None or filter.waiting in head.waits.split()
                if named and waits and head.status != ERASED and not (filter.due and head.due_ms is None):
                    found.append(head)
                if len(found) > limit:
                    break
        items = tuple(found[:limit])
        return Page(items, encode_cursor(items[-1].created_ms, items[-1].run_id) if len(found) > limit else None)

    def _newest_first(self, cursor: str | None) -> Iterator[RunHead]:
        end = len(self._by_age) if cursor is None else bisect_left(self._by_age, decode_cursor(cursor, int, str))
        return (self._runs[self._by_age[position][1]] for position in range(end - 1, -1, -1))

    def list_due(self, now_ms: int, *, limit: int = 100, after: tuple[int, str] | None = None) -> Sequence[RunHead]:
        with self._lock:
            due = [(head.due_ms, head.run_id) for head in self._runs.values() if head.due_ms is not None]
            first = nsmallest(page_size(limit), (key for key in due if key[0] <= now_ms and (after is None or key > after)))
            return [self._runs[run_id] for _, run_id in first]

    def due_parts(self) -> int:
        return 1

    def each_due(self, now_ms: int, part: tuple[int, int] = (0, 1)) -> Iterator[Sequence[RunHead]]:
        after: tuple[int, str] | None = None
        while part[0] == 0 and (page := self.list_due(now_ms, limit=MAX_PAGE_ITEMS, after=after)):
            after = (page[-1].due_ms or 0, page[-1].run_id)
            yield page

    # -- the lease ------------------------------------------------------------------------------------------------

    def take_lease(self, run_id: str, owner: str, now_ms: int, until_ms: int) -> Lease | None:
        check_text(owner)
        with self._lock:
            head = self._runs.get(run_id)
            if head is None or head.status == ERASED or (head.owner not in (None, owner) and head.lease_until_ms > now_ms):
                return None
            return self._lease(head, owner, until_ms)

    def _lease(self, head: RunHead, owner: str, until_ms: int) -> Lease:
        epoch = head.epoch + 1
        self._of(head.run_id).touched_ms = None
        self._runs[head.run_id] = head._replace(owner=owner, epoch=epoch, lease_until_ms=until_ms, due_ms=until_ms)
        return Lease(head.run_id, owner, epoch, until_ms, head.spent, head.exported)

    def grant_lease(self, run_id: str, until_ms: int) -> bool:
        with self._lock:
            head = self._runs.get(run_id)
            if head is None or head.status == ERASED or head.owner is not None:
                return False
            self._lease(head, RECEIVER, until_ms)
            return True

    def update_run(
        self, lease: Lease, now_ms: int, *, status: str | None = None, sequence: int | None = None, meta: bytes | None = None,
        due_ms: int | None = None, until_ms: int | None = None, release: bool = False, spent: bytes | None = None,
        waits: str | None = None, exported: str | None = None, expires_ms: int | None = None, grant_ms: int | None = None,
    ) -> Lease:
        passed = None if grant_ms is None else lease.passed_on(grant_ms, spent, exported)
        with self._lock:
            head = self._runs.get(lease.run_id)
            if passed and head and (head.owner, head.epoch, head.lease_until_ms) == passed[1:4]:
                return passed  # a repetition
            if head is None or head.epoch != lease.epoch or (passed and head.owner is None):
                raise LeaseLost("the lease was taken over", place=f"run {lease.run_id!r}")
            until_ms = 0 if release else grant_ms or head.lease_until_ms if until_ms is None else until_ms
            if release and head.owner is None:
                return lease._replace(until_ms=0)
            records = self._of(lease.run_id)
            if release:
                due_ms = min((at for at in (due_ms, records.touched_ms) if at is not None), default=None)
                records.touched_ms = None
            self._runs[lease.run_id] = head._replace(
                updated_ms=now_ms,
                status=head.status if status is None else status, meta=head.meta if meta is None else meta,
                sequence=head.sequence if sequence is None else sequence,
                owner=None if release else passed.owner if passed else head.owner, epoch=passed.epoch if passed else head.epoch,
                lease_until_ms=until_ms,
                due_ms=due_ms if release else until_ms,
                spent=head.spent if spent is None else spent,
                waits=head.waits if waits is None else waits,
                exported=head.exported if exported is None else exported,
                expires_ms=head.expires_ms if expires_ms is None else expires_ms,
            )
            return passed or lease._replace(until_ms=until_ms)

    def touch_run(self, run_id: str, due_ms: int) -> bool:
        with self._lock:
            head = self._runs.get(run_id)
            if head is None or head.status == ERASED:
                return False
            if head.due_ms is None or head.due_ms > due_ms:
                self._runs[run_id] = head._replace(due_ms=due_ms)
            records = self._of(run_id)
            if head.owner is not None and (records.touched_ms is None or records.touched_ms > due_ms):
                records.touched_ms = due_ms
            return True

    # -- the audit log --------------------------------------------------------------------------------------------

    def put_audit(self, entry: AuditEntry, expires_ms: int) -> None:
        with self._lock:
            self._audit[entry[:2]] = (entry, expires_ms)
            if len(self._audit) > MAX_MEMORY_AUDIT:
                del self._audit[next(iter(self._audit))]

    def list_audit(
        self, now_ms: int, since_ms: int, until_ms: int, *, limit: int = 100, cursor: str | None = None
    ) -> Page[AuditEntry]:
        end = decode_cursor(cursor, int, str) if cursor is not None else (until_ms, "")
        with self._lock:
            kept = [entry for entry, expires_ms in self._audit.values() if expires_ms > now_ms]
        found = sorted((entry for entry in kept if since_ms <= entry.at_ms and entry[:2] < end), reverse=True)
        items = tuple(found[: page_size(limit)])
        return Page(items, encode_cursor(items[-1].at_ms, items[-1].id) if len(items) < len(found) else None)

    # -- removal --------------------------------------------------------------------------------------------------

    def expect_expiry(self, workflow_id: str, retention_ms: int, now_ms: int) -> None:
        """Does nothing: `list_expired` reads every header."""

    def list_expired(self, now_ms: int, *, limit: int = 100) -> Sequence[RunHead]:
        with self._lock:
            keys = ((head.expires_ms, head.run_id) for head in self._runs.values() if head.expires_ms is not None)
            return [self._runs[run_id] for _, run_id in nsmallest(page_size(limit), (key for key in keys if key[0] <= now_ms))]

    def keep_run(self, run_id: str, until_ms: int) -> bool:
        with self._lock:
            head = self._runs.get(run_id)
            if head is None or head.expires_ms is None or head.owner is not None:
                return False
            self._runs[run_id] = head._replace(expires_ms=until_ms, due_ms=until_ms)
            return True

    def mark_erased(self, lease: Lease, now_ms: int, meta: bytes, due_ms: int) -> None:
        with self._lock:
            head = self._runs.get(lease.run_id)
            if head is None or head.epoch != lease.epoch or head.owner is None:
                raise LeaseLost("the lease was taken over", place=f"run {lease.run_id!r}")
            self._of(lease.run_id).touched_ms = None
            self._runs[lease.run_id] = head._replace(
                status=ERASED, updated_ms=now_ms, inputs=b"null", meta=meta, due_ms=due_ms, owner=None, lease_until_ms=0,
                spent=b"", waits="", exported="", expires_ms=None,
            )  # fmt: skip

    def erase_run(self, run_id: str, due_ms: int | None = None) -> None:
        with self._lock:
            head = self._runs.get(run_id)
            if head is not None and due_ms is not None and head.status != ERASED:
                return
            records = self._records.pop(run_id, None)
            if head is not None and due_ms is None:
                del self._runs[run_id]
                if not run_id.startswith(SHARD):
                    del self._by_age[bisect_left(self._by_age, (head.created_ms, run_id))]
            elif head is not None:
                self._runs[run_id] = head._replace(due_ms=due_ms)
                if records is not None and records.log:  # the ends of the log stay, so that late appends are refused
                    self._of(run_id).log.append(Batch(1, records.log[-1].last, b"", records.log[-1].epoch))

    def overwrite_removed(self) -> bool:
        return True

    # -- the log --------------------------------------------------------------------------------------------------

    def append(self, run_id: str, batch: Batch) -> None:
        check_batch(run_id, batch)
        with self._lock:
            log = (self._records.get(run_id) or self._of(run_id)).log
            last = log[-1].last if log else 0
            if last != batch.first - 1:
                raise AppendConflict(f"the log does not end at {batch.first - 1}", place=f"run {run_id!r}")
            log.append(batch)

    def read_log(self, run_id: str, after: int = 0, *, limit_bytes: int = 4_000_000) -> Sequence[Batch]:
        with self._lock:
            log, total, found = self._kept(run_id).log, 0, list[Batch]()
            for position in range(bisect_right(log, after, key=lambda batch: batch.last), len(log)):
                total += len(log[position].data)
                if found and total > limit_bytes:
                    break
                found.append(log[position])
            return found

    def put_snapshot(self, run_id: str, sequence: int, data: bytes) -> None:
        with self._lock:
            records = self._of(run_id)
            if records.snapshot is None or records.snapshot[0] <= sequence:
                records.snapshot = (sequence, data)

    def get_snapshot(self, run_id: str) -> tuple[int, bytes] | None:
        with self._lock:
            return self._kept(run_id).snapshot

    # -- the inbox ------------------------------------------------------------------------------------------------

    def put_signal(self, run_id: str, signal: Signal) -> Signal:
        check_signal(run_id, signal)
        with self._lock:
            inbox, key = self._of(run_id).inbox, (signal.kind, signal.identity)
            if key not in inbox and sum(not kept.taken for kept in inbox.values()) >= MAX_INBOX_SIGNALS:
                raise inbox_full(run_id)
            return inbox.setdefault(key, signal)

    def get_signal(self, run_id: str, kind: str, identity: str) -> Signal | None:
        with self._lock:
            return self._kept(run_id).inbox.get((kind, identity))

    def read_inbox(self, run_id: str) -> Sequence[Signal]:
        with self._lock:
            waiting = [signal for signal in self._kept(run_id).inbox.values() if not signal.taken]
        return sorted(waiting, key=lambda signal: (signal.created_ms, signal.kind, signal.identity))

    def take_signals(self, run_id: str, signals: Sequence[Signal]) -> None:
        with self._lock:
            inbox = self._kept(run_id).inbox
            for signal in signals:
                if (kept := inbox.get((signal.kind, signal.identity))) is not None:
                    inbox[signal.kind, signal.identity] = kept._replace(taken=True)

    def _of(self, run_id: str) -> _Records:
        """The records to write to."""
        records = self._records.get(run_id)
        if records is None:
            check_text(run_id)
            records = self._records[run_id] = _Records()
        return records

    def _kept(self, run_id: str) -> _Records:
        """The records to read. Does not create records for an unknown run."""
        return self._records.get(run_id) or _Records()
