"""Drafts and files in `stepless dev`: a draft is saved to its file, and what another program saves comes into the draft."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dev_drafts import TEXT, Draft

pytestmark = pytest.mark.check

Write = Callable[[str, str], str]
Serve = Callable[..., Any]

def test_a_draft_is_saved_to_its_file_which_is_published_once(serve: Serve, write: Write, tmp_path: Path) -> None:
    path = Path(write("w.yaml", TEXT))
    dev = serve()
    draft = Draft(dev)
    assert draft.opened["base"] == {"file": "w.yaml"} and draft.opened["entities"]["text"] == {"yaml": TEXT}
    assert draft.opened["save"] == {"possible": True, "file": "w.yaml", "differs": False}
    tail = draft.said.partition("/")[2]
    draft.send({"writes": [["put", f"place/{tail}", {"x": 10, "y": 20}]]})
    seq = draft.says(5)
    saved = draft.ask("POST", "/drafts/w/save", {"seq": seq})
    assert (saved["file"], saved["seq"]) == ("w.yaml", seq)
    assert path.read_text() == TEXT.replace("<begin> ", "5 ") == draft.text()
    assert json.loads((tmp_path / "w.yaml.layout.json").read_text()) == {"places": [{"node": ["said"], "x": 10, "y": 20}]}
    assert dev.child.until("published as") == "w.yaml: w published as version 2\n"
    made = draft.ask("POST", "/drafts/w/publish", {"seq": seq, "message": "Five"})
    assert made["version"] == 2
    now = draft.now()
    assert (now["seq"], now["newest"], now["save"]["differs"], now["conflicts"]) == (seq, 2, False, 0), "nothing has come back"
    assert dev.client.get("/workflows/w/versions/2?format=yaml").text == path.read_text()


def test_publishing_saves_first(serve: Serve, write: Write) -> None:
    path = Path(write("w.yaml", TEXT))
    draft = Draft(serve())
    seq = draft.says(6)
    assert draft.ask("POST", "/drafts/w/publish", {"seq": seq})["version"] == 2
    assert path.read_text() == TEXT.replace("<begin> ", "6 ")
    draft.says(7)
    assert draft.ask("GET", "/drafts/w/diff")["nodes"][0]["fields"] == [{"path": ["with", "value"], "before": 6, "after": 7}]
    draft.send({"writes": [["set", draft.said, ["type"], "nonsense"]]})
    draft.ask("POST", "/drafts/w/publish", {"seq": seq + 2}, 422)
    assert "nonsense" not in path.read_text(), "what is not published is not saved"


def test_a_draft_from_nothing_becomes_a_file(serve: Serve, tmp_path: Path) -> None:
    dev = serve()
    draft = Draft(dev, **{"from": "empty"})
    made = draft.ask("POST", "/drafts/w/yaml", {"seq": 0, "text": TEXT})
    draft.send(*made["gestures"])
    assert draft.ask("POST", "/drafts/w/publish", {"seq": 1})["version"] == 1
    assert (tmp_path / "w.yaml").read_text() == TEXT
    assert draft.now()["base"] == {"file": "w.yaml", "version": 1}


def test_a_file_that_another_program_saves_comes_in(serve: Serve, write: Write) -> None:
    write("w.yaml", TEXT)
    draft = Draft(serve())
    seq = draft.says(5)
    theirs = TEXT.replace("id: w\n", "id: w\nname: Theirs\n").replace("# by hand", "# by them")
    write("w.yaml", theirs)
    (item,) = draft.follow(seq)
    assert item["by"] == "file w.yaml"
    assert draft.text() == theirs.replace("<begin> ", "5 ")
    saved = draft.ask("POST", "/drafts/w/save", {"seq": item["seq"]})
    assert saved["file"] == "w.yaml" and draft.now()["conflicts"] == 0


def test_a_save_over_a_changed_file_is_a_conflict_and_the_file_stays(serve: Serve, write: Write) -> None:
    path = Path(write("w.yaml", TEXT))
    draft = Draft(serve())
    seq = draft.says(5)
    theirs = TEXT.replace("<begin> ", "9 ")
    path.write_text(theirs)
    problem = draft.ask("POST", "/drafts/w/save", {"seq": seq}, 409)
    assert problem["code"] == "file_changed" and path.read_text() == theirs
    (found,) = draft.ask("GET", "/drafts/w/conflicts")["conflicts"]
    assert (found["base"], found["draft"], found["file"], found["from"]) == ("<begin>", 5, 9, "file w.yaml")
    draft.ask("POST", "/drafts/w/conflicts", {"key": found["key"], "path": found["path"], "take": "draft"})
    draft.ask("POST", "/drafts/w/save", {"seq": draft.now()["seq"]})
    assert path.read_text() == TEXT.replace("<begin> ", "5 ")


def test_a_file_that_does_not_parse_leaves_the_draft(serve: Serve, write: Write) -> None:
    path = Path(write("w.yaml", TEXT))
    dev = serve()
    draft = Draft(dev)
    seq = draft.says(5)
    write("w.yaml", "id: w\nnodes: {")
    assert "not published" in dev.child.until("not published")
    problem = draft.ask("POST", "/drafts/w/save", {"seq": seq}, 409)
    assert problem["code"] == "file_changed" and "line" in problem["detail"]
    assert path.read_text() == "id: w\nnodes: {" and draft.now()["seq"] == seq


def test_two_files_with_one_id_ask_which(serve: Serve, write: Write, tmp_path: Path) -> None:
    write("a.yaml", TEXT)
    write("b.yaml", TEXT)
    draft = Draft(serve())
    seq = draft.says(5)
    problem = draft.ask("POST", "/drafts/w/save", {"seq": seq}, 409)
    assert (problem["code"], problem["violations"]) == ("files_claim_id", ["a.yaml", "b.yaml"])
    assert draft.ask("POST", "/drafts/w/save", {"seq": seq, "file": "b.yaml"})["file"] == "b.yaml"
    assert (tmp_path / "a.yaml").read_text() == TEXT and "value: 5" in (tmp_path / "b.yaml").read_text()
    draft.ask("POST", "/drafts/w/save", {"seq": seq, "file": "../b.yaml"}, 422)


def test_a_layout_comes_back_with_the_file(serve: Serve, write: Write) -> None:
    write("w.yaml", TEXT)
    layout = {"places": [{"node": ["said"], "x": 1, "y": 2}], "notes": [{"x": 3, "y": 4, "text": "a"}]}
    write("w.yaml.layout.json", json.dumps(layout))
    entities = Draft(serve()).opened["entities"]
    assert [one for key, one in entities.items() if key.startswith("place/")] == [{"x": 1, "y": 2}]
    assert [one for key, one in entities.items() if key.startswith("note/")] == [{"x": 3, "y": 4, "text": "a"}]
