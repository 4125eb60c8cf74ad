"""Ids of nodes stay across edits, by matching with the former version."""

from __future__ import annotations

import ast
import copy
import inspect
import linecache
import textwrap
from collections.abc import Iterator
from typing import Any

import fifteen
from comparing import flow_of

from stepless.compile import check_document
from stepless.flow import Flow, FlowRefused, matched
from stepless.nodes import KINDS

MOST = 0.01  # of the ids, that may name another node after one edit


def compiled(flow: Flow[..., Any], tree: ast.Module) -> dict[str, Any]:
    source = ast.unparse(tree)
    file = f"{flow.id}_{abs(hash(source))}.py"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space = {**vars(fifteen), "__name__": "edited"}
    exec(compile(source, file, "exec", dont_inherit=True), space)
    return Flow(flow.id, space[flow.function.__name__], lift="function").compile().document


def tree_of(flow: Flow[..., Any]) -> ast.Module:
    tree = ast.parse(textwrap.dedent(inspect.getsource(flow.function)))
    tree.body[0].decorator_list = []  # type: ignore[attr-defined]
    return tree


def blocks(tree: ast.Module) -> Iterator[tuple[int, str, int]]:
    for place, node in enumerate(ast.walk(tree)):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if place and isinstance(body, list):
                yield from ((place, field, at) for at in range(len(body)))


def with_a_step(tree: ast.Module, place: int, field: str, at: int) -> ast.Module:
    edited = copy.deepcopy(tree)
    body = getattr(list(ast.walk(edited))[place], field)
    body.insert(at, ast.parse("await note('new')").body[0])
    return ast.fix_missing_locations(edited)


def contents(nodes: dict[str, Any]) -> dict[str, str]:
    """What each id stands for: a node's kind and parameters, without ids."""
    found: dict[str, str] = {}
    for id, node in nodes.items():
        given = {name: value for name, value in node.get("with", {}).items() if name != "body" or node["type"] == "respond"}
        found[id] = f"{node['type']} {given}"
        if node["type"] in ("loop", "parallel"):
            found |= contents(node["with"]["body"]["nodes"])
    return found


def test_one_inserted_step_changes_at_most_one_id_in_a_hundred() -> None:
    lost = changed = total = edits = 0
    for flow in fifteen.ALL:
        tree = tree_of(flow)
        former = compiled(flow, tree)
        before = contents(former["nodes"])
        for place, field, at in blocks(tree):
            try:
                document = matched(compiled(flow, with_a_step(tree, place, field, at)), former)
            except FlowRefused:
                continue
            assert [one for one in check_document(document, KINDS) if one.severity == "error"] == []
            after = contents(document["nodes"])
            edits, total = edits + 1, total + len(before)
            lost += len(before.keys() - after.keys())
            changed += sum(1 for id in before.keys() & after.keys() if before[id] != after[id])
    assert edits > 100
    assert lost + changed <= MOST * total, f"{lost} lost and {changed} changed of {total} in {edits} edits"


def test_the_same_source_keeps_every_id() -> None:
    for flow in fifteen.ALL:
        document = flow.compile(lift="function").document
        assert matched(document, document) == document


def test_a_new_step_before_others_of_its_name_gets_a_number_of_its_own() -> None:
    early = next(flow for flow in fifteen.ALL if flow.id == "early")
    former = compiled(early, tree_of(early))
    document = matched(compiled(early, with_a_step(tree_of(early), 1, "body", 0)), former)
    notes = [id for id, content in contents(document["nodes"]).items() if "fifteen.note" in content and "new" in content]
    assert notes == ["note_4"]
    assert contents(former["nodes"]).items() <= {k: v for k, v in contents(document["nodes"]).items() if k != "note_4"}.items()


def test_a_new_node_does_not_take_the_id_of_a_former_node_that_is_gone() -> None:
    """A comparison of two versions by ids would take it for the former one."""
    former, edited = (flow_of(SWAPPED.format(*steps), "swapped").document() for steps in (
        ("    await say('old')", ""), ("", "    await say('other')"),
    ))  # fmt: skip
    gone = [id for id in contents(former["nodes"]) if id.startswith("say")]
    mine = [id for id in contents(edited["nodes"]) if id.startswith("say")]
    assert gone == mine == ["say"], "without matching, both have the same id"
    nodes = contents(matched(edited, former)["nodes"])
    assert [id for id in nodes if id.startswith("say")] == ["say_2"]
    assert "inc" in nodes


SWAPPED = """\
async def program(n: int):
{}
    n = await inc(n)
{}
    return n
"""

SEARCH = """\
@part
async def best(xs: list[int]) -> list[int]:
    return sorted([x for x in xs if x % 2], key=lambda x: -x)

async def program(n: int, xs: list[int]):
{before}    ys = [x + n for x in xs if x % 2]
    return [ys, await best(xs), sorted([await inc(n), 3], key=lambda y: -y)]
"""


def test_what_stands_before_a_lifted_expression_does_not_change_its_function() -> None:
    calls = []
    for before in ("", "    x = await inc(n)\n    y = (await inc(x)) + n\n    await best([x, y])\n"):
        document = flow_of(SEARCH.format(before=before), "lifted_again").document()
        functions = [str(node["with"]["call"]) for node in document["nodes"].values() if node["type"] == "function"]
        calls.append({name.rpartition("_")[2] for name in functions if name.startswith("lifted-again.")})
    assert len(calls[0]) == 3
    assert calls[0] == calls[1]
