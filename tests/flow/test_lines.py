"""Each node has the lines of the file of its workflow, wherever its statement stands."""

from __future__ import annotations

import inspect

from program_steps import doubled, inc

from stepless.compile.source_lines import source_of
from stepless.flow import part, workflow


@part
async def near(n: int) -> int:
    m = await inc(n)
    return m + 1


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
