"""A small part of `make simulate-senders`: servers are killed while three processes send to them, and no message is lost or
doubled; and the accounts find what is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from accounts import Runs, row_of
from killed_servers import MISSING
from senders import Told

from stepless.runtime.wiring.local import local

PROGRAM = Path(__file__).with_name("killed_servers.py")
KEYED = {"id": "order", "key": "<input.id>", "messages": {"paid": {}}, "nodes": {
    "order": {"type": "manual"}, "got": {"type": "receive", "after": "order", "with": {"message": "paid", "timeout": "1h"}},
}}  # fmt: skip


@pytest.mark.parametrize(("kind", "times"), [("dev", 2), ("pair", 4), pytest.param("cloud", 2, marks=pytest.mark.check)])
def test_no_message_is_lost_or_doubled_when_servers_are_killed(kind: str, times: int) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(PROGRAM), kind, str(times), "7"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, check=False)
    if done.returncode == MISSING:
        pytest.skip(done.stdout)
    assert done.returncode == 0, done.stdout[-4_000:] + done.stderr[-4_000:]
    assert "lost 0, doubled 0" in done.stdout


def test_the_accounts_find_what_is_lost(tmp_path: Path) -> None:
    engine = local(str(tmp_path / "runs.db"))
    engine.service.publish(KEYED)
    run = engine.service.start("order", {"id": "A"}).run_id
    engine.service.send("order", "paid", 1, key="A", id="there")
    runs = Runs(engine.world.store)
    engine.close()
    until_ms = runs.heads[run].created_ms + 60_000

    def told(id: str, how: str = "keyed", **more: object) -> Told:
        return Told(id, how, "order", "A", 0, 202, **more)  # type: ignore[arg-type]

    assert row_of([told("there", delivered=[run])], runs).unread == 1
    assert row_of([told("later", "kept", kept_until_ms=1)], runs).kept == 1
    for lost in (
        told("gone", delivered=[run]), told("nobody"), told("gone", "begin"), told("gone", "kept", kept_until_ms=until_ms),
        told("gone", "start", run="run_0"),
    ):  # fmt: skip
        assert len(row_of([lost], runs).lost) == 1, lost
    runs.logged["there"] += ["run_2", "run_2"]
    assert row_of([told("there", delivered=[run])], runs).doubled == ["there"]
    assert row_of([Told("no", "keyed", "order", "A", 0, 404, "no_receiver")], runs).refused == {"no_receiver": 1}
