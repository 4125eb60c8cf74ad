"""Removes runs from the store: expired runs, and the rest of those that a person has erased.

Every step may be repeated, and the header is removed last: a process that dies in between leaves a run that the next sweep finds.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from stepless.errors import SteplessError
from stepless.limits import ERASE_RETRY_MS, ERASED_KEPT_MS, EXPORTS_WAIT_MS, MAX_ERASED_AT_ONCE, SHORT_RUN_MS
from stepless.model.runs.statuses import ENDED
from stepless.ports import ERASED, SHARD, RunHead
from stepless.runtime.exporting.cursors import decode
from stepless.runtime.header_notes import notes_in
from stepless.runtime.mentions import forget_mentions, redact_audit
from stepless.runtime.metering import REMOVED_RUNS
from stepless.runtime.related_runs import living_parent
from stepless.runtime.world import World, never_ahead

_log = logging.getLogger(__name__)


def is_over(head: RunHead, now_ms: int) -> bool:
    """Returns whether a run is to be removed: it was erased, or it has expired. For events that are not exported yet,
    a removal waits EXPORTS_WAIT_MS at most."""
    if head.status not in ENDED or head.expires_ms is None:
        return head.status == ERASED
    return head.expires_ms <= now_ms - (EXPORTS_WAIT_MS if exports_left(head) else 0)


def exports_left(head: RunHead) -> Sequence[str]:
    """Returns the exporters of an ended run that have not confirmed all its events and will be tried again."""
    if head.due_ms in (None, head.expires_ms):  # everything is confirmed or given up
        return ()
    return [name for name, cursor in decode(head.exported).items() if cursor.sequence < head.sequence]


def remove_expired(world: World, *, limit: int = MAX_ERASED_AT_ONCE, threads: int = 1) -> int:
    """Removes expired runs; returns how many were found. Below `limit`, there are no others at present, or they come
    after runs that wait for their exporters."""
    now_ms = world.clock.now_ms()
    found = [head for head in world.store.list_expired(now_ms, limit=limit) if is_over(head, now_ms)]
    remove_each(world, found, threads=threads)
    world.store.overwrite_removed()  # if others prevent it, the next sweep does it
    return len(found)


def remove_each(world: World, heads: Sequence[RunHead], *, threads: int = 1) -> None:
    """Removes runs that are over. An error concerns one run: it is logged, and the next sweep tries again."""
    if threads > 1 and len(heads) > 1:
        with ThreadPoolExecutor(threads) as pool:
            removed = sum(pool.map(lambda head: _remove(world, head), heads))
    else:
        removed = sum(_remove(world, head) for head in heads)
    world.meter.count(REMOVED_RUNS, removed)


def _remove(world: World, head: RunHead) -> bool:
    try:
        return _finish_or_forget(world, head) if head.status == ERASED else _forget_expired(world, head)
    except SteplessError as error:
        _log.warning("run %s could not be removed: %s", head.run_id, error)
        return False


def _finish_or_forget(world: World, head: RunHead) -> bool:
    if world.clock.now_ms() < head.updated_ms + ERASED_KEPT_MS:
        finish(world, head)
        return False
    _forget(world, head)
    return True


def _forget_expired(world: World, head: RunHead) -> bool:
    now_ms = world.clock.now_ms()
    if head.owner is not None and head.lease_until_ms > now_ms:
        return False  # the next sweep finds the run again
    if head.run_id.startswith(SHARD):
        from stepless.runtime.shards.removal import remove_expired_distribution  # imported late: few runs have shards

        return remove_expired_distribution(world, head)
    if living_parent(world, head):
        world.store.keep_run(head.run_id, now_ms + SHORT_RUN_MS)
        return False
    _forget(world, head)
    return True


def erased_relatives(head: RunHead) -> Mapping[str, Any]:
    """Returns what the header of an erased run says of the runs that it has started; empty for a damaged header."""
    kept = notes_in(head).get("erased")
    return kept if isinstance(kept, dict) else {}


def finish(world: World, head: RunHead) -> None:
    """Removes the content of an erased run. Its header stays until nothing can refer to the run any more, and until late writes
    of other processes can no longer arrive."""
    for child in erased_relatives(head).get("children", ()):
        if child.startswith(SHARD):
            from stepless.runtime.shards.removal import remove_distribution  # imported late: few runs have shards

            remove_distribution(world, child)
    world.blobs.erase(head.run_id)
    redact_audit(world, head)
    world.store.erase_run(head.run_id, head.updated_ms + ERASED_KEPT_MS)
    if not world.store.overwrite_removed():  # another process reads the file: the next sweep finds the run again
        world.store.erase_run(head.run_id, world.clock.now_ms() + ERASE_RETRY_MS)


def _forget(world: World, head: RunHead) -> None:
    run_id = head.run_id
    if head.status != ERASED:
        forget_mentions(world, head)
    world.blobs.erase(run_id)
    if world.ahead_ms is not never_ahead:  # only local development skips time
        kept = world.store.get_claim(ahead_key(run_id), world.clock.now_ms())
        if kept is not None:
            world.store.release_claim(ahead_key(run_id), kept)
    world.store.erase_run(run_id)


def ahead_key(run_id: str) -> str:
    """Returns the claim that says how far a run's own time is ahead of the clock (`verbs/changes/time_skip`)."""
    return f"ahead:{run_id}"
