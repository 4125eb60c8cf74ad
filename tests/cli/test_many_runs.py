"""Verbs over many runs, and listings page by page, over a file that no process serves."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import pytest

Say = Callable[..., tuple[int, str, str]]
FAILING = "id: failing\nnodes:\n  begin: {type: manual}\n  boom: {type: transform, after: begin, with: {value: '{{ 1 / 0 }}'}}\n"


@pytest.fixture
def say(say_over: Callable[[Path], Say], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Say:
    monkeypatch.setenv("COLUMNS", "160")
    return say_over(tmp_path / "kept" / "runs.db")


@pytest.fixture
def three(say: Say, asking: str) -> list[str]:
    """Three runs that were created, the newest first."""
    say("publish", asking)
    started = [json.loads(say("start", "asking", "-i", '{"amount": 5}', "--json")[1])["run_id"] for _ in range(3)]
    return started[::-1]


def rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_dry_run_counts_and_changes_nothing(say: Say, three: list[str]) -> None:
    code, out, _ = say("runs", "cancel", "--workflow", "asking", "--dry-run")
    assert code == 0 and out.splitlines()[0].startswith("3 matching runs in") and "3  asking, created" in out
    assert rows(say("runs", "cancel", "--workflow", "asking", "--dry-run", "--json")[1]) == [
        {"action": "cancel", "matched": 3, "more": False, "counts": [{"workflow": "asking", "status": "created", "runs": 3}]}
    ]
    code, out, _ = say("runs", "cancel", "--workflow", "asking", "--yes", "--limit", "2")
    assert code == 0 and "There are more: these are the newest." in out and "2 changed, 0 refused" in out
    assert [line.split()[0] for line in out.splitlines() if line.endswith("cancel requested")] == three[:2]


def test_without_a_terminal_nothing_is_changed_unless_yes(say: Say, three: list[str]) -> None:
    code, _, err = say("runs", "hold", "--workflow", "asking")
    assert code == 2 and "--yes" in err
    assert say("runs", "cancel", "--workflow", "none", "--yes")[1].startswith("No matching runs")


@pytest.mark.parametrize(("typed", "changed"), [("y\n", True), ("YES\n", True), ("n\n", False), ("\n", False), ("", False)])
def test_a_terminal_is_asked(say: Say, three: list[str], typed: str, changed: bool) -> None:
    class Terminal:
        def isatty(self) -> bool:
            return True

        def readline(self) -> str:
            return typed

        def write(self, text: str) -> None:
            """What is asked."""

        flush = lambda self: None  # noqa: E731

    former, sys.stdin = sys.stdin, Terminal()  # type: ignore[assignment]
    try:
        with redirect_stderr(Terminal()):  # type: ignore[type-var]
            code, out, _ = say("runs", "hold", "--workflow", "asking")
    finally:
        sys.stdin = former
    assert (code, "3 changed" in out) == ((0, True) if changed else (1, False))


def test_runs_that_refuse_are_reported_and_make_the_exit_code(say: Say, hello: str, three: list[str]) -> None:
    say("publish", hello)
    ended = json.loads(say("start", "hello", "-i", '{"name": "A"}', "--keyword", "x", "--go", "--json")[1])["run_id"]
    code, out, _ = say("runs", "hold", "--since", "2020-01-01T00:00:00Z", "--yes", "--json")
    told = {row["run_id"]: row for row in rows(out)[1:]}
    assert code == 1 and set(told) == {*three, ended}
    assert [told[run]["done"] for run in (ended, *three)] == [False, True, True, True]
    assert told[ended]["code"] == "run_ended"
    assert "1 refused (1 run_ended)" in say("runs", "cancel", "--keyword", "x", "--yes")[1]


def test_a_rerun_of_many_names_each_new_run(say: Say, hello: str) -> None:
    say("publish", hello)
    first = json.loads(say("start", "hello", "-i", '{"name": "A"}', "--go", "--json")[1])["run_id"]
    code, out, _ = say("runs", "rerun", "--workflow", "hello", "--status", "completed", "--yes", "--json")
    [row] = rows(out)[1:]
    assert code == 0 and row["run_id"] == first and row["result"].startswith("started again as run_")
    assert len(rows(say("runs", "list", "--json")[1])) == 2


def test_a_rerun_of_many_leaves_alone_what_was_rerun_already(say: Say, hello: str) -> None:
    say("publish", hello)
    first = json.loads(say("start", "hello", "-i", '{"name": "A"}', "--go", "--json")[1])["run_id"]
    last = json.loads(say("runs", "rerun", first, "--go", "--json")[1])["run_id"]
    code, out, _ = say("runs", "rerun", "--workflow", "hello", "--yes", "--json")
    told = {row["run_id"]: row for row in rows(out)[1:]}
    assert (code, told[first]["code"], told[last]["done"]) == (1, "rerun_already", True)
    code, out, _ = say("runs", "rerun", "--workflow", "hello", "--status", "completed", "--again", "--yes", "--json")
    assert code == 0 and [row["done"] for row in rows(out)[1:]] == [True, True]
    assert "usage" in say("runs", "rerun", first, "--again")[2]


def test_a_failed_run_is_rerun_from_what_failed_and_another_from_the_start(say: Say, hello: str, write: Any) -> None:
    say("publish", write("failing", FAILING))
    say("publish", hello)
    failed = json.loads(say("start", "failing", "--go", "--json")[1])["run_id"]
    completed = json.loads(say("start", "hello", "--go", "--json")[1])["run_id"]

    def begins_at(*words: str) -> Any:
        new = json.loads(say("runs", "rerun", *words, "--json")[1])["run_id"]
        return json.loads(say("runs", "show", new, "--json")[1])["rerun"]["from"]

    assert [begins_at(failed), begins_at(completed)] == ["failed", None]
    assert [begins_at(failed, "--from-start"), begins_at(failed, "--from", "boom")] == [None, "boom"]
    assert ", from what failed" in say("runs", "rerun", failed)[1]
    assert ", from what failed" in say("runs", "rerun", "--workflow", "failing", "--status", "failed", "--again", "--yes")[1]
    assert "nothing_failed" in say("runs", "rerun", completed, "--from", "failed")[2]
    assert "usage" in say("runs", "rerun", failed, "--from", "boom", "--from-start")[2]


def test_questions_of_many_runs_are_answered(say: Say, asking: str) -> None:
    say("publish", asking)
    for _ in range(2):
        say("start", "asking", "-i", '{"amount": 5}', "--go", "--json")
    assert "Give --exit" in say("runs", "resume", "--waiting", "answer", "--yes")[2]
    code, out, _ = say("runs", "resume", "--waiting", "answer", "--exit", "approved", "--yes")
    assert code == 0 and out.count(": approved") == 2


@pytest.mark.parametrize("words", [
    ("cancel",), ("cancel", "run_1", "--workflow", "w"), ("hold", "run_1", "--dry-run"), ("release", "run_1", "--yes"),
    ("rerun", "--workflow", "w", "--wait"),
])
def test_a_run_or_a_filter_is_given(say: Say, words: tuple[str, ...]) -> None:
    code, _, err = say("runs", *words)
    assert code == 2 and "usage" in err


def test_a_listing_goes_on_from_its_cursor(say: Say, three: list[str]) -> None:
    _, out, err = say("runs", "list", "--limit", "2", "--json")
    cursor = err.split("--cursor ")[1].strip()
    assert [row["id"] for row in rows(out)] == three[:2]
    _, out, err = say("runs", "list", "--limit", "2", "--cursor", cursor, "--json")
    assert ([row["id"] for row in rows(out)], err) == (three[2:], "")
    assert [row["id"] for row in rows(say("runs", "list", "--all", "--json")[1])] == three
    assert say("runs", "list", "--cursor", "nonsense")[0] == 2


def test_a_listing_shows_how_long_runs_took_and_where_they_failed(say: Say, write: Any) -> None:
    say("publish", write("failing.yaml", FAILING))
    say("start", "failing", "-i", '{"zero": 0}', "--go")
    [run] = rows(say("runs", "list", "--json")[1])
    assert (run["status"], run["failed_node"], run["waiting"]) == ("failed", "boom", [])
    assert 0 < run["duration_ms"] < 60_000
    title, row = say("runs", "list")[1].splitlines()
    assert title.split() == ["RUN", "WORKFLOW", "STATUS", "FAILED", "CREATED", "DURATION"]
    assert row.split()[3] == "boom" and row.split()[-1] in ("ms", "s")
    assert rows(say("runs", "list", "--waiting", "answer", "--json")[1]) == []


def test_schedules_are_listed_paused_fired_and_resumed(say: Say, write: Any) -> None:
    assert say("publish", write("n.yaml", "id: n\nnodes:\n  night: {type: schedule, with: {rate: 1h}}\n"))[0] == 0
    title, row = say("schedules", "list")[1].splitlines()
    assert title.split() == ["WORKFLOW", "NODE", "FIRES", "NEXT", "LAST", "RUN"]
    assert row.split()[:4] == ["n", "night", "every", "1h"]
    assert say("schedules", "pause", "n", "night", "--reason", "why")[0] == 0
    [listed] = rows(say("schedules", "list", "--workflow", "n", "--json")[1])
    assert (listed["next_at"], listed["paused"]["reason"]) == (None, "why")
    first, again = (json.loads(say("schedules", "fire", "n", "night", "--idempotency-key", "k", "--json")[1]) for _ in range(2))
    assert first["run_id"] == again["run_id"] and again["replay"]
    assert "resumed, next 20" in say("schedules", "resume", "n", "night")[1]
    code, _, err = say("schedules", "pause", "n", "other")
    assert code == 2 and "unknown_schedule" in err
    assert say("schedules", "list", "--workflow", "none")[0] == 2
