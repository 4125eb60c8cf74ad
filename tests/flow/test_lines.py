"""Each node has the lines of the file of its workflow, wherever its statement stands."""

from __future__ import annotations

import inspect
import json
from typing import Any

from program_steps import doubled, inc

from stepless.compile.source_lines import Sources
from stepless.flow import matched, part, workflow


def line_of(flow: Any) -> int:
    return inspect.getsourcelines(flow.function)[1]


@part
async def near(n: int) -> int:
    m = await inc(n)
    return m + 1


@part
async def more(n: int) -> int:
    n += 1
    return await inc(n)


@workflow("lines-of-a-change")
async def counting(n: int) -> int:
    return await more(n)


@workflow("lines-of-parts")
async def called(n: int) -> int:
    before = await inc(n)
    after = await doubled(
        before,
    )
    return await near(after)


def test_nodes_of_a_part_of_another_file_have_the_lines_of_its_call() -> None:
    document = called.document()
    _, first = inspect.getsourcelines(called.function)
    lines = {id: node["at"] for id, node in document["nodes"].items()}
    assert lines["before"] == [first + 2, first + 2]
    assert lines["first"] == lines["after"] == [first + 3, first + 5]


def test_the_line_of_a_node_is_that_of_its_part_with_the_place_of_the_call() -> None:
    document = called.document()
    file, first, elsewhere = document["made_by"]["file"], line_of(called), line_of(doubled)
    sources = Sources(document)
    assert sources.line("before") == f"{file}:{first + 2}: before = await inc(n)"
    assert sources.line("first") == f"program_steps.py:{elsewhere + 3}: first = await mul(n) (called at {file}:{first + 3})"
    assert sources.line("m") == f"{file}:{line_of(near) + 2}: m = await inc(n)"
    assert sources.line("none") is None


def test_a_source_that_cannot_be_read_leaves_the_place() -> None:
    document = called.document()
    made_by = document["made_by"]
    number = document["nodes"]["before"]["at"][0]
    newer = {**document, "made_by": {**made_by, "source": "await = 1"}}
    assert Sources(newer).line("before") == f"{made_by['file']}:{number}"
    without = {**document, "made_by": {"language": "python", "function": "called"}}
    assert Sources(without).line("before") == f"called:{number}"
    assert Sources({**document, "made_by": None}).line("before") is None


def test_nodes_of_a_part_of_the_same_file_have_its_own_lines() -> None:
    document = called.document()
    _, first = inspect.getsourcelines(near.function)
    assert document["nodes"]["m"]["at"] == [first + 2, first + 2]


def test_no_node_ends_before_it_begins() -> None:
    assert all(node["at"][0] <= node["at"][1] for node in called.document()["nodes"].values())


def test_a_version_keeps_the_text_of_its_parts_and_the_lines_of_their_nodes_in_another_file() -> None:
    document = called.document()
    foreign, own = document["made_by"]["parts"]
    lines, first = inspect.getsourcelines(doubled.function)
    assert (foreign["file"], foreign["function"], foreign["first"]) == ("program_steps.py", "doubled", first)
    assert foreign["source"] == "".join(lines)
    awaited = {id: node for id, node in document["nodes"].items() if id in foreign["nodes"]}
    assert foreign["nodes"] == {"first": [first + 3, first + 3], "after": [first + 4, first + 4]}
    assert all(node["type"] == "function" for node in awaited.values())
    assert own["file"] == document["made_by"]["file"] and "nodes" not in own
    assert own["source"].splitlines()[document["nodes"]["m"]["at"][0] - own["first"]].strip() == "m = await inc(n)"


def test_ids_that_are_matched_are_those_of_the_parts_too() -> None:
    document = called.document()
    nodes = {("first_7" if id == "first" else id): node for id, node in document["nodes"].items()}
    text = json.dumps({**document, "nodes": nodes}).replace('"<first', '"<first_7')
    former = json.loads(text.replace('"after": "first"', '"after": "first_7"'))
    kept = matched(document, former)
    assert "first_7" in kept["nodes"]
    assert kept["made_by"]["parts"][0]["nodes"].keys() == {"first_7", "after"}


def test_a_parameter_that_a_part_changes_has_the_lines_of_the_part() -> None:
    document = counting.document()
    _, first = inspect.getsourcelines(more.function)
    assert document["nodes"]["set_more"]["at"] == [first + 1, first + 3]
