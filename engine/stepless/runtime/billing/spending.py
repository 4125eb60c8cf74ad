"""What a run has spent, kept in its header: added in the very update that frees the lease, so that it costs no request.

Whoever sends a hint tells in it what it has used for the run so far, and the invocation that receives the hint begins with that.
Some spending nobody tells: that of an invocation that is killed, fenced off or turned away by a live lease, and what was said
in a hint that is lost, or that comes to a process which has the run in hand already.
"""

from __future__ import annotations

from typing import Final

from stepless.core.history.waits import waits_of
from stepless.core.state import State
from stepless.model.tally import Tally, decode_tally, encode_tally
from stepless.ports import Lease, Message, RunHead
from stepless.runtime.billing import estimating
from stepless.runtime.world import World

ONE_REQUEST: Final = Tally(http_requests=1, invocations=1)  # what an invocation for a caller over HTTP begins with
ONE_EVENT: Final = Tally(queue_requests=2, invocations=1)  # and one for an event, which comes through a queue


def hint(world: World, run_id: str, reason: str) -> Message:
    """A message to be sent now, with what was used for the run until now and what the sending costs."""
    used = world.tallies.take()
    return Message(run_id, reason, spent=b"" if used is None else encode_tally(used + Tally(queue_requests=1)))


def begun(message: Message) -> Tally:
    """What an invocation for a message begins with: the message was received and will be deleted."""
    return decode_tally(message.spent) + Tally(queue_requests=2, invocations=1)


def release(world: World, head: RunHead, lease: Lease, state: State, due_ms: int | None) -> None:
    """Frees the lease of a run that comes to rest as `state`. What the release itself uses, and what follows it, cannot be
    counted before it is done: it is computed, to within a unit, by what the header was at the beginning."""
    now_ms, used, spent = world.clock.now_ms(), world.tallies.take(), None
    if used is not None:
        leaving = estimating.leaving(head, state.status.value, due_ms, now_ms)
        spent = encode_tally(decode_tally(lease.spent) + used + leaving)
    world.store.update_run(
        lease, now_ms, status=state.status.value, sequence=state.sequence, due_ms=due_ms, release=True, spent=spent,
        waits=" ".join(waits_of(state)),
    )  # fmt: skip
