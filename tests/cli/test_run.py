"""`stepless run`: one run in the terminal."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepless.cli import main

Write = Callable[[str, str], str]
Said = pytest.CaptureFixture[str]

STUBBORN = """
id: stubborn
nodes:
  start: {type: manual}
  try: {type: transform, after: start, with: {value: "{{ 1 / 0 }}"}}
"""
SLOW = """
id: slow
nodes:
  first: {type: function, with: {call: cli_run.note, args: {word: first}}}
  second: {type: function, after: first, with: {call: cli_run.note, args: {word: second}}}
"""
NOTES = """
import os, time
from stepless import function

@function("cli_run.note")
def note(word: str) -> str:
    with open("notes", "a") as notes:
        notes.write(word + "\\n")
    print("noted " + word, flush=True)
    time.sleep(0.4 if word == os.environ.get("SLOW") else 0)
    return word
"""


def outcome(said: Said) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(said.readouterr().out)
    return told


def test_a_run_ends_with_its_timeline_and_outputs(hello: str, capsys: Said) -> None:
    assert main(["run", hello, "-i", '{"name": "Ada"}']) == 0
    said = capsys.readouterr().out
    assert re.search(r"^greet +✓ completed .* ms$", said, re.M)
    assert re.search(r"^completed in \d+ ms → run_\w+$", said, re.M)
    assert json.loads(said[said.index("{") :]) == {"greet": "Hello, Ada!"}
    assert all(len(line) <= 80 for line in said.splitlines())


def test_json_prints_one_object_and_nothing_else(hello: str, capsys: Said) -> None:
    assert main(["run", hello, "--json", "-i", '{"name": "Ada"}']) == 0
    told = outcome(capsys)
    assert (told["status"], told["outputs"]) == ("completed", {"greet": "Hello, Ada!"})
    assert told["nodes"]["greet"]["status"] == "completed"


def test_inputs_come_from_a_file_too(hello: str, write: Write, capsys: Said) -> None:
    assert main(["run", hello, "--json", "-i", "@" + write("inputs.json", '{"name": "Bo"}')]) == 0
    assert outcome(capsys)["outputs"] == {"greet": "Hello, Bo!"}


@pytest.mark.parametrize("inputs", ["{", "NaN", "@nowhere.json"])
def test_inputs_that_are_no_json_are_bad_input(inputs: str, hello: str, capsys: Said) -> None:
    assert main(["run", hello, "-i", inputs]) == 2
    assert "error: " in capsys.readouterr().err


def test_a_failed_run_says_which_node_and_why(write: Write, capsys: Said) -> None:
    assert main(["run", write("stubborn.yaml", STUBBORN)]) == 1
    said = capsys.readouterr().out
    assert re.search(r"^failed in .*, 1 node failed", said, re.M)
    assert re.search(r"^try: .*zero.*\[", said, re.M)


def test_a_refused_workflow_is_bad_input_with_every_finding(write: Write, capsys: Said) -> None:
    file = write("broken.yaml", "id: broken\nnodes:\n  a: {type: nothing}\n  b: {type: join, after: c}\n")
    assert main(["run", file]) == 2
    said = capsys.readouterr().err
    assert f"{file}:3: error:" in said and f"{file}:4: error:" in said


def test_an_unknown_entry_is_bad_input(hello: str, capsys: Said) -> None:
    assert main(["run", hello, "--entry", "begin"]) == 2
    assert "there is no node `begin`" in capsys.readouterr().err


@pytest.mark.parametrize(("approve", "output"), [
    (["--approve"], {"pay": {"paid": 5, "limit": None}}), (["--approve", "yes"], {"pay": {"paid": 5, "limit": None}}),
    (["--approve=no"], {"deny": "denied"}),
])  # fmt: skip
def test_approve_answers_every_question(approve: list[str], output: Any, asking: str, capsys: Said) -> None:
    assert main(["run", *approve, asking, "--json", "-i", '{"amount": 5}']) == 0
    assert outcome(capsys)["outputs"] == output


def test_a_question_that_nobody_answers_leaves_the_run_paused(asking: str, capsys: Said) -> None:
    assert main(["run", asking, "--json"]) == 1
    said = capsys.readouterr()
    assert json.loads(said.out)["waiting_for"] == ["boss"]
    assert "The run waits for an answer: boss" in said.err and "--db FILE" in said.err


def test_a_kept_run_is_continued_where_it_was_left(asking: str, tmp_path: Path, capsys: Said) -> None:
    db = str(tmp_path / "runs.db")
    assert main(["run", asking, "--db", db, "-i", '{"amount": 7}']) == 1
    command = re.search(r"stepless (run --db \S+ --continue \S+)", capsys.readouterr().err)
    assert command is not None
    assert main([*command[1].split(), "--approve", "--json"]) == 0
    assert outcome(capsys)["outputs"]["pay"]["paid"] == 7


def test_a_run_that_is_not_kept_there_cannot_be_continued(tmp_path: Path, capsys: Said) -> None:
    assert main(["run", "--db", str(tmp_path / "runs.db"), "--continue", "run_1"]) == 2
    assert "there is no run run_1" in capsys.readouterr().err


def test_continuing_a_run_leaves_the_others_of_the_file_alone(asking: str, hello: str, tmp_path: Path, capsys: Said) -> None:
    db = str(tmp_path / "runs.db")
    main(["run", asking, "--db", db, "--json"])
    left = outcome(capsys)["run_id"]
    assert main(["run", hello, "--db", db, "--approve", "--json"]) == 0
    capsys.readouterr()
    assert main(["run", "--db", db, "--continue", left, "--json"]) == 1
    assert outcome(capsys)["waiting_for"] == ["boss"]


def test_answers_are_asked_for_until_they_fit(asking: str, spawn: Any) -> None:
    child = spawn("run", asking, "-i", '{"amount": 9}')
    child.until("Pay 9?")
    child.answer("perhaps\ny\nlots\n3\nfine\n")
    child.until("approve? [y/n]")
    assert child.ended() == 0
    said = "".join(child.said)
    assert said.count("approve? [y/n]") == 2
    assert said.count("limit (whole number):") == 2
    assert '"limit": 3' in said


def test_the_first_interrupt_lets_what_is_under_way_end_and_says_how_to_go_on(spawn: Any, write: Write, tmp_path: Path) -> None:
    write("cli_run_notes.py", NOTES)
    child = spawn("run", write("slow.yaml", SLOW), "--db", "runs.db", SLOW="first")
    child.until("noted first")
    child.signal(signal.SIGINT)
    assert child.ended() == 130
    assert (tmp_path / "notes").read_text() == "first\n"
    command = re.search(r"stepless (run --db \S+ --continue \S+)", "".join(child.said))
    assert command is not None, child.said
    again = spawn(*command[1].split())
    assert again.ended() == 0, again.said
    assert (tmp_path / "notes").read_text() == "first\nsecond\n"


def test_a_budget_hands_the_run_over_to_itself(spawn: Any, write: Write, tmp_path: Path) -> None:
    write("cli_run_notes.py", NOTES)
    child = spawn("run", write("slow.yaml", SLOW), "--budget-ms", "1", "--json")
    assert child.ended() == 0
    assert (tmp_path / "notes").read_text() == "first\nsecond\n"


def test_a_child_run_is_served_and_its_questions_are_asked_too(asking: str, write: Write, capsys: Said) -> None:
    parent = "id: parent\nnodes:\n  call: {type: workflow, with: {workflow: asking, inputs: {amount: 4}}}\n"
    assert main(["run", write("parent.yaml", parent), "--approve", "--json"]) == 0
    assert outcome(capsys)["outputs"] == {"call": {"pay": {"paid": 4, "limit": None}}}
