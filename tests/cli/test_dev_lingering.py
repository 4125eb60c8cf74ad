"""`stepless dev` with code that goes on after the end of its attempt: it restarts itself, under the same address."""

from __future__ import annotations

import signal
from typing import Any

import pytest

pytestmark = pytest.mark.check

FUNCTIONS = '''
import asyncio, os, threading
from stepless import function

def note(text):
    with open("marks", "a") as marks:
        marks.write(text + "\\n")

@function("f.work")
def work(name: str) -> str:
    first = not os.path.exists("marks") or f"+{name}" not in open("marks").read().split()
    note(f"+{name}")
    if first:
        threading.Event().wait()
    note(f"-{name}")
    return name

@function("f.other")
async def other() -> str:
    first = not os.path.exists("marks") or "+other" not in open("marks").read().split()
    note("+other")
    await asyncio.to_thread(threading.Event().wait, None if first else 0)
    return "other"
'''
STUCK = """
id: stuck
nodes:
  a:
    type: function
    timeout_ms: 200
    retry: {attempts: 2, backoff_ms: 0}
    concurrency: {max: 1}
    with: {call: f.work, args: {name: a}}
  b: {type: function, timeout_ms: 200, retry: {attempts: 2, backoff_ms: 0}, with: {call: f.other}}
"""
BESIDE = """
id: beside
nodes:
  q: {type: approval, with: {message: Go on?}}
"""


def test_code_that_does_not_return_ends_with_its_process_and_the_server_goes_on(serve: Any, write: Any, tmp_path: Any) -> None:
    write("f.py", FUNCTIONS)
    write("stuck.yaml", STUCK)
    write("beside.yaml", BESIDE)
    dev = serve(STEPLESS_LINGER="1s")
    beside, stuck = dev.start("beside"), dev.start("stuck")
    pid = dev.child.process.pid
    dev.child.until("Restarting")
    dev.child.until("Ctrl-C stops.")
    run = dev.client.get(f"/runs/{stuck}", params={"wait": 20}).json()  # the address is the same
    while run["status"] == "running":
        run = dev.client.get(f"/runs/{stuck}", params={"wait": 20}).json()
    assert run["status"] == "completed", run
    assert dev.child.process.pid == pid and dev.child.process.poll() is None
    assert sorted((tmp_path / "marks").read_text().split()) == ["+a", "+a", "+other", "+other", "-a"]
    assert "run.recovered" not in dev.watch(stuck)
    assert dev.client.get(f"/runs/{beside}").json()["status"] == "paused"


def test_ctrl_c_does_not_wait_for_code_that_does_not_return(serve: Any, write: Any) -> None:
    write("f.py", FUNCTIONS)
    write("stuck.yaml", STUCK)
    dev = serve()
    stuck = dev.start("stuck")
    while "node.retried" not in dev.client.get(f"/runs/{stuck}/events").text:
        assert dev.child.process.poll() is None
    dev.child.signal(signal.SIGINT)
    dev.child.until("Stopped.")
    assert dev.child.ended() == 0
