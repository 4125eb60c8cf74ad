"""The view of a run: the same from its summary as from its whole log, and from a page of its nodes as from all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stepless.adapters.sqlite.blobs import SqliteBlobs
from stepless.adapters.sqlite.store import SqliteStore
from stepless.core.history.trace import Trace
from stepless.core.stored.codec import decode_batch, encode_batch
from stepless.core.stored.snapshot import encode_state
from stepless.errors import NotFound
from stepless.limits import MAX_RESULT_BYTES, SUMMARY_EVENTS, SUMMARY_VALUE_BYTES
from stepless.model.stored.packing import dump, pack, unpack
from stepless.model.work import NodeFailure, Result
from stepless.ports import Batch
from stepless.runtime.runlog import RunLog
from stepless.runtime.verbs.reads import values
from stepless.runtime.verbs.reads.inspecting import RunView

Node = Callable[..., dict[str, Any]]
TURNS = 400
TURN = {"nodes": {"t": {"type": "transform", "with": {"value": {"n": "<loop.index>"}}}}}
LONG = {"type": "loop", "with": {"times": TURNS, "body": TURN}}


class Read:
    """A store that counts the bytes of the log that are read from it, and what is appended."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.database = store.database
        self.bytes = 0
        self.writes: list[str] = []

    def __getattr__(self, name: str) -> Any:
        verb = getattr(self._store, name)

        def call(*given: Any, **named: Any) -> Any:
            answer = verb(*given, **named)
            if name == "read_log":
                self.bytes += sum(len(batch.data) for batch in answer)
            if name in ("append", "update_run", "put_snapshot", "take_lease", "create_run"):
                self.writes.append(name)
            return answer

        return call


@pytest.fixture
def counted(tmp_path: Path, make_machine: Any) -> Iterator[Any]:
    store = SqliteStore(tmp_path / "runs.sqlite")
    yield make_machine(Read(store), SqliteBlobs(store.database))
    store.close()


def ended(machine: Any, nodes: dict[str, Any], **top: Any) -> str:
    run_id: str = machine.start(nodes, {"given": [1, 2]}, **top)
    machine.drain()
    return run_id


def end_of(machine: Any, run_id: str) -> Any:
    return machine.log(run_id)[-1]


async def raises(call: Any) -> str:
    raise NodeFailure("execution", "odd", "something odd", usage={"input_tokens": 5})


async def costs(call: Any) -> Result:
    return Result({"text": "worked"}, usage={"input_tokens": 2, "output_tokens": 1}, variables={"v": [1]})


RETRY = {"attempts": 2, "retry_on": ["execution"], "backoff_ms": 200_000, "max_backoff_ms": 200_000}
RESPOND = {"type": "respond", "after": "l", "with": {"status": 202, "headers": {"x-a": "b"}, "body": {"all": "<given>"}}}
SHAPES: dict[str, dict[str, Any]] = {
    "completed": {"l": LONG},
    "failed, with failures that were handled": {
        "l": LONG, "bad": {"type": "function", "with": {"call": "x"}, "retry": RETRY},
        "mend": {"type": "set", "after": "bad.error", "with": {"variables": {"v": "mended"}}},
        "worse": {"type": "function", "after": "mend", "with": {"call": "x"}},
    },
    "partly": {"l": LONG, "bad": {"type": "function", "with": {"call": "x"}}, "s": {"type": "join", "after": ["bad.error", "l"]}},
    "answered": {"given": {"type": "manual"}, "l": {**LONG, "after": "given"}, "r": RESPOND},
}  # fmt: skip


def _as_overview(whole: RunView) -> RunView:
    """The parts that an overview contains."""
    return replace(whole, nodes={}, tags=tuple(tag for tag in whole.tags if tag.instance is None))


@pytest.mark.parametrize("turns", [TURNS, 2], ids=["long", "short"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_glance_says_what_the_whole_log_says(counted: Any, shape: str, turns: int) -> None:
    nodes = {**SHAPES[shape], "l": {**SHAPES[shape]["l"], "with": {**LONG["with"], "times": turns}}}
    counted.behaviours |= {"bad": raises, "worse": raises}
    run_id = ended(counted, nodes, variables={"v": 0})
    whole = counted.service.run(run_id)
    assert whole.nodes
    assert counted.service.overview(run_id) == _as_overview(whole)
    assert ("steps" in end_of(counted, run_id).data) is (turns == TURNS)


def test_variables_and_usage_are_told_too(make_machine: Any) -> None:
    from stepless.runtime.wiring.local import local

    machine = make_machine()

    async def work(call: Any) -> Result:
        return await costs(call)

    machine.world = replace(machine.world, kind_code={**local(None).world.kind_code, "function": work})
    machine.runner = machine.process()
    run_id = ended(machine, {"l": LONG, "f": {"type": "function", "after": "l", "with": {"call": "x"}}}, variables={"v": 0})
    overview = machine.service.overview(run_id)
    assert (overview.usage, overview.variables) == ({"input_tokens": 2, "output_tokens": 1}, {"v": [1]})
    assert overview == _as_overview(machine.service.run(run_id))


def test_a_glance_at_a_run_that_has_ended_reads_the_ends_of_its_log(counted: Any) -> None:
    """Its two ends are two batches, however many there are between them."""
    ask = {"nodes": {"w": {"type": "wait", "with": {"for": "1h"}}}}
    waits = {"l": {"type": "loop", "with": {"times": 40, "body": ask}}, "m": {**LONG, "after": "l"}}
    run_id = ended(counted, waits)
    total = sum(len(batch.data) for batch in counted.store.read_log(run_id))
    largest = max(len(batch.data) for batch in counted.store.read_log(run_id))
    counted.store.bytes = 0
    assert counted.service.overview(run_id).status == "completed"
    assert counted.store.bytes < 3 * largest < 4 * total


def test_a_summary_takes_no_write_of_its_own(counted: Any) -> None:
    """It travels in the batch that ends the run: the header with its lease, the batches, the release."""
    run_id = ended(counted, {"l": LONG})
    assert "steps" in end_of(counted, run_id).data
    batches = counted.store.read_log(run_id)
    assert counted.store.writes == ["create_run", *["append"] * len(batches), "update_run"]
    assert end_of(counted, run_id).sequence > SUMMARY_EVENTS


def test_large_outputs_stand_beside_the_log_and_of_any_size(counted: Any, node: Node) -> None:
    """The last batch holds no value of more than a kilobyte; outputs that are together larger than any one value still end."""

    async def large(call: Any) -> str:
        return call.node * (MAX_RESULT_BYTES // 2)

    counted.behaviours |= dict.fromkeys("abc", large)
    run_id = ended(counted, {"l": LONG, **{name: node("l") for name in "abc"}})
    last = counted.store.read_log(run_id)[-1]
    end = decode_batch(last.data, last.first)[-1]
    assert "output" in end.data["blobs"]
    assert len(dump(dict(end.data))) < 3 * SUMMARY_VALUE_BYTES
    lengths = {name: len(text) for name, text in counted.service.overview(run_id).outputs.items()}
    assert lengths == dict.fromkeys("abc", MAX_RESULT_BYTES // 2)


def test_the_log_of_a_former_release_is_folded(counted: Any) -> None:
    run_id = ended(counted, {"l": LONG})
    whole = counted.service.run(run_id)
    last = counted.store.read_log(run_id)[-1]
    *events, end = decode_batch(last.data, last.first)
    data = pack(encode_batch([*events, replace(end, data={})]))
    counted.store.database.change("UPDATE log SET data = ? WHERE run_id = ? AND first = ?", (data, run_id, last.first))
    assert counted.service.overview(run_id) == _as_overview(whole)


def test_a_snapshot_of_a_former_release_does_not_say_what_was_used(counted: Any, node: Node) -> None:
    """Whoever goes on from it cannot tell at the end: the summary is left out, and readers fold the log."""
    ask = {"type": "approval", "after": "a", "with": {"message": "?"}}
    run_id = counted.start({"a": node(), "w": ask, "l": {**LONG, "after": "w.approved"}})
    counted.drain()
    head = counted.store.get_run(run_id)
    state = RunLog(counted.store, counted.world.blobs, run_id).load(counted.world.versions.graph("small", head.version))
    former = unpack(encode_state(state))
    del former["usage"]
    counted.store.put_snapshot(run_id, head.sequence, pack(dump(former)))
    assert counted.service.overview(run_id) == _as_overview(counted.service.run(run_id))
    counted.service.answer_pause(run_id, "w", "approved", {})
    counted.runner = counted.process()
    counted.drain()
    assert "steps" not in end_of(counted, run_id).data
    assert counted.service.overview(run_id) == _as_overview(counted.service.run(run_id))


# -- nodes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1, 7, 100])
def test_pages_of_nodes_are_together_all_of_them(counted: Any, node: Node, limit: int) -> None:
    small = {"type": "loop", "after": "a", "with": {"times": 5, "body": {"nodes": {"x": node(), "y": node("x")}}}}
    run_id = ended(counted, {"a": node(), "b": node("a"), "l": small, "z": node("l")})
    pages, after, more = [], 0, True
    while more:
        records, more = counted.service.nodes(run_id, after=after, limit=limit)
        assert len(records) == limit or not more
        pages += records
        after += len(records)
    graph = counted.world.versions.graph("small", counted.store.get_run(run_id).version)
    whole = Trace(graph, run_id, range(100)).extend(RunLog(counted.store, counted.world.blobs, run_id).read())
    assert pages == list(whole.nodes.values())
    assert counted.service.nodes(run_id, after=10_000) == ([], False)


def test_a_page_whose_nodes_have_settled_reads_no_further(counted: Any, node: Node) -> None:
    ask = {"nodes": {"w": {"type": "wait", "with": {"for": "1h"}}}}
    waits = {"type": "loop", "after": "b", "with": {"times": 90, "body": ask}}
    run_id = ended(counted, {"a": node(), "b": node("a"), "l": waits})
    batches = counted.store.read_log(run_id)
    damaged = batches[-3]
    counted.store.database.change("UPDATE log SET data = x'00' WHERE run_id = ? AND first = ?", (run_id, damaged.first))
    records, more = counted.service.nodes(run_id, limit=2)
    assert ([record.instance for record in records], more) == (["a", "b"], True)


# -- values -----------------------------------------------------------------------------------------------------------


def test_a_value_is_found_by_its_hash_in_the_run_that_has_it_and_in_no_other(counted: Any, node: Node) -> None:
    async def large(call: Any) -> Any:
        return {"text": call.run_id * 3_000}

    async def small(call: Any) -> Any:
        return ["only here"]

    counted.behaviours |= {"a": large, "s": small}
    one, other = (ended(counted, {"a": node(), "s": node(), "z": node("a")}) for _ in range(2))
    service = counted.service
    for value in ({"text": one * 3_000}, ["only here"], {"given": [1, 2]}, {"input": {"text": one * 3_000}}, one * 3_000):
        data = values.value_bytes(value)
        assert service.value(one, values.hash_of(data)) == data
    kept = values.hash_of(values.value_bytes({"text": one * 3_000}))
    assert counted.world.blobs.get(f"{one}/{kept}") is not None
    for run_id, wanted in ((other, kept), (one, "0" * 64), (one, "../x"), ("nobody", kept)):
        with pytest.raises(NotFound) as told:
            service.value(run_id, wanted)
        assert told.value.code == ("unknown_run" if run_id == "nobody" else "unknown_value")


def test_a_text_that_looks_like_a_reference_to_another_runs_value_opens_nothing(counted: Any, node: Node) -> None:
    async def large(call: Any) -> str:
        return "a secret of the other run" * 2_000

    counted.behaviours["a"] = large
    other = ended(counted, {"a": node()})
    kept = next(key for event in decoded(counted, other) for key, _ in event.data.get("blobs", {}).values())
    forged = {"s": {"type": "transform", "with": {"value": {"blobs": {"output": [kept, ""]}}}}}
    with pytest.raises(NotFound):
        counted.service.value(ended(counted, forged), kept)


def decoded(machine: Any, run_id: str) -> Iterator[Any]:
    batches: list[Batch] = machine.store.read_log(run_id)
    return (event for batch in batches for event in decode_batch(batch.data, batch.first))
