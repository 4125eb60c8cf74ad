"""Dead letters: what becomes of a run whose message nobody could work off, however often it came."""

from __future__ import annotations

from secrets import token_hex

from stepless.errors import LeaseLost
from stepless.limits import DEAD_LETTER_RETRY_MS
from stepless.ports import Message
from stepless.runtime.inbox import ENDED
from stepless.runtime.metering import DEAD_LETTERS
from stepless.runtime.world import World


def rest(world: World, message: Message) -> bool:
    """Tells the operator, and lets a run that cannot go on rest: the sweep tries it again after DEAD_LETTER_RETRY_MS, not every
    minute. Nothing of the run is changed otherwise: mended and deployed code takes it on where it stands, at the next hint.
    False when there is nothing to do: the run has ended, does not exist, or somebody is running it now."""
    head = world.store.get_run(message.run_id)
    if head is None or head.status in ENDED:
        return False
    now_ms = world.clock.now_ms()
    lease = world.store.take_lease(message.run_id, token_hex(8), now_ms, now_ms)
    if lease is None:
        return False
    try:
        world.store.update_run(lease, now_ms, due_ms=now_ms + DEAD_LETTER_RETRY_MS, release=True)
    except LeaseLost:  # it counts for no time at all: whoever takes the run meanwhile may have it
        return False
    world.meter.count(DEAD_LETTERS)
    facts: dict[str, str | int] = {"run": head.run_id, "workflow": head.workflow_id, "reason": message.reason}
    world.meter.report("run.dead_letter", {**facts, "hops": message.hops})
    return True
