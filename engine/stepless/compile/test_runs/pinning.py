"""Compiles the graph of a test run: pinned nodes return their pinned output without running.

A pinned node keeps its place, its edges, its exits and its join. Its kind is replaced by a pure one, so that the core decides it
like any other pure node: replay, recovery and hand-over need no rule for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from stepless.expressions.templates import compile_template
from stepless.limits import DRAFT_RUN_KEPT_MS
from stepless.model.graph import Body, Config, Graph, Node
from stepless.model.kind import SOURCE, Kind, Nature, Outcome, Work
from stepless.model.stored.draft_run import DraftRun, Pin

_NO_PARAMETERS: Final = Config(compile_template({}, lambda _name: False))


def graph_of_draft_run(graph: Graph, draft_run: DraftRun) -> Graph:
    """Returns the graph with its pins. No one is notified of a failure, and the run is kept for DRAFT_RUN_KEPT_MS after its
    end."""
    root = _pinned_body(graph.root, draft_run.pins, "") if draft_run.pins else graph.root
    return replace(graph, root=root, on_failure_notify=(), retention_ms=DRAFT_RUN_KEPT_MS, numbered=False)


def _pinned_body(body: Body, pins: Mapping[str, Pin], around: str) -> Body:
    return replace(body, nodes=tuple([_pinned_node(node, pins, f"{node.id}{around}") for node in body.nodes]))


def _pinned_node(node: Node, pins: Mapping[str, Pin], path: str) -> Node:
    pin = pins.get(path)
    if pin is not None:
        return node._replace(
            kind=_pure(node, pin), config=_NO_PARAMETERS, container=None, tools={}, limits=None, input_contract=None,
            entry_contract=None, pinned=True,
        )  # fmt: skip
    if node.container is None:
        return node
    return node._replace(container=node.container._replace(body=_pinned_body(node.container.body, pins, f"@{path}")))


def _pure(node: Node, pin: Pin) -> Kind:
    """The kind of a pinned node: under the name of its own, so that the run is read like any other."""
    handle = pin.handle if pin.handle is not None else node.exits[0] if node.exits else SOURCE
    outcome = Outcome(pin.output, handle)

    def evaluate(work: Work) -> Outcome:
        return outcome

    return replace(node.kind, nature=Nature.PURE, evaluate=evaluate, suspend=None, container=None)
