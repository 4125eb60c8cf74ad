"""Orders the instances of a run that wait for a limit by when they began to wait. Part of folding."""

from __future__ import annotations

from heapq import heappush

from stepless.core.events import Event
from stepless.core.state import Instance, State, Status, Timer, Wait, is_in_doubt

LIMIT = "limit"  # the reason of such a wait
PACED = "pace"  # the kind of the timer of a reserved instant


def fold_queued(state: State, instance: Instance, event: Event) -> None:
    """Queues an instance: in the line of the limit that the event names, until the instant that was reserved for it, or for a
    free slot of the process."""
    data = event.data
    state.backing_off.pop(event.instance, None)
    state.doubted.pop(event.instance, None)
    unqueue(state, instance)
    instance.wait = None
    instance.status = Status.QUEUED
    instance.substituted = instance.substituted or bool(data.get("substituted"))
    if "cell" not in data:
        if data.get("again"):
            instance.wait = Wait(LIMIT, event.at_ms, None, None, "source", (), {"again": True})
        restore_ready(state, instance)
        return
    resume_at_ms = data.get("resume_at")
    details = {name: data[name] for name in ("limit", "cell", "paced", "again") if name in data}
    instance.wait = Wait(LIMIT, event.at_ms, resume_at_ms, None, "source", (), details)
    restore_limited(state, instance, instance.wait)
    if resume_at_ms is not None:
        heappush(state.timers, Timer(resume_at_ms, 0, PACED, event.instance))


def restore_ready(state: State, instance: Instance) -> None:
    if is_in_doubt(state, instance):
        state.doubted[instance.id] = instance
    else:
        state.ready.append(instance)


def restore_limited(state: State, instance: Instance, wait: Wait) -> None:
    if wait.resume_at_ms is not None:
        state.paced[instance.id] = instance
    else:
        state.limited.setdefault(str(wait.details["cell"]), {})[instance.id] = instance


def is_ready(state: State) -> bool:
    """Returns whether an instance waits for a free slot of the process."""
    return any(map(waits_for_process, state.ready))


def waits_for_process(instance: Instance) -> bool:
    """Returns whether an instance in `State.ready` still waits for a free slot of the process. Only `decide` takes instances that
    have begun, or now wait for a limit, out of `ready`; a state that was folded from the log still has them there."""
    return instance.status is Status.QUEUED and (instance.wait is None or "cell" not in instance.wait.details)


def unqueue(state: State, instance: Instance) -> None:
    """Removes an instance from those that wait for a limit, if it is among them."""
    wait = instance.wait
    if wait is None or "cell" not in wait.details:
        return
    name = instance.id
    state.paced.pop(name, None)
    line = state.limited.get(str(wait.details["cell"]))
    if line is not None and line.pop(name, None) is not None and not line:
        del state.limited[str(wait.details["cell"])]
