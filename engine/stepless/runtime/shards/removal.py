"""Removes distributions and their shards: expired ones, and those of a run that is erased.

Every step may be repeated. The distribution goes last, since only it knows its shards; a large one is removed in portions.
"""

from __future__ import annotations

from typing import Final

from stepless.limits import ENDS_AT_ONCE, SHARDS_REMOVED_AT_ONCE, SHORT_RUN_MS
from stepless.model.runs.statuses import ENDED
from stepless.ports import ERASED, RunHead
from stepless.runtime.header_notes import meta_of
from stepless.runtime.shards.plans import Board, place_of, plan_of
from stepless.runtime.world import World

_LATER_MS: Final = 60_000


def remove_expired_distribution(world: World, head: RunHead) -> bool:
    """Removes a portion of an expired distribution; returns whether nothing is left. Its results are kept as long as its run."""
    now_ms = world.clock.now_ms()
    run = world.store.get_run(str(meta_of(head)["parent"]["run"]))
    if run is not None and run.status != ERASED and (run.status not in ENDED or (run.expires_ms or now_ms + 1) > now_ms):
        world.store.keep_run(head.run_id, max(run.expires_ms or 0, now_ms + SHORT_RUN_MS))
        return False
    return remove_distribution(world, head.run_id)


def remove_distribution(world: World, run_id: str) -> bool:
    """Removes SHARDS_REMOVED_AT_ONCE shards of a distribution that has ended, and with the last ones itself. Returns whether
    nothing is left."""
    head = world.store.get_run(run_id)
    if head is None:
        return True
    if head.status not in ENDED:
        return False
    store, now_ms, board = world.store, world.clock.now_ms(), Board(world.store, run_id)
    done_key = f"shards-removed:{run_id}"
    former = store.get_claim(done_key, now_ms)
    first = int(former or b"0")
    try:
        plan = plan_of(world, run_id, place_of(head).plan)
    except KeyError:  # its blobs are removed after its shards
        plan = None
    if plan is not None:
        following = min(plan.shards, first + SHARDS_REMOVED_AT_ONCE)
        for number in range(first, following):
            shard = plan.shard_id(number)
            world.blobs.erase(shard)
            store.erase_run(shard)
            board.leave(number)
        if following < plan.shards:
            store.replace_claim(done_key, former, str(following).encode(), now_ms, now_ms + _LATER_MS)
            return False
    for text in board.ends(ENDS_AT_ONCE):
        board.forget_end(text)
    board.forget(now_ms)
    world.blobs.erase(run_id)
    store.erase_run(run_id)
    return True
