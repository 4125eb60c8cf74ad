"""`import stepless`: what is public, and a run from Python."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import stepless
from stepless.errors import DocumentRefused, InvalidRequest

ENGINE = Path(__file__).resolve().parents[2] / "engine"
ASKING: dict[str, Any] = {
    "id": "asking",
    "nodes": {
        "boss": {"type": "approval", "with": {"message": "?", "fields": {"limit": {"type": "integer"}}}},
        "pay": {"type": "transform", "after": "boss.approved", "with": {"value": "<boss.limit>"}},
        "deny": {"type": "transform", "after": "boss.rejected", "with": {"value": "no"}},
    },
}


def test_every_public_name_is_there() -> None:
    assert [name for name in stepless.__all__ if getattr(stepless, name, None) is None] == []
    assert set(stepless.__all__) <= set(dir(stepless))
    with pytest.raises(AttributeError, match="Workflw"):
        stepless.Workflw  # type: ignore[attr-defined]  # noqa: B018


def test_the_import_alone_loads_nothing() -> None:
    source = "import sys, stepless; print([name for name in sys.modules if name.startswith(('stepless.', 'pydantic', 'yaml'))])"
    done = subprocess.run([sys.executable, "-c", source], cwd=ENGINE, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_file_runs_in_process(hello: str) -> None:
    result = stepless.run(hello, inputs={"name": "Ada"})
    assert (result.status, result.outputs) == ("completed", {"greet": "Hello, Ada!"})
    assert [event["eventId"] for event in result.events] == list(range(1, len(result.events) + 1))
    assert result.nodes["greet"].output == "Hello, Ada!"


@pytest.mark.parametrize(
    ("approve", "outputs"),
    [
        (True, {"pay": None}),
        (False, {"deny": "no"}),
        (lambda pause: ("approved", {"limit": 3}), {"pay": 3}),
        (lambda pause: ("rejected", {}) if pause.node == "boss" else None, {"deny": "no"}),
    ],
)
def test_approve_decides(approve: bool | Callable[..., Any], outputs: Any) -> None:
    result = stepless.run(ASKING, approve=approve)
    assert (result.status, result.outputs) == ("completed", outputs)


def test_without_an_answer_the_run_is_left_paused() -> None:
    assert stepless.run(ASKING).status == "paused"
    assert stepless.run(ASKING, approve=lambda pause: None).status == "paused"


def test_an_answer_that_does_not_fit_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="does not fit"):
        stepless.run(ASKING, approve=lambda pause: ("approved", {"limit": "many"}))


def test_a_timer_is_waited_for() -> None:
    nodes = {"nap": {"type": "wait", "with": {"for": "20ms"}}, **ASKING["nodes"]}
    result = stepless.run({"id": "asking", "nodes": nodes})
    assert (result.status, result.nodes["nap"].status) == ("paused", "completed")


def test_a_failed_run_is_an_answer_and_a_refused_document_is_not() -> None:
    result = stepless.run({"id": "bad", "nodes": {"x": {"type": "transform", "with": {"value": "{{ 1 / 0 }}"}}}})
    assert result.status == "failed" and result.error is not None and result.error["node"] == "x"
    with pytest.raises(DocumentRefused):
        stepless.run({"id": "bad", "nodes": {}})


def test_a_kept_run_stays_in_its_file(tmp_path: Path) -> None:
    for _ in range(2):
        assert stepless.run(ASKING, db=tmp_path / "runs.db", approve=True).status == "completed"
