"""The example with a draft that is rewritten until it is approved, offline, with its own scripted answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepless import RunResult, run
from stepless.nodes.function import load_modules
from stepless.runtime.verbs.reads.inspecting import OpenPause

FOLDER = Path(__file__).parents[2] / "examples" / "agent-review-loop"
Answers = list[tuple[str, dict[str, Any]]]


@pytest.fixture
def reviewed(monkeypatch: pytest.MonkeyPatch) -> Callable[[Answers], tuple[RunResult, list[str]]]:
    """The run in which a reviewer gives these answers, and what the reviewer was asked."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setenv("STEPLESS_MODEL_SCRIPT", str(FOLDER / "answers.json"))
    load_modules(["review"])

    def go(answers: Answers) -> tuple[RunResult, list[str]]:
        messages: list[str] = []

        def approve(pause: OpenPause) -> tuple[str, Any]:
            messages.append(str(pause.details["message"]))
            return answers[len(messages) - 1]

        return run(FOLDER / "workflow.yaml", {"feature": "dark mode"}, approve=approve), messages

    return go


TOO_DRY = ("rejected", {"comment": "Too dry. Say where to switch it on."})


def test_a_rejected_draft_is_written_again_until_it_is_approved(reviewed: Callable[..., tuple[RunResult, list[str]]]) -> None:
    result, messages = reviewed([TOO_DRY, ("approved", {})])
    assert result.status == "completed"
    assert result.outputs["outcome"]["status"] == "published"
    assert "Settings" in result.outputs["outcome"]["text"]
    assert [message.partition(" words")[0] for message in messages] == ["Publish this? (8", "Publish this? (16"]
    assert result.nodes["triage@review[0]"].output["alternatives"] == ["drop"]
    assert result.nodes["triage@review[1]"].status == "skipped"
    assert result.variables["wish"] == TOO_DRY[1]["comment"]


def test_the_first_draft_may_do(reviewed: Callable[..., tuple[RunResult, list[str]]]) -> None:
    result, messages = reviewed([("approved", {})])
    assert result.outputs["outcome"] == {"status": "published", "text": "Dark mode is here, and it is dark."}
    assert len(messages) == 1
