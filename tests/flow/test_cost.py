"""What a workflow in Python costs as a document: nodes and events. `python -m benchmarks.flows` prints the figures."""

from __future__ import annotations

import fifteen

from benchmarks import flows

NODES_PER_LINE = 1.0
SCAFFOLDING = 0.3  # of the nodes
EVENTS_PER_TURN = 5


def test_a_line_of_source_is_at_most_one_node() -> None:
    lines, nodes, scaffolding = flows.cost_of(fifteen.ALL)
    assert lines > 150
    assert nodes <= NODES_PER_LINE * lines, f"{nodes} nodes for {lines} lines"
    assert scaffolding <= SCAFFOLDING * nodes, f"{scaffolding} of {nodes} nodes are scaffolding"


def test_a_turn_of_a_step_an_if_and_an_assignment_is_five_events() -> None:
    assert flows.events_of_a_turn() <= EVENTS_PER_TURN
