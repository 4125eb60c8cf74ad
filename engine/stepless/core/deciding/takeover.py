"""Applies the outcomes that a rerun takes over from the former run (docs/understand/semantics.md#reruns).

They are applied in the order in which they settled there, each when nothing else is left to decide. Joins, variables and losers
therefore meet the same order of arrivals as in the former run. An outcome inside an iteration that has not begun by then is
applied when its iteration reaches it.
"""

from __future__ import annotations

from typing import Any

from stepless.core.decision import Decision
from stepless.core.events import EventType
from stepless.core.reused_outcomes import Payload, is_completion, suffix_of
from stepless.core.state import Instance, State, Status
from stepless.limits import TAKEOVER_STEPS


def next_outcome(state: State) -> Instance | None:
    """Returns the instance whose outcome is to be applied next. Sets aside the outcomes of instances whose iterations have not
    begun. None if there is none, or while the run is held or starts nothing new."""
    if state.halting or state.ending or state.held is not None:
        return None
    while state.outcomes:
        name = next(iter(state.outcomes))
        instance = state.find(name)
        if instance is not None and instance.status in (Status.PENDING, Status.QUEUED, Status.RUNNING):
            if "reason" not in state.outcomes[name]:
                return instance
            del state.outcomes[name]  # its join has not begun: it is needed
            state.agenda.append(instance)
            return instance
        payload = state.outcomes.pop(name)
        if not state.is_over(name):
            state.late.setdefault(suffix_of(name), {})[name] = payload
    return None


def apply_outcome(decision: Decision, instance: Instance) -> bool:
    """Settles a started instance with its outcome in the former run. False if it has none."""
    state = decision.state
    payload = state.outcomes.get(instance.id)
    if payload is None or "reason" in payload:
        return False
    decision.spent += TAKEOVER_STEPS
    if is_completion(payload):
        data = {name: value for name, value in payload.items() if name != "substituted"}
        decision.emit(EventType.NODE_COMPLETED, instance, {**data, "reused": True})
    else:
        apply_failure(decision, instance, payload)
    return True


def apply_failure(decision: Decision, instance: Instance, payload: Payload) -> None:
    """Settles an instance as failed, as it failed in the former run."""
    error = {name: value for name, value in payload["error"].items() if name != "event"}
    data: dict[str, Any] = {"error": error, "reused": True}
    for name in ("exception", "variables"):
        if name in payload:
            data[name] = payload[name]
    if "exception" in payload:
        error["event"] = decision.state.sequence + 1
    decision.emit(EventType(payload["type"]), instance, data)
