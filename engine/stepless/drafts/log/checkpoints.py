"""Writes what items have changed, so that opening reads little of the log.

A checkpoint writes each changed entity as of the last item that changed it, and only then raises `checked`. It never waits for
another one: a store keeps the newest of each entity, so checkpoints may overtake each other, stop half way, or be repeated.
"""

from __future__ import annotations

from stepless.drafts.log.editing import S
from stepless.drafts.log.records import Storage
from stepless.drafts.log.warm_draft import Room
from stepless.limits import CHECKPOINT_ITEMS, STATE_ITEMS


def is_due(room: Room[S]) -> bool:
    """Whether CHECKPOINT_ITEMS are not checked."""
    return room.seq - room.checked >= CHECKPOINT_ITEMS


def checkpoint(room: Room[S], storage: Storage) -> None:
    """Checks the draft up to the last item that this process has read. Items may be committed meanwhile."""
    with room.lock:
        seq = room.seq
        if seq == room.checked:
            return
        entities = list(room.unchecked(storage.clock.now_ms()))
    room.records.put(entities)
    raised = storage.drafts.raise_checked(room.draft, seq)
    head = None if raised else storage.drafts.get_head(room.draft.workflow_id)
    with room.lock:
        if raised:
            room.was_checked(seq)
        elif head is not None and head.epoch == room.draft.epoch:
            room.was_checked(head.checked)


def is_milestone(seq: int) -> bool:
    """Whether the state after an item is kept."""
    return seq % STATE_ITEMS == 0


def keep_state(room: Room[S]) -> int:
    """Keeps the state of the whole draft as of the last item that this process has read; returns this item."""
    with room.lock:
        seq, entities = room.seq, list(room.editing.entities(room.state))
    room.records.put_state(seq, entities)
    return seq
