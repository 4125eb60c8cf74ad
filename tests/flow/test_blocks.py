"""Statements that only Python can evaluate, as plain Python and as documents; and what a block is in a document."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from comparing import Program, block_program, compare, flow_of, plainly, runs
from directed_blocks import sources
from sweeps import at_most

from stepless.flow import FlowRefused
from stepless.nodes.function import registry

SOURCES = sources()
SEEDS = at_most(30, 200)
BATCH = 10
HEAD = "async def program(a: int, b: int, xs: list[int], order: Order, sa: str, u: Any):\n"
GIVEN: dict[str, Any] = {"a": 2, "b": 3, "xs": [1, 2], "order": {"id": "o", "amount": 5}, "sa": "ab", "u": None}


def made(body: str, name: str, **options: Any) -> Any:
    return flow_of(HEAD + "".join(f"    {line}\n" for line in body.splitlines()), name, **options)


@pytest.mark.parametrize("lift", ["function", "auto"])
@pytest.mark.parametrize("name", SOURCES)
def test_the_document_does_what_the_source_says(name: str, lift: str) -> None:
    flow = flow_of(SOURCES[name], f"blocks_{abs(hash(name + lift))}", lift)
    assert compare(Program(name, SOURCES[name], flow, forks=False), 3) == ""


@pytest.mark.check
@pytest.mark.long
@pytest.mark.parametrize("first", range(0, SEEDS, BATCH))
def test_random_programs_with_blocks_do_the_same(first: int) -> None:
    different, same = [], 0
    for seed in range(first, first + BATCH):
        try:
            found = compare(block_program(seed), 2)
        except FlowRefused as refused:
            assert {one.code for one in refused.findings} <= {"shared_mutation", "unknown_name"}, f"seed {seed}: {refused}"
            continue
        same += not found
        different += [f"seed {seed}: {found}"] if found else []
    assert different == []
    assert same


def test_neighbours_are_one_block_and_what_can_be_said_is_none() -> None:
    flow = made("ys = list(xs)\nys.sort()\nys.reverse()\nn = await inc(5)\nm = n + 1\nreturn [ys, m]", "blocks_runs")
    kinds = {id: node["type"] for id, node in flow.document()["nodes"].items()}
    assert kinds == {"start": "manual", "ys": "function", "n": "function", "m": "transform", "return": "respond"}


def test_a_block_with_one_exit_takes_no_condition_and_one_with_two_takes_one() -> None:
    body = "with suppress(KeyError):\n    return len(xs)\nreturn 0"
    one = made(body, "blocks_two", names={"suppress": suppress})
    types = [node["type"] for node in one.document()["nodes"].values()]
    assert types.count("condition") == 1
    other = made("seen = set(xs)\nseen.add(a)\nawait inc(5)\nreturn len(seen)", "blocks_one")
    assert "condition" not in [node["type"] for node in other.document()["nodes"].values()]


def test_an_exception_that_only_fails_is_a_node_of_the_document() -> None:
    flow = made("if a < 0:\n    raise ValueError('negative')\nassert b, 'none'\nreturn await inc(a)", "blocks_raise")
    types = [node["type"] for node in flow.document()["nodes"].values()]
    assert types.count("fail") == 2
    assert types.count("function") == 1


def test_a_failure_in_a_block_names_the_line_and_the_file_of_the_author() -> None:
    flow = made("ys = list(xs)\nys.sort()\nys.remove(77)\nreturn ys", "blocks_lines")
    (ran,) = runs(flow.document(), [GIVEN])
    error = next(event for event in ran.events if event["type"] == "node.failed")
    text = json.dumps(error)
    assert "blocks_lines.py" in text
    assert "line 4" in text and "ys.remove(77)" in text
    assert ran.outcome == ("error", "value_error")


def test_a_changed_block_is_another_function() -> None:
    body = "ys = list(xs)\nys.sort()\nawait inc(5)\nreturn ys"
    texts = (body, body.replace("sort()", "reverse()"))
    calls = [made(text, "blocks_digest").document()["nodes"]["ys"]["with"]["call"] for text in texts]
    assert calls[0] != calls[1]
    assert calls[0].startswith("blocks-digest.block_ys_")
    document = made(body, "blocks_digest").document()
    assert "ys.sort()" in document["made_by"]["source"]


def test_a_run_of_a_version_whose_block_is_gone_fails() -> None:
    document = made("ys = list(xs)\nys.sort()\nawait inc(5)\nreturn ys", "blocks_gone").document()
    name = document["nodes"]["ys"]["with"]["call"]
    registry._FUNCTIONS.pop(name)
    document["nodes"]["ys"]["with"]["call"] = name
    (ran,) = runs(document, [GIVEN])
    assert ran.outcome == ("error", "unknown_function")


@pytest.mark.parametrize(("body", "line", "mend"), [
    ("f = open('x')\nawait inc(5)\nreturn f.read()", 2, "Make `f` again behind line 3"),
    ("import threading\nlock = threading.Lock()\nawait inc(5)\nwith lock:\n    return 1", 3, "Make `lock` again behind line 4"),
    ("class P:\n    n = 1\np = P()\nawait inc(5)\nreturn p.n", 4, "Make `p` again behind line 5"),
    ("g = (x for x in xs)\nawait inc(5)\nreturn list(g)", 2, "Make `g` again behind line 3"),
])  # fmt: skip
def test_what_has_no_value_is_refused_with_its_line_and_the_await(body: str, line: int, mend: str) -> None:
    with pytest.raises(FlowRefused) as refused:
        made(body, f"blocks_no_value_{line}_{len(body)}").compile()
    (found,) = refused.value.findings
    assert (found.code, found.line, found.mend) == ("no_value", line, mend)


def test_a_name_that_may_have_no_value_fails_where_it_is_read() -> None:
    flow = made("if a > 5:\n    z = 1\nawait inc(5)\nreturn z", "blocks_unbound")
    bound, unbound = runs(flow.document(), [{**GIVEN, "a": 6}, GIVEN])
    assert bound.outcome == ("ok", "1")
    assert unbound.outcome == ("error", "unbound_local")
    assert unbound.view.error["source"].startswith("blocks_unbound.py:5:")
    assert plainly(flow, GIVEN)[0][0] == "error"


def test_a_name_that_never_has_a_value_is_refused() -> None:
    with pytest.raises(FlowRefused) as refused:
        made("x = z\nawait inc(5)\nz = 1\nreturn x", "blocks_never").compile()
    assert [one.code for one in refused.value.findings] == ["unbound"]
