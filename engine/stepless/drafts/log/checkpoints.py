"""Writes what entries have changed, so that opening reads little of the log.

A checkpoint writes each changed entity as of the last entry that changed it, and only then raises `checked`. It never waits for
another one: a store keeps the newest of each entity, so checkpoints may overtake each other, stop half way, or be repeated.
"""

from __future__ import annotations

from stepless.drafts.log.editing import S
from stepless.drafts.log.records import Storage
from stepless.drafts.log.warm_draft import WarmDraft
from stepless.limits import CHECKPOINT_ITEMS, STATE_ITEMS


def is_due(warm: WarmDraft[S]) -> bool:
    """Returns whether CHECKPOINT_ITEMS are not checked."""
    return warm.seq - warm.checked >= CHECKPOINT_ITEMS


def checkpoint(warm: WarmDraft[S], storage: Storage) -> None:
    """Checks the draft up to the last entry that this process has read. Entries may be committed meanwhile."""
    with warm.lock:
        seq = warm.seq
        if seq == warm.checked:
            return
        entities = list(warm.unchecked(storage.clock.now_ms()))
    warm.records.put(entities)
    raised = storage.drafts.raise_checked(warm.draft, seq)
    head = None if raised else storage.drafts.get_head(warm.draft.workflow_id)
    with warm.lock:
        if raised:
            warm.was_checked(seq)
        elif head is not None and head.epoch == warm.draft.epoch:
            warm.was_checked(head.checked)


def is_milestone(seq: int) -> bool:
    """Returns whether the state after an entry is kept."""
    return seq % STATE_ITEMS == 0


def keep_state(warm: WarmDraft[S]) -> int:
    """Keeps the state of the whole draft as of the last entry that this process has read; returns this entry."""
    with warm.lock:
        seq, entities = warm.seq, list(warm.editing.entities(warm.state))
    warm.records.put_state(seq, entities)
    return seq
