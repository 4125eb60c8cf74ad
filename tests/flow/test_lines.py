"""Each node has the lines of the file of its workflow, wherever its statement stands."""

from __future__ import annotations

import inspect
import json

from program_steps import doubled, inc

from stepless.compile.source_lines import source_of
from stepless.flow import matched, part, workflow


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
    assert source_of(document, "first") == f"{document['made_by']['file']}:{first + 3}: after = await doubled(before)"


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
