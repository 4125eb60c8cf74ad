"""Checks that every store applies before it writes, so that all of them refuse the same values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Final

from stepless.errors import EngineBug, InvalidRequest, LimitExceeded
from stepless.limits import (
    MAX_BATCH_BYTES,
    MAX_ENTITY_KEY_CHARACTERS,
    MAX_INBOX_SIGNALS,
    MAX_ORIGIN_BYTES,
    MAX_PAGE_ITEMS,
    MAX_SIGNAL_BYTES,
)
from stepless.ports import ENTITY_KINDS, Batch, Draft, DraftHead, Entity, Op, Signal

SHARED: Final = re.compile(r"[0-9a-f]{64}")  # the key of a value without a run


def check_batch(run_id: str, batch: Batch) -> None:
    """Checks that a batch holds at least one event, counted from 1, and at most MAX_BATCH_BYTES of `bytes`."""
    if not 1 <= batch.first <= batch.last or type(batch.data) is not bytes:
        raise EngineBug(f"a batch from {batch.first} to {batch.last} cannot be written", place=f"log of run {run_id!r}")
    if len(batch.data) > MAX_BATCH_BYTES:
        raise LimitExceeded(
            f"the batch has {len(batch.data):,} bytes; the limit is {MAX_BATCH_BYTES:,}",
            place=f"log of run {run_id!r}", mend="split the events over several batches",
        )


def check_signal(run_id: str, signal: Signal) -> None:
    """Checks that the body of a signal is at most MAX_SIGNAL_BYTES long."""
    check_text(run_id, signal.kind, signal.identity)
    if len(signal.body) > MAX_SIGNAL_BYTES:
        raise LimitExceeded(
            f"the signal has {len(signal.body):,} bytes; the limit is {MAX_SIGNAL_BYTES:,}",
            place=f"inbox of run {run_id!r}", mend="send less data, or a reference to it",
        )


def inbox_full(run_id: str) -> LimitExceeded:
    """Returns the error for a signal to an inbox that is full."""
    return LimitExceeded(
        f"{MAX_INBOX_SIGNALS:,} signals wait already",
        place=f"inbox of run {run_id!r}", mend="send it again after the run has taken some",
    )


def check_head(head: DraftHead) -> None:
    """Ids of workflows have no `#`, which separates them from the epoch in keys. See `check_origin`."""
    check_text(head.workflow_id, head.created_by)
    place = f"draft of {head.workflow_id[:100]!r}"
    if "#" in head.workflow_id or not 0 < len(head.workflow_id) <= MAX_ENTITY_KEY_CHARACTERS or head.epoch < 1:
        raise EngineBug("the head cannot be written", place=place)
    check_origin(head.draft, head.origin, head.base)


def check_origin(draft: Draft, *values: bytes) -> None:
    """Checks that an origin or a base has at most MAX_ORIGIN_BYTES."""
    if (size := max(map(len, values))) > MAX_ORIGIN_BYTES:
        message = f"the origin or base has {size:,} bytes; the limit is {MAX_ORIGIN_BYTES:,}"
        raise LimitExceeded(message, place=f"draft of {draft.workflow_id!r}", mend="name a version or a blob there")


def check_op(draft: Draft, op: Op) -> None:
    """Checks that an item is counted from 1 and has at most MAX_BATCH_BYTES of `bytes`."""
    place = f"draft of {draft.workflow_id!r}, item {op.seq}"
    if op.seq < 1 or type(op.data) is not bytes:
        raise EngineBug("the item cannot be written", place=place)
    _check_size(op.data, place)


def check_entity(draft: Draft, entity: Entity) -> None:
    """Checks that the key begins with one of ENTITY_KINDS and has at most MAX_ENTITY_KEY_CHARACTERS, the value at most
    MAX_BATCH_BYTES."""
    check_text(entity.key)
    place = f"draft of {draft.workflow_id!r}, {entity.key[:100]!r}"
    if entity.key.partition("/")[0] not in ENTITY_KINDS or entity.seq < 1:
        raise EngineBug("the entity cannot be written", place=place)
    if len(entity.key) > MAX_ENTITY_KEY_CHARACTERS:
        message = f"the key is longer than {MAX_ENTITY_KEY_CHARACTERS} characters"
        raise LimitExceeded(message, place=place, mend="use a shorter one")
    _check_size(entity.value or b"", place)


def _check_size(data: bytes, place: str) -> None:
    if len(data) > MAX_BATCH_BYTES:
        message = f"the value has {len(data):,} bytes; the limit is {MAX_BATCH_BYTES:,}"
        raise LimitExceeded(message, place=place, mend="store it as a blob")


def check_text(*texts: str) -> None:
    """Checks texts that become keys: they must be valid UTF-8. Half a surrogate pair, as in the JSON "\\ud800", is not."""
    for text in texts:
        if not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError as error:
                raise invalid_text(error) from error


def invalid_text(error: UnicodeEncodeError) -> InvalidRequest:
    """Returns the error for a text that is not valid Unicode."""
    return InvalidRequest(
        f"half a surrogate pair at character {error.start + 1}",
        code="invalid_text", place=ascii(error.object[:100]), mend="send valid Unicode",
    )


def page_size(limit: int) -> int:
    """Returns the requested number of items of a page, limited to 1 to MAX_PAGE_ITEMS."""
    return max(1, min(limit, MAX_PAGE_ITEMS))


def check_shared(keys: Sequence[str]) -> None:
    """Raises `ValueError` unless all are keys of values without a run."""
    for key in keys:
        if not SHARED.fullmatch(key):
            raise ValueError(f"{key!r} is not the key of a shared value")


def blob_key(data: bytes, run_id: str) -> str:
    """Returns the key under which blobs store a value of a run; without a run, the hash alone."""
    digest = sha256(data).hexdigest()
    return f"{run_id}/{digest}" if run_id else digest
