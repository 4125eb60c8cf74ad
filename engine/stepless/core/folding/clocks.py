"""Arms timers while events are folded: when a scope begins, when a fork settles, when an attempt begins to enclose other work,
when the run resumes."""

from __future__ import annotations

from heapq import heappush
from typing import Final

from stepless.core.state import Instance, Scope, State, Timer

LIMIT: Final = "timeout"  # the kind of the timer of such a limit


def enter(state: State, scope: Scope) -> None:
    """Begins a scope: schedules its entries and starts the clocks of its joins without a fork."""
    state.agenda.extend(scope.at(position) for position in scope.body.entries)
    for position in scope.body.root_clocks:
        start_clock(state, scope.at(position), scope.started_ms)


def start_clock(state: State, join: Instance, since_ms: int) -> None:
    timeout_ms = join.node.join.rule.timeout_ms
    if timeout_ms is not None:
        heappush(state.timers, Timer(since_ms + timeout_ms, 0, "join", join.id))


def arm_limit(state: State, instance: Instance) -> None:
    """Arms the time limit of the present attempt of a container or of a caller of a child run."""
    limit_ms = instance.node.limit_ms
    if limit_ms is not None:
        heappush(state.timers, Timer(instance.since_ms + limit_ms, instance.attempt, LIMIT, instance.id))


def arm_run(state: State) -> None:
    """Arms the run's own deadline, which moves with every pause."""
    deadline_ms = state.deadline_ms
    if deadline_ms is not None:
        heappush(state.timers, Timer(deadline_ms, state.paused_ms, "run", ""))
