"""Stores drafts in DynamoDB. Appending an item is one conditional put; so is every write of an entity.

A head: `n` epoch, `o` origin, `b` base, `q` checked, `c` created, `w` by whom, `z` once it is discarded, `f` the epoch before
whose entities have no expiry yet. An item: `b` its bytes. An entity: `q` the item that changed it, `b` its value, absent in a
tombstone. A state: `b` its bytes. The table's TTL deletes items, tombstones, clients, states, and the entities of an epoch that
was left.

An item of at most 1 KB takes one write unit, and so does each entity that a checkpoint writes; one that it finds as new already
takes one too. Reads are strongly consistent: half a read unit per 4 KB is twice that here.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, Final

from stepless.adapters.aws.dynamo.table import item_keys
from stepless.adapters.aws.dynamo.table.access import TableAccess
from stepless.adapters.aws.dynamo.table.layout import EXPIRES
from stepless.adapters.aws.dynamo.table.wire import Item, Value, Wire, each
from stepless.adapters.bounds import check_entity, check_head, check_op, check_origin, page_size
from stepless.model.stored.cursors import decode_cursor, encode_cursor
from stepless.ports import Draft, DraftHead, Entity, Op, Page, StateAt

_FREE: Final = "attribute_not_exists(pk)"
_BETWEEN: Final = "pk = :pk AND sk BETWEEN :from AND :to"
_RANGES: Final = (("BLOCK", "OP"), ("PIN", "U"))  # of the keys of entities: items and states lie outside


class DynamoDrafts(TableAccess):
    """Shares the table of a `DynamoStore`. `at_once` requests of one checkpoint are sent in parallel."""

    def __init__(self, client: Any, table: str, *, at_once: int = 16) -> None:
        self._wire = Wire(client, table)
        self._at_once = at_once

    # -- heads ------------------------------------------------------------------------------------------------------

    def put_head(self, head: DraftHead, former: int | None) -> DraftHead | None:
        """Names the workflow before its first head: the listing skips a name without a head."""
        check_head(head)
        if former is None:
            self._wire.put({"pk": item_keys.DRAFTS, "sk": head.workflow_id})
        condition, values = (_FREE, None) if former is None else ("n = :n", {"n": former})
        written = self._wire.put(_item_of(head), condition, values)
        if written.done:
            return head
        return _head(head.workflow_id, written.item) if written.item is not None else None

    def get_head(self, workflow_id: str) -> DraftHead | None:
        item = self._wire.get(item_keys.draft(workflow_id), item_keys.HEAD)
        return _head(workflow_id, item) if item is not None else None

    def list_heads(self, *, limit: int = 100, cursor: str | None = None) -> Page[DraftHead]:
        limit = page_size(limit)
        condition, values = "pk = :pk", {"pk": item_keys.DRAFTS}
        if cursor is not None and (after := decode_cursor(cursor, str)[0]):
            condition, values = "pk = :pk AND sk > :sk", values | {"sk": after}
        names = [item["sk"] for item in islice(each(self._wire.query(condition, values, page=limit + 1)), limit + 1)]
        items = self._wire.get_many([(item_keys.draft(name), item_keys.HEAD) for name in names[:limit]])
        heads = (
            _head(name, items[key]) for name in names[:limit] if (key := (item_keys.draft(name), item_keys.HEAD)) in items
        )
        return Page(tuple(heads), encode_cursor(names[limit - 1]) if len(names) > limit else None)

    def raise_checked(self, draft: Draft, seq: int) -> bool:
        return self._change_head(draft, "SET q = :q", {"q": seq}, "q < :q")

    def move_base(self, draft: Draft, former: bytes, base: bytes) -> bool:
        check_origin(draft, base)
        return self._change_head(draft, "SET b = :b", {"b": base, "former": former}, "(b = :former OR b = :b)")

    def _change_head(self, draft: Draft, change: str, values: dict[str, Value], condition: str = "") -> bool:
        condition = f"n = :n AND {condition}" if condition else "n = :n"
        pk = item_keys.draft(draft.workflow_id)
        return self._wire.update(pk, item_keys.HEAD, change, values | {"n": draft.epoch}, condition).done

    # -- the log ----------------------------------------------------------------------------------------------------

    def append_op(self, draft: Draft, op: Op) -> bool:
        check_op(draft, op)
        key = {"pk": item_keys.draft_epoch(*draft), "sk": item_keys.op(op.seq)}
        return self._wire.put(key | {"b": op.data, EXPIRES: op.expires_ms // 1000}, _FREE).done

    def read_ops(self, draft: Draft, after: int = 0, *, limit: int = 1000) -> Sequence[Op]:
        values = {"pk": item_keys.draft_epoch(*draft), "from": item_keys.op(after + 1), "to": item_keys.AFTER_OPS}
        limit = page_size(limit)
        return [_op(item) for item in islice(each(self._wire.query(_BETWEEN, values, page=limit)), limit)]

    def last_op(self, draft: Draft) -> Op | None:
        values = {"pk": item_keys.draft_epoch(*draft), "from": item_keys.op(0), "to": item_keys.AFTER_OPS}
        found = next(each(self._wire.query(_BETWEEN, values, ascending=False, page=1)), None)
        return _op(found) if found is not None else None

    # -- entities ---------------------------------------------------------------------------------------------------

    def put_entities(self, draft: Draft, entities: Sequence[Entity]) -> None:
        for entity in entities:
            check_entity(draft, entity)
        pk = item_keys.draft_epoch(*draft)

        def put(entity: Entity) -> None:
            item: dict[str, Value] = {"pk": pk, "sk": item_keys.entity(entity.key), "q": entity.seq}
            if entity.value is not None:
                item["b"] = entity.value
            if entity.expires_ms is not None:
                item[EXPIRES] = entity.expires_ms // 1000
            self._wire.put(item, f"{_FREE} OR q < :q", {"q": entity.seq})

        self._in_parallel(put, entities)

    def read_entities(self, draft: Draft, *, limit: int = 1000, cursor: str | None = None) -> Page[Entity]:
        limit, rows = page_size(limit), list[Item]()
        after = item_keys.entity(decode_cursor(cursor, str)[0]) if cursor is not None else ""
        for first, last in _RANGES:
            if after < last and len(rows) <= limit:
                values = {"pk": item_keys.draft_epoch(*draft), "from": max(first, after), "to": last}
                wanted = limit + 1 - len(rows)
                found = (row for row in each(self._wire.query(_BETWEEN, values, page=wanted + 1)) if row["sk"] != after)
                rows += islice(found, wanted)
        items = tuple(map(_entity, rows[:limit]))
        return Page(items, encode_cursor(items[-1].key) if len(rows) > limit else None)

    # -- states -----------------------------------------------------------------------------------------------------

    def put_state(self, draft: Draft, state: StateAt) -> None:
        key = {"pk": item_keys.draft_epoch(*draft), "sk": item_keys.state(state.seq)}
        self._wire.put(key | {"b": state.data, EXPIRES: state.expires_ms // 1000}, _FREE)

    def nearest_state(self, draft: Draft, seq: int) -> StateAt | None:
        values = {"pk": item_keys.draft_epoch(*draft), "from": item_keys.state(0), "to": item_keys.state(seq)}
        found = next(each(self._wire.query(_BETWEEN, values, ascending=False, page=1)), None)
        return StateAt(*_op(found)) if found is not None else None

    # -- removal ----------------------------------------------------------------------------------------------------

    def expire_entities(self, draft: Draft, expires_ms: int) -> None:
        """Takes one write unit per KB of each entity: as much as deleting them would take then."""
        pk, cursor = item_keys.draft_epoch(*draft), None
        change, values = f"SET {EXPIRES} = :x", {"x": expires_ms // 1000}
        condition = f"attribute_exists(pk) AND (attribute_not_exists({EXPIRES}) OR {EXPIRES} > :x)"

        def expire(entity: Entity) -> None:
            if entity.expires_ms is None or entity.expires_ms > expires_ms:
                self._wire.update(pk, item_keys.entity(entity.key), change, values, condition)

        while True:
            page = self.read_entities(draft, cursor=cursor)
            self._in_parallel(expire, page.items)
            if (cursor := page.cursor) is None:
                return

    def settle_former(self, draft: Draft) -> None:
        self._change_head(draft, "REMOVE f", {})

    def forget_expired(self, now_ms: int) -> None:
        """Does nothing: the table's TTL does."""


def _item_of(head: DraftHead) -> dict[str, Value]:
    item: dict[str, Value] = {
        "pk": item_keys.draft(head.workflow_id), "sk": item_keys.HEAD, "n": head.epoch, "o": head.origin, "b": head.base,
        "q": head.checked, "c": head.created_ms, "w": head.created_by,
    }  # fmt: skip
    return item | ({} if head.is_open else {"z": 1}) | ({"f": head.former} if head.former else {})


def _head(workflow_id: str, item: Item) -> DraftHead:
    return DraftHead(
        workflow_id, item["n"], item["o"], item["b"], item["c"], item["w"], item["q"], "z" not in item, item.get("f", 0)
    )


def _op(item: Item) -> Op:
    return Op(item_keys.seq_of(item["sk"]), item["b"], item[EXPIRES] * 1000)


def _entity(item: Item) -> Entity:
    expires_ms = item[EXPIRES] * 1000 if EXPIRES in item else None
    return Entity(item_keys.entity_of(item["sk"]), item["q"], item.get("b"), expires_ms)
