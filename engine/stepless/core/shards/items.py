"""Runs items of a `distributed` node in a state of their own: each is an iteration of its body, which is decided as in any other
run. The state is never stored. The chunks of the shard are what is durable.

The nodes outside are read as they stood when the node began. They are copied once, and put into this state as settled instances.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from stepless.core.folding.clocks import enter
from stepless.core.folding.iterations import result_of
from stepless.core.shards.progress import End
from stepless.core.state import OUTSIDE, SUBRUN, Cell, Instance, Iterations, RunStatus, Scope, State, Status, Wait
from stepless.core.values.reference_values import Reading
from stepless.limits import MAX_ERROR_CHARACTERS, MAX_STEPS
from stepless.model.graph import Body, Container, Graph, all_nodes
from stepless.model.json import JSON
from stepless.model.scope import Reference


def outer_values(instance: Instance, run_started_ms: int) -> dict[str, JSON]:
    """Returns what the body of a node can read from outside: the outputs of the nodes that it names, and the variables."""
    container = instance.node.container
    names = {reference.root for reference in _references(container.body)} if container is not None else set()
    nodes: dict[str, JSON] = {}
    for one in instance.scope.touched():
        if one.node.id in names and one.status in (Status.COMPLETED, Status.FAILED):
            failed = one.status is Status.FAILED
            nodes[one.node.id] = {"error": dict(one.error or {})} if failed else {"output": one.value}
    variables = {name: cell.value for name, cell in instance.cells.items()}
    return {"nodes": nodes, "variables": variables, "started_at": run_started_ms}


def given_to_shards(instance: Instance, reading: Reading) -> dict[str, JSON]:
    """Returns the parameters of an attempt of a `distributed` node: its own, the items if an expression gives them, and what its
    body reads from outside. Raises `ExpressionError`."""
    container, given = instance.node.container, dict(reading.params)
    if container is not None and container.expression is not None:
        given[container.mode] = container.expression.evaluate(reading)
    given["outer"] = outer_values(instance, reading.state.started_ms)
    return given


def _references(body: Body) -> Iterator[Reference]:
    for node in all_nodes(body):
        yield from node.config.template.references
        for expression in node.config.expressions.values():
            yield from expression.references
        for case in node.config.cases:
            yield from case.expression.references if case.expression is not None else ()
        if node.container is not None:
            yield from node.container.expression.references if node.container.expression is not None else ()
            yield from node.container.value.references if node.container.value is not None else ()
        if node.join.custom is not None:
            yield from node.join.custom.references


class Items:
    """The items that one session runs. `state` is decided by `decide`; `run_id` is the run of the node, which tokens name."""

    def __init__(self, graph: Graph, run_id: str, instance_id: str, outer: Mapping[str, Any]) -> None:
        self.state = state = State(replace(graph, max_steps=MAX_STEPS, timeout_ms=None), run_id)
        state.status, state.sequence = RunStatus.RUNNING, 1
        state.started_ms = outer["started_at"]
        cells = {name: Cell(value, OUTSIDE, 0) for name, value in outer["variables"].items()}
        state.root.cells = cells
        for name, settled in outer["nodes"].items():
            one = state.root.at(state.root.body.positions[name])
            one.status = Status.FAILED if "error" in settled else Status.COMPLETED
            one.value, one.error = settled.get("output"), settled.get("error")
        self.owner = owner = state.root.at(state.root.body.positions[instance_id])
        owner.status, owner.cells = Status.WAITING, cells
        owner.wait = Wait(SUBRUN, 0, None, None, "source", (), {})
        owner.iterations = Iterations([], None, cells)  # not None: the input of the first nodes is the item
        state.waiting[owner.id] = state.children[owner.id] = owner  # so the state is never over: its run waits for the items
        self._live: dict[int, Scope] = {}

    def begin(self, index: int, item: JSON, now_ms: int) -> None:
        """Puts the first nodes of an item on the agenda."""
        container, iterations = self._parts
        scope = Scope(container.body, self.owner, index, item, iterations.cells, now_ms)
        iterations.live[index] = self._live[index] = scope
        enter(self.state, scope)

    def take_ended(self) -> list[End]:
        """Removes and returns the items that have ended since the last call, by index."""
        _, iterations = self._parts
        if len(iterations.live) == len(self._live):
            return []
        over = [index for index in self._live if index not in iterations.live]
        iterations.writes.clear()  # nothing outside reads what the body has written
        iterations.broke = False
        return [_end(index, self._live.pop(index)) for index in over]

    @property
    def _parts(self) -> tuple[Container, Iterations]:
        assert self.owner.node.container is not None and self.owner.iterations is not None
        return self.owner.node.container, self.owner.iterations


def _end(index: int, scope: Scope) -> End:
    if not scope.bad:
        return End(index, result_of(scope))
    error = scope.error or {}
    code, message = str(error.get("code", "failed")), str(error.get("message", "the item failed"))
    return End(index, error={"code": code, "message": message[:MAX_ERROR_CHARACTERS]})
