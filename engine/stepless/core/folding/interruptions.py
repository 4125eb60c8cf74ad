"""Tracks the window of a run: the instances that deaths of its processes interrupted and that have not settled since. Part of
folding (docs/understand/durability.md#deaths-of-the-process)."""

from __future__ import annotations

from collections import deque

from stepless.core.events import Event
from stepless.core.limits.queue import waits_for_process
from stepless.core.state import Instance, State


def fold_recovered(state: State, event: Event) -> None:
    """Begins the interrupted attempts anew, and counts the death, if it was one."""
    died = event.data.get("died", True)
    for name, instance in state.running.items():
        state.first_starts.setdefault(name, instance.since_ms)
        instance.since_ms = event.at_ms
        if died:
            state.recoveries[name] = state.recoveries.get(name, 0) + 1
    if died and state.running:
        _count_death(state)
    state.exclusive = ""


def _count_death(state: State) -> None:
    """Counts a death in its window, and against the instance whose attempt was exclusive. From the second one on, instances of
    the window that wait for a free slot wait for an exclusive attempt."""
    state.deaths += 1
    if state.exclusive in state.running:
        state.lone_deaths[state.exclusive] = state.lone_deaths.get(state.exclusive, 0) + 1
    if state.deaths > 1:
        queued = [one for one in state.ready if one.id in state.recoveries]
        state.ready = deque(one for one in state.ready if one.id not in state.recoveries)
        state.doubted.update((one.id, one) for one in queued if waits_for_process(one))


def leave_window(state: State, instance: Instance) -> None:
    """Takes a settled instance out of the window of deaths, which ends with its last instance."""
    state.recoveries.pop(instance.id, None)
    state.lone_deaths.pop(instance.id, None)
    state.doubted.pop(instance.id, None)
    if not state.recoveries:
        state.deaths, state.exclusive = 0, ""
