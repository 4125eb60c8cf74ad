"""Commands over the network, and over a file that a server holds: one `stepless dev` for all of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from textwrap import dedent
from threading import Thread

import pytest
from processes import ASKING, HELLO, PATIENCE_S, ROOT, Child

from stepless.cli import main

Say = Callable[..., tuple[int, str, str]]
KEY = "the key"
DB = "kept/dev.db"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address and the folder of a server."""
    folder = tmp_path_factory.mktemp("served")
    (folder / "hello.yaml").write_text(dedent(HELLO))
    (folder / "asking.yaml").write_text(dedent(ASKING))
    environment = {"PYTHONPATH": str(ROOT / "engine"), "STEPLESS_API_KEY": KEY}
    child = Child("dev", ".", "--db", DB, "--port", "0", "--port-file", "url", folder=folder, environment=environment)
    try:
        child.until("Ctrl-C stops.")
        yield (folder / "url").read_text(), folder
    finally:
        child.close()


@pytest.fixture
def say(served: tuple[str, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Say:
    monkeypatch.setenv("STEPLESS_URL", served[0])
    monkeypatch.setenv("STEPLESS_API_KEY", KEY)
    monkeypatch.setenv("COLUMNS", "80")

    def run(*words: str) -> tuple[int, str, str]:
        code = main(list(words))
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


def test_a_run_is_started_and_watched_to_its_end(say: Say) -> None:
    code, told, _ = say("start", "hello", "-i", '{"name": "Ada"}', "--wait")
    assert code == 0 and "greet" in told and "Hello, Ada!" in told and "completed  run_" in told
    code, told, _ = say("start", "hello", "-i", '{"name": "Ada"}', "--wait", "--json")
    assert code == 0 and json.loads(told)["outputs"] == {"greet": "Hello, Ada!"}


def test_a_watched_run_that_waits_for_people_ends_the_watch(say: Say) -> None:
    code, told, _ = say("start", "asking", "-i", '{"amount": 5}', "--wait")
    assert code == 1 and "Pay 5?" in told and "stepless runs resume run_" in told
    run_id = json.loads(say("runs", "list", "--status", "paused", "--limit", "1", "--json")[1])["id"]
    code, told, _ = say("runs", "resume", run_id, "--exit", "approved", "--answer", '{"limit": 3}', "--wait")
    assert code == 0 and '"limit": 3' in told
    code, _, complaint = say("runs", "cancel", run_id)
    assert code == 2 and "[run_ended]" in complaint


def test_what_is_published_unchanged_stays_the_version_that_it_was(say: Say, served: tuple[str, Path]) -> None:
    code, told, _ = say("publish", str(served[1]))
    assert code == 0 and told.count("unchanged") == 2


def test_a_key_without_the_role_is_told_what_it_lacks(say: Say) -> None:
    secret = json.loads(say("keys", "create", "shop", "--role", "run", "--json")[1])["secret"]
    run_id = json.loads(say("start", "asking", "--json")[1])["run_id"]
    say("runs", "events", run_id, "--after", "4")
    code, _, complaint = say("keys", "list", "--key", secret)
    assert code == 2 and "[role_missing]" in complaint
    assert say("start", "asking", "--key", secret, "--wait")[0] == 1
    code, _, complaint = say("runs", "resume", run_id, "--exit", "approved", "--api-key", secret)
    assert code == 2 and "the role approve" in complaint


def test_a_wrong_key_is_told_how_to_give_one(say: Say) -> None:
    code, _, complaint = say("runs", "list", "--api-key", "wrong")
    assert code == 2 and "[unauthorized]" in complaint and "STEPLESS_API_KEY" in complaint


def test_who_serves_the_file_takes_up_what_is_written_there(say: Say, served: tuple[str, Path]) -> None:
    db = ("--db", str(served[1] / DB))
    code, told, _ = say("start", "asking", *db)
    assert code == 0 and "Process " in told and "applies the change" in told
    run_id = told.split()[0]
    code, told, _ = say("runs", "cancel", run_id, "--wait", *db)
    assert code == 0 and f"cancelled  {run_id}" in told
    code, _, complaint = say("runs", "rerun", run_id, "--go", *db)
    assert code == 2 and "[file_held]" in complaint


def test_events_are_followed_as_they_come(say: Say, served: tuple[str, Path]) -> None:
    run_id = json.loads(say("start", "asking", "--json")[1])["run_id"]
    environment = {"PYTHONPATH": str(ROOT / "engine")}
    child = Child("runs", "events", run_id, "--follow", "--json", folder=served[1], environment=environment)
    try:
        child.until('"node.waiting"')
        assert say("runs", "resume", run_id, "--exit", "rejected")[0] == 0
        child.until('"run.completed"')
        assert child.ended() == 0
        assert [json.loads(line)["eventId"] for line in child.said] == list(range(1, len(child.said) + 1))
    finally:
        child.close()


def test_whoever_stops_reading_stops_the_command_quietly(say: Say, served: tuple[str, Path]) -> None:
    command = f"{sys.executable} -m stepless schema | head -c 10"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "engine")}
    ended = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], env=environment, capture_output=True, check=False, timeout=PATIENCE_S
    )
    assert (ended.returncode, len(ended.stdout), ended.stderr) == (0, 10, b"")


# -- what is not there ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("url", ["ftp://example.com", "example.com", "http://", "http://[::1"])
def test_what_is_no_address_is_bad_input(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "list", "--url", url]) == 2
    assert f"{url}: error: this is not the URL of a server [usage]" in capsys.readouterr().err


def test_a_server_that_does_not_listen_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        url = f"http://127.0.0.1:{server.server_port}"
    assert main(["runs", "list", "--url", url]) == 2
    assert f"{url}: error: the server cannot be reached" in capsys.readouterr().err


def test_url_and_db_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "list", "--url", "http://127.0.0.1:9", "--db", "x.db"]) == 2
    assert "[usage]" in capsys.readouterr().err


class Stranger(BaseHTTPRequestHandler):
    """Answers as the path of the address says."""

    def do_GET(self) -> None:
        status, kind, body = {
            "/page": (200, "text/html", b"<p>hello"), "/gateway": (403, "application/json", b'{"message": "Forbidden"}'),
            "/moved": (301, "text/html", b""),
        }["/" + self.path.split("/")[1]]  # fmt: skip
        self.send_response(status)
        self.send_header("content-type", kind)
        if status == 301:
            self.send_header("location", "https://elsewhere.example.com")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Says nothing."""


@pytest.mark.parametrize(
    ("path", "told"), [("/page", "200 OK"), ("/gateway", "credentials"), ("/moved", "https://elsewhere.example.com")]
)
def test_what_is_no_stepless_api_is_told_as_such(path: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Stranger) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        assert main(["runs", "list", "--url", f"http://127.0.0.1:{server.server_port}{path}"]) == 2
        server.shutdown()
    complaint = capsys.readouterr().err
    assert "this is not a Stepless API: it responded" in complaint and "[no_stepless]" in complaint and told in complaint
