"""The total evaluation of one node is bounded by steps that are the same everywhere. `make bench-evaluation` measures the
slowest."""

from __future__ import annotations

import pytest

from benchmarks.evaluation import EXPRESSIONS, evaluated
from stepless.expressions.functions import FUNCTIONS
from stepless.limits import MAX_EVALUATION_STEPS


def test_the_search_knows_every_function() -> None:
    constant = {"abs", "bool", "default", "float", "need", "now"}  # as dear as any part of an expression
    assert [name for name in FUNCTIONS if name not in constant and not any(f"{name}(" in one for one in EXPRESSIONS)] == []


@pytest.mark.parametrize("expression", ["query(<numbers>, 'sum(@)')", "sum(<floats>)", "matches('a', <pattern>)", "str(<rows>)"])
def test_steps_are_the_same_every_time(expression: str) -> None:
    first = evaluated(expression, 2)
    assert first.steps == evaluated(expression, 2).steps, "what was compiled before changes nothing"
    assert first.steps > evaluated(expression, 1).steps
    assert evaluated(expression, 2_000).ended == "too_large" and 2_000 * first.steps > MAX_EVALUATION_STEPS
