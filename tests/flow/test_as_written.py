"""What stands in a module beside a workflow: tables of functions, named tuples, enumerations, exceptions with fields of their own."""

from __future__ import annotations

import json
from enum import Enum
from typing import Any, Final, NamedTuple

import pytest
from comparing import flow_of, plainly, runs
from directed import HEAD
from program_steps import inc, mul
from programs import inputs

from stepless.flow import FlowRefused


class Point(NamedTuple):
    x: int
    y: int = 2


class State(Enum):
    NEW = 1
    PAID = "paid"


class Permanent(Exception):
    def __init__(self, code: int) -> None:
        super().__init__("permanent")
        self.code = code


class Meter:
    def __init__(self, base: int) -> None:
        self.base = base

    def read(self, n: int) -> int:
        self.base += n
        return self.base


TABLE: Final[dict[str, Any]] = {"o1": inc, "a": mul}
NAMES: Final = {"Point": Point, "State": State, "Permanent": Permanent, "Meter": Meter, "TABLE": TABLE}
WRITTEN: Final = {
    "a table of the module": "try:\n    chosen = TABLE[order.id]\nexcept KeyError:\n    return 'none'\nreturn await chosen(a * 5)",
    "a table that is asked": "chosen = TABLE.get(order.id)\nif chosen is None:\n    return 0\nreturn await chosen(**{'n': 5})",
    "a named tuple": "p = Point(a)\nawait inc(5)\nq = p._replace(x=p.x + p.y)\nawait inc(6)\nx, y = q\nreturn [x, y, q.x, q == (x, y)]",
    "an enumeration": "s = State.NEW\nout = []\nfor x in [1, 2, 3]:\n    await inc(x * 5)\n    if s is State.NEW:\n        s = State.PAID\n    elif s == State.PAID:\n        out.append(s.value)\nreturn out",
    "an object that outlives no await": "meter = Meter(a)\nfound = []\nfor x in xs:\n    found.append(meter.read(x))\nlast = meter.base\nawait inc(5)\nreturn [found, last]",
}
REFUSED: Final = {
    "a field of an exception": ("try:\n    await inc(5)\n    raise Permanent(4)\nexcept Permanent as e:\n    await inc(5)\n    return e.code", "no_such_field"),
    "an object that outlives an await": ("meter = Meter(a)\nawait inc(5)\nreturn meter.read(1)", "no_value"),
}


def made(about: str, body: str) -> Any:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return flow_of(HEAD + lines, f"as_written_{about.replace(' ', '_')}", names=NAMES)


@pytest.mark.parametrize("about", WRITTEN)
def test_it_does_the_same_as_a_document(about: str) -> None:
    flow = made(about, WRITTEN[about])
    given = [inputs(about, number) for number in range(4)]
    for one, ran in zip(given, runs(flow.compile().document, given, True), strict=True):
        plain, effects = plainly(flow, one)
        assert (ran.outcome, ran.effects) == (plain, effects), json.dumps(one)


@pytest.mark.parametrize("about", REFUSED)
def test_what_no_node_records_is_refused(about: str) -> None:
    body, code = REFUSED[about]
    with pytest.raises(FlowRefused) as refused:
        made(about, body).compile()
    assert {one.code for one in refused.value.findings} == {code}
