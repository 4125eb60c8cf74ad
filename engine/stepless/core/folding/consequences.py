"""Applies the consequences of a settled instance: branches resolve, clocks start, iterations end. They are deterministic, so they
are part of folding and decide nothing."""

from __future__ import annotations

from stepless.core.branches import Branch, resolve
from stepless.core.events import Event
from stepless.core.folding.clocks import start_clock
from stepless.core.folding.interruptions import leave_window
from stepless.core.folding.iterations import end_iteration
from stepless.core.limits.queue import unqueue
from stepless.core.state import MESSAGE, Instance, Scope, State, Status, is_bad_leaf, stop_receiving
from stepless.core.values.reference_values import Merging
from stepless.model.declaration.policies import OnFailure

LATE_ARRIVAL = "late_arrival"


def settled(state: State, instance: Instance, event: Event) -> None:
    """Applies the consequences of a terminal status: resolved branches, started clocks, the leaf rule, the end of the scope."""
    instance.settled_sequence = event.sequence
    instance.since_ms = event.at_ms
    if instance.wait is not None:
        unqueue(state, instance)
        if instance.wait.reason == MESSAGE:
            stop_receiving(state, instance)
        instance.wait = None
    instance.answer = None
    state.children.pop(event.instance, None)
    state.idle_hops = 0
    if state.recoveries or state.first_starts or state.outcomes:
        _forget(state, instance)
    for live in (state.running, state.waiting, state.backing_off):
        if event.instance in live:
            del live[event.instance]
            break
    scope, node = instance.scope, instance.node
    if node.outgoing:
        if not (state.halting and instance.status is Status.CANCELLED and instance.reason == state.halting):
            _resolve_branches(state, instance)  # otherwise the nodes after it end with the run, not by the join rule
    elif is_bad_leaf(instance):
        scope.bad += 1
        if scope.owner is None and state.graph.on_failure is not OnFailure.ISOLATE and not state.halting:
            state.halting = "run_failed"
    for position in node.clocks:
        start_clock(state, scope.at(position), event.at_ms)
    scope.unsettled -= 1
    if scope.unsettled == 0 and scope.owner is not None:
        _iteration_ended(state, scope, event)


def _forget(state: State, instance: Instance) -> None:
    """Drops what was noted about an instance until it settles."""
    if state.recoveries:
        leave_window(state, instance)
    state.first_starts.pop(instance.id, None)
    state.outcomes.pop(instance.id, None)


def _resolve_branches(state: State, instance: Instance) -> None:
    taken, otherwise = resolve(instance)
    scope, position, targets = instance.scope, instance.node.position, instance.node.targets
    for number in targets:
        target = scope.instances[number] or scope.at(number)
        if number in taken:
            target.taken += 1
            if target.status is Status.PENDING:
                target.last_taken = position
            elif target.index and target.status is not Status.QUEUED:
                state.notes.append((LATE_ARRIVAL, target, instance.node.id))
        elif otherwise is Branch.PRUNED:
            target.pruned += 1
        else:
            target.dead += 1
        if target.status is Status.PENDING:
            state.agenda.append(target)


def _iteration_ended(state: State, scope: Scope, event: Event) -> None:
    owner = scope.owner
    if owner is None:
        return

    end_iteration(owner, scope, Merging(state, owner, event.at_ms, decided=True))
    if not owner.settled:
        state.agenda.append(owner)
