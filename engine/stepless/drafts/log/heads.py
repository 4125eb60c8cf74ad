"""Opens, replaces and discards drafts.

The log decides here too. To leave an epoch, its last entry is appended under the same condition as any other; it carries the next
head, which then takes the place of the former one. A process that dies in between leaves a closed log: any that reads its end
puts the head that it names. Otherwise a process that knows the former epoch would go on committing into it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stepless.drafts.log.records import Storage, damaged, encoded
from stepless.limits import CLOSED_KEPT_MS, MAX_PAGE_ITEMS
from stepless.model.json import JSON
from stepless.model.stored.damage import FAULTS, Damage, told_by, why_of
from stepless.model.stored.packing import unpack
from stepless.ports import Draft, DraftHead, Drafts


def new_head(
    workflow_id: str, epoch: int, origin: JSON, by: str, now_ms: int, base: JSON = None, *, is_open: bool = True
) -> DraftHead:
    """Returns a head whose base is its origin, unless another one is given."""
    content = encoded(origin)
    return DraftHead(workflow_id, epoch, content, content if base is None else encoded(base), now_ms, by, is_open=is_open)


def successor(head: DraftHead) -> JSON:
    """Returns a head as the last entry of the epoch before has it."""
    return {
        "epoch": head.epoch, "origin": unpack(head.origin), "base": unpack(head.base), "created_ms": head.created_ms,
        "created_by": head.created_by, "is_open": head.is_open,
    }  # fmt: skip


def move(drafts: Drafts, draft: Draft, closes: JSON) -> DraftHead | None:
    """Puts the head that the last entry of an epoch names, unless it is there already. Returns the head that is there then."""
    head = DraftHead(
        draft.workflow_id, closes["epoch"], encoded(closes["origin"]), encoded(closes["base"]), closes["created_ms"],
        closes["created_by"], is_open=closes["is_open"], former=draft.epoch,
    )  # fmt: skip
    return drafts.put_head(head, draft.epoch)


def any_origin(head: DraftHead) -> Any:
    """Returns the origin of this epoch, as the rules of the draft have it. Raises `Damaged` (draft_damaged)."""
    return _decoded(head.origin, f"draft.origin of {head.workflow_id}")


def origin_of(head: DraftHead) -> Any:
    """Returns the origin of this epoch of the draft of a document: an object, None for a discarded draft. Raises `Damaged`
    (draft_damaged)."""
    return _named(head.origin, f"draft.origin of {head.workflow_id}")


def base_of(head: DraftHead) -> Any:
    """Returns the base of the draft, as `origin_of`."""
    if told_by(head.origin):  # another column of the head is damaged
        origin_of(head)
    return _named(head.base, f"draft.base of {head.workflow_id}")


NAMES = frozenset({"hash", "blob", "file", "newest"})  # of which an origin or a base has one, unless it is empty


def _named(data: bytes, place: str) -> Any:
    found = _decoded(data, place)
    if not isinstance(found, dict | None):
        raise damaged(place, f"an object was stored, and there is a {type(found).__name__}")
    if found and not found.keys() & NAMES:
        raise damaged(place, "it names nothing that a draft is opened from")
    return found


def _decoded(data: bytes, place: str) -> Any:
    try:
        return unpack(data)
    except FAULTS as error:
        told = told_by(data) or Damage(place, why_of(error))
        raise damaged(told.place, told.why) from error


def settle(storage: Storage, head: DraftHead) -> None:
    """Gives the entities of the epoch before this one their expiry, if they have none. May be repeated."""
    if head.former:
        storage.drafts.expire_entities(Draft(head.workflow_id, head.former), storage.clock.now_ms() + CLOSED_KEPT_MS)
        storage.drafts.settle_former(head.draft)


def each_head(drafts: Drafts) -> Iterator[DraftHead]:
    """Yields all heads."""
    cursor: str | None = None
    while True:
        page = drafts.list_heads(limit=MAX_PAGE_ITEMS, cursor=cursor)
        yield from page.items
        if (cursor := page.cursor) is None:
            return
