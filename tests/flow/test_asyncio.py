"""Flows with the names of asyncio, and with awaits that Python may skip, as plain Python and as documents."""

from __future__ import annotations

import asyncio
import functools
from typing import Any

import directed_asyncio
import directed_awaits
import pytest
import racing
from awaiting import awaiting_program
from comparing import differ, flow_of, plainly
from directed import HEAD, _indented
from directed_racing import SENT
from programs import inputs
from simulating import simulated
from sweeps import at_most

from stepless.flow import Flow, FlowRefused, acting

REFUSED = {"shared_mutation", "unbound", "where", "mutation", "not_a_step"}
CASES = {**directed_asyncio.CASES, **directed_awaits.CASES}


def flow(name: str) -> Flow[..., Any]:
    source = directed_asyncio.PARTS + directed_awaits.PARTS + HEAD + _indented(CASES[name])
    names = {**racing.NAMES, "asyncio": asyncio, "functools": functools}
    return flow_of(source, f"asyncio_case_{abs(hash(name))}", names=names, options={"messages": racing.MESSAGES})


def difference(name: str) -> str:
    made = flow(name)
    document = made.compile().document
    for number in range(2):
        given = inputs("asyncio", number)
        with acting(messages=SENT, **racing.ACTING):
            plain, effects = plainly(made, given)
        for reload in racing.LOADED:
            outcome, others = simulated(document, given, reload, SENT)
            if found := differ(plain, outcome, effects, others, forks=True):
                return f"{given} {reload}: {found}"
    return ""


@pytest.mark.parametrize("name", CASES)
def test_a_small_program_does_what_its_source_says(name: str) -> None:
    assert difference(name) == ""


@pytest.mark.parametrize("first", range(0, at_most(10, 60), 5))
def test_a_random_program_does_the_same_as_its_document(first: int) -> None:
    different, ran = [], 0
    for seed in range(first, first + 5):
        try:
            found = racing.compare_racing(awaiting_program(seed), 2)
            ran += 1
        except FlowRefused as refused:
            assert {one.code for one in refused.findings} <= REFUSED, seed
            continue
        different += [f"seed {seed}: {found}"] if found else []
    assert different == []
    assert ran
