"""A server that is killed while backends wait for its runs, and is started again at the same address over the same file."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from processes import PATIENCE_S, Child
from served_api import KEY

from stepless.client import Client

pytestmark = pytest.mark.check

SLOW = """
id: slow
nodes:
  begin: {type: manual}
  nap: {type: wait, after: begin, with: {for: 3s}}
  end: {type: transform, after: nap, with: {value: rested}}
"""


class Restarted:
    """`stepless dev` over one file at one port, however often it is started."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder, self._stack, self._port = folder, stack, "0"
        (folder / "slow.yaml").write_text(SLOW)

    def start(self) -> Child:
        options = ["--port", self._port, "--port-file", "url", "--db", "runs.db"]
        child = Child("dev", ".", *options, folder=self._folder, environment={"STEPLESS_API_KEY": KEY})
        self._stack.enter_context(closing(child))
        child.until("Ctrl-C")
        self.url = (self._folder / "url").read_text()
        self._port = self.url.rpartition(":")[2]
        return child


@pytest.fixture
def restarted(tmp_path: Path) -> Iterator[Restarted]:
    with ExitStack() as stack:
        yield Restarted(tmp_path, stack)


def test_nothing_is_lost_and_nothing_is_done_twice(restarted: Restarted) -> None:
    child = restarted.start()
    with Client(restarted.url, KEY) as client, ThreadPoolExecutor(3) as pool:
        run_id = client.start("slow")["run_id"]
        stream = client.events(run_id)
        first = next(stream)
        waited = pool.submit(client.wait, run_id)
        child.signal(signal.SIGKILL)
        child.process.wait(PATIENCE_S)
        started = pool.submit(client.start, "slow", keywords=["during:the-outage"])
        followed = pool.submit(list, stream)
        restarted.start()
        assert waited.result(PATIENCE_S)["outputs"] == {"end": "rested"}
        events = [first, *followed.result(PATIENCE_S)]
        assert [event["eventId"] for event in events] == list(range(1, len(events) + 1))
        assert events[-1]["type"] == "run.completed"
        begun = started.result(PATIENCE_S)["run_id"]  # before the list is read
        assert [run["id"] for run in client.runs(keyword=["during:the-outage"])] == [begun]
