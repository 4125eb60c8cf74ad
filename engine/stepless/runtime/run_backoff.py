"""Backs off from runs whose log cannot be read: the run is left unchanged and retried later; the interval doubles each time.

Nothing is appended to its log. Its header holds the reason in place of the status, so that lists show it. The first release that
can read the log continues the run and restores its status.
"""

from __future__ import annotations

from secrets import token_hex
from typing import Final

from stepless.errors import DamagedLog, LeaseLost, LogUnreadable, NewerLog
from stepless.limits import MAX_UNREADABLE_RETRY_MS, UNREADABLE_RETRY_MS
from stepless.model.runs.statuses import ENDED
from stepless.ports import Lease, RunHead
from stepless.runtime.world import World

UNREADABLE: Final = frozenset({DamagedLog.code, NewerLog.code})  # what a header says of such a run


def rest(world: World, head: RunHead, lease: Lease, error: LogUnreadable) -> bool:
    """Releases the lease of a run whose log cannot be read. `head` is the header before the lease was taken. For a run that rests
    already, it holds the start and the end of the former rest. False if another process has taken the lease: it decides."""
    now_ms = world.clock.now_ms()
    former_ms = (head.due_ms or 0) - head.updated_ms if head.status in UNREADABLE else 0
    rest_ms = min(max(2 * former_ms, UNREADABLE_RETRY_MS), MAX_UNREADABLE_RETRY_MS)
    mark = DamagedLog.code if isinstance(error, DamagedLog) else error.code  # in words that the former release knows
    status = None if head.status in ENDED else mark  # the status of an ended run is kept
    try:
        world.store.update_run(lease, now_ms, status=status, due_ms=now_ms + rest_ms, release=True)
    except LeaseLost:
        return False
    facts: dict[str, str | int] = {"run": head.run_id, "workflow": head.workflow_id, "sequence": error.sequence}
    world.meter.report("run.unreadable", {**facts, "code": error.code})
    return True


def reported(world: World, head: RunHead, error: LogUnreadable) -> LogUnreadable:
    """Returns the error to raise to a reader. If no runner has found the fault yet, the run rests from now on, so that lists show
    it."""
    if head.status not in UNREADABLE | ENDED:
        now_ms = world.clock.now_ms()
        lease = world.store.take_lease(head.run_id, token_hex(8), now_ms, now_ms)
        if lease is not None:
            rest(world, head, lease, error)
    return error
