"""Makes sure that a run's inbox is read: a signal is put into the inbox of a run that the sweep will look at."""

from __future__ import annotations

from stepless.limits import START_GRACE_MS
from stepless.model.statuses import ENDED
from stepless.ports import GRANTED
from stepless.ports.store import Signal
from stepless.runtime.world import World


def put_signal(world: World, run_id: str, signal: Signal, now_ms: int) -> bool:
    """Puts a signal into the inbox of a run that it makes due first, so that the sweep finds the run if this process dies in
    between. The caller sends the hint afterwards. False if the run does not exist; then nothing is put."""
    if not world.store.touch_run(run_id, now_ms + START_GRACE_MS):
        return False
    world.store.put_signal(run_id, signal)
    keep_due(world, run_id, now_ms)
    return True


def keep_due(world: World, run_id: str, touched_ms: int) -> None:
    """Call it between putting a signal and sending the hint. `touched_ms` is when the run was made due, START_GRACE_MS later.

    A session, or the sweep, may have come between the touch and the signal: it found an empty inbox, and the run is not due any
    more. Then only the hint would lead to the signal, and a hint can be lost. A read tells: it is cheaper than a second touch.
    """
    head = world.store.get_run(run_id)
    if head is None or head.status in ENDED or head.owner in GRANTED:  # the session that takes a granted lease finds the signal
        return
    if head.owner is not None or head.due_ms is None or head.due_ms > touched_ms + START_GRACE_MS:
        world.store.touch_run(run_id, world.clock.now_ms() + START_GRACE_MS)
