"""Golden files: data that this release writes, and that every later release must read.

    python tests/tools/releases/golden_files.py tests/golden/2

writes a set of them: a JSON file for each of `golden_runs`, and one SQLite file with all of them. A set is never changed
afterwards; a release that writes anything new adds the next one.

A run's file has its document, its batches and its snapshot as they are stored, its large values, and the expected result of
reading them: the events, their envelopes, and the state after the snapshot and after the whole log. In it, a long
text is replaced by its length and digest, a long list by its two ends.
"""

from __future__ import annotations

import json
import sys
import zlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from golden_runs import RUNS, START_MS, GoldenRun

from stepless.adapters.memory.blobs import MemoryBlobs
from stepless.adapters.memory.clock import SettableClock
from stepless.adapters.memory.store import MemoryStore
from stepless.adapters.sqlite.blobs import SqliteBlobs
from stepless.adapters.sqlite.store import SqliteStore
from stepless.compile import compile_document
from stepless.core.decide import decide
from stepless.core.deciding.ending import outputs
from stepless.core.events import Event, EventType
from stepless.core.history.trace import Trace, envelope
from stepless.core.state import Instance, State, Status, scopes
from stepless.core.stored.codec import decode_batch
from stepless.core.stored.snapshot import encode_state
from stepless.core.values.variables import outgoing_cells
from stepless.model.graph import Graph
from stepless.nodes import KINDS
from stepless.ports import Batch, Blobs, RunHead, Signal, Store
from stepless.runtime import inbox
from stepless.runtime.runlog import RunLog
from stepless.runtime.verbs.publication import publishing
from stepless.runtime.wiring.local import local

DATABASE = "runs.sqlite"
_LONG = 500  # characters
_MANY = 200  # events
_RECORDED_AS = {"sent": "told"}  # the recordings keep the former name of this field
_RUN = ("inputs", "meta", "sequence", "steps", "failures", "ending", "ending_error", "halting", "response", "started_ms",
        "ended_ms", "paused_since_ms", "paused_ms", "continued", "reused", "held", "holds")  # fmt: skip
_INSTANCE = ("status", "taken", "pruned", "dead", "last_taken", "index", "predecessor", "attempt", "handle", "value", "error",
             "reason", "arrived", "answer", "last_sequence", "settled_sequence", "since_ms", "substituted", "deltas",
             "streamed")  # fmt: skip


def write_set(folder: Path) -> None:
    """Raises `FileExistsError` if the set exists, since its files must not change."""
    folder.mkdir()
    with closing(SqliteStore(folder / DATABASE)) as store:
        for run in RUNS:
            kept = _written(run, MemoryStore(), MemoryBlobs())
            (folder / f"{run.name}.json").write_text(json.dumps(kept, indent=1, ensure_ascii=True) + "\n")
            _written(run, store, SqliteBlobs(store.database))
            _beside(run, store)
        store.database.change("PRAGMA journal_mode = DELETE", ())  # one file, without a write-ahead log beside it


def run_id_of(run: str) -> str:
    return f"golden-{run}-1"


# -- writing ----------------------------------------------------------------------------------------------------------


def _written(run: GoldenRun, store: Store, blobs: Blobs) -> dict[str, Any]:
    """Writes a run into a store, a commit per decision; returns the content of its file."""
    graph = compile_document(run.document, KINDS, entries=run.entry)
    state, run_id = State(graph, run_id_of(run.name)), run_id_of(run.name)
    log = RunLog(store, blobs, run_id, epoch=1)
    at_snapshot: Mapping[str, Any] = {}
    for number, (after_ms, facts) in enumerate(run.steps):
        decision = decide(state, facts, START_MS + after_ms, **run.bounds.get(number, {}))
        if decision.events:
            log.append(decision.events)
        if number + 1 == run.snapshot_after:
            store.put_snapshot(run_id, state.sequence, encode_state(state))
            at_snapshot = plain_state(state)
    if not state.ended:
        log.append([Event(state.sequence + 1, EventType.HEARTBEAT, START_MS + 99_000, "", 0, {})])
    events = list(RunLog(store, blobs, run_id).read())
    snapshot = store.get_snapshot(run_id)
    assert snapshot is not None
    return {
        "document": run.document,
        "entry": run.entry,
        "run_id": run_id,
        "batches": [[batch.first, batch.last, batch.epoch, b64encode(batch.data).decode()] for batch in store.read_log(run_id)],
        "blobs": _blobs(store, blobs, run_id),
        "snapshot": [snapshot[0], b64encode(snapshot[1]).decode()],
        "events": short(ends(rows(events))),
        "envelopes": short(ends([envelope(graph, run_id, event) for event in events])),
        "state_at_snapshot": at_snapshot,
        "state": plain_state(Trace(graph, run_id).extend(events).state),
        "nodes": records(graph, run_id, events),
    }


def _blobs(store: Store, blobs: Blobs, run_id: str) -> dict[str, str]:
    spilled = [event.data["previews"] for event in RunLog(store, blobs, run_id).read(whole=False) if "previews" in event.data]
    if not spilled:
        return {}
    assert isinstance(blobs, MemoryBlobs | SqliteBlobs)
    keys = [key for batch in store.read_log(run_id) for key in _keys(batch)]
    return {key: b64encode(zlib.compress(blobs.get(key) or b"")).decode() for key in sorted(set(keys))}


def _keys(batch: Batch) -> Sequence[str]:
    return [key for event in decode_batch(batch.data, batch.first) for key, _ in event.data.get("blobs", {}).values()]


def _beside(run: GoldenRun, store: SqliteStore) -> None:
    """Writes what else a store keeps of a run: its version, header, inbox, and a claim."""
    clock = SettableClock(START_MS)
    published = publishing.publish(replace(local(None).world, store=store, clock=clock), run.document)
    run_id = run_id_of(run.name)
    last = store.read_log(run_id)[-1].last
    state = Trace(compile_document(run.document, KINDS), run_id).extend(
        RunLog(store, SqliteBlobs(store.database), run_id).read()
    ).state
    meta = {"entry": run.entry, "tags": ["golden", run.name], "depth": 0}
    ended = state.ended
    store.create_run(
        RunHead(
            run_id, published.version.workflow_id, published.version.hash, state.status.value, START_MS, START_MS + 1,
            json.dumps(state.inputs).encode(), json.dumps(meta).encode(), last, None if ended else START_MS + 60_000, 1,
            spent=b"",
        )
    )  # fmt: skip
    for signal in _signals():
        store.put_signal(run_id, signal._replace(taken=ended))
    store.claim(f"golden:{run.name}", b"a value", START_MS)


def _signals() -> Sequence[Signal]:
    return (
        inbox.answer_signal("nobody", "approved", {"n": 1}, "ada", START_MS),
        inbox.deadline_signal("nobody-either", START_MS),
        inbox.child_signal("nobody", "golden-child-9", 3, "paused", START_MS),
    )


# -- what is read -----------------------------------------------------------------------------------------------------


def rows(events: Sequence[Event]) -> list[list[Any]]:
    return [[e.sequence, e.type.value, e.at_ms, e.instance, e.parent, dict(e.data)] for e in events]


def plain_state(state: State) -> dict[str, Any]:
    """A state in full, under names that no stored format uses."""
    instances = {one.id: _instance(one) for scope in scopes(state) for one in scope.touched()}
    return short({
        "status": state.status.value,
        "run": {name: getattr(state, name) for name in _RUN},
        "outputs": outputs(state),
        "variables": {name: cell.value for name, cell in outgoing_cells(state.root, lambda _, values: values[-1]).items()},
        "under_way": {
            name: sorted(getattr(state, name)) for name in ("running", "waiting", "backing_off", "children")
        } | {"ready": [instance.id for instance in state.ready if instance.status is Status.QUEUED]},
        "instances": instances,
    })  # fmt: skip


def _instance(instance: Instance) -> dict[str, Any]:
    shown = {name: getattr(instance, name) for name in _INSTANCE}
    shown["status"] = instance.status.value
    shown["arrived"] = None if instance.arrived is None else list(instance.arrived)
    shown["variables"] = {name: list(cell) for name, cell in instance.cells.items()}
    if instance.wait is not None:
        shown["wait"] = {_RECORDED_AS.get(name, name): value for name, value in instance.wait._asdict().items()}
        shown["wait"]["exits"] = list(instance.wait.exits)
    turns = instance.iterations
    if turns is not None:
        shown["turns"] = {
            "total": turns.total, "items": None if instance.settled else turns.items, "started": turns.started,
            "live": list(turns.live), "results": [[index, value] for index, value in turns.results.items()],
            "failed": turns.failed, "error": turns.error, "broke": turns.broke, "stopped": turns.stopped,
        }  # fmt: skip
    return shown


def records(graph: Graph, run_id: str, events: Sequence[Event]) -> list[dict[str, Any]]:
    return [short(asdict(record)) for record in ends(list(Trace(graph, run_id).extend(events).nodes.values()))]


def ends(found: list[Any]) -> list[Any]:
    """The two ends of a long list: the items between them are in the state."""
    return found if len(found) <= _MANY else found[: _MANY // 8] + found[-_MANY // 8 :]


def short(value: Any) -> Any:
    """A value with each long text in it as its length and digest, and every mapping and sequence as JSON has them."""
    if isinstance(value, Mapping):
        return {name: short(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [short(inner) for inner in value]
    if isinstance(value, str) and len(value) > _LONG:
        return f"{len(value)} characters, {sha256(value.encode('utf-8', 'surrogatepass')).hexdigest()}"
    return value


if __name__ == "__main__":
    write_set(Path(sys.argv[1]))
