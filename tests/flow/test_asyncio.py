"""Flows with the names of asyncio, as plain Python on the virtual clock and as documents."""

from __future__ import annotations

import asyncio
from typing import Any

import directed_asyncio
import pytest
import racing
from comparing import differ, flow_of, plainly
from directed import HEAD, _indented
from directed_racing import SENT
from programs import inputs
from simulating import simulated

from stepless.flow import Flow, acting

CASES = directed_asyncio.CASES


def flow(name: str) -> Flow[..., Any]:
    source = directed_asyncio.PARTS + HEAD + _indented(CASES[name])
    names = {**racing.NAMES, "asyncio": asyncio}
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
