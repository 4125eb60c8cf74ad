"""compile --explain: line by line what was compiled, lifted or refused, and why."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from stepless.cli import main

Write = Callable[[str, str], str]
Said = pytest.CaptureFixture[str]

HEAD = '''\
import random

from stepless.flow import step, workflow


@step("MODULE.ship")
async def ship(item: str) -> str:
    return item


async def sent(item: str) -> str:
    if item:
        return await ship(item)
    return ""


'''
MIXED = HEAD + '''\
@workflow("MODULE")
async def mixed(items: list[str]):
    """Sends items,
    each once."""
    seen = []
    # a comment
    for item in items:
        await sent(item)
        if not item:
            continue
        seen.extend(
            [item, item])
        seen.sort()
    label = f"{len(seen):>4}"
    with open("/dev/null") as file:
        if file.read():
            return "read"
        size = len(label)
    await ship(label)
    try:
        rate = 1 / size
    except ZeroDivisionError:
        rate = 0.0
    return [
        rate,
        label]
    print("never")
'''
REFUSED = HEAD + '''\
@workflow(
    "MODULE",
)
async def refused(items: list[str]):
    text = """one
    two"""
    first = items.first
    receipt = ship(
        text)
    with open("x") as file:
        await ship(file.read())
    seen = first
    seen.remove(1)
    return nothing, nothing
'''


def named(write: Write, name: str, source: str) -> str:
    return write(f"{name}.py", source.replace("MODULE", name))


def explained(file: str, capsys: Said, expected: int = 0) -> dict[str, Any]:
    assert main(["compile", "--explain", "--json", file]) == expected
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_each_line_says_what_it_became(write: Write, capsys: Said) -> None:
    found = explained(named(write, "explainmixed", MIXED), capsys)
    own, part = found["functions"]
    assert (own["function"], part["function"]) == ("mixed", "sent")
    texts = MIXED.replace("MODULE", "explainmixed").splitlines()
    assert [line["source"] for line in own["lines"]] == texts[own["lines"][0]["line"] - 1 :]
    what = {line["source"].strip(): line["what"] for function in found["functions"] for line in function["lines"]}
    lifted = {"[item, item])", "seen.sort()", 'label = f"{len(seen):>4}"', 'with open("/dev/null") as file:', 'return "read"'}
    assert {what[text] for text in lifted} == {"lifted"}
    compiled = {"for item in items:", "await sent(item)", "continue", "await ship(label)", "if item:", "each once.\"\"\""}
    assert {what[text] for text in compiled} == {"compiled"}
    assert what["# a comment"] is None and what['print("never")'] == "unreachable"


def test_every_node_of_the_document_stands_at_a_line(write: Write, capsys: Said) -> None:
    file = named(write, "explainnodes", MIXED)
    found = explained(file, capsys)
    assert main(["compile", "--json", file]) == 0
    document = json.loads(capsys.readouterr().out)

    def ids(nodes: dict[str, Any]) -> list[str]:
        bodies = [node["with"]["body"]["nodes"] for node in nodes.values() if node["type"] in ("loop", "parallel")]
        return [*nodes, *(id for body in bodies for id in ids(body))]

    told = [id for function in found["functions"] for line in function["lines"] for id in line["nodes"]]
    assert sorted(told) == sorted(ids(document["nodes"]))
    assert {one["node"] for one in found["lifted"]} <= {*told}


def test_what_is_lifted_names_what_it_reads_and_leaves_and_why(write: Write, capsys: Said) -> None:
    found = explained(named(write, "explainlifted", MIXED), capsys)
    loop, block, risky = found["lifted"]
    assert (loop["form"], loop["reads"], loop["leaves"]) == ("block", ["item", "seen"], ["seen"])
    assert loop["why"] == "`.extend()` changes a value in place"
    assert (block["reads"], block["leaves"], block["exits"]) == (["seen"], ["label", "size"], ["return", "next"])
    assert block["why"] == "`with` has no counterpart in a graph"
    assert (risky["form"], risky["reads"], risky["leaves"]) == ("expression", ["size"], [])
    assert risky["why"] == "it may fail, and a handler around it takes the exception of Python"


def test_a_source_that_is_refused_is_told_too(write: Write, capsys: Said) -> None:
    found = explained(named(write, "explainrefused", REFUSED), capsys, 2)
    assert not found["sound"]
    codes = [(one["line"] - len(HEAD.splitlines()), one["code"]) for one in found["findings"]]
    assert codes == [(8, "not_awaited"), (10, "no_such_construct"), (14, "unknown_name")]
    what = {line["source"].strip(): line["what"] for line in found["functions"][0]["lines"]}
    assert [what[text] for text in ("receipt = ship(", "text)", 'with open("x") as file:')] == ["refused"] * 3
    assert what["seen.remove(1)"] == "lifted" and what["two\"\"\""] == "compiled"


@pytest.mark.parametrize("columns", [80, 140])
def test_a_terminal_shows_it_in_its_width(write: Write, capsys: Said, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    file = named(write, f"explainwide{columns}", MIXED)
    assert main(["compile", "--explain", file]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{file}: the workflow explainwide{columns}"
    assert max(len(line) for line in lines if file not in line) <= columns
    (extended,) = [line for line in lines if "seen.extend(" in line]
    assert extended.split()[:3] == ["27", "lifted", "seen,"]
    below = " ".join(line.partition("| ")[2] for line in lines[lines.index(extended) + 3:][:3] if "| " in line)
    assert below.startswith("block of lines 27 to 29 in the node seen; reads item, seen; leaves seen. Why: `.extend()` changes")


def test_what_is_no_workflow_in_python_is_told_as_for_a_document(write: Write, capsys: Said) -> None:
    assert main(["compile", "--explain", write("explainnone.py", "import stepless\n")]) == 2
    assert "the file has no workflow" in capsys.readouterr().err
    syntax = write("explainsyntax.py", "from stepless.flow import workflow\nif a\n")
    assert main(["compile", "--explain", syntax]) == 2
    assert "explainsyntax.py:2: error: " in capsys.readouterr().err
