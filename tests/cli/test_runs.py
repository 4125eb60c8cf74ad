"""Commands over a file that no process serves: inspecting runs, changing them, and running them here."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from stepless.ports import Message
from stepless.runtime.session.budget import Budget
from stepless.runtime.wiring.local import local

Write = Callable[[str, str], str]
Say = Callable[..., tuple[int, str, str]]
BROKEN = "id: broken\nnodes:\n  a: {type: nothing}\n"


@pytest.fixture
def say(say_over: Callable[[Path], Say], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Say:
    monkeypatch.setenv("COLUMNS", "80")
    return say_over(tmp_path / "kept" / "runs.db")


@pytest.fixture
def paused(say: Say, asking: str) -> str:
    """A run that waits for an answer."""
    assert say("publish", asking)[0] == 0
    code, told, _ = say("start", "asking", "-i", '{"amount": 5}', "--tag", "customer:c-1", "--go", "--json")
    assert code == 1
    return str(json.loads(told)["run_id"])


def lines(told: str) -> list[Any]:
    return [json.loads(line) for line in told.splitlines()]


# -- publishing -------------------------------------------------------------------------------------------------------


def test_publishing_says_id_version_and_whether_anything_changed(say: Say, hello: str) -> None:
    code, first, _ = say("publish", hello)
    assert code == 0 and first.split()[:3] == ["hello", "version", "1"] and first.split()[-1] == "published"
    assert say("publish", hello)[1].split()[-1] == "unchanged"
    [told] = lines(say("publish", hello, "--json")[1])
    assert (told["id"], told["version"], told["state"]) == ("hello", 1, "unchanged")
    assert [each["id"] for each in lines(say("workflows", "list", "--json")[1])] == ["hello"]
    shown = say("workflows", "show", "hello")[1]
    assert shown.startswith("# hello version 1, ") and "type: transform" in shown


def test_publishing_tells_what_the_server_warns_of(say: Say, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLI_RUNS_KEY", raising=False)
    file = write("keyed.yaml", "id: keyed\nenv: [CLI_RUNS_KEY]\nnodes: {a: {type: manual}}\n")
    code, told, complaint = say("publish", file)
    assert code == 0 and told.split()[-1] == "published"
    assert f"{file}:2: warning: `CLI_RUNS_KEY` is not set" in complaint
    assert [each["code"] for each in lines(say("publish", file, "--json")[1])[0]["warnings"]] == ["unset_env"]


def test_a_document_with_faults_is_told_at_its_lines_and_stops_no_other(say: Say, hello: str, write: Write) -> None:
    code, told, complaint = say("publish", write("broken.yaml", BROKEN), hello)
    assert code == 2
    assert "broken.yaml:3: error: " in complaint and "nothing" in complaint
    assert "broken.yaml: not published, 1 error" in told and "hello  version 1" in told
    refused, published = lines(say("publish", str(Path(hello).parent), "--json")[1])
    assert refused["state"] == "refused" and refused["error"]["findings"][0]["line"] == 3
    assert published["id"] == "hello"


def test_without_a_file_there_is_nothing_to_list(say: Say) -> None:
    code, _, complaint = say("runs", "list")
    assert code == 2 and "[no_runs_file]" in complaint and "stepless dev" in complaint


# -- looking ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [60, 80])
def test_a_listing_fits_and_shows_ids_whole(say: Say, paused: str, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    code, told, _ = say("runs", "list", "--tag", "customer:c-1", "--status", "paused")
    assert code == 0 and paused in told and max(map(len, told.splitlines())) <= columns
    for words in (("runs", "show", paused), ("runs", "events", paused), ("workflows", "list"), ("keys", "list")):
        assert max(map(len, say(*words)[1].splitlines())) <= columns


def test_runs_are_found_by_workflow_status_time_and_tag(say: Say, paused: str) -> None:
    assert [run["id"] for run in lines(say("runs", "list", "--json")[1])] == [paused]
    assert lines(say("runs", "list", "--json", "--workflow", "other")[1]) == []
    assert lines(say("runs", "list", "--json", "--tag", "customer:c-2")[1]) == []
    assert lines(say("runs", "list", "--json", "--since", "2999-01-01T00:00:00Z")[1]) == []
    assert say("runs", "list", "--since", "yesterday")[0] == 2


def test_more_runs_than_shown_are_told(say: Say, hello: str) -> None:
    say("publish", hello)
    for _ in range(3):
        say("start", "hello")
    _, told, more = say("runs", "list", "--limit", "2")
    assert told.count("run_") == 2 and "There are more" in more
    assert len(lines(say("runs", "list", "--limit", "3", "--json")[1])) == 3


def test_a_run_shows_its_timeline_and_how_to_answer_it(say: Say, paused: str) -> None:
    code, told, _ = say("runs", "show", paused)
    assert code == 0
    assert "asking version 1  waiting for an answer" in told and '{"amount": 5}' in told and "customer:c-1" in told
    assert "Pay 5?" in told and f"stepless runs resume {paused} boss" in told
    assert json.loads(say("runs", "show", paused, "--json")[1])["status"] == "paused"


def test_events_are_printed_from_any_point_on(say: Say, paused: str) -> None:
    events = lines(say("runs", "events", paused, "--json")[1])
    assert [event["eventId"] for event in events] == list(range(1, len(events) + 1))
    assert lines(say("runs", "events", paused, "--after", "2", "--json")[1]) == events[2:]
    assert "waiting for an answer" in say("runs", "events", paused)[1]


def test_following_a_run_that_has_ended_ends(say: Say, hello: str) -> None:
    say("publish", hello)
    run_id = json.loads(say("start", "hello", "--go", "--json")[1])["run_id"]
    assert lines(say("runs", "events", run_id, "--follow", "--json")[1])[-1]["type"] == "run.completed"


def test_an_unknown_run_is_bad_input_and_an_error_document_with_json(say: Say, paused: str) -> None:
    code, told, complaint = say("runs", "show", "run_nope")
    assert (code, told) == (2, "") and "there is no run run_nope [unknown_run]" in complaint
    code, told, complaint = say("runs", "show", "run_nope", "--json")
    assert (code, told) == (2, "") and json.loads(complaint)["error"]["code"] == "unknown_run"


# -- changing ---------------------------------------------------------------------------------------------------------


def test_a_start_that_nobody_takes_up_says_so(say: Say, hello: str) -> None:
    say("publish", hello)
    code, told, _ = say("start", "hello")
    assert code == 0 and "started, version 1" in told and "No process serves" in told and "--go" in told
    code, _, complaint = say("start", "hello", "--wait")
    assert code == 2 and "[nobody_serves]" in complaint


def test_a_start_with_a_key_is_answered_with_the_first_run(say: Say, hello: str) -> None:
    say("publish", hello)
    first, second = (json.loads(say("start", "hello", "--idempotency-key", "k", "--json")[1]) for _ in range(2))
    assert first["run_id"] == second["run_id"] and second["replay"]


def test_go_runs_it_here(say: Say, hello: str) -> None:
    say("publish", hello)
    code, told, _ = say("start", "hello", "-i", '{"name": "Ada"}', "--go")
    assert code == 0 and "Hello, Ada!" in told and "completed in" in told


def test_an_answer_goes_on_by_the_exit_that_it_names(say: Say, paused: str) -> None:
    code, _, complaint = say("runs", "resume", paused)
    assert code == 2 and "--exit with one of approved, rejected" in complaint
    code, _, complaint = say("runs", "resume", paused, "--exit", "approved", "--answer", '{"limit": "much"}')
    assert code == 2 and "[answer_invalid]" in complaint
    code, told, _ = say("runs", "resume", paused, "--exit", "approved", "--answer", '{"limit": 3}', "--by", "ada", "--go")
    assert code == 0 and '"limit": 3' in told
    code, _, complaint = say("runs", "resume", paused, "boss", "--exit", "rejected")
    assert code == 2 and "Its status is completed." in complaint


def test_an_answer_that_was_given_is_not_asked_for_again(say: Say, paused: str) -> None:
    assert "No process serves" in say("runs", "resume", paused, "--exit", "rejected")[1]
    code, _, complaint = say("runs", "resume", paused, "--exit", "approved")
    assert code == 2 and "this was already decided: rejected" in complaint
    assert "approve?" not in say("runs", "cancel", paused, "--go")[1]


def test_a_question_that_does_not_exist_is_told_with_those_that_do(say: Say, paused: str) -> None:
    code, _, complaint = say("runs", "resume", paused, "chief", "--exit", "approved")
    assert code == 2 and "the run does not wait at chief [unknown_pause]" in complaint and "It waits at boss." in complaint


def test_a_cancelled_run_is_what_was_asked_for(say: Say, paused: str) -> None:
    code, told, _ = say("runs", "cancel", paused, "--reason", "a mistake", "--go")
    assert code == 0 and "cancelled" in told
    code, _, complaint = say("runs", "cancel", paused)
    assert code == 2 and "[run_ended]" in complaint


def test_a_rerun_is_a_new_run_from_a_node(say: Say, paused: str) -> None:
    code, told, _ = say("runs", "rerun", paused, "--from", "boss", "--json")
    again = json.loads(told)["run_id"]
    assert code == 0 and again != paused
    assert say("runs", "cancel", again, "--go")[0] == 0
    code, _, complaint = say("runs", "rerun", paused, "--from", "nowhere")
    assert code == 2 and "[unknown_node]" in complaint


def test_a_rerun_says_which_run_it_repeats_and_from_where(say: Say, paused: str) -> None:
    new = json.loads(say("runs", "rerun", paused, "--from", "boss", "--json")[1])
    assert re.search(rf"rerun of +{paused} from boss", say("runs", "show", new["run_id"])[1])


@pytest.mark.parametrize(("items", "told"), [("3,x", "neither `failed` nor a list of numbers"), ("3,4", "[not_distributed]")])
def test_a_rerun_of_items_needs_numbers_and_a_distributed_node(say: Say, paused: str, items: str, told: str) -> None:
    code, _, complaint = say("runs", "rerun", paused, "--from", "boss", "--items", items)
    assert code == 2 and told in complaint

@pytest.mark.parametrize(("hold", "release"), [("hold", "release"), ("pause", "unpause")])
def test_a_held_run_goes_on_when_it_is_released(say: Say, hello: str, hold: str, release: str) -> None:
    say("publish", hello)
    run_id = json.loads(say("start", "hello", "--json")[1])["run_id"]
    assert "nothing new starts" in say("runs", hold, run_id, "--reason", "the bank is down")[1]
    assert "continues" in say("runs", release, run_id)[1]


def test_what_runs_wait_for_is_told_and_found(say: Say, paused: str) -> None:
    _, told, _ = say("runs", "list", "--waiting", "answer")
    assert re.search(rf"{paused} +asking +waiting for an answer", told)
    assert "No matching runs" in say("runs", "list", "--waiting", "child")[1]
    assert say("runs", "show", paused)[1].splitlines()[0].endswith("  waiting for an answer")
    [run] = lines(say("runs", "list", "--json", "--waiting", "answer")[1])
    assert (run["status"], run["waiting"], run["summary"]) == ("paused", ["answer"], "waiting for an answer")
    say("runs", "hold", paused)
    assert say("run", "--continue", paused)[0] == 1
    [run] = lines(say("runs", "list", "--json", "--waiting", "held")[1])
    assert run["summary"] == "held, waiting for an answer"
    assert say("runs", "show", paused)[1].splitlines()[0].endswith("  held, waiting for an answer")
    assert say("runs", "list", "--waiting", "nothing")[0] == 2


LIMITED = """
id: limited
nodes:
  begin: {type: manual}
  greet: {type: workflow, after: begin, with: {workflow: hello}, rate: {max: 1, per: 1h, by: <begin.customer>}}
"""


def test_a_run_that_waits_for_a_limit_says_for_which_and_for_whom(say: Say, hello: str, write: Write, tmp_path: Path) -> None:
    say("publish", hello)
    say("publish", write("limited.yaml", LIMITED))
    for _ in range(2):
        run_id = json.loads(say("start", "limited", "-i", '{"customer": "acme"}', "--json")[1])["run_id"]
        with closing(local(tmp_path / "kept" / "runs.db")) as served:
            asyncio.run(served.runner.run(Message(run_id, "start"), Budget(60_000)))
    shown = say("runs", "show", run_id)[1]
    assert shown.splitlines()[0].endswith("  waiting for a limit")
    assert re.search(r"waits for nodes\.greet\.rate, key acme: 1 node since .+, until ", " ".join(shown.split()))
    [run] = lines(say("runs", "list", "--json", "--waiting", "limit")[1])
    assert (run["id"], run["status"], run["summary"]) == (run_id, "running", "waiting for a limit")


def test_a_held_run_says_who_holds_it_and_why(say: Say, paused: str) -> None:
    say("runs", "pause", paused, "--reason", "the bank is down")
    assert say("runs", "resume", paused, "--exit", "rejected", "--go")[0] == 1
    _, told, _ = say("runs", "show", paused)
    assert ": the bank is down" in told and f"stepless runs release {paused}" in told
    say("runs", "unpause", paused)
    assert say("run", "--continue", paused)[0] == 0


def test_a_run_whose_functions_are_not_here_is_not_begun(say: Say, write: Write) -> None:
    node = "{type: function, after: s, with: {call: nowhere.at_all}}"
    say("publish", write("calls.yaml", f"id: calls\nnodes:\n  s: {{type: manual}}\n  a: {node}\n"))
    code, _, complaint = say("start", "calls", "--go")
    assert code == 2 and "nowhere.at_all" in complaint and "--modules" in complaint
    [run] = lines(say("runs", "list", "--json")[1])
    assert run["status"] == "created"


def test_the_cost_of_a_run_is_counted(say: Say, hello: str) -> None:
    say("publish", hello)
    run_id = json.loads(say("start", "hello", "--go", "--json")[1])["run_id"]
    code, told, _ = say("runs", "cost", run_id)
    assert code == 0 and "Stepless" in told and max(map(len, told.splitlines())) <= 80
    assert json.loads(say("runs", "cost", run_id, "--json")[1])


def test_runs_that_are_counted_show_their_number(say: Say, write: Write) -> None:
    counted = write("counted.yaml", "id: counted\nnumbered: true\nnodes:\n  a: {type: manual}\n")
    assert say("publish", counted)[0] == 0
    ids = [json.loads(say("start", "counted", "--go", "--json")[1])["run_id"] for _ in range(2)]
    listed = say("runs", "list")[1]
    assert "counted #2" in listed and "counted #1" in listed
    assert "counted #2 version 1" in say("runs", "show", ids[1])[1]


def test_the_tags_of_a_run_are_listed(say: Say, paused: str) -> None:
    rows = lines(say("runs", "tags", paused, "--json")[1])
    assert [row["tag"] for row in rows][:2] == ["node_started", "node_completed"]
    shown = say("runs", "tags", paused)[1].splitlines()
    assert len(shown) == len(rows)
    assert "node_started" in shown[0] and "attempt=1 wave=0" in shown[0]


def test_a_keyword_has_a_former_name(say: Say, paused: str) -> None:
    for option in ("--keyword", "--tag"):
        assert [run["id"] for run in lines(say("runs", "list", "--json", option, "customer:c-1")[1])] == [paused]
    assert "keywords" in say("runs", "show", paused)[1]
# -- logs that cannot be read -----------------------------------------------------------------------------------------


def test_a_damaged_log_is_one_sentence_with_its_mend_and_lists_show_it(say: Say, paused: str, hello: str, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "kept" / "runs.db")) as file, file:
        [[first]] = file.execute("SELECT max(first) FROM log WHERE run_id = ?", (paused,))
        file.execute("UPDATE log SET data = x'00' WHERE run_id = ? AND first = ?", (paused, first))
    for verb in ("show", "events", "cost"):
        code, out, told = say("runs", verb, paused)
        assert (code, out) == (2, "")
        assert told.startswith(f"{paused}#{first}: error: the log is damaged from event {first} on: ")
        assert told.endswith("[damaged_log]\n    Restore the run's log from a backup, or start the run again.\n")
    error = json.loads(say("runs", "show", paused, "--json")[2])["error"]
    assert (error["code"], error["place"]) == ("damaged_log", f"{paused}#{first}")
    assert say("publish", hello)[0] == 0
    assert say("start", "hello", "-i", '{"name": "Ada"}', "--go")[0] == 0, "others go on"
    listed = {run["id"]: run["status"] for run in lines(say("runs", "list", "--json")[1])}
    assert sorted(listed.values()) == ["completed", "damaged_log"]
    assert listed[paused] == "damaged_log"
    assert [run["id"] for run in lines(say("runs", "list", "--status", "damaged_log", "--json")[1])] == [paused]
