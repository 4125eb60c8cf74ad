"""Computes a container's items, and the results and variables of its iterations (docs/understand/semantics.md#containers). `fold`
uses it, so it is deterministic."""

from __future__ import annotations

from collections.abc import Mapping

from stepless.core.state import OUTSIDE, Cell, Cells, Instance, Iterations, Scope, Status
from stepless.core.values.reference_values import Reading
from stepless.core.values.variables import Custom, outgoing_cells, settle
from stepless.model.graph import Container, Join, OnError
from stepless.model.json import JSON


class NotACollection(Exception):
    """`items` is neither a list nor an object."""


def amount(container: Container, reading: Reading) -> JSON:
    """Returns the value of `times`, `branches` or `items`. Raises `ExpressionError`."""
    if container.expression is not None:
        return container.expression.evaluate(reading)
    return container.value.render(reading) if container.value is not None else None


def collection(container: Container, reading: Reading) -> list[JSON]:
    """Returns the items of a container; an object gives [key, value] pairs. Raises `NotACollection` and `ExpressionError`."""
    items = amount(container, reading)
    if isinstance(items, dict):
        return [[key, value] for key, value in items.items()]
    if not isinstance(items, list):
        kind = {bool: "a boolean", str: "text", type(None): "null"}.get(type(items), "a number")
        raise NotACollection(f"items is {kind}, not a list or an object")
    return items


def output(container: Container, iterations: Iterations) -> JSON:
    """Returns the output of a container: its results by index, whatever the finish order; null where it keeps none."""
    return iterations.output() if container.keeps_results else None


def end_iteration(owner: Instance, scope: Scope, custom: Custom) -> None:
    """Moves a settled iteration's result and variables to its container and discards its instances."""
    iterations, container = owner.iterations, owner.node.container
    if iterations is None or container is None:
        return
    del iterations.live[scope.index]
    iterations.broke = iterations.broke or scope.broke
    if scope.bad:
        _failed_iteration(iterations, container, scope)
    elif container.keeps_results:
        iterations.results[scope.index] = result_of(scope)
    if scope.wrote and (container.keeps_writes or not scope.bad):
        owner.scope.wrote = True
        _keep_writes(owner, iterations, container, scope, custom)


def _failed_iteration(iterations: Iterations, container: Container, scope: Scope) -> None:
    iterations.failed += 1
    error: Mapping[str, JSON] = scope.error or {"code": "iteration_failed", "message": "the iteration failed"}
    if iterations.error is None or scope.index < iterations.error_index:
        iterations.error, iterations.error_index, iterations.cause = error, scope.index, scope.cause
    if container.on_error is OnError.STOP:
        iterations.stopped = True
    elif container.on_error is OnError.CONTINUE and container.keeps_results:
        iterations.results[scope.index] = {"error": dict(error), "index": scope.index - iterations.first}
    if container.max_consecutive_errors is not None and container.on_error is not OnError.STOP:
        _count_row(iterations, container.max_consecutive_errors, scope.index)


def _count_row(iterations: Iterations, maximum: int, index: int) -> None:
    """Counts the consecutive failed iterations around this one, by index, so that the finish order does not matter."""
    failed = iterations.failed_indexes
    failed.add(index)
    low = high = index
    while low - 1 in failed and index - low < maximum:
        low -= 1
    while high + 1 in failed and high - index < maximum:
        high += 1
    iterations.consecutive = high - low + 1
    if iterations.consecutive >= maximum:
        iterations.stopped = True


def result_of(scope: Scope) -> JSON:
    """Returns the iteration's result: the output if exactly one leaf completed, {leaf: output} if several did, else null."""
    leaves = [scope.instances[position] for position in scope.body.leaves]
    done = [leaf for leaf in leaves if leaf is not None and leaf.status is Status.COMPLETED]
    if len(done) == 1:
        return done[0].value
    return {leaf.node.id: leaf.value for leaf in done} if done else None


def _keep_writes(owner: Instance, iterations: Iterations, container: Container, scope: Scope, custom: Custom) -> None:
    left = outgoing_cells(scope, custom)
    changed = {name: cell for name, cell in left.items() if cell.sequence != _sequence(scope.cells, name)}
    if not changed:
        return
    if container.parallel:
        iterations.writes[scope.index] = {name: Cell(c.value, scope.index, c.sequence) for name, c in changed.items()}
    else:
        iterations.cells = {**iterations.cells, **{name: Cell(c.value, OUTSIDE, c.sequence) for name, c in changed.items()}}


def _sequence(cells: Cells, name: str) -> int:
    cell = cells.get(name)
    return cell.sequence if cell is not None else OUTSIDE


def exit_cells(owner: Instance, iterations: Iterations, custom: Custom) -> tuple[Cells, tuple[str, ...]]:
    """Returns the variables after a container, and the names of conflicts that deserve a warning. A loop has those of its last
    iteration, a parallel merges its branches in order. Raises like `variables.incoming_cells`."""
    container = owner.node.container
    if container is None:
        return owner.cells, ()
    if not container.parallel:
        changed: Mapping[str, Cell] = {
            name: cell for name, cell in iterations.cells.items() if cell.sequence != _sequence(owner.cells, name)
        }
        conflicts: tuple[str, ...] = ()
    else:
        changed, conflicts = _merged_branches(iterations, owner.node.join, custom)
    if not changed:
        return owner.cells, ()
    position = owner.node.position
    return {**owner.cells, **{name: Cell(c.value, position, c.sequence) for name, c in changed.items()}}, conflicts


def _merged_branches(iterations: Iterations, join: Join, custom: Custom) -> tuple[Mapping[str, Cell], tuple[str, ...]]:
    changed: dict[str, Cell] = {}
    conflicts: list[str] = []
    by_name: dict[str, list[Cell]] = {}
    for index in sorted(iterations.writes):
        for name, cell in iterations.writes[index].items():
            by_name.setdefault(name, []).append(cell)
    for name, cells in by_name.items():
        changed[name], conflict = settle(name, cells, join, custom)
        if conflict:
            conflicts.append(name)
    return changed, tuple(conflicts)
