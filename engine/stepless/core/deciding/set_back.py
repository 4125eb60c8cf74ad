"""Timers after the clock was set back: nothing that lasts for a length of time may be due later than that length from now
(docs/understand/durability.md#clocks). An instant that an author names stays as it is."""

from __future__ import annotations

from collections.abc import Mapping

from stepless.core.decision import Decision
from stepless.core.events import EventType
from stepless.core.facts import ClockSetBack
from stepless.core.folding.set_back_folds import CLOCK_SET_BACK, is_late
from stepless.core.state import Instance, State
from stepless.limits import CLOCK_TOLERANCE_MS


def is_set_back(state: State, now_ms: int) -> bool:
    """Returns whether a timer of the run began at an instant that the clock has yet to reach, by more than clocks differ."""
    return not state.ended and (any(True for _ in _ahead(state, now_ms)) or is_late(state, now_ms))


def set_back(decision: Decision, fact: ClockSetBack) -> None:
    """Begins again, now, everything that began in the future. Each wait, deadline and back-off keeps its length."""
    state = decision.state
    if is_late(state, decision.now_ms):
        decision.emit_run(EventType.RUN_STATUS_CHANGED, {"status": state.status.value, "reason": CLOCK_SET_BACK})
    for instance in _ahead(state, decision.now_ms):
        wait = instance.wait
        if wait is None or wait.resume_at_ms is None:
            continue
        resume_at_ms = decision.now_ms + max(0, wait.resume_at_ms - wait.since_ms)
        if wait.reason == "timer":
            data = {"reason": "timer", "exits": list(wait.exits), "resume_at": resume_at_ms, "handle": wait.handle}
            decision.emit(EventType.NODE_WAITING, instance, data)
        else:
            facts = {"attempt": instance.attempt, "cause": "clock", "code": "clock_set_back", "message": _MESSAGE}
            again = {"again": True} if wait.details.get("again") else {}
            delay_ms = resume_at_ms - decision.now_ms
            decision.emit(EventType.NODE_RETRIED, instance, {**facts, "delay_ms": delay_ms, "resume_at": resume_at_ms, **again})


_MESSAGE = "the clock was set back during the back-off, which begins again"


def _ahead(state: State, now_ms: int) -> list[Instance]:
    """The waits and back-offs that began in the future. Each gets an event of its own, which says until when it lasts now."""
    latest_ms = now_ms + CLOCK_TOLERANCE_MS
    some = (*state.waiting.values(), *state.backing_off.values())
    return [one for one in some if one.wait is not None and one.wait.since_ms > latest_ms and _has_length(one)]


def _has_length(instance: Instance) -> bool:
    """Whether the instance waits for a length of time, not until an instant that its author names."""
    wait = instance.wait
    if wait is None or wait.resume_at_ms is None:
        return False
    if wait.reason != "timer":
        return wait.reason == "retry_backoff"
    config, written = instance.node.config, instance.node.config.template.value
    return "until" not in config.literals and not (isinstance(written, Mapping) and "until" in written)
