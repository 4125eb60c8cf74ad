"""Makes sure that a run's inbox is read: a signal is put into the inbox of a run that the sweep will look at."""

from __future__ import annotations

from stepless.limits import START_GRACE_MS
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

    If this process was held up since, the sweep may have come before the signal: it found an empty inbox, and the run is no
    longer due. Then only the hint would lead to the signal, and a hint can be lost.
    """
    now_ms = world.clock.now_ms()
    if now_ms - touched_ms >= START_GRACE_MS // 2:
        world.store.touch_run(run_id, now_ms + START_GRACE_MS)
