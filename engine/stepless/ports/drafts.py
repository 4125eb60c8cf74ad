"""Defines the port for stored drafts: a head for each workflow, and for each of its epochs the log of entries and the entities.

The log decides. Entities are a shortcut to the state that the log leads to: each says which item changed it last, and replaces
only an older one. `checked` of the head says up to which item every entity is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from stepless.ports.store import Page

ENTITY_KINDS: Final = frozenset({"block", "doc", "edge", "last", "note", "pin", "place", "subflow", "text"})
"""What the key of an entity begins with: `block/b1`, `doc`. `last/{client}` is what is known of a client."""


class Draft(NamedTuple):
    """One epoch of a workflow's draft. `epoch` counts from 1 how often the draft was opened, discarded or replaced."""

    workflow_id: str
    epoch: int


class DraftHead(NamedTuple):
    """The head of a workflow's draft. `origin` (encoded; what this epoch was opened from) never changes within an epoch; `base`
    (encoded; what the draft is compared with and saved to) does. `checked`: every entity is written as of this item, or newer.
    Not `is_open`: the draft was discarded, and nothing is below this epoch. `former` is the epoch before, as long as its entities
    have no expiry; 0 afterwards."""

    workflow_id: str
    epoch: int
    origin: bytes
    base: bytes
    created_ms: int
    created_by: str
    checked: int = 0
    is_open: bool = True
    former: int = 0

    @property
    def draft(self) -> Draft:
        return Draft(self.workflow_id, self.epoch)


class Op(NamedTuple):
    """One item of a draft's log, encoded. `seq` counts from 1 without gaps. Immutable."""

    seq: int
    data: bytes
    expires_ms: int


class Entity(NamedTuple):
    """One entity of a draft, encoded, as item `seq` left it. Without a value it is a tombstone: the item deleted it."""

    key: str
    seq: int
    value: bytes | None
    expires_ms: int | None = None


class StateAt(NamedTuple):
    """The whole state of a draft after item `seq`, encoded."""

    seq: int
    data: bytes
    expires_ms: int


class Drafts(Protocol):
    """Drafts, their logs and entities. Every implementation passes the suite `stepless.testing.contracts`.

    All reads are strongly consistent: they have everything that was written, by whichever process, before they began. A record is
    readable after the instant at which it expires (whole seconds), and may be removed from then on.
    """

    # -- heads --------------------------------------------------------------------------------------------------------
    def put_head(self, head: DraftHead, former: int | None) -> DraftHead | None:
        """Stores a head in place of one of the epoch `former`; None: if the workflow has none. Returns the head that is stored
        then: equal to `head` if it was stored, also by an earlier call. Of several concurrent callers with the same `former` and
        different heads, exactly one succeeds. Raises `LimitExceeded` for an origin or base above MAX_ORIGIN_BYTES."""
        ...

    def get_head(self, workflow_id: str) -> DraftHead | None: ...

    def list_heads(self, *, limit: int = 100, cursor: str | None = None) -> Page[DraftHead]:
        """Returns all heads, those of discarded drafts included, sorted by workflow id ascending."""
        ...

    def raise_checked(self, draft: Draft, seq: int) -> bool:
        """Raises `checked` to `seq`. False, and no change, if it is as high already, or if the head is of another epoch."""
        ...

    def move_base(self, draft: Draft, former: bytes, base: bytes) -> bool:
        """Replaces the base, if it is `former`. False, and no change, if it is neither `former` nor `base`, or if the head is of
        another epoch. Raises `LimitExceeded` as `put_head` does."""
        ...

    # -- the log ------------------------------------------------------------------------------------------------------
    def append_op(self, draft: Draft, op: Op) -> bool:
        """Writes one item durably. False, and no change, when there is an item with this `seq`, even with the same bytes. The
        caller has read or written the item before: the store does not check that the log has no gap. Raises `LimitExceeded`
        above MAX_BATCH_BYTES. After a StoreUnavailable the item may or may not be stored."""
        ...

    def read_ops(self, draft: Draft, after: int = 0, *, limit: int = 1000) -> Sequence[Op]:
        """Returns the items above `after`, in order; fewer than `limit` (at most MAX_PAGE_ITEMS) only at the end of the log. Of
        items that have expired, any may be missing."""
        ...

    def last_op(self, draft: Draft) -> Op | None:
        """Returns the item with the highest `seq`."""
        ...

    # -- entities -----------------------------------------------------------------------------------------------------
    def put_entities(self, draft: Draft, entities: Sequence[Entity]) -> None:
        """Stores each entity, unless there is one with this key whose `seq` is as high or higher. May be repeated. In any order;
        after an error, some of them may be stored. Raises `LimitExceeded` for a value above MAX_BATCH_BYTES."""
        ...

    def read_entities(self, draft: Draft, *, limit: int = 1000, cursor: str | None = None) -> Page[Entity]:
        """Returns all entities, tombstones included, sorted by the bytes of their keys. A page may have fewer than `limit`."""
        ...

    # -- states -------------------------------------------------------------------------------------------------------
    def put_state(self, draft: Draft, state: StateAt) -> None:
        """Stores a state; does nothing if there is one with this `seq`."""
        ...

    def nearest_state(self, draft: Draft, seq: int) -> StateAt | None:
        """Returns the latest state at or before an item."""
        ...

    # -- removal ------------------------------------------------------------------------------------------------------
    def expire_entities(self, draft: Draft, expires_ms: int) -> None:
        """Gives each entity of an epoch that was left this expiry, unless it has an earlier one. May be repeated, also after it
        was interrupted."""
        ...

    def settle_former(self, draft: Draft) -> None:
        """Sets `former` of the head to 0, if it is of this epoch."""
        ...

    def forget_expired(self, now_ms: int) -> None:
        """Removes some of the records that have expired. Does nothing in a store that removes them by itself."""
        ...
