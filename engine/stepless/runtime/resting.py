"""Rest: a run whose log cannot be read is left as it stands, and looked at again later, each time after twice as long.

Nothing is appended to it. Its header says why in place of its status, so that lists show it; the first release that can read the
log again takes the run on, and its status with it.
"""

from __future__ import annotations

from secrets import token_hex
from typing import Final

from stepless.errors import DamagedLog, LogUnreadable, NewerLog
from stepless.limits import MAX_UNREADABLE_RETRY_MS, UNREADABLE_RETRY_MS
from stepless.ports import Lease, RunHead
from stepless.runtime.inbox import ENDED
from stepless.runtime.world import World

UNREADABLE: Final = frozenset({DamagedLog.code, NewerLog.code})  # what a header says of such a run


def rest(world: World, head: RunHead, lease: Lease, error: LogUnreadable) -> None:
    """Frees the lease of a run that was found to be unreadable. `head` is its header before the lease was taken: when a run rests
    already, it tells since when and until when."""
    now_ms = world.clock.now_ms()
    former_ms = (head.due_ms or 0) - head.updated_ms if head.status in UNREADABLE else 0
    rest_ms = min(max(2 * former_ms, UNREADABLE_RETRY_MS), MAX_UNREADABLE_RETRY_MS)
    status = None if head.status in ENDED else error.code  # how it ended stays known
    world.store.update_run(lease, now_ms, status=status, due_ms=now_ms + rest_ms, release=True)
    facts: dict[str, str | int] = {"run": head.run_id, "workflow": head.workflow_id, "sequence": error.sequence}
    world.meter.report("run.unreadable", {**facts, "code": error.code})


def reported(world: World, head: RunHead, error: LogUnreadable) -> LogUnreadable:
    """The error of a reader. One who finds out before any runner lets the run rest, so that lists tell of it from then on."""
    if head.status not in UNREADABLE | ENDED:
        now_ms = world.clock.now_ms()
        lease = world.store.take_lease(head.run_id, token_hex(8), now_ms, now_ms)
        if lease is not None:
            rest(world, head, lease, error)
    return error
