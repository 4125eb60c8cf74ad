"""Data of former releases is read with its original meaning: batches, snapshots, whole files.

Each folder beside this file is a set that one release wrote (`golden_files.py` in tests/tools). Nothing in a set is ever changed,
and every set must always pass. The result of reading may have more fields than the recorded one, since later releases add some,
but no other values.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import zlib
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from golden_files import DATABASE, ends, plain_state, records, rows, run_id_of, short, write_set
from golden_runs import RUNS

from stepless.adapters.memory.blobs import MemoryBlobs
from stepless.adapters.memory.store import MemoryStore
from stepless.adapters.sqlite.store import SqliteStore
from stepless.compile import compile_document
from stepless.core.events import EventType
from stepless.core.fold import fold
from stepless.core.history.trace import envelope
from stepless.core.state import State
from stepless.core.stored.codec import decode_batch, encode_batch
from stepless.core.stored.snapshot import decode_state
from stepless.model.graph import Graph
from stepless.model.json import equal
from stepless.model.stored.packing import pack
from stepless.nodes import KINDS
from stepless.nodes.function import function
from stepless.ports import Batch, Message, RunFilter
from stepless.runtime.runlog import RunLog
from stepless.runtime.session.budget import Budget
from stepless.runtime.wiring.local import Local, local

SETS = sorted(path for path in Path(__file__).parent.iterdir() if path.is_dir() and (path / DATABASE).exists())
FILES = [path for each in SETS for path in sorted(each.glob("*.json"))]
FIELDS = (  # of the payloads of all events, as they are stored
    "answer", "attempt", "blobs", "break", "by", "cause", "code", "deadline", "delay_ms", "deltaIndex", "details", "error",
    "exits", "failed", "failures", "from", "halt", "handle", "held", "hops", "index", "inputs", "instances", "item", "level",
    "message", "meta", "mode", "name", "number", "offset", "output", "phase", "reason", "response", "results", "resume_at",
    "reused", "started", "status", "substituted", "text", "total", "usage", "variables", "violations", "why",
)  # fmt: skip


@function("golden.work")
def work() -> str:
    return "worked"


class Golden:
    """One stored run."""

    def __init__(self, path: Path) -> None:
        self.kept: dict[str, Any] = json.loads(path.read_text())
        self.run_id: str = self.kept["run_id"]
        self.graph: Graph = compile_document(self.kept["document"], KINDS, entries=self.kept["entry"])
        self.batches = [Batch(first, last, b64decode(data), epoch) for first, last, epoch, data in self.kept["batches"]]

    def log(self) -> RunLog:
        """The log in a store of its own, with its snapshot and its large values."""
        store, blobs = MemoryStore(), MemoryBlobs()
        for batch in self.batches:
            store.append(self.run_id, batch)
        for key, data in self.kept["blobs"].items():
            assert blobs.put(zlib.decompress(b64decode(data)), key.rpartition("/")[0]) == key
        sequence, data = self.kept["snapshot"]
        store.put_snapshot(self.run_id, sequence, b64decode(data))
        return RunLog(store, blobs, self.run_id)


@pytest.fixture(params=FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def golden(request: pytest.FixtureRequest) -> Golden:
    return Golden(request.param)


def says(actual: Any, recorded: Any) -> bool:
    """Whether what is read says all that was recorded, and nothing that contradicts it."""
    if isinstance(recorded, dict) and isinstance(actual, dict):
        return all(name in actual and says(actual[name], value) for name, value in recorded.items())
    if isinstance(recorded, list) and isinstance(actual, list):
        return len(actual) == len(recorded) and all(map(says, actual, recorded))
    return equal(actual, recorded)


# -- logs and snapshots -----------------------------------------------------------------------------------------------


def test_a_log_has_the_events_that_were_recorded(golden: Golden) -> None:
    events = list(golden.log().read())
    assert short(ends(rows(events))) == golden.kept["events"]
    assert says(short(ends([envelope(golden.graph, golden.run_id, event) for event in events])), golden.kept["envelopes"])
    assert says(records(golden.graph, golden.run_id, events), golden.kept["nodes"])


def test_a_log_folds_into_the_state_that_was_recorded(golden: Golden) -> None:
    state = State(golden.graph, golden.run_id)
    for event in golden.log().read():
        if state.sequence == golden.kept["snapshot"][0]:
            assert says(plain_state(state), golden.kept["state_at_snapshot"])
        fold(state, event)
        state.notes.clear()
    assert says(plain_state(state), golden.kept["state"])


def test_a_snapshot_is_the_state_that_was_recorded_or_leaves_it_to_the_log(golden: Golden) -> None:
    state = decode_state(b64decode(golden.kept["snapshot"][1]), golden.graph, golden.run_id)
    assert state is None or says(plain_state(state), golden.kept["state_at_snapshot"])
    assert says(plain_state(golden.log().load(golden.graph)), golden.kept["state"])


def test_what_is_written_again_is_read_as_the_same_by_the_same_rules(golden: Golden) -> None:
    for batch in golden.batches:
        events = decode_batch(batch.data, batch.first)
        assert decode_batch(pack(encode_batch(events)), batch.first) == events


# The types of events that came after a set was recorded.
LATER: dict[str, set[EventType]] = {"1": {EventType.MESSAGE_RECEIVED}, "2": {EventType.MESSAGE_RECEIVED}}


@pytest.mark.parametrize("folder", SETS, ids=lambda path: path.name)
def test_a_set_has_every_type_of_event_and_every_field(folder: Path) -> None:
    runs = [Golden(path) for path in folder.glob("*.json")]
    events = [event for run in runs for batch in run.batches for event in decode_batch(batch.data, batch.first)]
    assert {event.type for event in events} == set(EventType) - LATER.get(folder.name, set())
    assert {name for event in events for name in event.data} >= set(FIELDS)
    assert any(batch.data[:1] == b"[" for run in runs for batch in run.batches)
    assert any(batch.data[:1] == b" " for run in runs for batch in run.batches)
    assert any(batch.data[:1] not in (b"[", b" ") for run in runs for batch in run.batches)


# -- files ------------------------------------------------------------------------------------------------------------


@contextmanager
def opened(folder: Path, tmp_path: Path) -> Iterator[Local]:
    """The set's file, as `stepless dev` opens it: a copy, since opening may bring it to a newer schema."""
    shutil.copy(folder / DATABASE, tmp_path / DATABASE)
    built = local(tmp_path / DATABASE)
    try:
        yield built
    finally:
        built.close()


@pytest.mark.parametrize("folder", SETS, ids=lambda path: path.name)
def test_a_file_is_read_through_every_door_of_the_service(folder: Path, tmp_path: Path) -> None:
    kept = [Golden(path).kept for path in sorted(folder.glob("*.json"))]
    with opened(folder, tmp_path) as built:
        listed = {head.run_id: head.status for head in built.world.store.list_runs(RunFilter()).items}
        for run in kept:
            run_id, state = run["run_id"], run["state"]
            view = built.service.run(run_id)
            assert says(short([view.status, view.outputs, view.variables, view.inputs]), [
                state["status"], state["outputs"], state["variables"], state["run"]["inputs"],
            ])  # fmt: skip
            assert listed[run_id] == state["status"]
            page = built.service.events(run_id)
            assert [event["eventId"] for event in page.events] == list(range(1, 1 + len(page.events)))
            assert page.events[-1]["type"] == run["events"][-1][1] or len(page.events) < run["events"][-1][0]
            version = built.world.store.get_version(run["document"]["id"])
            assert version is not None
            assert json.loads(version.document) == run["document"]
            signal = built.world.store.get_signal(run_id, "resume", "nobody")
            assert signal is not None
            assert json.loads(signal.body) == {"handle": "approved", "answer": {"n": 1}, "by": "ada", "at": 1_790_000_000_000}
        assert built.world.store.get_claim("golden:open", 0) == b"a value"


@pytest.mark.parametrize("folder", SETS, ids=lambda path: path.name)
def test_a_run_that_waits_in_a_file_goes_on(folder: Path, tmp_path: Path) -> None:
    run_id = run_id_of("open")
    with opened(folder, tmp_path) as built:
        built.service.answer_pause(run_id, "ask", "approved", {})
        asyncio.run(built.runner.run(Message(run_id, "signal"), Budget(60_000)))
        view = built.service.run(run_id)
    assert (view.status, view.outputs) == ("completed", {"l": ["worked", "worked"]})


# -- writing ----------------------------------------------------------------------------------------------------------


def test_a_new_set_is_written_by_the_script_and_an_old_one_never_again(tmp_path: Path) -> None:
    write_set(tmp_path / "9")
    assert sorted(path.name for path in (tmp_path / "9").iterdir()) == sorted([DATABASE, *(f"{run.name}.json" for run in RUNS)])
    for path in (tmp_path / "9").glob("*.json"):
        golden = Golden(path)
        assert says(plain_state(golden.log().load(golden.graph)), golden.kept["state"])
    with pytest.raises(FileExistsError):
        write_set(tmp_path / "9")
    SqliteStore(tmp_path / "9" / DATABASE).close()
