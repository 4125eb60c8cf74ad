"""Folds the events of containers: an iteration begins, an attempt ends in a back-off, variables are handed on
(docs/understand/semantics.md#containers)."""

from __future__ import annotations

from collections.abc import Mapping

from stepless.core.events import Event
from stepless.core.folding.clocks import arm_limit, enter
from stepless.core.folding.iterations import collection, exit_cells
from stepless.core.state import OUTSIDE, Cell, Instance, Iterations, Scope, State
from stepless.core.values.inputs import merged_inputs
from stepless.core.values.reference_values import DECIDED, Merging, Reading
from stepless.core.values.variables import VariableConflict
from stepless.errors import EngineBug, ExpressionError
from stepless.model.json import JSON

VARIABLE_CONFLICT = "variable_conflict"


def loop_started(state: State, instance: Instance, event: Event) -> None:
    inputs: Mapping[str, JSON] = {}
    container = instance.node.container
    items = None
    if container is not None and container.mode == "items":
        inputs = merged_inputs(state, instance)
        reading = Reading(state, instance, inputs, event.at_ms)
        reading.left = DECIDED
        items = collection(container, reading)
        items = items[: event.data["total"]]
    inherited = {name: Cell(cell.value, OUTSIDE, cell.sequence) for name, cell in instance.cells.items()}
    instance.iterations = Iterations(items, event.data.get("total"), inherited, instance.used)
    state.agenda.append(instance)
    arm_limit(state, instance)


def loop_next(state: State, instance: Instance, event: Event) -> None:
    iterations, container = instance.iterations, instance.node.container
    if iterations is None or container is None:
        raise EngineBug("an iteration of a node that is not a container", place=event.instance)
    index = event.data["index"]
    number = index - iterations.first
    item = iterations.items[number] if iterations.items is not None else None
    scope = Scope(container.body, instance, index, item, iterations.cells, event.at_ms)
    iterations.live[index] = scope
    iterations.started = number + 1
    if state.late:
        state.outcomes.update(state.late.pop(scope.suffix, {}))
    enter(state, scope)


def enclosing_iteration(scope: Scope) -> Scope:
    """Returns the iteration of the innermost enclosing loop. The branches of a parallel are not iterations."""
    owner = scope.owner
    while owner is not None and owner.node.container is not None and owner.node.container.parallel:
        scope = owner.scope
        owner = scope.owner
    return scope


def leave_container(state: State, instance: Instance, iterations: Iterations, event: Event) -> None:
    """Makes the container the writer of the variables that its body wrote."""
    try:
        cells, conflicts = exit_cells(instance, iterations, Merging(state, instance, event.at_ms, decided=True))
    except (VariableConflict, ExpressionError):
        raise EngineBug("a container completed in spite of a conflict", place=event.instance) from None
    state.notes.extend((VARIABLE_CONFLICT, instance, name) for name in conflicts)
    if cells is not instance.cells:
        instance.cells = cells
        instance.scope.wrote = True
    iterations.writes = {}


def end_attempt(state: State, instance: Instance, event: Event) -> None:
    """Ends an attempt of a container that will be repeated. The next one starts with the variables of the first, and of a loop
    that keeps the writes of failed iterations with these too."""
    iterations, container = instance.iterations, instance.node.container
    if iterations is None or container is None:
        return
    if container.keeps_writes:
        leave_container(state, instance, iterations, event)
    instance.used = iterations.first + iterations.started
    instance.iterations = None
