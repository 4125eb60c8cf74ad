"""What changes in place under one of several names: exact, or refused. No program shows a change under one name and not under
another."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest
from comparing import compare, flow_of, plainly, runs
from directed import HEAD
from programs import inputs
from sharing_programs import USED, sharing_program
from sweeps import at_most

from stepless.flow import FlowRefused

COMPILED: Final = {
    "a name that is not read again": "ys = xs\nawait inc(5)\nxs.append(1)\nreturn xs",
    "a name that is bound again": "ys = xs\nawait inc(5)\nxs.append(1)\nys = [2]\nreturn [xs, ys]",
    "a result that is made later": "n = []\nfor x in xs:\n    n.append(await inc(x * 5))\nm = same(n)\nreturn m",
    "a list that each turn makes": "kept = []\nfor x in [1, 2]:\n    row = [x]\n    row.append(await inc(x * 5))\n    kept.append(row)\nreturn kept",
    "a copy": "ys = list(xs)\nawait inc(5)\nys.append(1)\nreturn [xs, ys]",
    "a name that a block changes under another": "box = {'p': [a]}\none = box['p']\none.sort()\none.insert(0, 4)\nawait inc(5)\nreturn box",
    "the value of the key that a loop is at": "for k, v in obj.items():\n    obj[k] = v + await inc(v * 5)\nreturn obj",
    "the item that a loop is at": "for i, x in enumerate(xs):\n    xs[i] = await inc(x * 5)\nreturn xs",
    "a list in an object": "state = {'n': 0, 'log': []}\nwhile state['n'] < 2:\n    state['log'].append(await inc(state['n'] * 5))\n    state['n'] += 1\nreturn state",
    "a pair of a loop": "pairs = [(1, {2}), (5, {3})]\nout = []\nfor n, kinds in pairs:\n    out.append([await inc(n), len(kinds)])\nreturn out",
}
REFUSED: Final = {
    "a name that is read later": "ys = xs\nawait inc(5)\nxs.append(1)\nreturn ys",
    "a list in a list": "rows = [xs]\nawait inc(5)\nxs.append(1)\nreturn rows",
    "an item of a list": "rows = [[1], [2]]\none = rows[0]\nawait inc(5)\none.append(1)\nreturn rows",
    "one list twice in a list": "one = [1]\nrows = [one, one]\nawait inc(5)\nrows[0].append(2)\nreturn rows",
    "one list many times in a list": "rows = [[1]] * 2\nawait inc(5)\nrows[0].append(2)\nreturn rows",
    "a turn that goes on with the list of the last": "kept = []\nrow = [0]\nfor x in [1, 2]:\n    kept.append(row)\n    row.append(await inc(x * 5))\nreturn kept",
    "a list that a loop runs over": "for x in xs:\n    await inc(5)\n    xs.append(x)\nreturn xs",
    "a list of the module": "ys = SHOWN\nawait inc(5)\nys.append(1)\nreturn ys",
    "what a return returns": "try:\n    return xs\nfinally:\n    await inc(5)\n    xs.append(1)",
    "an item that a helper returns": "rows = [[a], [b]]\nkept = list(rows)\nawait inc(5)\nfirst(rows).append(5)\nreturn [rows, kept]",
    "what a helper returns": "ys = same(xs)\nawait inc(5)\nys.append(1)\nreturn xs",
}
SHOWN: Final[list[Any]] = []
NAMES: Final = {**USED, "SHOWN": SHOWN, "obj": {}}


def made(body: str) -> Any:
    lines = "".join(f"    {line}\n" for line in ["obj = {'a': 1, 'b': 2}", *body.splitlines()])
    return flow_of(HEAD + lines, "sharing", names=NAMES)


@pytest.mark.parametrize("about", COMPILED)
def test_a_change_that_nothing_else_shows_is_compiled(about: str) -> None:
    flow = made(COMPILED[about])
    given = [inputs(about, number) for number in range(3)]
    for one, ran in zip(given, runs(flow.compile().document, given, True), strict=True):
        plain, effects = plainly(flow, one)
        assert (ran.outcome, ran.effects) == (plain, effects), json.dumps(one)


@pytest.mark.parametrize("about", REFUSED)
def test_a_change_that_another_name_shows_is_refused(about: str) -> None:
    with pytest.raises(FlowRefused) as refused:
        made(REFUSED[about]).compile()
    assert {one.code for one in refused.value.findings} <= {"shared_mutation", "mutation"}


@pytest.mark.parametrize("first", range(0, at_most(40, 400), 20))
def test_no_random_program_shows_a_change_under_one_name_alone(first: int) -> None:
    """A node that finds that it has changed what it was given fails, with `argument_changed`: it is never almost the same."""
    found, compiled = [], 0
    for seed in range(first, first + 20):
        try:
            differs = compare(sharing_program(seed), 2)
        except FlowRefused as refused:
            assert {one.code for one in refused.findings} <= {"shared_mutation", "mutation"}, refused
            continue
        compiled += 1
        found += [f"seed {seed}: {differs}"] if differs and "argument_changed" not in differs else []
    assert found == []
    assert compiled
