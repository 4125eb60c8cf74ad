"""Handles a run whose message could not be processed after all retries."""

from __future__ import annotations

from secrets import token_hex

from stepless.errors import LeaseLost
from stepless.limits import DEAD_LETTER_RETRY_MS
from stepless.model.runs.statuses import ENDED
from stepless.ports import Message
from stepless.runtime.exporting.cursors import is_behind
from stepless.runtime.inbox import OVER
from stepless.runtime.metering import DEAD_LETTERS
from stepless.runtime.world import World


def rest(world: World, message: Message) -> bool:
    """Reports the dead letter to the operator and lets the run rest: the sweep retries it after DEAD_LETTER_RETRY_MS instead of
    every minute. The run is not changed otherwise, and fixed code continues it at the next hint. Returns False if the run has
    ended, does not exist, or is executed by another process now."""
    head = world.store.get_run(message.run_id)
    if head is None or head.status in OVER:
        return False
    now_ms = world.clock.now_ms()
    lease = world.store.take_lease(message.run_id, token_hex(8), now_ms, now_ms)
    if lease is None:
        return False
    leased = world.store.get_run(message.run_id)
    has_ended = leased is not None and leased.status in ENDED  # since the first read: nothing is left to retry
    try:
        done = leased is not None and has_ended and not is_behind(leased.exported, leased.sequence)
        due_ms = leased.expires_ms if done and leased is not None else now_ms + DEAD_LETTER_RETRY_MS
        world.store.update_run(lease, now_ms, due_ms=due_ms, release=True)
    except LeaseLost:  # the lease has no duration, so another process may have taken the run in the meantime
        return False
    if has_ended:
        return False
    world.meter.count(DEAD_LETTERS)
    facts: dict[str, str | int] = {"run": head.run_id, "workflow": head.workflow_id, "reason": message.reason}
    world.meter.report("run.dead_letter", {**facts, "hops": message.hops})
    return True
