"""Stores drafts in the store's file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from stepless.adapters import shapes
from stepless.adapters.bounds import check_entity, check_head, check_op, check_origin, page_size
from stepless.adapters.sqlite import statements as sql
from stepless.adapters.sqlite.database import Database
from stepless.model.stored.cursors import decode_cursor, encode_cursor
from stepless.ports import Draft, DraftHead, Entity, Op, Page, StateAt

_FORGOTTEN: Final = 1_000  # expired records of one kind that one call removes: some milliseconds


class SqliteDrafts:
    """Shares the open file of a `SqliteStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._rows, self._row, self._change = database.rows, database.row, database.change

    # -- heads ------------------------------------------------------------------------------------------------------

    def put_head(self, head: DraftHead, former: int | None) -> DraftHead | None:
        check_head(head)
        workflow_id, *values = head
        with self._database.transaction():
            if former is None:
                self._change(sql.CREATE_DRAFT, tuple(head))
            else:
                self._change(sql.REPLACE_DRAFT, (*values, workflow_id, former))
            return self.get_head(workflow_id)

    def get_head(self, workflow_id: str) -> DraftHead | None:
        row = self._row(sql.GET_DRAFT, (workflow_id,))
        return _head(row) if row else None

    def list_heads(self, *, limit: int = 100, cursor: str | None = None) -> Page[DraftHead]:
        limit, after = page_size(limit), decode_cursor(cursor, str)[0] if cursor is not None else ""
        found = [_head(row) for row in self._rows(sql.LIST_DRAFTS, (after, limit + 1))]
        return Page(tuple(found[:limit]), encode_cursor(found[limit - 1].workflow_id) if len(found) > limit else None)

    def raise_checked(self, draft: Draft, seq: int) -> bool:
        return self._change(sql.RAISE_CHECKED, {**draft._asdict(), "seq": seq}) == 1

    def move_base(self, draft: Draft, former: bytes, base: bytes) -> bool:
        check_origin(draft, base)
        return self._change(sql.MOVE_BASE, {**draft._asdict(), "former": former, "base": base}) == 1

    # -- the log ----------------------------------------------------------------------------------------------------

    def append_op(self, draft: Draft, op: Op) -> bool:
        check_op(draft, op)
        return self._change(sql.APPEND_OP, (_epoch_key(draft), *op)) == 1

    def read_ops(self, draft: Draft, after: int = 0, *, limit: int = 1000) -> Sequence[Op]:
        return [shapes.OP.read(row) for row in self._rows(sql.READ_OPS, (_epoch_key(draft), after, page_size(limit)))]

    def last_op(self, draft: Draft) -> Op | None:
        row = self._row(sql.LAST_OP, (_epoch_key(draft),))
        return shapes.OP.read(row) if row else None

    # -- entities ---------------------------------------------------------------------------------------------------

    def put_entities(self, draft: Draft, entities: Sequence[Entity]) -> None:
        for entity in entities:
            check_entity(draft, entity)
        if entities:
            self._database.change_each(sql.PUT_ENTITY, [(_epoch_key(draft), *entity) for entity in entities])

    def read_entities(self, draft: Draft, *, limit: int = 1000, cursor: str | None = None) -> Page[Entity]:
        limit, after = page_size(limit), decode_cursor(cursor, str)[0] if cursor is not None else ""
        found = [shapes.ENTITY.read(row) for row in self._rows(sql.READ_ENTITIES, (_epoch_key(draft), after, limit + 1))]
        return Page(tuple(found[:limit]), encode_cursor(found[limit - 1].key) if len(found) > limit else None)

    # -- states -----------------------------------------------------------------------------------------------------

    def put_state(self, draft: Draft, state: StateAt) -> None:
        self._change(sql.PUT_STATE, (_epoch_key(draft), *state))

    def nearest_state(self, draft: Draft, seq: int) -> StateAt | None:
        row = self._row(sql.NEAREST_STATE, (_epoch_key(draft), seq))
        return shapes.STATE.read(row) if row else None

    # -- removal ----------------------------------------------------------------------------------------------------

    def expire_entities(self, draft: Draft, expires_ms: int) -> None:
        self._change(sql.EXPIRE_ENTITIES, {"room": _epoch_key(draft), "expires_ms": expires_ms})

    def settle_former(self, draft: Draft) -> None:
        self._change(sql.SETTLE_FORMER, tuple(draft))

    def forget_expired(self, now_ms: int) -> None:
        with self._database.transaction():
            for statement in (sql.FORGET_OPS, sql.FORGET_ENTITIES, sql.FORGET_STATES):
                self._change(statement, (now_ms, _FORGOTTEN))


def _epoch_key(draft: Draft) -> str:
    return f"{draft.workflow_id}#{draft.epoch}"


def _head(row: Any) -> DraftHead:
    head = shapes.DRAFT.read(row)
    return head._replace(is_open=bool(head.is_open))
