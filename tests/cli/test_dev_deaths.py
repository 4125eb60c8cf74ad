"""`stepless dev` as a real process that is killed, again and again (docs/understand/durability.md#deaths-of-the-process)."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.check

Write = Callable[[str, str], str]
Serve = Callable[..., Any]
Spawn = Callable[..., Any]

OTHERS = 50
ENDS = ("node.completed", "node.failed")
TWO = """
id: two
nodes:
  start: {type: manual}
  left: {type: function, after: start, with: {call: deaths.long}}
  right: {type: function, after: start, with: {call: deaths.long}}
"""
FUNCTIONS = """
import os, signal, threading
from stepless import function

@function("deaths.long")
def long() -> str:
    print("at work", flush=True)
    threading.Event().wait(float(os.environ.get("WORK_S", "600")))
    return "done"

@function("deaths.poison")
def poison() -> str:
    os.kill(os.getpid(), signal.SIGKILL)
    return "never"

@function("deaths.fine")
async def fine() -> str:
    return "done"
"""


def events(dev: Any, run_id: str) -> list[dict[str, Any]]:
    with dev.client.stream("GET", f"/runs/{run_id}/events", headers={"Accept": "text/event-stream"}) as stream:
        return [json.loads(line.removeprefix("data: ")) for line in stream.iter_lines() if line.startswith("data: ")]


def test_five_kills_convict_none_of_two_long_functions(serve: Serve, write: Write) -> None:
    write("two.yaml", TWO)
    write("deaths_functions.py", FUNCTIONS)
    dev = serve()
    run_id = dev.start("two")
    for _ in range(5):
        if "at work" not in "".join(dev.child.said):  # else it began before the server said that it listens
            dev.child.until("at work")
        dev.child.signal(signal.SIGKILL)
        dev.child.ended()
        dev = serve(WORK_S="0" if _ == 4 else "600")
    story = events(dev, run_id)
    types = [event["type"] for event in story]
    assert types[-1] == "run.completed", story
    assert types.count("run.recovered") == 5


def test_a_node_that_kills_its_process_fails_alone_among_fifty_others(
    serve: Serve, spawn: Spawn, write: Write, tmp_path: Path
) -> None:
    calls = {f"n{number}": "poison" if number == 20 else "fine" for number in range(OTHERS + 1)}
    nodes = [f"  {name}: {{type: function, after: start, with: {{call: deaths.{call}}}}}" for name, call in calls.items()]
    write("many.yaml", "\n".join(["id: many", "nodes:", "  start: {type: manual}", *nodes]))
    write("deaths_functions.py", FUNCTIONS)
    dev = serve()
    run_id = dev.start("many")
    assert dev.child.ended() == -signal.SIGKILL
    for _ in range(4):
        assert spawn("dev", ".", "--db", "kept/dev.db", "--port", "0", STEPLESS_API_KEY="k").ended() == -signal.SIGKILL
    story = events(serve(), run_id)
    ends = {event["payload"]["node"]: event for event in story if event["type"] in ENDS and event["payload"]["node"] in calls}
    assert len(ends) == OTHERS + 1
    assert {name: end["payload"]["code"] for name, end in ends.items() if end["type"] == "node.failed"} == {"n20": "crashed"}


def test_a_process_that_is_told_to_stop_again_and_again_counts_no_death(serve: Serve, write: Write) -> None:
    write("two.yaml", TWO)
    write("deaths_functions.py", FUNCTIONS.replace("threading.Event().wait(", "threading.Event().wait(0 * "))
    dev = serve()
    run_id = dev.start("two")
    for _ in range(2):
        dev.child.signal(signal.SIGTERM)
        assert dev.child.ended() == 0
        dev = serve()
    story = events(dev, run_id)
    types = [event["type"] for event in story]
    assert types[-1] == "run.completed" and "run.recovered" not in types, story
