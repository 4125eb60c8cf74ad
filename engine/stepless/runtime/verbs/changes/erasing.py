"""Removes the content of an ended run, on the request of a person (docs/understand/durability.md#removal)."""

from __future__ import annotations

import json
from secrets import token_hex

from stepless.errors import Conflict, LeaseLost
from stepless.limits import ERASE_RETRY_MS, LEASE_MS
from stepless.model.runs.statuses import ENDED
from stepless.ports import ERASED, SHARD, RunHead
from stepless.runtime.header_notes import damage_of
from stepless.runtime.mentions import forget_mentions
from stepless.runtime.related_runs import Relatives, living_parent, relatives_of
from stepless.runtime.removal import erased_relatives, exports_left, finish
from stepless.runtime.verbs.reads.inspecting import unknown_run
from stepless.runtime.world import World


def erase(world: World, run_id: str, *, dry: bool = False, force: bool = False) -> Relatives:
    """Erases an ended run: its header, log, snapshot, inbox and blobs. Returns the child runs and reruns, which stay. May be
    repeated; a repetition continues an erasure that was interrupted. `dry` checks and erases nothing. `force` drops the events
    that its exporters have not confirmed yet.

    First the header becomes that of an erased run, which no lease, touch or start brings back, and which the sweeper finds. It
    stays for ERASED_KEPT_MS, without content, and is then removed as well. Raises `NotFound` (unknown_run) and `Conflict`
    (run_not_ended, parent_not_ended, exports_pending, run_busy).
    """
    head = world.store.get_run(run_id)
    if head is None:
        raise unknown_run(run_id)
    if head.status == ERASED:
        if not dry:
            finish(world, head)
        return _recorded(head)
    if head.status not in ENDED and damage_of(head) is None:
        mend = "cancel it first, or wait for its end"
        raise Conflict(f"the run {run_id} has not ended", code="run_not_ended", mend=mend, run_status=head.status)
    if parent := living_parent(world, head):
        mend = f"erase it after {parent} has ended"
        raise Conflict(f"the parent of {run_id} may still read it", code="parent_not_ended", mend=mend, parent=parent)
    if not force and (left := exports_left(head)):
        wait_ms = max(0, (head.due_ms or 0) - world.clock.now_ms())
        mend = "repeat it after they were exported, or with `force` (`--force`), which drops them"
        message = f"events of {run_id} are not exported yet, by {', '.join(left)}"
        raise Conflict(message, code="exports_pending", mend=mend, exporters=left, retry_after_ms=wait_ms)
    relatives = relatives_of(world, head)
    if dry:
        return _others(relatives)
    marked = _marked(world, head, relatives)
    finish(world, marked)
    # A concurrent erasure may have removed notes while they were read here: what it recorded is whole.
    return _recorded(marked) if marked.status == ERASED else _others(relatives)


def _marked(world: World, head: RunHead, relatives: Relatives) -> RunHead:
    """The header of the erased run. Takes the lease, so that no runner writes to it any more."""
    now_ms = world.clock.now_ms()
    lease = world.store.take_lease(head.run_id, f"erase-{token_hex(6)}", now_ms, now_ms + LEASE_MS)
    if lease is None:
        return _erased_by_another(world, head)
    forget_mentions(world, head)  # the header of an erased run does not name them any more
    meta = json.dumps({"erased": relatives._asdict()}, separators=(",", ":")).encode()
    try:
        world.store.mark_erased(lease, now_ms, meta, now_ms + ERASE_RETRY_MS)
    except LeaseLost:  # this process was frozen for longer than the lease
        return _erased_by_another(world, head)
    return world.store.get_run(head.run_id) or head


def _erased_by_another(world: World, head: RunHead) -> RunHead:
    """The header that a concurrent request has erased. Raises `Conflict` (run_busy) if there was none."""
    found = world.store.get_run(head.run_id)
    if found is None or found.status == ERASED:
        return found or head
    message = f"a process still works on the run {head.run_id}"
    raise Conflict(message, code="run_busy", mend="try again in half a minute", retry_after_ms=LEASE_MS)


def _recorded(head: RunHead) -> Relatives:
    """What the erasure recorded."""
    kept = erased_relatives(head)
    if not kept:  # its header is damaged: what the run has started is not known any more
        return Relatives(more=True)
    return _others(Relatives(tuple(kept["children"]), tuple(kept["reruns"]), kept["more"]))


def _others(relatives: Relatives) -> Relatives:
    """The runs that stay: shards are removed with their run."""
    return relatives._replace(children=tuple(child for child in relatives.children if not child.startswith(SHARD)))
