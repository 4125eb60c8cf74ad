"""Reads and writes the records of one epoch of a draft. Values above MAX_INLINE_BYTES are blobs, named by their hash, which are
stored before the record that names them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from stepless.drafts.log.entries import LogEntry
from stepless.errors import Damaged, Refused
from stepless.limits import DRAFT_READ_ITEMS, MAX_INLINE_BYTES, OP_KEPT_MS
from stepless.model.json import JSON
from stepless.model.stored.damage import FAULTS, Damage, told_by, why_of
from stepless.model.stored.packing import dump, pack, unpack
from stepless.ports import Blobs, Clock, Draft, Drafts, Entity, Op, StateAt

BLOB_OWNER: Final = "workflow-drafts"
"""Begins the keys of the blobs of drafts, as the id of a run begins those of runs:
`workflow-drafts/{workflow}/{epoch}/{hash}`."""
_BLOB: Final = b"@"  # begins the key of a blob; packed JSON never begins so


def encoded(value: JSON) -> bytes:
    """Returns any JSON value as bytes that `unpack` takes: it takes bare texts, numbers and literals only after a space."""
    data = dump(value)
    return data if data[:1] in (b"{", b"[", b" ") else b" " + data


class Storage(NamedTuple):
    """The ports that drafts need."""

    drafts: Drafts
    blobs: Blobs
    clock: Clock


class Kept(NamedTuple):
    """One entity as it is kept. `value` is None for a tombstone."""

    key: str
    seq: int
    value: JSON


class Records:
    """The log, the entities and the states of one epoch. Raises `Damaged` (draft_damaged) for what cannot be read."""

    def __init__(self, storage: Storage, draft: Draft) -> None:
        self._storage = storage
        self.draft = draft

    # -- the log ----------------------------------------------------------------------------------------------------

    def append(self, entry: LogEntry) -> bool:
        """Commits an entry. False if its place in the log is taken."""
        content: dict[str, JSON] = {
            "client": entry.client, "n": entry.n, "tag": entry.tag, "by": entry.by, "at": entry.at_ms, "effects": entry.effects,
        } | ({"outcomes": entry.outcomes} if entry.outcomes else {}) | ({"closes": entry.closes} if entry.closes else {})
        if entry.first:
            content["first"] = entry.first
        body = {name: content[name] for name in ("effects", "outcomes") if content.get(name)}
        data = dump(content)
        if len(data) > MAX_INLINE_BYTES and body:
            kept = {name: value for name, value in content.items() if name not in body}
            data = dump({**kept, "body": self._put_blob(dump(body))})
        op = Op(entry.seq, pack(data), self._storage.clock.now_ms() + OP_KEPT_MS)
        return self._storage.drafts.append_op(self.draft, op)

    def entries(self, after: int) -> Iterator[LogEntry]:
        """Yields the entries above `after`, in order, to the end of the log."""
        while True:
            page = self._storage.drafts.read_ops(self.draft, after, limit=DRAFT_READ_ITEMS)
            for op in page:
                yield self._entry(op)
            if len(page) < DRAFT_READ_ITEMS:
                return
            after = page[-1].seq

    def some_entries(self, after: int, limit: int) -> Sequence[LogEntry]:
        """Returns the first entries above `after`."""
        return [self._entry(op) for op in self._storage.drafts.read_ops(self.draft, after, limit=limit)]

    def last_entry(self) -> LogEntry | None:
        """Returns the entry at the end of the log."""
        op = self._storage.drafts.last_op(self.draft)
        return self._entry(op) if op is not None else None

    def _entry(self, op: Op) -> LogEntry:
        """Fields that only a later release knows are ignored."""
        content = self._json(op.data, op.seq)
        try:
            if "body" in content:
                content |= self._json(_BLOB + content["body"].encode(), op.seq)
            return LogEntry(
                op.seq, content["client"], content["n"], content["tag"], content["by"], content["at"], content["effects"],
                content.get("outcomes", ()), content.get("closes"), content.get("first", ""),
            )
        except FAULTS as error:
            raise self.damaged(op.seq, why_of(error)) from error

    # -- entities ---------------------------------------------------------------------------------------------------

    def entities(self) -> Iterator[Kept]:
        """Yields all entities, tombstones included."""
        cursor: str | None = None
        while True:
            page = self._storage.drafts.read_entities(self.draft, limit=DRAFT_READ_ITEMS, cursor=cursor)
            for key, seq, value, _ in page.items:
                yield Kept(key, seq, None if value is None else self._json(value, seq))
            if (cursor := page.cursor) is None:
                return

    def put(self, entities: Iterable[tuple[Kept, int | None]]) -> None:
        """Writes entities, each with its expiry, unless there are newer ones."""
        self._storage.drafts.put_entities(
            self.draft,
            [
                Entity(key, seq, None if value is None else self._bytes(value), expires_ms)
                for (key, seq, value), expires_ms in entities
            ],
        )

    # -- states -----------------------------------------------------------------------------------------------------

    def put_state(self, seq: int, entities: Iterable[tuple[str, JSON]]) -> None:
        state = StateAt(seq, self._bytes(dict(entities)), self._storage.clock.now_ms() + OP_KEPT_MS)
        self._storage.drafts.put_state(self.draft, state)

    def nearest_state(self, seq: int) -> tuple[int, dict[str, JSON]] | None:
        """Returns the latest stored state at or before an entry: its entry and its entities."""
        found = self._storage.drafts.nearest_state(self.draft, seq)
        if found is None:
            return None
        entities = self._json(found.data, found.seq)
        if not isinstance(entities, dict):
            raise self.damaged(found.seq, "its state is no object")
        return found.seq, entities

    # -- bytes ------------------------------------------------------------------------------------------------------

    def _bytes(self, value: JSON) -> bytes:
        data = encoded(value)
        return _BLOB + self._put_blob(data).encode() if len(data) > MAX_INLINE_BYTES else pack(data)

    def _put_blob(self, data: bytes) -> str:
        return self._storage.blobs.put(pack(data), f"{BLOB_OWNER}/{self.draft.workflow_id}/{self.draft.epoch}")

    def _json(self, data: bytes, seq: int) -> Any:
        if data[:1] == _BLOB:
            key = data[1:].decode("utf-8", "replace")
            found = self._storage.blobs.get(key)
            if found is None:
                raise self.damaged(seq, f"the blob {key} is missing")
            data = found
        try:
            return unpack(data)
        except FAULTS as error:
            told = told_by(data) or Damage("", why_of(error))
            raise self.damaged(seq, f"{told.place} {told.why}".strip()) from error

    @contextmanager
    def folding(self, seq: int) -> Iterator[None]:
        """Opens a block in which what was decoded of an entry is used. Raises `Damaged` for whatever does not fit."""
        try:
            yield
        except FAULTS as error:
            raise self.damaged(seq, why_of(error)) from error

    def damaged(self, seq: int, why: str) -> Damaged:
        """Returns the error for an entry, or for what it wrote, that cannot be read."""
        return damaged(f"draft of {self.draft.workflow_id}, epoch {self.draft.epoch}, item {seq:,}", why)


FIX: Final = "restore the store from a backup, or replace the draft by the published version"
CODE: Final = "draft_damaged"


def damaged(place: str, why: str) -> Damaged:
    """Returns the error for a draft of which something cannot be read."""
    return Damaged(why, place=place, mend=FIX, code=CODE, what="the draft")


def storage_of(drafts: Drafts | None, blobs: Blobs, clock: Clock) -> Storage:
    """Returns the ports that drafts need. Raises `Refused` (drafts_not_kept) for a place that keeps no drafts."""
    if drafts is None:
        message, mend = "this store does not support drafts", "use a SQLite file, or a store that supports drafts"
        raise Refused(message, code="drafts_not_kept", status=501, mend=mend)
    return Storage(drafts, blobs, clock)
