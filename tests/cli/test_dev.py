"""`stepless dev`, as a real process."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepless.cli import main
from stepless.cli.dev.server import listen

pytestmark = pytest.mark.check

Write = Callable[[str, str], str]
Serve = Callable[..., Any]

GATED = """
id: gated
nodes:
  start: {type: manual}
  before: {type: function, after: start, with: {call: cli_dev.note, args: {word: before}}}
  gate: {type: function, after: before, with: {call: cli_dev.gate}}
"""
FUNCTIONS = """
import os, threading
from stepless import function

@function("cli_dev.note")
def note(word: str) -> str:
    with open("notes", "a") as notes:
        notes.write(word + "\\n")
    return word

@function("cli_dev.gate")
def gate() -> str:
    first = "gate" not in open("notes").read()
    note("gate")
    print("at the gate", flush=True)
    if first:
        threading.Event().wait(float(os.environ.get("GATE_S", "600")))
    return "through"
"""


def test_it_publishes_the_folder_and_says_where_everything_is(serve: Serve, hello: str) -> None:
    dev = serve()
    said = "".join(dev.child.said)
    assert "API key   k\n" in said and "hello (version 1, hello.yaml)" in said and "curl http://127.0.0.1:" in said
    assert dev.watch(dev.start("hello"))[-1] == "run.completed"
    assert dev.client.get("/runs", headers={"Authorization": "Bearer other"}).status_code == 401
    dev.child.signal(signal.SIGTERM)
    assert dev.child.ended() == 0


def test_a_broken_file_is_told_and_stops_nobody_else(serve: Serve, hello: str, write: Write) -> None:
    write("broken.yaml", "id: broken\nnodes:\n  a: {type: nothing}\n")
    write("notes.json", '{"something": "else"}')
    dev = serve()
    said = "".join(dev.child.said)
    assert "broken.yaml:3: error:" in said and "broken.yaml: not published, 1 error" in said
    assert "notes.json" not in said
    assert [workflow["id"] for workflow in dev.client.get("/workflows").json()["workflows"]] == ["hello"]


def test_a_name_without_a_value_is_told_at_the_start(serve: Serve, write: Write) -> None:
    write("keyed.yaml", "id: keyed\nenv: [CLI_DEV_KEY]\nnodes:\n  a: {type: transform, with: {value: 'key=${CLI_DEV_KEY}'}}\n")
    dev = serve(CLI_DEV_KEY="")
    assert "keyed.yaml:2: warning: `CLI_DEV_KEY` is not set" in "".join(dev.child.said)
    run_id = dev.start("keyed")
    assert dev.watch(run_id)[-1] == "run.failed"
    error = dev.client.get(f"/runs/{run_id}").json()["error"]
    assert (error["node"], error["code"]) == ("a", "secret_missing") and "CLI_DEV_KEY" in error["message"]


def test_a_second_server_on_the_same_file_is_told_who_holds_it(
    serve: Serve, hello: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dev = serve()
    assert main(["dev", str(tmp_path), "--db", str(tmp_path / "kept/dev.db"), "--port", "0"]) == 2
    assert f"already served by process {dev.child.process.pid}" in capsys.readouterr().err


def test_a_port_that_is_taken_is_bad_input(serve: Serve, hello: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    port = str(serve().client.base_url.port)
    assert main(["dev", str(tmp_path), "--db", str(tmp_path / "other.db"), "--port", port]) == 2
    assert "--port 0" in capsys.readouterr().err


def test_the_api_key_stays_the_same_over_restarts(spawn: Any, hello: str) -> None:
    keys = []
    for _ in range(2):
        child = spawn("dev", ".", "--db", "dev.db", "--port", "0")
        keys.append(child.until("API key").split()[-1])
        child.signal(signal.SIGINT)
        assert child.ended() == 0
    assert keys[0] == keys[1] and len(keys[0]) >= 40


def test_an_interrupt_drains_what_is_under_way(serve: Serve, write: Write, tmp_path: Path) -> None:
    write("gated.yaml", GATED)
    write("cli_dev_functions.py", FUNCTIONS)
    dev = serve(GATE_S="0.5")
    run_id = dev.start("gated")
    dev.child.until("at the gate")
    dev.child.signal(signal.SIGINT)
    assert dev.child.ended() == 0
    assert "Stopped.\n" in dev.child.said
    assert serve().watch(run_id)[-1] == "run.completed"
    assert (tmp_path / "notes").read_text() == "before\ngate\n"


def test_a_run_goes_on_after_its_server_was_killed(serve: Serve, write: Write, tmp_path: Path) -> None:
    write("gated.yaml", GATED)
    write("cli_dev_functions.py", FUNCTIONS)
    dev = serve()
    run_id = dev.start("gated")
    dev.child.until("at the gate")
    dev.child.signal(signal.SIGKILL)
    dev.child.ended()
    types = serve().watch(run_id)
    assert types[-1] == "run.completed" and "run.recovered" in types
    assert (tmp_path / "notes").read_text() == "before\ngate\ngate\n"


def test_accepted_connections_send_small_answers_at_once() -> None:
    """Else each answer over a kept connection waits 40 ms for an acknowledgement."""

    async def accepted() -> int:
        options: asyncio.Queue[int] = asyncio.Queue()

        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            options.put_nowait(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        async with await asyncio.start_server(connected, sock=listen("127.0.0.1", 0)) as server:
            _, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            option = await options.get()
            writer.close()
        return option

    assert asyncio.run(accepted()) == 1


@pytest.mark.parametrize("lose", ["delete", "replace"])
def test_a_database_that_goes_away_under_the_server_is_told_and_accepts_no_start(
    serve: Serve, hello: str, tmp_path: Path, lose: str
) -> None:
    dev = serve()
    database = tmp_path / "kept/dev.db"
    if lose == "delete":
        database.unlink()
    else:
        (tmp_path / "other.db").write_bytes(b"")
        (tmp_path / "other.db").rename(database)
    started = dev.client.post("/workflows/hello/runs", json={"inputs": {}})
    assert (started.status_code, started.json()["code"]) == (503, "database_gone")
    assert "restart this process" in started.json()["mend"] and "retry-after" in started.headers
    health = dev.client.get("/health")
    assert (health.status_code, health.json()["code"]) == (503, "database_gone")
    assert str(database.relative_to(tmp_path)) in dev.child.until("the file was ")
    dev.child.signal(signal.SIGTERM)
    assert dev.child.ended() == 0
    assert not [line for line in dev.child.said if "the file was" in line][1:]  # told once


def test_schedules_are_told_at_the_start_and_when_they_are_published_again(serve: Serve, write: Write) -> None:
    write("nightly.yaml", "id: nightly\nnodes:\n  night: {type: schedule, with: {rate: 12h}}\n")
    dev = serve()
    assert [line for line in dev.child.said if line.startswith("    night fires every 12h: next 2")] != []
    assert dev.client.post("/workflows/nightly/schedules/night/pause", json={}).status_code == 200
    write("nightly.yaml", "id: nightly\nnodes:\n  night: {type: schedule, with: {cron: '15 2 * * *', timezone: Europe/Berlin}}\n")
    assert dev.child.until("night fires") == (
        "    night fires at 15 2 * * * Europe/Berlin: paused, see `stepless schedules resume nightly night`\n"
    )
    [listed] = dev.client.get("/schedules").json()["schedules"]
    assert (listed["version"], listed["paused"]["ending"]) == (2, False)
