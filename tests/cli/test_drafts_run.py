"""`stepless drafts run`: a draft of a server is run before it is published."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dev_drafts import TEXT, Draft

from stepless.cli import main

Serve = Callable[..., Any]


@pytest.fixture
def where(serve: Serve, tmp_path: Path) -> tuple[Draft, list[str]]:
    """A draft on a server whose file says less than the draft, and how to reach it."""
    (tmp_path / "w.yaml").write_text(TEXT)
    dev = serve()
    draft = Draft(dev)
    draft.says(5)
    key = dev.client.headers["authorization"].removeprefix("Bearer ")
    return draft, ["--url", str(dev.client.base_url), "--key", key]


def test_a_draft_is_run_as_it_is_now(where: Any, capsys: Any) -> None:
    _, options = where
    assert main(["drafts", "run", "w", "--wait", "--json", *options]) == 0
    run = json.loads(capsys.readouterr().out)
    assert (run["status"], run["version"], run["draft"]["seq"], run["outputs"]) == ("completed", None, 1, {"said": 5})
    assert main(["drafts", "run", "w", "--pins", '{"said": {"output": "pinned"}}', "--wait", "--json", *options]) == 0
    pinned = json.loads(capsys.readouterr().out)
    assert (pinned["outputs"], pinned["draft"]["pins"]) == ({"said": "pinned"}, ["said"])
    assert main(["drafts", "run", "w", "--from-run", pinned["id"], "--from", "said", "--no-pins", *options]) == 0
    assert "a test run of the draft as of item 1" in capsys.readouterr().out


def test_what_cannot_be_run_says_why(where: Any, capsys: Any) -> None:
    _, options = where
    assert main(["drafts", "run", "w", "--stop-after", "none", *options]) == 2
    assert "no node none" in capsys.readouterr().err
    assert main(["drafts", "run", "other", *options]) == 2
