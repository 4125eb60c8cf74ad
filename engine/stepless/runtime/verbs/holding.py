"""Hold and release a run: an operator's hold on the whole of it. A held run starts nothing new and holds no process.

Every change is a signal, numbered one above the last: whoever asks for it at the same time asks for the same number, and of
those exactly one is kept. So the changes have an order that depends on no clock, and asking twice is asking once.
"""

from __future__ import annotations

from stepless.errors import Conflict
from stepless.limits import START_GRACE_MS
from stepless.runtime import inbox
from stepless.runtime.billing import spending
from stepless.runtime.runlog import RunLog
from stepless.runtime.verbs.inspecting import graph_of, head_of
from stepless.runtime.world import World


def hold(world: World, run_id: str, *, by: str | None = None, reason: str | None = None) -> None:
    """Asks for a run to be held, from when it next looks into its inbox, within about a second. What is under way then
    finishes and is recorded, and so are answers, deadlines, timers and the ends of child runs; what follows from them starts
    after `release`. A run that has not begun begins held; one that is held stays so. Raises `NotFound`, and `Conflict`
    (run_ended) for a finished run."""
    _change(world, run_id, True, by, reason)


def release(world: World, run_id: str, *, by: str | None = None, reason: str | None = None) -> None:
    """Takes `hold` back: the run goes on where it is. Nothing happens to one that is not held. Raises as `hold` does."""
    _change(world, run_id, False, by, reason)


def _change(world: World, run_id: str, wanted: bool, by: str | None, reason: str | None) -> None:
    head = head_of(world, run_id)
    state = RunLog(world.store, world.blobs, run_id).load(graph_of(world, head))
    if state.ended or head.status in inbox.ENDED:
        status = head.status if head.status in inbox.ENDED else state.status.value
        raise Conflict(f"the run {run_id} has ended: {status}", code="run_ended", run_status=status)
    number, held = state.holds, state.held is not None
    while (standing := world.store.get_signal(run_id, inbox.HOLD, str(number + 1))) is not None:
        number, held = number + 1, bool(inbox.body_of(standing)["held"])  # asked for, and not yet taken
    now_ms = world.clock.now_ms()
    if held is not wanted:
        world.store.touch_run(run_id, now_ms + START_GRACE_MS)  # should this process die between the next two lines
        world.store.put_signal(run_id, inbox.hold_signal(number + 1, wanted, by, reason, now_ms))
    world.queue.send(spending.hint(world, run_id, "signal"))
