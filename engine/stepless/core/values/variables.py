"""Propagates run variables along taken edges, copy-on-write, and merges them at joins (docs/understand/semantics.md#variables).

The problem: two branches may write one variable, in an order that differs from run to run, and the node at which they meet has to
read the same value each time. A clock cannot decide that, and neither can the order of completion.

The rule: each value records its writer, a position in the body that reads it. Where branches meet, the value whose writer is an
ancestor of the other value's writer is older and is dropped. The values that are left were written concurrently: equal values are
no conflict, and `join.vars` and `join.on_conflict` decide between different ones, in edge order. An inherited value has the
writer OUTSIDE, an ancestor of every node. A value that leaves a container has the container as its writer, because positions
inside of it mean nothing outside.

Why it is right: "is an ancestor of" is a partial order on the nodes of a graph without cycles, so there is always a value that no
other supersedes, and which ones these are depends on the set of values only, not on the order in which they are compared or
arrived. With a chain of writers the last one remains, as in a sequential program. Only `first-write` and `last-write` look at the
order of settlement, because their authors ask for it.

The counterexample to comparing sequence numbers alone: s → a → b and s → c meet in j, and a, b, c write x. If c settles last, its
number is the highest, but c knew nothing of b's write; that is a conflict, and must not be resolved silently in favour of c.

Views are never changed in place: a view is shared by all instances after the last write, and `merge_cells` returns the first one
when all are the same object, which is what makes a graph without writes free.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from stepless.core.branches import carries
from stepless.core.state import OUTSIDE, Cell, Cells, Instance, Scope, Status
from stepless.model.graph import Body, Join
from stepless.model.json import JSON, equal
from stepless.model.scope import Expression

Custom = Callable[[Expression, Sequence[JSON]], JSON]


class VariableConflict(Exception):
    """Two branches wrote `name` concurrently, and the join has `on_conflict: error`."""

    def __init__(self, name: str) -> None:
        super().__init__(f"two branches wrote the variable {name}")
        self.name = name


def incoming_cells(instance: Instance, custom: Custom) -> tuple[Cells, tuple[str, ...]]:
    """Returns the variables that an instance starts with, and the names of conflicts that deserve a warning.

    Raises `VariableConflict` under `on_conflict: error`, `ExpressionError` when a custom merge raises.
    """
    node, scope = instance.node, instance.scope
    branches = node.branches
    if not branches:
        return scope.cells, ()
    if len(branches) == 1:
        source = scope.instances[branches[0]]  # the one branch of a node that starts is taken, or dead and substituted
        return (source.cells if source is not None and not instance.substituted else scope.cells), ()
    sources = [scope.instances[branch] for branch in branches if instance.arrived is None or branch in instance.arrived]
    live = [source for source in sources if source is not None and _sends(source, node.position)]
    return merge_cells([source.cells for source in live], scope, node.join, custom)


def _sends(source: Instance, target: int) -> bool:
    """Whether the branch from `source` to `target` was taken."""
    if source.status is not Status.COMPLETED and source.status is not Status.FAILED:
        return False
    return any(edge.target == target and carries(source, edge) for edge in source.node.outgoing)


def merge_cells(candidates: Sequence[Cells], scope: Scope, join: Join, custom: Custom) -> tuple[Cells, tuple[str, ...]]:
    """Merges several views of the variables, one variable at a time; `candidates` are in edge order."""
    if not candidates:
        return scope.cells, ()
    first = candidates[0]
    if all(other is first for other in candidates):
        return first, ()
    merged: dict[str, Cell] = {}
    warnings: list[str] = []
    for name in dict.fromkeys(name for cells in candidates for name in cells):
        cells = [view[name] for view in candidates if name in view]
        newest = _newest(cells, scope.body)
        chosen, conflict = settle(name, newest, join, custom)
        merged[name] = chosen
        if conflict:
            warnings.append(name)
    return merged, tuple(warnings)


def _newest(cells: Iterable[Cell], body: Body) -> list[Cell]:
    """The cells that no other cell supersedes, each writer once, in the given order."""
    distinct = list({(cell.writer, cell.sequence): cell for cell in cells}.values())
    if len(distinct) == 1:
        return distinct
    return [cell for cell in distinct if not any(other is not cell and _supersedes(other, cell, body) for other in distinct)]


def _supersedes(later: Cell, earlier: Cell, body: Body) -> bool:
    if earlier.writer == later.writer:  # one container's exit in two iterations: the later settlement supersedes the earlier
        return earlier.sequence < later.sequence
    return earlier.writer == OUTSIDE or (later.writer != OUTSIDE and _is_ancestor(earlier.writer, later.writer, body))


def _is_ancestor(above: int, below: int, body: Body) -> bool:
    """Whether a path leads from `above` to `below`. Searches backwards and stops at waves before the ancestor's."""
    floor = body.nodes[above].wave
    seen, stack = {below}, [below]
    while stack:
        for parent in body.nodes[stack.pop()].branches:
            if parent == above:
                return True
            # The wave is the longest path from an entry, and grows along each edge: nothing at or below `floor` follows `above`.
            if parent not in seen and body.nodes[parent].wave > floor:
                seen.add(parent)
                stack.append(parent)
    return False


def settle(name: str, cells: list[Cell], join: Join, custom: Custom) -> tuple[Cell, bool]:
    """Chooses one of several concurrent writes, in edge or branch order, and says whether that deserves a warning."""
    if len(cells) == 1 or all(equal(cell.value, cells[0].value) for cell in cells[1:]):
        return cells[-1], False
    if join.custom is not None:
        value = custom(join.custom, [cell.value for cell in cells])
        return cells[-1]._replace(value=value), False
    rule = join.rule
    if rule.vars == "last-write":
        return max(cells, key=lambda cell: cell.sequence), False
    if rule.vars == "first-write":
        return min(cells, key=lambda cell: cell.sequence), False
    if rule.on_conflict == "error":
        raise VariableConflict(name)
    return (cells[0], False) if rule.on_conflict == "first" else (cells[-1], True)


def written(cells: Cells, values: Mapping[str, JSON], writer: int, sequence: int) -> Cells:
    """Returns a copy of `cells` with the `values` that an instance wrote; `cells` stays unchanged."""
    return {**cells, **{name: Cell(value, writer, sequence) for name, value in values.items()}}


def outgoing_cells(scope: Scope, custom: Custom) -> Cells:
    """Returns the variables after a settled scope: the views of all instances without a taken branch after them, merged in
    document order; the last one wins."""
    if not scope.wrote:
        return scope.cells
    ends = [instance.cells for instance in scope.touched() if _is_end(instance)]
    return merge_cells(ends, scope, _LAST_WINS, custom)[0]


def _is_end(instance: Instance) -> bool:
    if instance.status is not Status.COMPLETED and instance.status is not Status.FAILED:
        return False
    return not any(carries(instance, edge) for edge in instance.node.outgoing)


_LAST_WINS = Join(need=1)
