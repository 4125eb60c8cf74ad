"""The fifteen workflows, as plain Python and as documents: the same results, failures and effects; and what they cost."""

from __future__ import annotations

import json
import random
from itertools import count
from typing import Any

import comparing
import fifteen
import pytest
from comparing import differ, runs
from sweeps import first_quick

from stepless.flow import Answer, Flow, acting
from stepless.flow.compiler.origin import hints_of

TIMES, PART = 60, 15


def given(flow: Flow[..., Any], number: int) -> tuple[dict[str, Any], list[bool]]:
    r = random.Random(f"{flow.id}{number}")
    return fifteen.INPUTS[flow.id](r), [r.random() < 0.6 for _ in range(30)]


def plainly(flow: Flow[..., Any], arguments: dict[str, Any], answers: list[bool]) -> tuple[Any, list[Any]]:
    asked = count()

    def answer(message: str) -> Answer:
        yes = answers[next(asked)]
        return Answer(decision="approved" if yes else "rejected", approved=yes)

    with acting(approval=answer):
        return comparing.plainly(flow, arguments, fifteen.LOG)


@pytest.mark.parametrize("first", first_quick(range(0, TIMES, PART)))
@pytest.mark.parametrize("flow", fifteen.ALL, ids=lambda flow: flow.id)
def test_the_document_does_what_the_function_does(flow: Flow[..., Any], first: int) -> None:
    document = flow.compile(lift="function").document
    whole = len(hints_of(flow.function)) == 1 and "order" in hints_of(flow.function)
    different = []
    for number in range(first, first + PART):
        arguments, answers = given(flow, number)
        asked = count()
        plain, effects = plainly(flow, arguments, answers)
        (ran,) = runs(
            document, [arguments["order"] if whole else arguments],
            lambda pause, asked=asked, answers=answers: ("approved" if answers[next(asked)] else "rejected", {}), log=fifteen.LOG,
        )
        found = differ(plain, ran.outcome, effects, ran.effects, forks=True)
        different += [f"{number} {json.dumps(arguments)} {found}"] if found else []
    assert different == []


