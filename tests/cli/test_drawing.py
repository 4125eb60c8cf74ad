"""The drawing of a graph: it has every node and edge, and nothing overlaps."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import pytest

from stepless.cli import main
from stepless.cli.graph.layout import Box, layout
from stepless.compile import compile_document, parse
from stepless.model.graph import all_nodes
from stepless.nodes import KINDS

Write = Callable[[str, str], str]
ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted(path for path in (ROOT / "examples").glob("*/workflow.yaml") if path.parent.name != "plugin-kind")
SVG = "{http://www.w3.org/2000/svg}"


def inside(outer: Box, inner: Box) -> bool:
    return (
        outer.x < inner.x and inner.x + inner.width < outer.x + outer.width
        and outer.y < inner.y and inner.y + inner.height < outer.y + outer.height
    )  # fmt: skip


def apart(one: Box, other: Box) -> bool:
    return (
        one.x + one.width <= other.x or other.x + other.width <= one.x
        or one.y + one.height <= other.y or other.y + other.height <= one.y
    )  # fmt: skip


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_boxes_lie_apart_or_in_their_frame(path: Path) -> None:
    graph = compile_document(parse(path.read_bytes()), KINDS)
    placed = layout(graph.root)
    assert len(placed.boxes) == len(list(all_nodes(graph.root)))
    for one, other in combinations(placed.boxes, 2):
        assert apart(one, other) or inside(one, other)
    for box in placed.boxes:
        assert box.x >= 0 and box.x + box.width <= placed.width and box.y >= -0.01 and box.y + box.height <= placed.height + 0.01


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_edges_go_forward_from_box_to_box(path: Path) -> None:
    placed = layout(compile_document(parse(path.read_bytes()), KINDS).root)
    for curve in placed.curves:
        (x, y), (to_x, to_y) = curve.points[0], curve.points[-1]
        assert [a for a, _ in curve.points] == sorted(a for a, _ in curve.points)
        assert any(x == pytest.approx(box.x + box.width) and box.y <= y <= box.y + box.height for box in placed.boxes)
        assert any(to_x == pytest.approx(box.x) and box.y <= to_y <= box.y + box.height for box in placed.boxes)


def test_the_picture_names_nodes_kinds_and_exits(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    file = write("w.yaml", """\
        id: w
        name: 'A & "B" <c>'
        nodes:
          go: {type: manual}
          ask: {type: approval, label: 'Pay <it> & go', after: go, with: {message: m}}
          no: {type: join, after: [ask.rejected, ask.timeout]}
          each:
            type: loop
            after: ask.approved
            with: {times: 2, body: {nodes: {inner: {type: transform, with: {value: 1}}}}}
          bad: {type: transform, after: each.error, with: {value: 1}}
        """)
    assert main(["graph", file, "--format", "svg"]) == 0
    root = ElementTree.fromstring(capsys.readouterr().out)
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert root.get("aria-label") == 'A & "B" <c>'
    assert {"Pay <it> & go", "approval", "rejected", "timeout", "approved", "inner", "each · loop", "error"} <= set(texts)
    assert [path.get("class") for path in root.iter(f"{SVG}path")].count("error") == 1


def test_a_graph_is_told_to_programs(write: Write, hello: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", hello, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [node["id"] for node in told["nodes"]] == ["start", "greet"]
    assert told["edges"] == [{"source": "start", "handle": "source", "target": "greet"}]
