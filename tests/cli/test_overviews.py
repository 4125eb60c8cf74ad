"""`approvals`, `errors`, `stats`, `diff`, `workflows versions` and `drafts list`, over a file that no process serves."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from stepless.cli.reach.file_transport import URL, FileTransport

Say = Callable[..., tuple[int, str, str]]
Write = Callable[[str, str], str]
FAILING = "id: failing\nnodes:\n  begin: {type: manual}\n  boom: {type: transform, after: begin, with: {value: '{{ 1 / 0 }}'}}\n"


@pytest.fixture
def say(say_over: Callable[[Path], Say], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Say:
    monkeypatch.setenv("COLUMNS", "160")
    return say_over(tmp_path / "kept" / "runs.db")


@pytest.fixture
def failed(say: Say, write: Write) -> list[str]:
    """Two runs that failed in the same way, the newest first."""
    say("publish", write("failing.yaml", FAILING))
    return [json.loads(say("start", "failing", "--go", "--json")[1])["run_id"] for _ in range(2)][::-1]


def rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_open_questions_are_listed(say: Say, asking: str) -> None:
    say("publish", asking)
    assert say("approvals")[1].startswith("No open questions in")
    run = json.loads(say("start", "asking", "-i", '{"amount": 5}', "--go", "--json")[1])["run_id"]
    code, out, _ = say("approvals")
    assert code == 0 and out.splitlines()[0].split()[:3] == ["RUN", "WORKFLOW", "PAUSE"]
    assert out.splitlines()[1].split()[:2] == [run, "asking"]
    assert [each["run_id"] for each in rows(say("approvals", "--workflow", "asking", "--json")[1])] == [run]
    assert say("approvals", "--workflow", "other", "--json")[1] == ""


def test_decisions_are_listed_for_all_workflows(say: Say, asking: str) -> None:
    say("publish", asking)
    run = json.loads(say("start", "asking", "-i", '{"amount": 5}', "--go", "--json")[1])["run_id"]
    assert say("approvals", "--decided")[1].startswith("No decisions in")
    assert say("runs", "resume", run, "--exit", "approved", "--by", "ada")[0] == 0
    assert run in say("approvals", "--decided")[1]
    [decided] = rows(say("approvals", "--decided", "--json")[1])
    assert (decided["run_id"], decided["workflow"], decided["decision"]) == (run, "asking", "approved")
    code, _, err = say("approvals", "--decided", "--workflow", "asking")
    assert code == 2 and "Leave --workflow, --due-before and --assigned out." in err


def test_failures_are_listed_in_groups(say: Say, failed: list[str]) -> None:
    code, out, _ = say("errors")
    assert code == 0 and out.splitlines()[1].split()[:3] == ["2", "failing", "boom"]
    assert out.splitlines()[-1].startswith("2 failures since") and out.splitlines()[-1].endswith("in 1 groups.")
    [group] = rows(say("errors", "--workflow", "failing", "--json")[1])
    assert (group["count"], group["node"], sorted(group["runs"])) == (2, "boom", sorted(failed))
    assert say("errors", "--since", "2100-01-01T00:00:00Z")[1].startswith("No failures in")


def test_the_health_of_one_workflow_and_of_all(say: Say, failed: list[str]) -> None:
    code, out, _ = say("stats")
    assert code == 0 and out.splitlines()[1].split()[:4] == ["failing", "2", "100", "%"]
    [one] = rows(say("stats", "failing", "--window", "7d", "--json")[1])
    assert (one["workflow"], one["runs"], one["failure_rate"]) == ("failing", 2, 1.0)
    assert say("stats", "other")[0] == 2


def test_versions_and_their_differences(say: Say, write: Write, failed: list[str]) -> None:
    say("publish", write("failing.yaml", FAILING.replace("1 / 0", "1 / 4")))
    assert [each["version"] for each in rows(say("workflows", "versions", "failing", "--json")[1])] == [2, 1]
    code, out, err = say("workflows", "versions", "failing", "--limit", "1")
    assert code == 0 and out.splitlines()[1].split()[0] == "2" and "--before 2" in err
    assert [each["version"] for each in rows(say("workflows", "versions", "failing", "--before", "2", "--json")[1])] == [1]
    code, out, _ = say("diff", "failing", "--from", "1", "--to", "2")
    assert code == 0 and out.splitlines()[0].split() == ["changed", "boom"]
    assert any(line.startswith("- ") and "1 / 0" in line for line in out.splitlines())
    assert any(line.startswith("+ ") and "1 / 4" in line for line in out.splitlines())
    assert say("diff", "failing", "--from", "1", "--to", "1")[1] == "No differences.\n"
    assert json.loads(say("diff", "failing", "--from", "1", "--to", "2", "--json")[1])["against"] == {"version": 1}


@pytest.mark.parametrize("words", [("--from", "1"), ("--to", "2"), ("--from", "1", "--to", "2", "--seq", "3")])
def test_a_diff_is_of_two_versions_or_of_the_draft(say: Say, failed: list[str], words: tuple[str, ...]) -> None:
    code, _, err = say("diff", "failing", *words)
    assert code == 2 and "Give --from and --to for two versions, or neither for the draft." in err


def test_a_workflow_without_a_draft_has_nothing_to_compare(say: Say, failed: list[str]) -> None:
    assert say("drafts", "list")[1].startswith("No drafts in")
    assert say("diff", "failing")[0] == 2


def test_a_draft_is_compared_with_its_base_and_with_a_version(say: Say, write: Write, failed: list[str], tmp_path: Path) -> None:
    say("publish", write("failing.yaml", FAILING.replace("1 / 0", "1 / 4")))
    with httpx.Client(transport=FileTransport(str(tmp_path / "kept" / "runs.db")), base_url=URL) as client:
        assert client.post("/drafts/failing", json={"from": "version", "version": 2}).is_success
    assert [each["workflow"] for each in rows(say("drafts", "list", "--json")[1])] == ["failing"]
    assert say("diff", "failing")[1] == "No differences.\n"
    code, out, _ = say("diff", "failing", "--against", "1")
    assert code == 0 and out.splitlines()[0].split() == ["changed", "boom"]
    assert json.loads(say("diff", "failing", "--seq", "0", "--json")[1])["seq"] == 0


def test_runs_are_found_by_each_filter_of_the_api(say: Say, failed: list[str]) -> None:
    def found(*words: str) -> int:
        return len(rows(say("runs", "list", "--json", *words)[1]))

    [group] = rows(say("errors", "--json")[1])
    assert found("--error", group["code"]) == 2 and found("--error", "other") == 0
    assert found("--search", failed[0]) == 1 and found("--search", "nothing") == 0
    assert found("--until", "2100-01-01T00:00:00Z") == 2 and found("--until", "2020-01-01T00:00:00Z") == 0
    assert found("--max-duration", "1d") == 2 and found("--min-duration", "1d") == 0
    code, _, err = say("runs", "list", "--min-duration", "soon")
    assert code == 2 and "is not a duration" in err
