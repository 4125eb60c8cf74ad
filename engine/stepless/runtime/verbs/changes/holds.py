"""Holds and releases runs: an operator pauses a whole run and resumes it. A held run starts nothing new and occupies no process.

Every change is a signal, numbered one above the last. Concurrent requests use the same number, and the store keeps exactly one of
them. So the order of changes depends on no clock, and repeated requests have no effect.
"""

from __future__ import annotations

from stepless.errors import Conflict
from stepless.model.runs.statuses import ENDED
from stepless.runtime import inbox
from stepless.runtime.billing import spending
from stepless.runtime.runlog import RunLog
from stepless.runtime.signalling import put_signal
from stepless.runtime.verbs.reads.inspecting import graph_of, head_of, whole_or_gone
from stepless.runtime.world import World


def hold(world: World, run_id: str, *, by: str | None = None, reason: str | None = None) -> None:
    """Requests that a run be held, from its next read of the inbox, within about a second. Running attempts finish and are
    recorded, and so are answers, deadlines, timers and the ends of child runs. What follows from them starts after `release`. A
    run that has not started yet starts held. Idempotent. Raises `NotFound`, and `Conflict` (run_ended) for a finished run."""
    _change(world, run_id, True, by, reason)


def release(world: World, run_id: str, *, by: str | None = None, reason: str | None = None) -> None:
    """Ends a hold: the run continues where it is. Does nothing to a run that is not held. Raises as `hold` does."""
    _change(world, run_id, False, by, reason)


def _change(world: World, run_id: str, wanted: bool, by: str | None, reason: str | None) -> None:
    head = head_of(world, run_id)
    graph = graph_of(world, head)
    with whole_or_gone(world, run_id):
        state = RunLog(world.store, world.blobs, run_id).load(graph)
    if state.ended or head.status in ENDED:
        status = head.status if head.status in ENDED else state.status.value
        raise Conflict(f"the run {run_id} has ended: {status}", code="run_ended", run_status=status)
    number, held = state.holds, state.held is not None
    while (existing := world.store.get_signal(run_id, inbox.HOLD, str(number + 1))) is not None:
        number, held = number + 1, bool(inbox.body_of(existing)["held"])  # requested, and not yet processed
    now_ms = world.clock.now_ms()
    if held is not wanted:
        put_signal(world, run_id, inbox.hold_signal(number + 1, wanted, by, reason, now_ms), now_ms)
    world.queue.send(spending.hint(world, run_id, "signal"))
