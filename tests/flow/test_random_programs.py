"""Random programs do the same as plain Python and as documents: on the real engine, and in the simulated one that is forgotten
after every decision. `make compare-flows` runs more of them; a failing seed replays there."""

from __future__ import annotations

import json

import pytest
from comparing import Program, compare, differ, flow_of, is_too_long, plainly, program, runs
from programs import inputs
from simulating import simulated
from sweeps import at_most

from stepless.flow import FlowRefused

pytestmark = [pytest.mark.check, pytest.mark.long]
BATCH = 10
SEEDS = at_most(3 * BATCH, 100)
REFUSED = {"shared_mutation", "unbound"}  # of values that Python changes under two names, and names that a path has not assigned


@pytest.mark.parametrize("first", range(0, SEEDS, BATCH))
def test_a_random_program_does_the_same_as_its_document(first: int) -> None:
    different, ran = [], 0
    for seed in range(first, first + BATCH):
        try:
            found = compare(program(seed), 2)
            ran += 1
        except FlowRefused as refused:
            assert {one.code for one in refused.findings} <= REFUSED, seed
            continue
        different += [f"seed {seed}: {found}"] if found else []
    assert different == []
    assert ran > BATCH // 2


@pytest.mark.parametrize("reload", ["log", "snapshot"])
@pytest.mark.parametrize("first", range(0, at_most(2 * BATCH, 40), BATCH))
def test_a_run_that_is_forgotten_after_every_decision_does_the_same(first: int, reload: str) -> None:
    different = []
    for seed in range(first, first + BATCH):
        made = program(seed)
        try:
            document = made.flow.compile().document
        except FlowRefused:
            continue
        given = inputs(seed, 0)
        plain, effects = plainly(made.flow, given)
        outcome, others = simulated(document, given, reload)
        found = differ(plain, outcome, effects, others, forks=made.forks)
        different += [f"seed {seed} {json.dumps(given)}: {found}"] if found else []
    assert different == []


def test_a_text_that_outgrows_the_bound_fails_at_its_line_and_is_no_other_difference() -> None:
    source = """async def growing(a: int):
    text = await say("x")
    for i in range(a):
        text = text + text
    return text
"""
    made = Program(0, source, flow_of(source, "growing", name="growing"), forks=False)
    within, beyond = runs(made.flow.compile().document, [{"a": 3}, {"a": 21}])
    plain, effects = plainly(made.flow, {"a": 21})
    assert within.outcome == ("ok", json.dumps("x" * 16))
    assert beyond.view.error["source"].startswith("growing.py:4:")
    assert is_too_long(beyond, plain, effects)
    assert not is_too_long(beyond, plain, [])  # an effect that plain Python did not have
    assert not is_too_long(within, plain, effects)
