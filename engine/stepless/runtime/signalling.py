"""Puts a signal into the inbox of a run so that some session will read it.

A signal is stored in one place (the inbox) and the instant at which the sweep looks at the run in another (the header), and no
transaction covers both. A process may die between any two steps, and the hint that follows them may be lost. So the run is made
due *before* the signal is put: a death in between wakes a run for nothing, while the other order leaves a signal that nobody
reads.

That alone is not enough. The touch makes the run due after START_GRACE_MS. If a session, woken by an earlier hint, comes between
the touch and the signal, it finds an empty inbox, parks the run and so takes the due instant away; the signal is put after that,
and if its hint is lost too, an answer, a release or a cancel is never read. Therefore `keep_due` reads the header once more after
the put:

    a session holds the lease        the run is touched: the session may have read its inbox for the last time
    the run is due as it was left    nothing: no session came in between, and the sweep will find the run
    not due, or due later            a session came in between: the run is touched again
    ended, or a granted lease        nothing: the receiver of the granted lease reads the inbox when it begins

After the second touch no further read is needed: the signal is in the inbox, and every session reads that when it begins and
after it has released its lease.
"""

from __future__ import annotations

from stepless.limits import START_GRACE_MS
from stepless.model.runs.statuses import ENDED
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
