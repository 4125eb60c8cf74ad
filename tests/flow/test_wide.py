"""Workflows that call others, ask, repeat attempts, and validate their input: directed and random ones, as plain Python and as
documents; and runs whose processes die at their commits."""

from __future__ import annotations

from typing import Final

import pytest
import wide
from comparing import Program, compare_wide, flow_of, program, wide_program
from directed import HEAD, _indented
from killing import survives
from sweeps import at_most

from stepless.flow import FlowRefused

pytestmark = pytest.mark.long
CASES: Final = {
    "child ok":
        'return await child(5)',
    "child fails caught":
        'try:\n    x = await child(3)\nexcept NodeError as e:\n    return e.code\nreturn x',
    "child fails caught by class":
        'try:\n    x = await child(3)\nexcept Third as e:\n    return e.code\nreturn x',
    "child fails itself":
        'try:\n    x = await child(5-5)\nexcept NodeError as e:\n    return [e.code, e.message]\nreturn x',
    "child fails uncaught":
        'return await child(3)',
    "child in loop":
        'y = 1\nfor x in [1,3]:\n    try:\n        y = await child(x)\n    except Odd as e:\n        y = 0\nreturn y',
    "child in loop outer":
        'try:\n    for x in [1,3]:\n        y = await child(x)\nexcept NodeError as e:\n    return e.code\nreturn 0',
    "child finally":
        'try:\n    x = await child(3)\nfinally:\n    await inc(5)\nreturn x',
    "child mixed":
        "try:\n    x = await child(xs[0])\n    y = xs[50]\nexcept ValueError:\n    return 'v'\nexcept NodeError as e:\n    return e.code\nreturn x",
    "flaky":
        "out=[]\nfor n in [0,1,2,3]:\n    try:\n        out.append(await flaky.with_(retry={'attempts': 3, 'backoff_ms': 1, 'retry_on': ['execution', 'provider_error']})(n))\n    except NodeError as e:\n        out.append(e.code)\nreturn out",
    "flaky uncaught":
        "return await flaky.with_(retry={'attempts': 3, 'backoff_ms': 1, 'retry_on': ['execution', 'provider_error']})(3)",
    "once":
        "try:\n    return await once.with_(delivery='at_most_once')(2)\nexcept Odd:\n    return await once.with_(delivery='at_most_once')(3)",
    "approval":
        "out=[]\nfor n in range(4):\n    u = await approval(f'ok {n}?', timeout=patience(f'ok {n}?'))\n    out.append([u.decision, u.approved])\nreturn out",
    "callback":
        "out=[]\nfor n in range(4):\n    try:\n        c = await callback(f'call {n}', timeout=patience(f'call {n}'))\n        out.append(c['said'])\n    except NodeError as e:\n        out.append(e.code)\nreturn out",
    "callback uncaught":
        "for n in range(4):\n    c = await callback(f'call {n}', timeout=patience(f'call {n}'))\nreturn 0",
    "gather children":
        'try:\n    a1, b1 = await gather(child(5), child(3))\nexcept NodeError as e:\n    return e.code\nreturn a1',
    "entry":
        'return [order.id, order.tags, len(order.lines)]',
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_wide_program_does_what_its_source_says(name: str) -> None:
    source = HEAD.replace("order: Order", "order: Checked") + _indented(CASES[name])
    flow = flow_of(source, f"wide_case_{abs(hash(name))}", names=wide.NAMES)
    assert compare_wide(Program(name, source, flow, "gather" in source), 2) == ""


@pytest.mark.parametrize("first", range(0, at_most(5, 15), 5))
def test_a_random_wide_program_does_the_same_as_its_document(first: int) -> None:
    different = []
    for seed in range(first, first + 5):
        found = compare_wide(wide_program(seed), 1)
        different += [f"seed {seed}: {found}"] if found else []
    assert different == []


@pytest.mark.parametrize("seed", range(at_most(4, 10)))
def test_a_run_whose_process_dies_at_a_commit_does_the_same(seed: int) -> None:
    try:
        found, deaths = survives(program(seed), every=3)
    except FlowRefused:
        pytest.fail(f"seed {seed} is refused")
    assert found == ""
    assert deaths > 0
