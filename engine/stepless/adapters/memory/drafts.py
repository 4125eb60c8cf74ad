"""Stores drafts in memory, as strict as the durable stores."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock

from stepless.adapters.bounds import check_entity, check_head, check_op, check_origin, check_text, page_size
from stepless.model.stored.cursors import decode_cursor, encode_cursor
from stepless.ports import Draft, DraftHead, Entity, Op, Page, StateAt


@dataclass(slots=True)
class _Records:
    """What is below one epoch."""

    ops: list[Op] = field(default_factory=list)  # in order
    entities: dict[str, Entity] = field(default_factory=dict)
    states: dict[int, StateAt] = field(default_factory=dict)


class MemoryDrafts:
    """Plain dictionaries under one lock."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._heads: dict[str, DraftHead] = {}
        self._records: dict[Draft, _Records] = {}

    # -- heads ------------------------------------------------------------------------------------------------------

    def put_head(self, head: DraftHead, former: int | None) -> DraftHead | None:
        check_head(head)
        with self._lock:
            standing = self._heads.get(head.workflow_id)
            if (None if standing is None else standing.epoch) == former:
                self._heads[head.workflow_id] = standing = head
            return standing

    def get_head(self, workflow_id: str) -> DraftHead | None:
        with self._lock:
            return self._heads.get(workflow_id)

    def list_heads(self, *, limit: int = 100, cursor: str | None = None) -> Page[DraftHead]:
        limit, after = page_size(limit), decode_cursor(cursor, str)[0] if cursor is not None else ""
        with self._lock:
            found = sorted((head for head in self._heads.values() if head.workflow_id > after), key=_name)
        items = tuple(found[:limit])
        return Page(items, encode_cursor(items[-1].workflow_id) if len(found) > limit else None)

    def raise_checked(self, draft: Draft, seq: int) -> bool:
        with self._lock:
            head = self._heads.get(draft.workflow_id)
            if head is None or head.epoch != draft.epoch or head.checked >= seq:
                return False
            self._heads[draft.workflow_id] = head._replace(checked=seq)
            return True

    def move_base(self, draft: Draft, former: bytes, base: bytes) -> bool:
        check_origin(draft, base)
        with self._lock:
            head = self._heads.get(draft.workflow_id)
            if head is None or head.epoch != draft.epoch or head.base not in (former, base):
                return False
            self._heads[draft.workflow_id] = head._replace(base=base)
            return True

    # -- the log ----------------------------------------------------------------------------------------------------

    def append_op(self, draft: Draft, op: Op) -> bool:
        check_op(draft, op)
        with self._lock:
            ops = self._of(draft).ops
            place = bisect_left(ops, op.seq, key=_seq)
            if place < len(ops) and ops[place].seq == op.seq:
                return False
            ops.insert(place, op)
            return True

    def read_ops(self, draft: Draft, after: int = 0, *, limit: int = 1000) -> Sequence[Op]:
        with self._lock:
            ops = self._kept(draft).ops
            start = bisect_right(ops, after, key=_seq)
            return ops[start : start + page_size(limit)]

    def last_op(self, draft: Draft) -> Op | None:
        with self._lock:
            ops = self._kept(draft).ops
            return ops[-1] if ops else None

    # -- entities ---------------------------------------------------------------------------------------------------

    def put_entities(self, draft: Draft, entities: Sequence[Entity]) -> None:
        for entity in entities:
            check_entity(draft, entity)
        with self._lock:
            kept = self._of(draft).entities
            for entity in entities:
                if entity.key not in kept or kept[entity.key].seq < entity.seq:
                    kept[entity.key] = entity

    def read_entities(self, draft: Draft, *, limit: int = 1000, cursor: str | None = None) -> Page[Entity]:
        limit, after = page_size(limit), decode_cursor(cursor, str)[0].encode() if cursor is not None else b""
        with self._lock:
            kept = self._kept(draft).entities
            names = sorted(name for key in kept if (name := key.encode()) > after)
            items = tuple(kept[name.decode()] for name in names[:limit])
        return Page(items, encode_cursor(items[-1].key) if len(names) > limit else None)

    # -- states -----------------------------------------------------------------------------------------------------

    def put_state(self, draft: Draft, state: StateAt) -> None:
        with self._lock:
            self._of(draft).states.setdefault(state.seq, state)

    def nearest_state(self, draft: Draft, seq: int) -> StateAt | None:
        with self._lock:
            states = self._kept(draft).states
            return max((state for state in states.values() if state.seq <= seq), default=None)

    # -- removal ----------------------------------------------------------------------------------------------------

    def expire_entities(self, draft: Draft, expires_ms: int) -> None:
        with self._lock:
            kept = self._kept(draft).entities
            for key, entity in kept.items():
                if entity.expires_ms is None or entity.expires_ms > expires_ms:
                    kept[key] = entity._replace(expires_ms=expires_ms)

    def settle_former(self, draft: Draft) -> None:
        with self._lock:
            head = self._heads.get(draft.workflow_id)
            if head is not None and head.epoch == draft.epoch:
                self._heads[draft.workflow_id] = head._replace(former=0)

    def forget_expired(self, now_ms: int) -> None:
        with self._lock:
            for records in self._records.values():
                records.ops = [op for op in records.ops if op.expires_ms > now_ms]
                records.states = {seq: state for seq, state in records.states.items() if state.expires_ms > now_ms}
                records.entities = {
                    key: entity for key, entity in records.entities.items()
                    if entity.expires_ms is None or entity.expires_ms > now_ms
                }

    def _of(self, draft: Draft) -> _Records:
        records = self._records.get(draft)
        if records is None:
            check_text(draft.workflow_id)
            records = self._records[draft] = _Records()
        return records

    def _kept(self, draft: Draft) -> _Records:
        """The records to read. Does not create records for an unknown draft."""
        return self._records.get(draft) or _Records()


def _seq(op: Op) -> int:
    return op.seq


def _name(head: DraftHead) -> str:
    return head.workflow_id
