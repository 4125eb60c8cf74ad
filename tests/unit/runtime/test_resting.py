"""A log that cannot be read: its run waits unchanged, whatever calls it, and every other run continues."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from stepless.adapters.sqlite.blobs import SqliteBlobs
from stepless.adapters.sqlite.store import SqliteStore
from stepless.core.events import Event, EventType
from stepless.core.stored.codec import encode_batch
from stepless.core.stored.snapshot import encode_state
from stepless.errors import DamagedLog, LogUnreadable, NewerLog
from stepless.limits import MAX_UNMARKED_SIGNALS, MAX_UNREADABLE_RETRY_MS, UNREADABLE_RETRY_MS
from stepless.model.stored.packing import dump, pack, unpack
from stepless.ports import Message, RunFilter, Signal
from stepless.runtime.inbox import answer_signal, hold_signal
from stepless.runtime.runlog import RunLog
from stepless.runtime.session.invocation_end import InvocationEnd

Node = Callable[..., dict[str, Any]]
ASK = {"type": "approval", "after": "a", "with": {"message": "Go on?"}}


@pytest.fixture
def filed(tmp_path: Path, make_machine: Any) -> Iterator[Any]:
    """A machine over a file, whose batches can be damaged."""
    store = SqliteStore(tmp_path / "runs.sqlite")
    yield make_machine(store, SqliteBlobs(store.database))
    store.close()


def waiting(machine: Any, node: Node) -> str:
    """A run that waits for an answer, with two batches in its log."""
    run_id: str = machine.start({"a": node(), "w": ASK, "b": node("w.approved")})
    machine.drain()
    return run_id


def batches(machine: Any, run_id: str) -> list[tuple[int, bytes]]:
    return [(batch.first, batch.data) for batch in machine.store.read_log(run_id)]


def put(machine: Any, run_id: str, first: int, data: bytes) -> None:
    machine.store.database.change("UPDATE log SET data = ? WHERE run_id = ? AND first = ?", (data, run_id, first))


def damage(machine: Any, run_id: str, how: str) -> int:
    """Harms the last batch; answers the number by which it is told."""
    first, data = batches(machine, run_id)[-1]
    last = machine.store.read_log(run_id)[-1].last
    if how == "gone":
        machine.store.database.change("DELETE FROM log WHERE run_id = ? AND first = ?", (run_id, first))
        return int(first)
    stranger = [Event(at, EventType.NODE_QUEUED, 1, "nobody", 0, {}) for at in range(first, last + 1)]
    put(machine, run_id, first, {
        "garbage": b"\x00\x01", "cut": data[: len(data) // 2], "empty": b"", "fewer": dump(unpack(data)[:-1]),
        "stranger": encode_batch(stranger), "moved": batches(machine, run_id)[0][1],
    }[how])  # fmt: skip
    return int(first)


HARMS = ("garbage", "cut", "empty", "fewer", "gone", "stranger", "moved")


@pytest.mark.parametrize("how", HARMS)
def test_a_damaged_log_is_told_with_run_and_place_by_every_reader(filed: Any, node: Node, how: str) -> None:
    run_id = waiting(filed, node)
    first = damage(filed, run_id, how)
    service = filed.service
    events = partial(service.events, after=first - 1)
    for read in (service.run, events, service.cost, service.hold, service.skip, partial(service.rerun, node="b")):
        if how == "gone" and read not in (service.run, events):
            continue  # a log that is merely short: only the header knows better
        with pytest.raises(DamagedLog) as told:
            read(run_id)
        assert told.value.code == "damaged_log"
        assert told.value.place.startswith(f"{run_id}#")
        assert first <= told.value.sequence
        assert "restore" in told.value.mend


@pytest.mark.parametrize("how", HARMS)
def test_the_runner_lets_it_rest_unchanged_and_looks_again_ever_more_seldom(filed: Any, node: Node, how: str) -> None:
    run_id = waiting(filed, node)
    damage(filed, run_id, how)
    before, rests = batches(filed, run_id), []
    filed.service.cancel(run_id)
    filed.queue.receive(filed.clock.now_ms())
    for _ in range(9):
        assert filed.invoke(Message(run_id, "sweep")) is InvocationEnd.RESTS
        head = filed.store.get_run(run_id)
        assert (head.status, head.owner, head.lease_until_ms) == ("damaged_log", None, 0)
        rests.append(head.due_ms - filed.clock.now_ms())
        filed.clock.set(head.due_ms)
        assert [due.run_id for due in filed.store.list_due(filed.clock.now_ms())] == [run_id]
    assert rests[:4] == [UNREADABLE_RETRY_MS * 2**n for n in range(4)]
    assert rests[-1] == MAX_UNREADABLE_RETRY_MS
    assert batches(filed, run_id) == before
    assert [head.run_id for head in filed.store.list_runs(RunFilter(status="damaged_log")).items] == [run_id]


def test_a_reader_that_finds_it_first_marks_it_once(filed: Any, node: Node) -> None:
    run_id = waiting(filed, node)
    damage(filed, run_id, "garbage")
    with pytest.raises(DamagedLog):
        filed.service.events(run_id)
    marked = filed.store.get_run(run_id)
    assert (marked.status, marked.owner, marked.due_ms) == ("damaged_log", None, filed.clock.now_ms() + UNREADABLE_RETRY_MS)
    with pytest.raises(DamagedLog):
        filed.view(run_id)
    assert filed.store.get_run(run_id) == marked


def test_a_reader_leaves_a_run_alone_that_somebody_runs(filed: Any, node: Node) -> None:
    run_id = waiting(filed, node)
    now_ms = filed.clock.now_ms()
    assert filed.store.take_lease(run_id, "another process", now_ms, now_ms + 30_000) is not None
    damage(filed, run_id, "garbage")
    held = filed.store.get_run(run_id)
    with pytest.raises(DamagedLog):
        filed.view(run_id)
    assert filed.store.get_run(run_id) == held


def test_once_mended_it_goes_on_where_it_stood(filed: Any, node: Node) -> None:
    run_id = waiting(filed, node)
    first, data = batches(filed, run_id)[-1]
    damage(filed, run_id, "garbage")
    filed.invoke(Message(run_id, "sweep"))
    put(filed, run_id, first, data)
    filed.service.answer_pause(run_id, "w", "approved", {})
    filed.drain()
    assert (filed.view(run_id).status, filed.store.get_run(run_id).status) == ("completed", "completed")
    assert filed.calls == {"a": 1, "b": 1}


def newer(machine: Any, run_id: str, how: str) -> tuple[int, bytes]:
    """The last batch as a newer release might have written it; answers it as it was."""
    first, data = batches(machine, run_id)[-1]
    rows = unpack(data)
    if how == "an unknown event":
        rows[-1][0] = "@"
    else:
        rows[1] = [*rows[1], *["", 0, {}][len(rows[1]) - 2 :], 2]
    put(machine, run_id, first, pack(dump(rows)))
    return first, data


@pytest.mark.parametrize("how", ["an unknown event", "a newer format"])
def test_what_a_newer_release_wrote_rests_until_a_release_that_knows_it(filed: Any, node: Node, how: str) -> None:
    run_id = waiting(filed, node)
    first, known = newer(filed, run_id, how)
    before = batches(filed, run_id)
    filed.service.cancel(run_id)
    assert filed.step()
    with pytest.raises(NewerLog) as told:
        filed.view(run_id)
    assert (told.value.code, told.value.http_status, told.value.place) == ("newer_log", 503, f"{run_id}#{first}")
    head = filed.store.get_run(run_id)
    assert (head.status, head.owner) == ("newer_log", None)
    assert head.due_ms == filed.clock.now_ms() + UNREADABLE_RETRY_MS
    assert batches(filed, run_id) == before
    put(filed, run_id, first, known)  # the release that knows it
    filed.clock.set(head.due_ms)
    filed.drain()
    assert filed.view(run_id).status == "cancelled"


def test_a_version_that_a_newer_release_published_rests_until_a_release_that_knows_it(filed: Any, node: Node) -> None:
    """Its lease is released, so that the first release that knows the version need not wait for it."""
    run_id = waiting(filed, node)
    known = filed.store.database.row("SELECT document FROM version")[0]
    newer = known.replace(b'"type":"approval"', b'"type":"oracle"')
    assert newer != known
    filed.store.database.change("UPDATE version SET document = ?", (newer,))
    filed.runner, filed.world.versions._graphs = filed.process(), OrderedDict()
    filed.store.put_signal(run_id, answer_signal("w", "approved", {}, None, filed.clock.now_ms()))
    assert filed.invoke(Message(run_id, "signal")) is InvocationEnd.RESTS
    head = filed.store.get_run(run_id)
    assert (head.status, head.owner, head.lease_until_ms) == ("newer_log", None, 0)
    assert head.due_ms == filed.clock.now_ms() + UNREADABLE_RETRY_MS
    for read in (filed.service.run, filed.service.events, filed.service.nodes, partial(filed.service.rerun, node="b")):
        with pytest.raises(NewerLog, match="no kind 'oracle'") as told:
            read(run_id)
        assert told.value.place == f"{run_id}#1"
    with pytest.raises(NewerLog, match="no kind 'oracle'") as told:
        filed.service.start("small", {})
    assert (told.value.http_status, told.value.place.endswith(" nodes.w")) == (503, True)
    filed.store.database.change("UPDATE version SET document = ?", (known,))
    filed.runner, filed.world.versions._graphs = filed.process(), OrderedDict()
    filed.clock.set(head.due_ms)
    assert filed.invoke(Message(run_id, "sweep")) is InvocationEnd.ENDED
    assert (filed.view(run_id).status, filed.calls) == ("completed", {"a": 1, "b": 1})


def test_a_signal_of_a_newer_release_is_left_to_it(filed: Any, node: Node) -> None:
    """Even if the session marks the others as taken, which it does for many."""
    run_id = waiting(filed, node)
    now_ms = filed.clock.now_ms()
    newer = [Signal("promote", identity, b"{}", now_ms) for identity in ("w", "elsewhere")]
    for signal in newer:
        filed.store.put_signal(run_id, signal)
    for number in range(1, MAX_UNMARKED_SIGNALS + 3):
        filed.store.put_signal(run_id, hold_signal(number, bool(number % 2), None, None, now_ms))
    filed.invoke(Message(run_id, "signal"))
    left = [signal for signal in filed.store.read_inbox(run_id) if signal.kind == "promote"]
    assert len(filed.store.read_inbox(run_id)) < MAX_UNMARKED_SIGNALS
    assert sorted(left, key=lambda signal: signal.identity) == sorted(newer, key=lambda signal: signal.identity)


def test_others_go_on_beside_it(filed: Any, node: Node) -> None:
    bad, good = waiting(filed, node), waiting(filed, node)
    damage(filed, bad, "garbage")
    for run_id in (bad, good):
        filed.store.put_signal(run_id, answer_signal("w", "approved", {}, None, filed.clock.now_ms()))
        filed.queue.send(Message(run_id, "signal"))
    told: list[tuple[str, LogUnreadable]] = []
    filed.runner.on_unreadable = lambda run_id, error: told.append((run_id, error))
    while filed.store.get_run(good).status != "completed":
        assert filed.step()
    assert [(run_id, error.code) for run_id, error in told] == [(bad, "damaged_log")]
    assert filed.view(good).status == "completed"


def test_a_large_value_that_is_gone_or_no_json_is_a_damaged_log(filed: Any, node: Node) -> None:
    async def large(call: Any) -> str:
        return "x" * 40_000

    filed.behaviours["a"] = large
    run_id = waiting(filed, node)
    for statement in ("UPDATE blob SET data = x'7b'", "DELETE FROM blob"):
        filed.store.database.change(statement, ())
        with pytest.raises(DamagedLog, match="the blob"):
            filed.view(run_id)
    assert filed.invoke(Message(run_id, "sweep")) is InvocationEnd.RESTS


def test_a_damaged_snapshot_costs_time_and_nothing_else(filed: Any, node: Node) -> None:
    run_id = waiting(filed, node)
    head = filed.store.get_run(run_id)
    graph = filed.world.versions.graph("small", head.version)
    whole = encode_state(RunLog(filed.store, filed.world.blobs, run_id).load(graph))
    document = unpack(whole)
    later = {**document, "run": {**document["run"], "what_a_later_release_knows": 1}}
    for data in (b"", b"\x00", whole[:-9], b"[1]", b'{"format": 1}', pack(dump(later))):
        filed.store.put_snapshot(run_id, head.sequence, data)
        assert RunLog(filed.store, filed.world.blobs, run_id).load(graph).status == "paused"
