"""`runs items` and `runs item` show the items of a `distributed` node."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stepless.cli.verbs.items import bar


@pytest.fixture
def run(say: Any, tmp_path: Path) -> str:
    body = {"nodes": {"odd": {"type": "transform", "with": {"value": "{{ 6 / <item> }}"}}}}
    with_ = {"items": [1, 0, 3], "tolerate": {"count": 1}, "body": body}
    nodes = {"begin": {"type": "manual"}, "each": {"type": "distributed", "after": "begin", "with": with_}}
    path = tmp_path / "fan.json"
    path.write_text(json.dumps({"id": "fan", "nodes": nodes}))
    code, told, complaint = say("run", str(path), "--json")
    assert code == 0, complaint
    return str(json.loads(told)["run_id"])


def test_the_items_of_a_node_are_shown(say: Any, run: str) -> None:
    code, told, _ = say("runs", "items", run, "each", "--follow")
    assert code == 0 and "3 of 3, 1 failed" in told and "expression_error 1" in told and "--items failed" in told
    assert json.loads(say("runs", "items", run, "each", "--json")[1])["completed"] == 2


def test_one_item_is_shown_with_what_it_returned(say: Any, run: str) -> None:
    told = say("runs", "item", run, "each", "2")[1]
    assert "completed" in told and "result" in told
    assert "expression_error" in say("runs", "item", run, "each", "1")[1]
    assert "[out_of_range]" in say("runs", "item", run, "each", "3")[2]


@pytest.mark.parametrize(("given", "told"), [
    (("--tolerate", "some"), "like 20, or a share"), (("--concurrency", "5", "--tolerate", "2%"), "[run_ended]"),
])  # fmt: skip
def test_a_node_is_changed_while_it_runs(say: Any, run: str, given: tuple[str, ...], told: str) -> None:
    code, _, complaint = say("runs", "items", run, "each", *given)
    assert code == 2 and told in complaint


def test_the_bar_tells_how_much_is_left() -> None:
    found = {"total": 200, "completed": 90, "failed": 10, "per_second": 4.5, "left_ms": 22_000}
    assert bar(found).endswith("100 of 200, 10 failed, 4.5/s, 22.0 s left")
    assert bar({**found, "total": 0, "completed": 0, "failed": 0, "per_second": 0, "left_ms": None}).endswith("0 of 0, 0.0/s")
