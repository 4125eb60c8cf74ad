"""Makes the next timer of a run due now.

Every run has its own time, which may be ahead of the clock. A skip moves it to the next instant at which time alone changes
something: the end of a wait, a retry, a deadline, a reminder. The run then continues as if that time had passed, and its events
have the later times. Other runs, leases, schedules, signatures and links are not affected: they use the clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from stepless.core.decide import decide
from stepless.core.facts import Tick
from stepless.core.state import State
from stepless.errors import Conflict
from stepless.model.stored.damage import decoding
from stepless.ports import SHARD, Clock, Store
from stepless.runtime.billing import spending
from stepless.runtime.removal import ahead_key
from stepless.runtime.runlog import RunLog
from stepless.runtime.verbs.reads.inspecting import graph_of, head_of
from stepless.runtime.world import World


@dataclass(frozen=True, slots=True)
class TimeSkip:
    """`run_id` is the run that waited: the requested one, or a child run that it called, directly or indirectly. `skipped_ms` is
    by how much its time was moved."""

    run_id: str
    skipped_ms: int


def own_times(store: Store, clock: Clock) -> Callable[[str], int]:
    """Returns a `World.ahead_ms` over a store: the time skips stored there, by any process."""
    return partial(_ahead_ms, store, clock)


def skip_time(world: World, run_id: str) -> TimeSkip:
    """Moves the time of a run, or of a child run that it waits for, to the first instant at which one of them is due.

    Raises `NotFound`, and `Conflict`: run_ended, or nothing_due if no run waits for an instant.
    """
    family = _family(world, run_id)
    waits = [(wait_ms, state.run_id) for state in family if (wait_ms := _wait_ms(world, state)) is not None]
    if not waits:
        message, mend = f"the run {run_id} does not wait for a time", "answer its question, or wait for its attempts to end"
        raise Conflict(message, code="nothing_due", mend=mend)
    wait_ms, waiting = min(waits)
    _move_on(world, waiting, wait_ms)
    world.queue.send(spending.hint(world, waiting, "timer"))
    return TimeSkip(waiting, wait_ms)


def _family(world: World, run_id: str) -> Iterator[State]:
    """The run and the child runs that it waits for, recursively. Raises `Conflict` if the run itself has ended."""
    open_runs = [run_id]
    while open_runs:
        head = head_of(world, open_runs.pop())
        state = RunLog(world.store, world.blobs, head.run_id).load(graph_of(world, head))
        if state.ended and head.run_id == run_id:
            raise Conflict(f"the run {run_id} has ended: {state.status.value}", code="run_ended", run_status=state.status.value)
        yield state
        children = (instance.wait for instance in state.waiting.values())
        called = (str(wait.details["run"]) for wait in children if wait is not None and wait.reason == "subrun")
        open_runs += [child for child in called if not child.startswith(SHARD)]


def _wait_ms(world: World, state: State) -> int | None:
    """How long until time alone changes something; None if it never does. Timers may outlive their purpose, so each instant is
    tried on this copy of the state."""
    if state.ended:
        return None
    now_ms = world.clock.now_ms() + _ahead_ms(world.store, world.clock, state.run_id)
    for due_ms in sorted({timer.at_ms for timer in state.timers}):
        decision = decide(state, [Tick()], due_ms)
        if decision.events or decision.expiries or decision.notices:
            return max(0, due_ms - now_ms)
    return None


def _ahead_ms(store: Store, clock: Clock, run_id: str) -> int:
    return _whole(store.get_claim(ahead_key(run_id), clock.now_ms()), run_id)


def _move_on(world: World, run_id: str, by_ms: int) -> None:
    """Moves the time of a run. Of two concurrent skips only one takes effect, since both meant the same instant."""
    key, now_ms = ahead_key(run_id), world.clock.now_ms()
    kept = world.store.get_claim(key, now_ms)
    if kept is not None:
        world.store.release_claim(key, kept)
    world.store.claim(key, str(_whole(kept, run_id) + by_ms).encode(), now_ms)


def _whole(kept: bytes | None, run_id: str) -> int:
    with decoding(kept, f"claim.value of {ahead_key(run_id)}", "restore the store from a backup, or erase the run"):
        return int(kept or 0)
