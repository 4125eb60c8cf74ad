"""What a workflow in Python costs as a document: nodes and events. `python -m benchmarks.flows` prints the figures."""

from __future__ import annotations

import sys
from typing import Any

import comparing
import fifteen
import pytest

from benchmarks import flows

NODES_PER_LINE = 1.0
SCAFFOLDING = 0.3  # of the nodes
EVENTS_PER_TURN = 5
TIMES_LONGER = 10
REPEATED = {
    "sets": """
    s{0} = {{a, {0}}}
    for x in xs:
        if x not in s{0}:
            s{0}.add(await inc(x))
    total += len(s{0})""",
    "blocks": """
    with open('/dev/null') as f{0}:
        t{0} = f{0}.read()
    total += await inc(len(t{0}))""",
    "handlers": """
    try:
        h{0} = await inc(a)
    except ValueError:
        r{0} = 1
    finally:
        total += h{0}""",
    "tasks": """
    task{0} = asyncio.create_task(inc(a))
    total += await inc(total)
    total += await task{0}""",
    "coroutines": """
    async def c{0}(x):
        return await inc(x + a)
    total += await c{0}(3)""",
}
"""Statements that are repeated in one function, each time with other names."""


def test_a_line_of_source_is_at_most_one_node() -> None:
    lines, nodes, scaffolding = flows.cost_of(fifteen.ALL)
    assert lines > 150
    assert nodes <= NODES_PER_LINE * lines, f"{nodes} nodes for {lines} lines"
    assert scaffolding <= SCAFFOLDING * nodes, f"{scaffolding} of {nodes} nodes are scaffolding"


def test_a_turn_of_a_step_an_if_and_an_assignment_is_five_events() -> None:
    assert flows.events_of_a_turn() <= EVENTS_PER_TURN


def calls_to_compile(kind: str, times: int) -> int:
    """How many functions are called to compile a flow: a measure of time that no other process changes."""
    body = "".join(REPEATED[kind].format(number) for number in range(times))
    source = f"import asyncio\nasync def long(a: int, xs: list[int]):\n    total = 0{body}\n    return total\n"
    flow = comparing.flow_of(source, f"long_{kind}_{times}", name="long")
    calls = 0

    def count(frame: Any, event: str, given: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        flow.compile()
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("kind", REPEATED)
def test_a_source_that_is_ten_times_as_long_takes_ten_times_as_long(kind: str) -> None:
    calls_to_compile(kind, 1)  # what is imported and cached
    few = calls_to_compile(kind, 8)
    assert calls_to_compile(kind, 8 * TIMES_LONGER) < 1.3 * TIMES_LONGER * few
