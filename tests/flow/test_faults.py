"""All faults of a source are reported at once: several of one statement too, and none that the source does not have."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from comparing import flow_of, program
from sweeps import at_most, first_quick

from stepless.flow import FlowRefused

SEEDS = at_most(40, 100)
BATCH = 10
FAULTS = 4
OF_TYPES = {"shared_mutation"}  # may follow from a name that nothing defines, since the type of its value is not known

ALL_OF = [
    ("x = q + r", {"q", "r"}),
    ("x = await inc(q) + await inc(r)", {"q", "r"}),
    ("x = await nothing(q, [r, s])", {"q", "r", "s", "nothing"}),
    ("if q > 1 and r:\n        x = s\n    else:\n        x = t", {"q", "r", "s", "t"}),
    ("for q in r:\n        x = s + q", {"r", "s"}),
    ("while q:\n        x = r", {"q", "r"}),
    ("x = {'a': q, 'b': [r, *s], **t}", {"q", "r", "s", "t"}),
    ("x = f'{q} {r:{s}}'", {"q", "r", "s"}),
    ("x = [q for one in r if s][t]", {"q", "r", "s", "t"}),
    ("x = sorted(xs, key=lambda one: q)[r]", {"q", "r"}),
    ("x = (q is 1) + r", {"q", "r"}),
    ("x = inc(q) + inc(r)", {"not_awaited", "q", "r"}),
    ("x, xs[0].y = q, r", {"q", "r"}),
    ("xs.sort(key=q)", {"q"}),
    ("try:\n        x = await inc(q)\n    except r:\n        x = s\n    finally:\n        x = t", {"except", "q", "s", "t"}),
    ("with open('f') as q:\n        q.write(await inc(r))\n        x = s", {"no_such_construct", "s"}),
    ("x = (q := 1) + r", {"r"}),
    ("return [await inc(q, r)]", {"bad_arguments", "q", "r"}),
]


def faults(source: str, name: str = "f") -> list[str]:
    """What is wrong with a source: the name for one that nothing defines, else the code."""
    try:
        flow_of(source, name, name=name).compile()
    except FlowRefused as refused:
        return [one.message.split("`")[1] if one.code in ("unknown_name", "not_a_step") else one.code for one in refused.findings]
    return []


@pytest.mark.filterwarnings("ignore:.*is.* with .* literal:SyntaxWarning")
@pytest.mark.parametrize(("statement", "expected"), ALL_OF)
def test_every_fault_of_a_statement_is_reported(statement: str, expected: set[str]) -> None:
    assert set(faults(f"async def f(xs: list[int]):\n    {statement}\n")) == expected


def test_a_source_of_many_faults_is_refused_in_the_order_of_its_lines() -> None:
    body = "\n".join(f"    x{line} = [{', '.join(f'n{line}_{place}' for place in range(10))}]" for line in range(100))
    with pytest.raises(FlowRefused) as refused:
        flow_of(f"async def f():\n{body}\n", "f", name="f").compile()
    lines = [one.line for one in refused.value.findings]
    assert lines == sorted(lines)
    assert set(lines) == set(range(2, 102))


def readings(tree: ast.AST) -> Iterator[ast.Name]:
    """Names that are read as values: not the functions that are called."""
    called = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for statement in ast.walk(tree):
        if isinstance(statement, ast.Assign | ast.Return | ast.If):
            value = statement.test if isinstance(statement, ast.If) else statement.value
            parts = ast.walk(value) if value is not None else []
            names = (part for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load))
            yield from (name for name in names if name not in called)


def lines(nodes: Mapping[str, Any]) -> Iterator[int]:
    """The first lines of the statements that nodes stand for."""
    for node in nodes.values():
        yield node["at"][0]
        if node["type"] in ("loop", "parallel"):
            yield from lines(node["with"]["body"]["nodes"])


@pytest.mark.parametrize("first", first_quick(range(0, SEEDS, BATCH)))
def test_names_that_nothing_defines_are_all_found_in_random_programs(first: int) -> None:
    missed, tried = [], 0
    for seed in range(first, first + BATCH):
        made = program(seed)
        if faults(made.source, "program"):
            continue
        tree = ast.parse(made.source)
        reached = {*lines(made.flow.compile().document["nodes"])}  # what nothing leads to is not read
        there = [name for name in readings(tree) if name.lineno in reached]
        chosen = random.Random(seed).sample(there, min(FAULTS, len(there)))
        for number, part in enumerate(chosen):
            part.id = f"undefined_{number}"
        tried += bool(chosen)
        found = set(faults(ast.unparse(tree), "program")) - OF_TYPES
        if found != {part.id for part in chosen}:
            missed.append(f"seed {seed}: {sorted(found)}\n{ast.unparse(tree)}")
    assert missed == []
    assert tried
