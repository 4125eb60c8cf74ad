"""The cases about messages through the service, the runner and each store: they come out as in the simulation of the core."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from dynamo_table import DirectClient, Table
from shared_cases import RUNNER
from stored_case import StoredCase

from stepless.adapters.aws.dynamo.store import DynamoStore
from stepless.adapters.memory.blobs import MemoryBlobs
from stepless.adapters.memory.store import MemoryStore
from stepless.adapters.sqlite.blobs import SqliteBlobs
from stepless.adapters.sqlite.store import SqliteStore
from stepless.limits import MAX_MAILBOX, MAX_MESSAGE_BYTES
from stepless.testing import Simulation, simulate

Case: TypeAlias = dict[str, Any]
Play: TypeAlias = Callable[[Case], Simulation]
FILES = sorted((Path(__file__).parent / "cases").glob("messages-*.json"))
CASES: list[Case] = [json.loads(file.read_text("utf-8")) for file in FILES]


@pytest.fixture(params=["memory", "sqlite", "dynamo"])
def play(request: pytest.FixtureRequest, tmp_path: Path) -> Play:
    def played(case: Case) -> Simulation:
        if request.param == "sqlite":
            store = SqliteStore(tmp_path / "runs.db")
            try:
                return StoredCase(case, store, SqliteBlobs(store.database)).play()
            finally:
                store.close()
        blobs = MemoryBlobs()
        if request.param == "dynamo":
            return StoredCase(case, DynamoStore(DirectClient(Table()), "table", shards=3), blobs).play()
        return StoredCase(case, MemoryStore(), blobs).play()

    return played


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_a_case_comes_out_as_written(play: Play, case: Case) -> None:
    problems, _ = RUNNER.run_case(lambda document, inputs, **given: play(case), case)
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES if "publish_error" not in case["expect"]])
def test_a_run_does_what_the_simulation_says(play: Play, case: Case) -> None:
    given = {name: case[name] for name in ("entry", "script", "signals") if name in case}
    simulated = simulate(case["document"], case.get("inputs"), **given)
    assert told(play(case)) == told(simulated)


def told(run: Simulation) -> Any:
    """The events with their instants, and the messages that nobody read, or that were refused. Events of one instant have no
    order among nodes."""
    events = sorted((event.at_ms, event.type.value, event.instance) for event in run.log)
    return events, [(mail.id, mail.data) for mail in run.unread], run.undelivered


# -- what no case can hold -------------------------------------------------------------------------------------------------

TAKES = {"id": "takes", "messages": {"m": {}}, "nodes": {
    "a": {"type": "function", "with": {"call": "test.echo"}},
    "r": {"type": "receive", "after": "a", "with": {"message": "m"}},
    "t": {"type": "transform", "after": "r", "with": {"value": "{{ len(<r.data>) }}"}},
}}  # fmt: skip


def both(play: Play, case: Case) -> list[Simulation]:
    return [play(case), simulate(case["document"], signals=case["signals"], script=case["script"])]


def test_a_full_mailbox_takes_no_more(play: Play) -> None:
    sent = [{"at": 1 + number, "message": "m", "data": [number], "id": f"m{number:05}"} for number in range(MAX_MAILBOX + 2)]
    case = {"document": TAKES, "signals": sent, "script": {"a": {"ok": {"ms": 5_000}}}}
    for run in both(play, case):
        assert run.status == "completed"
        steps = [1 if event.type == "message.received" else -1 if event.type == "node.resumed" else 0 for event in run.log]
        assert max(accumulate(steps)) == MAX_MAILBOX
        assert [*(mail.id for mail in run.unread), *run.undelivered] == [message["id"] for message in sent[1:]]


def test_large_data_comes_out_whole(play: Play) -> None:
    """A blob in the inbox of the run, and one in its log."""
    text = "é" * (MAX_MESSAGE_BYTES // 2 - 10)
    case = {"document": TAKES, "signals": [{"at": 10, "message": "m", "data": text}], "script": {}}
    for run in both(play, case):
        assert run.outputs == {"t": len(text)}
