"""Fixtures for tests of the command line: small workflows in a separate folder, and real child processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from textwrap import dedent

import httpx
import pytest
from processes import ASKING, HELLO, ROOT, Child

from stepless.cli import main

Write = Callable[[str, str], str]
Spawn = Callable[..., "Child"]
Say = Callable[..., tuple[int, str, str]]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file into the test's folder; returns its path."""

    def put(name: str, text: str) -> str:
        path = tmp_path / name
        path.write_text(dedent(text))
        return str(path)

    return put


@pytest.fixture
def hello(write: Write) -> str:
    return write("hello.yaml", HELLO)


@pytest.fixture
def asking(write: Write) -> str:
    return write("asking.yaml", ASKING)


@pytest.fixture
def say_over(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], Say]:
    """Runs commands in this process over a database file: the exit code, the output and the messages of each."""
    monkeypatch.delenv("STEPLESS_URL", raising=False)

    def over(database: Path) -> Say:
        def run(*words: str) -> tuple[int, str, str]:
            code = main([*words, "--db", str(database)])
            told = capsys.readouterr()
            return code, told.out, told.err

        return run

    return over


@pytest.fixture
def say(say_over: Callable[[Path], Say], tmp_path: Path) -> Say:
    """Runs a command over the test's own file."""
    return say_over(tmp_path / "runs.db")


@pytest.fixture
def spawn(tmp_path: Path) -> Iterator[Spawn]:
    """Starts `stepless` with these arguments in the test's folder."""
    children: list[Child] = []

    def start(*arguments: str, **environment: str) -> Child:
        path = os.pathsep.join([str(ROOT / "engine"), os.environ.get("PYTHONPATH", "")])
        child = Child(*arguments, folder=tmp_path, environment={"PYTHONPATH": path, **environment})
        children.append(child)
        return child

    yield start
    for child in children:
        child.close()


# -- stepless dev -------------------------------------------------------------------------------------------------------


class Dev:
    """A server that is listening, and a client of it."""

    def __init__(self, spawn: Spawn, folder: Path, **environment: str) -> None:
        port_file = folder / "url"
        port_file.unlink(missing_ok=True)
        flags = ("--db", "kept/dev.db", "--port", "0", "--port-file", "url")
        self.child = spawn("dev", ".", *flags, STEPLESS_API_KEY="k", **environment)
        self.child.until("Ctrl-C stops.")
        headers = {"Authorization": "Bearer k"}
        self.client = httpx.Client(base_url=port_file.read_text(), headers=headers, timeout=30, trust_env=False)

    def start(self, workflow: str) -> str:
        answer = self.client.post(f"/workflows/{workflow}/runs", json={"inputs": {}})
        assert answer.status_code == 202, answer.text
        return str(answer.json()["run_id"])

    def watch(self, run_id: str) -> list[str]:
        """The types of a run's events, to its end."""
        with self.client.stream("GET", f"/runs/{run_id}/events", headers={"Accept": "text/event-stream"}) as stream:
            return [line.removeprefix("event: ") for line in stream.iter_lines() if line.startswith("event: ")]


Serve = Callable[..., Dev]


@pytest.fixture
def serve(spawn: Spawn, tmp_path: Path) -> Iterator[Serve]:
    """Starts servers over the test's folder and one file."""
    with ExitStack() as opened:

        def start(**environment: str) -> Dev:
            dev = Dev(spawn, tmp_path, **environment)
            opened.enter_context(dev.client)
            return dev

        yield start
