"""Moves deadlines, time limits and reserved instants after the clock was set back: one that lies further ahead than its whole
length begins again (docs/understand/durability.md#clocks). Part of folding: the event `run.status.changed` with the reason
CLOCK_SET_BACK.

The problem: an instant in the state came from a clock that was ahead. After the clock has been set back by a day, a pause of one
hour would end in 25 hours. The state does not say by how much the clock was wrong when something began.

The rule needs only what is stored: something that lasts for a length L and began at an instant in the past is due at most L from
now. So what is due later than now + L, by more than clocks differ, began in the future; it begins again now, and is due at now +
L. An instant that an author has named has no length, and stays.

* *Nothing is due early.* An instant is only ever moved to now + L, and L is what was asked for.
* *It happens once.* After `begin_again` nothing lies further ahead than its length, so `is_late` is false. The two must use the
  same `_due_ms`: if one found more than the other, each look of a session would log another event.
* *The event has no data.* What moves, and to where, is computed from the state and the instant of the event, so replaying the log
  gives the same instants. A wait until a timer's instant gets an event of its own instead (`set_back`), because its instant was
  in an event before, and readers of the log have to see the new one.
* *The time limit of a run leaves out its pauses.* Its timer counts only under the `paused_ms` with which it was armed, so the
  pauses are corrected before it is armed again.
"""

from __future__ import annotations

from heapq import heapify
from typing import Final

from stepless.core.folding.clocks import LIMIT, arm_run
from stepless.core.limits.queue import PACED
from stepless.core.state import Instance, State, Status, Timer, Wait, is_enclosing, scopes
from stepless.limits import CLOCK_TOLERANCE_MS, MAX_NOTICE_BACKOFF_MS

CLOCK_SET_BACK: Final = "clock_set_back"
_WAITS: Final = frozenset({"wait", "notice", PACED})


def is_late(state: State, now_ms: int) -> bool:
    """Returns whether a deadline of the run lies further ahead of `now_ms` than its whole length, by more than clocks differ."""
    latest_ms = now_ms + CLOCK_TOLERANCE_MS
    if state.graph.timeout_ms is not None and state.paused_since_ms is not None and state.paused_since_ms > latest_ms:
        return True
    return any(timer.at_ms > latest_ms and _due_ms(state, timer, now_ms) < timer.at_ms for timer in state.timers)


def begin_again(state: State, now_ms: int) -> None:
    """Moves what began in the future to `now_ms`, and its timers with it."""
    latest_ms = now_ms + CLOCK_TOLERANCE_MS
    timers = [timer._replace(at_ms=_due_ms(state, timer, now_ms)) for timer in state.timers if timer.kind != "run"]
    for scope in scopes(state):
        if scope.started_ms > latest_ms:
            scope.started_ms = now_ms
        for instance in scope.touched():
            if instance.since_ms > latest_ms and (instance.settled or is_enclosing(instance)):
                instance.since_ms = now_ms  # its joins and its own time limit count from here
            if instance.wait is not None:
                instance.wait = _wait_from(instance.wait, now_ms)
    state.timers = timers
    heapify(state.timers)
    if state.graph.timeout_ms is not None:
        _move_run(state, now_ms)


def _move_run(state: State, now_ms: int) -> None:
    """Lets the run time out at most its whole time limit from now. A pause that began in the future begins now."""
    if state.paused_since_ms is not None and state.paused_since_ms > now_ms + CLOCK_TOLERANCE_MS:
        state.paused_since_ms = now_ms
    since_ms = now_ms if state.paused_since_ms is None else state.paused_since_ms
    state.paused_ms = min(state.paused_ms, since_ms - state.started_ms)
    arm_run(state)


def _due_ms(state: State, timer: Timer, now_ms: int) -> int:
    """When a timer is due if it may not be further ahead than its length. One that no longer counts stays as it is."""
    instance = state.find(timer.instance) if timer.instance else None
    length_ms: int | None = None
    if timer.kind in _WAITS:
        return _wait_due_ms(instance, timer, now_ms) if instance is not None else timer.at_ms
    if timer.kind == "join" and instance is not None and instance.status is Status.PENDING:
        length_ms = instance.node.join.rule.timeout_ms
    elif timer.kind == LIMIT and instance is not None and is_enclosing(instance) and instance.attempt == timer.stamp:
        length_ms = instance.node.limit_ms
    elif timer.kind == "run" and timer.stamp == state.paused_ms:
        length_ms = state.graph.timeout_ms
    if length_ms is None or timer.at_ms <= now_ms + CLOCK_TOLERANCE_MS + length_ms:
        return timer.at_ms
    return now_ms + length_ms


def _wait_due_ms(instance: Instance, timer: Timer, now_ms: int) -> int:
    wait = instance.wait
    if wait is None:
        return timer.at_ms
    moved = _wait_from(wait, now_ms)
    if timer.kind == "notice":
        former_ms, due_ms = wait.notice_ms, moved.notice_ms
    elif timer.kind == PACED:
        former_ms, due_ms = wait.resume_at_ms, moved.resume_at_ms
    else:
        former_ms, due_ms = wait.deadline_ms, moved.deadline_ms
    return due_ms if due_ms is not None and former_ms == timer.at_ms else timer.at_ms


def _wait_from(wait: Wait, now_ms: int) -> Wait:
    """The wait as if it had begun now, if it began in the future. One until a timer's instant gets an event of its own. An
    instant that was reserved under a rate is given up: the attempt reserves another one."""
    latest_ms = now_ms + CLOCK_TOLERANCE_MS
    if wait.tries and wait.notice_ms is not None and wait.notice_ms > latest_ms + MAX_NOTICE_BACKOFF_MS:
        wait = wait._replace(notice_ms=now_ms + MAX_NOTICE_BACKOFF_MS)
    if wait.since_ms <= latest_ms or (wait.resume_at_ms is not None and "cell" not in wait.details):
        return wait
    back_ms = wait.since_ms - now_ms
    deadline_ms = wait.deadline_ms - back_ms if wait.deadline_ms is not None else None
    notice_ms = wait.notice_ms - back_ms if wait.notice_ms is not None and not wait.tries else wait.notice_ms
    resume_at_ms, details = wait.resume_at_ms, wait.details
    if resume_at_ms is not None:
        resume_at_ms, details = now_ms, {name: value for name, value in details.items() if name != "paced"}
    return wait._replace(
        since_ms=now_ms, deadline_ms=deadline_ms, notice_ms=notice_ms, resume_at_ms=resume_at_ms, details=details
    )
