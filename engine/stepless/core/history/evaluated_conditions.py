"""Recomputes from the log the values that decided containers and conditions of edges; they are not stored.

The collection, the number of iterations and the test of a container are functions of the state at `loop.started`, `loop.next` and
`loop.completed`, as the parameters of an attempt are of the state at its start (`called.py`). What an edge carries is the output
or the error of its source. Secrets are not in it: the result of an expression over one is shown as `***`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from stepless.core.branches import carried, carries
from stepless.core.events import Event, EventType
from stepless.core.folding.iterations import amount
from stepless.core.history.call_parameters import bounded, veiled
from stepless.core.state import Instance, State, Status
from stepless.core.values.inputs import merged_inputs
from stepless.core.values.masking import HIDDEN
from stepless.core.values.reference_values import Reading
from stepless.errors import SteplessError
from stepless.model.graph import Container, Edge
from stepless.model.json import JSON

TESTED = frozenset({"while", "do_while"})


class Looped(NamedTuple):
    """The last value that decided a container: the parameter `mode` had this value, for a test before the iteration `turn`.
    `preview` has the first characters of a value that is too large to show."""

    mode: str
    value: JSON
    preview: str | None
    turn: int | None  # the number of an iteration, under its wire name


class Tested(NamedTuple):
    """A condition of an edge out of a node, over the value that the edge carried, and whether it held. `preview` has the first
    characters of a value that is too large to show."""

    handle: str
    target: str
    test: str
    operand: JSON
    value: JSON
    preview: str | None
    held: bool


def looped(state: State, instance: Instance, event: Event) -> Looped | None:
    """Returns the values that were evaluated for an event of a container that has been folded; None where nothing was, or where
    that failed."""
    container, iterations = instance.node.container, instance.iterations
    if container is None or iterations is None:
        return None
    iteration: int | None = None
    if event.type is EventType.LOOP_NEXT and container.mode in TESTED:
        iteration = int(event.data["index"]) - iterations.first
        if container.mode == "do_while" and iteration == 0:
            return None
    elif event.type is EventType.LOOP_COMPLETED and container.mode in TESTED:
        if iterations.stopped or iterations.broke or state.halting:
            return None
        iteration = iterations.started
    elif event.type is not EventType.LOOP_STARTED or container.mode in TESTED:
        return None
    hidden = dict.fromkeys(state.graph.env, HIDDEN)
    around = None if iteration is None else ("parallel" if container.parallel else "loop", iteration)
    reading = Reading(state, instance, merged_inputs(state, instance), event.at_ms, hidden, iteration=around)
    if iteration is not None:
        reading.cells = iterations.cells
    try:
        value = _evaluated(container, reading)
    except SteplessError:
        return None
    shown, previews = bounded({container.mode: value})
    return Looped(container.mode, shown.get(container.mode), previews.get(container.mode), iteration)


def _evaluated(container: Container, reading: Reading) -> JSON:
    """A test is what its value counts as."""
    value = amount(container, reading)
    expression, template = container.expression, container.value
    if expression is not None and any(reference.env for reference in expression.references):
        return HIDDEN
    if template is not None and any(reference.env for reference in template.references):
        return veiled(template.value, value)
    return bool(value) if container.mode in TESTED else value


def tested(instance: Instance) -> Sequence[Tested]:
    """Returns the conditions on edges of the exit by which a node that has settled left, in edge order."""
    edges = list(conditional(instance))
    shown, previews = bounded({str(place): carried(instance, edge) for place, edge in enumerate(edges)})
    nodes, made = instance.scope.body.nodes, list[Tested]()
    for place, edge in enumerate(edges):
        test, operand = edge.condition or ("", None)
        value, preview = shown.get(str(place)), previews.get(str(place))
        made.append(Tested(edge.handle, nodes[edge.target].id, test, operand, value, preview, carries(instance, edge)))
    return made


def conditional(instance: Instance) -> Iterator[Edge]:
    """Yields the edges with conditions, of the exit by which a node left; none before it has."""
    if instance.status not in (Status.COMPLETED, Status.FAILED):
        return
    fired = "error" if instance.status is Status.FAILED else instance.handle
    for edge in instance.node.outgoing:
        if edge.condition is not None and edge.handle == fired:
            yield edge
