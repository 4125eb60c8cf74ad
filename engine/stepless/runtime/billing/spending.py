"""Adds up what a run has used, in its header. The update that releases the lease writes it, so it costs no extra request.

The sender of a hint includes its usage for the run in the hint, and the invocation that receives the hint starts with it. Not
counted is the usage of an invocation that is killed, fenced off or refused because of a live lease, and the usage in a hint that
is lost or received by a process that is already executing the run.
"""

from __future__ import annotations

from typing import Final, TypedDict

from stepless.core.history.waits import header_words
from stepless.core.state import State
from stepless.limits import LAPSE_MS, LEASE_MS, MAX_CLAIM_LIFE_MS, SHORT_RUN_MS
from stepless.model.runs.tally import Tally, decode_tally, encode_tally
from stepless.ports import Lease, Message, RunHead
from stepless.runtime.billing import estimating
from stepless.runtime.exporting.cursors import NOTHING, Also
from stepless.runtime.header_notes import noted_meta
from stepless.runtime.world import World

ONE_REQUEST: Final = Tally(http_requests=1, invocations=1)  # the initial tally of an invocation for an HTTP request
ONE_EVENT: Final = Tally(queue_requests=2, invocations=1)  # the initial tally of an invocation for an event from a queue


class _Ends(TypedDict, total=False):
    """How `update_run` ends a lease."""

    due_ms: int | None
    release: bool
    grant_ms: int


def hint(world: World, run_id: str, reason: str) -> Message:
    """Returns a message to send now, with the usage for the run so far and the cost of the sending."""
    used = world.tallies.take()
    return Message(run_id, reason, spent=b"" if used is None else encode_tally(used + Tally(queue_requests=1)))


def begun(message: Message) -> Tally:
    """Returns the initial tally of an invocation for a message, which was received and will be deleted."""
    return decode_tally(message.spent) + Tally(queue_requests=2, invocations=1)


def release(
    world: World, head: RunHead, lease: Lease, state: State, due_ms: int | None, also: Also = NOTHING, grant_ms: int | None = None
) -> Lease:
    """Releases the lease of a run at `state`, or passes it on until `grant_ms`. Returns what `update_run` does. The usage of the
    write and of the request that follows cannot be counted before they happen. It is computed from the header at the start, to
    within a unit. `also` may hold the header's new `exported`. A run that has ended gets its expiry in the same update."""
    now_ms, meta = world.clock.now_ms(), noted_meta(head, state)
    expires_ms = _expiry(world, head, state, now_ms) if state.ended else None
    if expires_ms is not None and now_ms - head.created_ms > SHORT_RUN_MS:
        due_ms = expires_ms if due_ms is None else due_ms  # it is given if events are left to export, which the removal waits for
    used, spent = world.tallies.take(), None
    if used is not None:
        noted = head if meta is None else head._replace(meta=meta)
        leaving = estimating.leaving(noted, state.status.value, due_ms, now_ms, passed_on=grant_ms is not None)
        spent = encode_tally(decode_tally(lease.spent) + used + leaving)
    ends: _Ends = {"due_ms": due_ms, "release": True} if grant_ms is None else {"grant_ms": grant_ms}
    return world.store.update_run(
        lease, now_ms, status=state.status.value, sequence=state.sequence, spent=spent, waits=header_words(state),
        expires_ms=expires_ms, meta=meta, **ends, **also,
    )  # fmt: skip


def lapse(world: World, head: RunHead, lease: Lease, state: State, also: Also) -> Lease:
    """Shortens the lease of a run at `state` whose process ends itself. The run is due when the lease has lapsed. The next
    session writes what `release` writes in addition."""
    now_ms = world.clock.now_ms()
    return world.store.update_run(
        lease, now_ms, status=state.status.value, sequence=state.sequence, until_ms=now_ms + LAPSE_MS, waits=header_words(state),
        meta=noted_meta(head, state), **also,
    )  # fmt: skip


def renew(world: World, head: RunHead, lease: Lease, state: State, also: Also) -> Lease:
    """Extends the lease of a run at `state`. Its status, waits and notes keep lists of long runs current."""
    now_ms = world.clock.now_ms()
    return world.store.update_run(
        lease, now_ms, status=state.status.value, until_ms=now_ms + LEASE_MS, waits=header_words(state),
        meta=noted_meta(head, state), **also,
    )  # fmt: skip


def _expiry(world: World, head: RunHead, state: State, now_ms: int) -> int | None:
    """When the run expires; None to keep it for ever. It is fixed at its end. No claim outlives the run: a repeated start would
    create it again."""
    retention_ms = world.retention_ms if state.graph.retention_ms is None else state.graph.retention_ms
    if head.expires_ms is not None or retention_ms is None:
        return head.expires_ms
    world.store.expect_expiry(head.workflow_id, retention_ms, now_ms)
    return max(now_ms + retention_ms, head.created_ms + MAX_CLAIM_LIFE_MS)
