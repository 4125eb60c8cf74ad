"""What a test run may call without `admin`, a start of the published version could cause as well: random drafts over random
workflows, run in memory. docs/understand/decisions/0015-runs-of-drafts.md"""

from __future__ import annotations

import json

import pytest
from drafted_workflows import SHAPES
from effects_sweep import sweep
from sweeps import at_most
from weakened_rules import WEAKENED, same_parameters

pytestmark = pytest.mark.long

CHUNKS, OF_ONE = at_most(1, 20), at_most(600, 1_000)  # 20,000 drafts with `make check-sweeps`
FAR = 100_000  # between the seeds of two chunks


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_a_start_could_cause_whatever_a_test_run_calls(chunk: int) -> None:
    tally = sweep(OF_ONE, chunk * FAR)
    assert tally.leaks == [], f"{tally.leaks[0].effect}: {json.dumps(vars(tally.leaks[0].draft))}"
    assert tally.refused_unchanged == 0, "what is published may be run as it is"
    assert tally.allowed > tally.calling / 5, "the rule refuses nearly everything"
    assert tally.effects > tally.calling and {"http", "notice", "workflow"} <= set(tally.kinds)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_workflow_of_a_shape_is_no_way_around_it(shape: str) -> None:
    tally = sweep(at_most(60, 1_000), shape=shape)
    assert tally.leaks == [], f"{tally.leaks[0].effect}: {json.dumps(vars(tally.leaks[0].draft))}"
    assert tally.refused_unchanged == 0 and tally.allowed > 0


@pytest.mark.check
@pytest.mark.parametrize("weakness", WEAKENED)
def test_a_weaker_rule_is_found(weakness: str) -> None:
    shape, weaker = WEAKENED[weakness]
    with weaker():
        assert sweep(1_000, shape=shape, stop_at_leak=True).leaks


@pytest.mark.parametrize("shape", ["a variable", "an approval", "cases"])
def test_the_rule_that_compared_only_the_parameters_is_found(shape: str) -> None:
    assert sweep(1_000, rule=same_parameters, shape=shape, stop_at_leak=True).leaks
