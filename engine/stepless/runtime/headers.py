"""Creates the header of a run, and reads its two numbers: the number of the version that the run started with, which never
changes, and the run's own number among the runs of its workflow."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from stepless.core.history.waits import START
from stepless.errors import Conflict
from stepless.limits import FRESH_HEAD_BYTES, FRESH_HEAD_MS, FRESH_HEADS, LEASE_MS, NEVER_MS
from stepless.model.json import JSON
from stepless.ports import ERASED, RECEIVER, Message, RunHead, Version
from stepless.runtime.header_notes import DRAFT_RUN, notes_in
from stepless.runtime.world import World

_VERSION, _NUMBER = "version", "number"
CLAIM = "claim"  # in the meta of a run that was started with an idempotency key: the name of its claim
NO_NUMBER = 0  # of a version that was made of a draft for one run


def create_run(
    world: World, run_id: str, version: Version, inputs: bytes, facts: Mapping[str, JSON], *, numbered: bool
) -> RunHead:
    """Creates a run like `create_run_once`, without the answer to whether this process was the first."""
    return create_run_once(world, run_id, version, inputs, facts, numbered=numbered)[0]


def create_run_once(
    world: World, run_id: str, version: Version, inputs: bytes, facts: Mapping[str, JSON], *, numbered: bool,
    begins_ms: int | None = None,
) -> tuple[RunHead, bool]:
    """Creates and returns the header of a run of this version; NO_NUMBER for one that is in no list of versions. If another
    process has created it first, returns that header, and False; raises `Conflict` (run_erased) if it was erased since. The first
    lease is granted to the process that receives the first hint, which saves a write. `numbered` counts the run, which costs one
    more write. With `begins_ms`, no lease is granted, and the sweep finds the run at that instant. After a `StoreUnavailable`,
    the run may exist, or its number may be used up without a run."""
    now_ms = world.clock.now_ms()
    meta = dict(facts) if version.number == NO_NUMBER else {**facts, _VERSION: version.number}
    if numbered:
        meta[_NUMBER] = world.store.count(f"runs:{version.workflow_id}", now_ms, NEVER_MS)
    head = RunHead(
        run_id=run_id,
        workflow_id=version.workflow_id,
        version=version.hash,
        status="created",
        created_ms=now_ms,
        updated_ms=now_ms,
        inputs=inputs,
        meta=json.dumps(meta, ensure_ascii=False, separators=(",", ":")).encode(),
        **_granted(now_ms) if begins_ms is None else {"due_ms": begins_ms, "waits": START},
    )
    if not world.store.create_run(head):
        return not_erased(world.store.get_run(run_id) or head), False
    if begins_ms is None and world.near and len(inputs) <= FRESH_HEAD_BYTES:
        while len(world.fresh) >= FRESH_HEADS:
            world.fresh.pop(next(iter(world.fresh)), None)
        world.fresh[run_id] = head
    return head, True


def _granted(now_ms: int) -> dict[str, Any]:
    """The columns of a header whose first lease is granted."""
    until_ms = now_ms + LEASE_MS
    return {"due_ms": until_ms, "epoch": 1, "owner": RECEIVER, "lease_until_ms": until_ms}


def head_of(world: World, message: Message, now_ms: int) -> RunHead | None:
    """Returns the header of the run of a hint. That of a run which this process has just created is not read again: if another
    process has received a hint of it before, the first append is refused, as with every lease that was granted."""
    fresh = world.fresh.pop(message.run_id, None)
    if fresh is not None and message.reason == "start" and 0 <= now_ms - fresh.created_ms < FRESH_HEAD_MS:
        return fresh
    return world.store.get_run(message.run_id)


def not_erased(head: RunHead) -> RunHead:
    """Returns the header of a run that a start has found. Raises `Conflict` (run_erased): an erased run does not begin again."""
    if head.status == ERASED:
        message = f"this idempotency key belongs to the run {head.run_id}, which was erased"
        raise Conflict(message, code="run_erased", mend="use another idempotency key for a new run", run_id=head.run_id)
    return head


def numbers_in(notes: Mapping[str, JSON]) -> tuple[int | None, int | None]:
    """Returns the results of `version_of` and `number_of`, from the notes of a header."""
    return _whole(notes.get(_VERSION)), _whole(notes.get(_NUMBER))


def version_of(head: RunHead) -> int | None:
    """Returns the number of the version that the run started with; None for a run of a release that did not store it."""
    return _number(head, _VERSION)


def draft_of(head: RunHead) -> Mapping[str, JSON] | None:
    """Returns the facts about a test run in its header: `{seq, pins, by}`, and `stop_after`, `of`, `from` where it has them; None
    for a run of a published version."""
    found = notes_in(head).get(DRAFT_RUN)
    return found if isinstance(found, dict) else None


def number_of(head: RunHead) -> int | None:
    """Returns the run's number among the runs of its workflow, from 1; None if its document is not `numbered`."""
    return _number(head, _NUMBER)


def _number(head: RunHead, name: str) -> int | None:
    return _whole(notes_in(head).get(name))


def _whole(number: JSON) -> int | None:
    return number if type(number) is int else None
