"""Implements the store in one SQLite file. Each method is one statement, or one transaction if it reads before it writes."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from typing import Any, Final, Literal, TypeVar

from stepless.adapters import shapes
from stepless.adapters.bounds import check_batch, check_signal, inbox_full, page_size
from stepless.adapters.sqlite import statements as sql
from stepless.adapters.sqlite.database import Database
from stepless.errors import AppendConflict, LeaseLost, VersionMoved
from stepless.limits import LOG_NUMBERS, MAX_INBOX_SIGNALS, MAX_PAGE_ITEMS, MAX_VERSION, SQLITE_BUSY_MS
from stepless.model.stored.cursors import decode_cursor, encode_cursor
from stepless.ports import (
    RECEIVER,
    AuditEntry,
    Batch,
    Lease,
    Page,
    PublishedVersion,
    RunFilter,
    RunHead,
    Signal,
    StoredVersion,
    Version,
)

V = TypeVar("V", bound=Version)
_LAST_EVENT: Final = 2**32 - 1  # the highest number of a first event that a key has room for
_LAST_MS: Final = 2**63 - 1  # SQLite's largest integer: the start of a listing without a cursor


class SqliteStore:
    """Safe from several threads and several processes on one file; survives the death of any of them at any instant.
    See `Database` for `synchronous` and the errors. `database` is the open file, for `SqliteBlobs`."""

    def __init__(
        self, path: str | os.PathLike[str], *, synchronous: Literal["NORMAL", "FULL"] = "NORMAL", busy_ms: int = SQLITE_BUSY_MS,
        read_only: bool = False,
    ) -> None:
        self.database = Database(path, synchronous=synchronous, busy_ms=busy_ms, read_only=read_only)
        self._numbers: dict[str, int] = {}  # of the logs that were written last, as far as this process knows
        self._rows, self._row, self._change = self.database.rows, self.database.row, self.database.change

    def close(self) -> None:
        self.database.close()

    def check(self) -> None:
        self.database.check()
        self.list_workflows(limit=1)

    def together(self) -> AbstractContextManager[None]:
        """See `ports.Together`."""
        return self.database.transaction()

    # -- versions -------------------------------------------------------------------------------------------------

    def put_version(
        self, workflow_id: str, hash: str, document: bytes, now_ms: int, entries: Collection[str] = (),
        *, attached: bytes | None = None, expected: int | None = None, replace: bool = False,
    ) -> StoredVersion:
        with self.database.transaction():
            for kind in entries:
                self._change(sql.PUT_ENTRY, (kind, workflow_id))
            newest = self.get_version(workflow_id)
            if newest is not None and newest.hash == hash:
                version = newest
                if replace:
                    self._change(sql.REPLACE_DOCUMENT, (document, workflow_id, newest.number))
            else:
                number = newest.number if newest else 0
                if expected not in (None, number):
                    raise VersionMoved(workflow_id, expected, number)
                version = StoredVersion(workflow_id, number + 1, hash, document, now_ms)
                self._change(sql.INSERT_VERSION, (workflow_id, version.number, hash, document, now_ms))
                self._change(sql.POINT_TO_NEWEST, (workflow_id, version.number))
            if attached is not None:
                self._change(sql.ATTACH, (attached, workflow_id, version.number))
            return version

    def get_attached(self, workflow_id: str, number: int) -> bytes | None:
        row = self._row(sql.GET_ATTACHED, (workflow_id, number))
        return shapes.ATTACHED.read(row, f"{workflow_id}/{number}") if row else None

    def get_version(self, workflow_id: str, number: int | None = None, *, hash: str | None = None) -> StoredVersion | None:
        if number is not None:
            row = self._row(sql.VERSION_BY_NUMBER, (workflow_id, number))
        elif hash is not None:
            row = self._row(sql.VERSION_BY_HASH, (workflow_id, hash))
        else:
            row = self._row(sql.NEWEST_VERSION, (workflow_id,))
        version = shapes.STORED_VERSION.read(row) if row else None
        return version if version and hash in (None, version.hash) else None

    def list_versions(self, workflow_id: str, *, before: int | None = None, limit: int = 100) -> Sequence[PublishedVersion]:
        least = MAX_VERSION + 1 if before is None else before
        return [
            shapes.PUBLISHED_VERSION.read(row) for row in self._rows(sql.LIST_VERSIONS, (workflow_id, least, page_size(limit)))
        ]

    def newest_version(self, workflow_id: str) -> Version | None:
        row = self._row(sql.NEWEST_HASH, (workflow_id,))
        return shapes.VERSION.read((workflow_id, *row)) if row else None

    def list_workflows(self, *, limit: int = 100, cursor: str | None = None) -> Page[StoredVersion]:
        limit, after = page_size(limit), decode_cursor(cursor, str)[0] if cursor is not None else ""
        return _by_id([shapes.STORED_VERSION.read(row) for row in self._rows(sql.LIST_WORKFLOWS, (after, limit + 1))], limit)

    def list_entries(self, kind: str, *, limit: int = 100, cursor: str | None = None) -> Page[Version]:
        limit, after = page_size(limit), decode_cursor(cursor, str)[0] if cursor is not None else ""
        return _by_id([shapes.VERSION.read(row) for row in self._rows(sql.LIST_ENTRIES, (kind, after, limit + 1))], limit)

    # -- claims ---------------------------------------------------------------------------------------------------

    def claim(self, key: str, value: bytes, now_ms: int, expires_ms: int | None = None) -> bytes:
        with self.database.transaction():
            self._change(sql.FORGET_CLAIMS, (now_ms,))
            if (row := self._row(sql.GET_CLAIM, (key, now_ms))) is None:
                self._change(sql.FIRST_CLAIM, {"key": key, "value": value, "now_ms": now_ms, "expires_ms": expires_ms})
        return shapes.CLAIM.read(row or (value,), key)

    def count(self, key: str, now_ms: int, expires_ms: int) -> int:
        with self.database.transaction():
            self._change(sql.FORGET_CLAIMS, (now_ms,))
            (number,) = self._row(sql.COUNT, {"key": key, "now_ms": now_ms, "expires_ms": expires_ms})
        return int(number)

    def get_claim(self, key: str, now_ms: int) -> bytes | None:
        row = self._row(sql.GET_CLAIM, (key, now_ms))
        return shapes.CLAIM.read(row, key) if row else None

    def release_claim(self, key: str, value: bytes) -> bool:
        return self._change(sql.RELEASE_CLAIM, (key, value)) == 1

    def replace_claim(
        self, key: str, former: bytes | None, value: bytes, now_ms: int, expires_ms: int | None = None
    ) -> bool:
        facts = {"key": key, "former": former, "value": value, "now_ms": now_ms, "expires_ms": expires_ms}
        if former is not None:
            return self._change(sql.REPLACE_CLAIM, facts) == 1
        with self.database.transaction():
            self._change(sql.FORGET_CLAIMS, (now_ms,))
            return self._change(sql.FIRST_CLAIM, facts) == 1

    # -- lines ----------------------------------------------------------------------------------------------------

    def join_line(self, line: str, position: str) -> None:
        self._change(sql.JOIN_LINE, (line, position))

    def leave_line(self, line: str, position: str) -> None:
        self._change(sql.LEAVE_LINE, (line, position))

    def read_line(self, line: str, *, limit: int) -> Sequence[str]:
        return [shapes.PLACE.read(row, line) for row in self._rows(sql.READ_LINE, (line, page_size(limit)))]

    # -- runs -----------------------------------------------------------------------------------------------------

    def create_run(self, head: RunHead) -> bool:
        row = (
            head.run_id, head.workflow_id, head.version, head.status, head.created_ms, head.updated_ms, head.inputs, head.meta,
            head.sequence, head.due_ms, head.epoch, head.owner, head.lease_until_ms,
            head.spent, head.waits, head.exported, head.expires_ms,
        )
        return self._change(sql.CREATE_RUN, row) == 1

    def get_run(self, run_id: str) -> RunHead | None:
        row = self._row(sql.GET_RUN, (run_id,))
        return shapes.HEAD.read(row) if row else None

    def list_runs(self, filter: RunFilter, *, limit: int = 100, cursor: str | None = None) -> Page[RunHead]:
        limit = page_size(limit)
        since_ms = -_LAST_MS if filter.since_ms is None else filter.since_ms
        created_ms, run_id = decode_cursor(cursor, int, str) if cursor is not None else (_LAST_MS, "")
        rows = self._rows(
            sql.LIST_RUNS[filter.workflow_id is not None, filter.status is not None, filter.waiting is not None],
            {
                "workflow_id": filter.workflow_id, "status": filter.status, "since_ms": since_ms,
                "created_ms": created_ms, "run_id": run_id, "limit": limit + 1, "due": filter.due, "waiting": filter.waiting,
            },
        )
        items = tuple(shapes.HEAD.read(row) for row in rows[:limit])
        return Page(items, encode_cursor(items[-1].created_ms, items[-1].run_id) if len(rows) > limit else None)

    def list_due(self, now_ms: int, *, limit: int = 100, after: tuple[int, str] | None = None) -> Sequence[RunHead]:
        behind = (-_LAST_MS, "") if after is None else after
        return [shapes.HEAD.read(row) for row in self._rows(sql.LIST_DUE, (now_ms, *behind, page_size(limit)))]

    def due_parts(self) -> int:
        return 1

    def each_due(self, now_ms: int, part: tuple[int, int] = (0, 1)) -> Iterator[Sequence[RunHead]]:
        after: tuple[int, str] | None = None
        while part[0] == 0 and (page := self.list_due(now_ms, limit=MAX_PAGE_ITEMS, after=after)):
            after = (page[-1].due_ms or 0, page[-1].run_id)
            yield page

    # -- the lease ------------------------------------------------------------------------------------------------

    def take_lease(self, run_id: str, owner: str, now_ms: int, until_ms: int) -> Lease | None:
        self.database.check()
        row = self._row(sql.TAKE_LEASE, {"run_id": run_id, "owner": owner, "now_ms": now_ms, "until_ms": until_ms})
        return shapes.LEASE.read((run_id, owner, row[0], until_ms, row[1], row[2])) if row else None

    def grant_lease(self, run_id: str, until_ms: int) -> bool:
        return self._change(sql.GRANT_LEASE, {"run_id": run_id, "owner": RECEIVER, "until_ms": until_ms}) == 1

    def update_run(
        self, lease: Lease, now_ms: int, *, status: str | None = None, sequence: int | None = None, meta: bytes | None = None,
        due_ms: int | None = None, until_ms: int | None = None, release: bool = False, spent: bytes | None = None,
        waits: str | None = None, exported: str | None = None, expires_ms: int | None = None, grant_ms: int | None = None,
    ) -> Lease:
        given: dict[str, Any] = {
            "run_id": lease.run_id, "epoch": lease.epoch, "now_ms": now_ms, "status": status, "sequence": sequence,
            "spent": spent, "waits": waits, "exported": exported, "expires_ms": expires_ms, "meta": meta,
        }
        if grant_ms is not None:
            return self._pass_on(lease, given, lease.passed_on(grant_ms, spent, exported))
        row = self._row(sql.RELEASE_RUN, given | {"due_ms": due_ms}) if release else self._row(
            sql.UPDATE_RUN, given | {"until_ms": until_ms}
        )
        if row is None:
            if release and self._row(sql.GET_EPOCH, (lease.run_id,)) == (lease.epoch,):
                return lease._replace(until_ms=0)  # released before
            raise LeaseLost("the lease was taken over", place=f"run {lease.run_id!r}")
        return lease._replace(until_ms=row[0])

    def _pass_on(self, lease: Lease, given: dict[str, Any], passed: Lease) -> Lease:
        done = self._change(sql.PASS_ON, given | {"owner": passed.owner, "grant_ms": passed.until_ms}) == 1
        if not done and self._row(sql.GET_LEASE, (lease.run_id,)) != passed[1:4]:  # else it was passed on before
            raise LeaseLost("the lease was taken over", place=f"run {lease.run_id!r}")
        return passed

    def touch_run(self, run_id: str, due_ms: int) -> bool:
        return self._change(sql.TOUCH_RUN, {"run_id": run_id, "due_ms": due_ms}) == 1

    # -- the audit log --------------------------------------------------------------------------------------------

    def put_audit(self, entry: AuditEntry, expires_ms: int) -> None:
        with self.database.transaction():
            self._change(sql.FORGET_AUDIT, (entry.at_ms,))
            self._change(sql.PUT_AUDIT, (*entry, expires_ms))

    def list_audit(
        self, now_ms: int, since_ms: int, until_ms: int, *, limit: int = 100, cursor: str | None = None
    ) -> Page[AuditEntry]:
        limit, end = page_size(limit), decode_cursor(cursor, int, str) if cursor is not None else (until_ms, "")
        rows = self._rows(sql.LIST_AUDIT, (since_ms, *end, now_ms, limit + 1))
        items = tuple(shapes.AUDIT.read(row) for row in rows[:limit])
        return Page(items, encode_cursor(items[-1].at_ms, items[-1].id) if len(rows) > limit else None)

    # -- removal --------------------------------------------------------------------------------------------------

    def expect_expiry(self, workflow_id: str, retention_ms: int, now_ms: int) -> None:
        """Does nothing: an index holds every header that expires."""

    def list_expired(self, now_ms: int, *, limit: int = 100) -> Sequence[RunHead]:
        return [shapes.HEAD.read(row) for row in self._rows(sql.LIST_EXPIRED, (now_ms, page_size(limit)))]

    def keep_run(self, run_id: str, until_ms: int) -> bool:
        return self._change(sql.KEEP_RUN, {"run_id": run_id, "until_ms": until_ms}) == 1

    def mark_erased(self, lease: Lease, now_ms: int, meta: bytes, due_ms: int) -> None:
        given = {"run_id": lease.run_id, "epoch": lease.epoch, "now_ms": now_ms, "meta": meta, "due_ms": due_ms}
        if self._change(sql.MARK_ERASED, given) != 1:
            raise LeaseLost("the lease was taken over", place=f"run {lease.run_id!r}")

    def erase_run(self, run_id: str, due_ms: int | None = None) -> None:
        with self.database.transaction():
            kept = due_ms is not None and self._change(sql.POSTPONE_ERASED, (due_ms, run_id)) == 1
            if due_ms is not None and not kept and self.get_run(run_id) is not None:
                return
            end = self._row(sql.END_OF_LOG, {"run_id": run_id})
            self._change(sql.FORGET_LOG, {"run_id": run_id})
            for statement in (sql.FORGET_SNAPSHOT, sql.FORGET_INBOX):
                self._change(statement, (run_id,))
            if kept and end is not None:
                self._change(sql.EMPTY_LOG, {"run_id": run_id, "last": end[0], "epoch": end[1]})
            else:
                self._change(sql.FORGET_LOG_NUMBER, (run_id,))
            if due_ms is None:
                self._change(sql.FORGET_RUN, (run_id,))
            self.database.removed()

    def overwrite_removed(self) -> bool:
        return self.database.overwrite()

    # -- the log --------------------------------------------------------------------------------------------------

    def append(self, run_id: str, batch: Batch) -> None:
        check_batch(run_id, batch)
        number = self._numbers.get(run_id)
        if number is not None and self._append(run_id, number, batch):
            return
        with self.database.transaction():  # its number is new, or not known here, or no longer its own; or this is a conflict
            new = self._row(sql.NUMBER_LOG, (run_id,)) if batch.first == 1 else None
            found = new or self._row(sql.LOG_NUMBER, (run_id,))
            if found is None or not self._append(run_id, found[0], batch):
                raise AppendConflict(f"the log does not end at {batch.first - 1}", place=f"run {run_id!r}")
        while len(self._numbers) >= LOG_NUMBERS:
            self._numbers.pop(next(iter(self._numbers)), None)
        self._numbers[run_id] = found[0]

    def _append(self, run_id: str, number: int, batch: Batch) -> bool:
        """Whether this is the number of the log, and the batch follows its end. A number is checked with each append: the
        transaction that gave it may not have become durable, and that of a removed log is given again."""
        first, last, data, epoch = batch
        base = number << 32
        facts = (base + first, first - 1, base, base + _LAST_EVENT, run_id, number, last, epoch, data)
        return first <= _LAST_EVENT and self.database.offer(sql.APPEND, facts)

    def read_log(self, run_id: str, after: int = 0, *, limit_bytes: int = 4_000_000) -> Sequence[Batch]:
        found, total = list[Batch](), 0
        with closing(self.database.each(sql.READ_LOG, {"run_id": run_id, "after": after}, lenient=True)) as rows:
            for row in rows:
                total += len(row[2]) if type(row[2]) is bytes else 0
                if found and total > limit_bytes:
                    break
                found.append(shapes.BATCH.read(row))
        return found

    def put_snapshot(self, run_id: str, sequence: int, data: bytes) -> None:
        self._change(sql.PUT_SNAPSHOT, (run_id, sequence, data))

    def get_snapshot(self, run_id: str) -> tuple[int, bytes] | None:
        row = self._row(sql.GET_SNAPSHOT, (run_id,))
        return shapes.SNAPSHOT.read(row, run_id) if row else None

    # -- the inbox ------------------------------------------------------------------------------------------------

    def put_signal(self, run_id: str, signal: Signal) -> Signal:
        check_signal(run_id, signal)
        row = (run_id, signal.kind, signal.identity, signal.body, signal.created_ms, signal.taken)
        with self.database.transaction():
            if self._change(sql.PUT_SIGNAL, row) == 0:
                return _signal(self._row(sql.GET_SIGNAL, row[:3]))
            if self._row(sql.COUNT_WAITING, (run_id,))[0] > MAX_INBOX_SIGNALS:
                raise inbox_full(run_id)
        return signal

    def get_signal(self, run_id: str, kind: str, identity: str) -> Signal | None:
        row = self._row(sql.GET_SIGNAL, (run_id, kind, identity))
        return _signal(row) if row else None

    def read_inbox(self, run_id: str) -> Sequence[Signal]:
        return [_signal(row) for row in self._rows(sql.READ_INBOX, (run_id,))]

    def take_signals(self, run_id: str, signals: Sequence[Signal]) -> None:
        if signals:
            self.database.change_each(sql.TAKE_SIGNAL, [(run_id, signal.kind, signal.identity) for signal in signals])


def _by_id(found: list[V], limit: int) -> Page[V]:
    """A page of versions. `found` may have one more than `limit`, which means that there is a next page."""
    items = tuple(found[:limit])
    return Page(items, encode_cursor(items[-1].workflow_id) if len(found) > limit else None)


def _signal(row: Any) -> Signal:
    signal = shapes.SIGNAL.read(row)
    return signal._replace(taken=bool(signal.taken))
