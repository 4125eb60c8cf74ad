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
from comparing import flow_of
from directed import HEAD, _indented
from directed_racing import SENT
from programs import inputs
from sweeps import at_most

from stepless.flow import Flow

REFUSED = {"shared_mutation", "unbound", "where", "mutation", "not_a_step"}
CASES = {**directed_asyncio.CASES, **directed_awaits.CASES}


def flow(name: str) -> Flow[..., Any]:
    source = directed_asyncio.PARTS + directed_awaits.PARTS + HEAD + _indented(CASES[name])
    names = {**racing.NAMES, "asyncio": asyncio, "functools": functools}
    return flow_of(source, f"asyncio_case_{abs(hash(name))}", names=names, options={"messages": racing.MESSAGES})


def difference(name: str) -> str:
    return racing.compare_sent(flow(name), ((inputs("asyncio", number), SENT) for number in range(2)))


@pytest.mark.parametrize("name", CASES)
def test_a_small_program_does_what_its_source_says(name: str) -> None:
    assert difference(name) == ""


@pytest.mark.parametrize("first", range(0, at_most(10, 60), 5))
def test_a_random_program_does_the_same_as_its_document(first: int) -> None:
    different, ran = racing.compare_seeds(awaiting_program, range(first, first + 5), REFUSED)
    assert different == []
    assert ran
