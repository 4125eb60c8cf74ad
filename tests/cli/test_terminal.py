"""On a real terminal: colours and their absence, questions at the prompt, Ctrl-C. Without a terminal, none of these."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from time import monotonic

import pytest
from processes import PATIENCE_S, ROOT

from stepless.cli import main

pytestmark = pytest.mark.check

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-9]m")


class Screen:
    """A `stepless` process whose input, output and errors are a terminal of 80 columns."""

    def __init__(self, *words: str, folder: Path, environment: dict[str, str]) -> None:
        self._mine, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "stepless", *words], cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs,
            start_new_session=True, env={**os.environ, "PYTHONPATH": str(ROOT / "engine"), "TERM": "xterm", **environment},
        )  # fmt: skip
        os.close(theirs)
        self.shown = ""

    def until(self, text: str) -> None:
        end = monotonic() + PATIENCE_S
        while text not in self.shown:
            assert self._read(end - monotonic()), f"{text!r} was never shown, but:\n{self.shown}"

    def type(self, text: str) -> None:
        os.write(self._mine, text.encode())

    def ended(self) -> int:
        end = monotonic() + PATIENCE_S
        while self._read(end - monotonic()):
            pass
        return self.process.wait(PATIENCE_S)

    def _read(self, seconds: float) -> bool:
        if not select.select([self._mine], [], [], max(0, seconds))[0]:
            return False
        try:
            data = os.read(self._mine, 65536)
        except OSError:  # the other side is closed
            return False
        self.shown += data.decode("utf-8", "replace")
        return bool(data)

    def close(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE_S)
        os.close(self._mine)


Show = Callable[..., Screen]


@pytest.fixture
def show(tmp_path: Path) -> Iterator[Show]:
    screens: list[Screen] = []

    def start(*words: str, **environment: str) -> Screen:
        kept = {"COLUMNS": "80", "LINES": "24", **environment}
        screens.append(Screen(*words, "--db", "runs.db", folder=tmp_path, environment=kept))
        return screens[-1]

    yield start
    for screen in screens:
        screen.close()


@pytest.fixture
def paused(asking: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    db = ("--db", str(tmp_path / "runs.db"))
    assert main(["publish", asking, *db]) == 0
    capsys.readouterr()
    assert main(["start", "asking", "-i", '{"amount": 5}', "--go", "--json", *db]) == 1
    return str(json.loads(capsys.readouterr().out)["run_id"])


def test_a_status_has_its_colour_unless_somebody_forbade_it(show: Show, paused: str) -> None:
    plain = []
    for environment in ({}, {"NO_COLOR": "1"}, {"TERM": "dumb"}):
        screen = show("runs", "list", **environment)
        assert screen.ended() == 0
        assert bool(COLOUR.search(screen.shown)) == (not environment), screen.shown
        plain.append(ESCAPE.sub("", screen.shown))
    assert paused in plain[0] and len(set(plain)) == 1


def test_an_erasure_is_confirmed_at_the_prompt(
    show: Show, hello: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    db = ("--db", str(tmp_path / "runs.db"))
    assert main(["publish", hello, *db]) == 0
    capsys.readouterr()
    assert main(["start", "hello", "--go", "--json", *db]) == 0
    run_id = str(json.loads(capsys.readouterr().out)["run_id"])
    refused = "Nothing was erased."
    for typed, code, said in (("n\n", 1, refused), ("\n", 1, refused), ("yes\n", 0, f"{run_id}  erased")):
        screen = show("runs", "erase", run_id)
        screen.until("permanently? [y/N]")
        screen.type(typed)
        assert screen.ended() == code
        assert said in screen.shown
    assert main(["runs", "show", run_id, *db]) == 2


def test_a_question_is_asked_at_the_prompt_until_the_answer_fits(show: Show, paused: str) -> None:
    screen = show("runs", "resume", paused, "--go")
    screen.until("approve? [y/n]")
    screen.type("perhaps\n")
    screen.until("[y/n] perhaps\r\nboss: approve? [y/n]")
    screen.type("y\n")
    screen.until("limit (whole number):")
    screen.type("much\n")
    screen.until("limit (whole number): much\r\n")
    screen.type("3\n")
    screen.until("note:")
    screen.type("\n")
    assert screen.ended() == 0
    assert '"limit": 3' in screen.shown


def test_ctrl_c_ends_a_watch_without_a_word(show: Show, paused: str) -> None:
    screen = show("runs", "events", paused, "--follow")
    screen.until("waiting for an answer")
    os.kill(screen.process.pid, signal.SIGINT)
    assert screen.ended() == 130
    assert "Traceback" not in screen.shown and "Error" not in screen.shown


def test_what_is_waited_for_is_told_and_wiped_away(tmp_path: Path) -> None:
    told = Event()

    class Slow(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            told.wait(PATIENCE_S)
            body = b'{"runs": [], "cursor": null}'
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Slow) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        screen = Screen("runs", "list", "--url", url, folder=tmp_path, environment={"COLUMNS": "80"})
        try:
            screen.until(f"waiting for {url} … ")
            told.set()
            assert screen.ended() == 0
            assert screen.shown.endswith(f"\x1b[2KNo runs in {url} yet.\r\n")
        finally:
            screen.close()
            server.shutdown()


def test_no_line_is_wider_than_the_terminal(show: Show, paused: str) -> None:
    for words in (("runs", "list"), ("runs", "show", paused), ("runs", "events", paused)):
        screen = show(*words, COLUMNS="60")
        assert screen.ended() == 0
        assert max(len(ESCAPE.sub("", line).rstrip("\r")) for line in screen.shown.split("\n")) <= 60
