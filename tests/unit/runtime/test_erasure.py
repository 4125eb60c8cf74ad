"""Runs that a person erases, over a real store, queue and runner (docs/understand/durability.md#removal)."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from dynamo_table import DirectClient, Table
from removing import APPROVAL, CALLING, DAY, Node, died, ended, head, traces, with_children

from stepless.adapters.aws.dynamo.store import DynamoStore
from stepless.adapters.sqlite.blobs import SqliteBlobs
from stepless.adapters.sqlite.store import SqliteStore
from stepless.errors import AppendConflict, Conflict, Gone, NotFound
from stepless.limits import ERASED_KEPT_MS
from stepless.ports import ERASED, Batch, Message, RunFilter, RunHead, Store
from stepless.runtime.access.tokens import Claims
from stepless.runtime.hosting.sweep import sweep
from stepless.runtime.session.runner import InvocationEnd


@pytest.fixture
def machine(stored_machine: Any) -> Any:
    return stored_machine


def test_an_ended_run_is_erased_with_all_that_belongs_to_it(machine: Any, node: Node) -> None:
    run_id, other = ended(machine, node), ended(machine, node)
    assert machine.service.erase(run_id) == ((), (), False)
    assert traces(machine, run_id) == []
    assert len(traces(machine, other)) > 3 and machine.view(other).status == "completed"
    found = head(machine, run_id)
    assert (found.status, found.inputs, found.spent, found.waits) == (ERASED, b"null", b"", "")
    assert [each.run_id for each in machine.store.list_runs(RunFilter()).items] == [other]
    machine.clock.advance(ERASED_KEPT_MS)
    sweep(machine.world)
    assert machine.store.get_run(run_id) is None
    with pytest.raises(NotFound):
        machine.service.erase(run_id)


def test_a_dry_erasure_says_what_would_stay_and_erases_nothing(machine: Any, node: Node) -> None:
    run_id = ended(machine, node)
    again = machine.service.rerun(run_id).run_id
    assert machine.service.erase(run_id, dry=True) == ((), (again,), False)
    assert len(traces(machine, run_id)) > 3 and machine.view(run_id).status == "completed"


def test_a_run_that_has_not_ended_is_not_erased(machine: Any, node: Node) -> None:
    run_id = machine.start({"ask": APPROVAL})
    with pytest.raises(Conflict) as refused:
        machine.service.erase(run_id)
    assert refused.value.code == "run_not_ended" and "cancel" in refused.value.mend
    machine.drain()
    with pytest.raises(Conflict):
        machine.service.erase(run_id)
    machine.service.answer_pause(run_id, "ask", "approved", {}, "ada")
    machine.drain()
    machine.service.erase(run_id)


def test_child_runs_and_reruns_are_listed_and_stay(machine: Any, node: Node) -> None:
    with_children(machine)
    machine.service.publish({"id": "small", "nodes": {"a": node()}})
    machine.service.publish({"id": "outer", "nodes": {"c": CALLING, "d": {**CALLING, "after": "c"}, "z": node("d")}})
    run_id = machine.service.start("outer", {}).run_id
    machine.drain()
    children = [each.run_id for each in machine.store.list_runs(RunFilter("small")).items]
    reruns = tuple(machine.service.rerun(run_id, node="z").run_id for _ in range(3))
    machine.drain()
    told = machine.service.erase(run_id)
    assert (set(told.children), told.reruns, told.more) == (set(children), reruns, False)
    assert machine.service.erase(run_id) == told  # a repetition says the same
    for other in (*children, *reruns):
        assert machine.view(other).status == "completed"


def test_a_run_is_readable_after_the_child_run_that_failed_it_was_erased(machine: Any, node: Node) -> None:
    async def broken(call: Any) -> str:
        raise ZeroDivisionError("by zero")

    with_children(machine)
    machine.behaviours["a"] = broken
    machine.service.publish({"id": "small", "nodes": {"a": node()}})
    machine.service.publish({"id": "outer", "nodes": {"c": CALLING}})
    parent = machine.service.start("outer", {}).run_id
    machine.drain()
    child = machine.store.list_runs(RunFilter("small")).items[0].run_id
    assert machine.view(parent).status == "failed" and machine.view(child).status == "failed"
    machine.service.erase(child)
    view = machine.service.run(parent)
    assert view.status == "failed" and view.error is not None and view.error["run"] == child and view.exception is None


@pytest.mark.parametrize("verb", ["run", "overview", "nodes", "events", "cost", "rerun", "hold"])
def test_a_run_that_is_erased_while_it_is_read_is_gone(machine: Any, node: Node, verb: str) -> None:
    """The header is read before the erasure, the log after it."""
    run_id = ended(machine, node)
    store, reads = machine.store, type(machine.store).get_run

    class Slow(type(store)):  # type: ignore[misc, name-defined]
        def get_run(self, wanted: str) -> RunHead | None:
            found: RunHead | None = reads(self, wanted)
            self.__class__ = self.__class__.__base__  # the first read alone
            machine.service.erase(run_id)
            return found

    store.__class__ = Slow
    call = getattr(machine.service, verb)
    with pytest.raises(Gone) as gone:
        call(run_id, node="big") if verb == "rerun" else call(run_id)
    assert gone.value.code == "run_erased"


def test_a_child_run_is_not_erased_before_its_parent_has_ended(machine: Any, node: Node) -> None:
    with_children(machine)
    machine.service.publish({"id": "small", "nodes": {"a": node()}})
    machine.service.publish({"id": "outer", "nodes": {"c": CALLING, "ask": {**APPROVAL, "after": "c"}}})
    parent = machine.service.start("outer", {}).run_id
    machine.drain()
    child = machine.store.list_runs(RunFilter("small")).items[0].run_id
    with pytest.raises(Conflict) as refused:
        machine.service.erase(child)
    assert (refused.value.code, refused.value.facts["parent"]) == ("parent_not_ended", parent)
    machine.service.answer_pause(parent, "ask", "approved", {}, "ada")
    machine.drain()
    machine.service.erase(child)


def test_every_request_for_an_erased_run_says_so(machine: Any, node: Node) -> None:
    run_id = ended(machine, node)
    token = machine.service.signer.sign(Claims(run_id, "ask", machine.clock.now_ms() + DAY))
    machine.service.erase(run_id)
    service = machine.service
    requests: tuple[Callable[[], Any], ...] = (
        lambda: service.run(run_id), lambda: service.overview(run_id), lambda: service.nodes(run_id),
        lambda: service.events(run_id), lambda: service.cost(run_id), lambda: service.cancel(run_id),
        lambda: service.hold(run_id), lambda: service.release(run_id), lambda: service.rerun(run_id),
        lambda: service.value(run_id, "0" * 64), lambda: service.show_pause(token),
        lambda: service.answer(token, "approved", {}), lambda: service.answer_pause(run_id, "ask", "approved", {}),
    )  # fmt: skip
    for request in requests:
        with pytest.raises(Gone) as gone:
            request()
        assert gone.value.code == "run_erased"
    assert traces(machine, run_id) == []


def test_no_late_message_brings_an_erased_run_back(machine: Any, node: Node) -> None:
    run_id = ended(machine, node)
    epoch, last = head(machine, run_id).epoch, machine.store.read_log(run_id)[-1].last
    calls = dict(machine.calls)
    machine.service.erase(run_id)
    for reason in ("start", "sweep", "timer", "signal", "continue"):
        assert machine.invoke(Message(run_id, reason)) is InvocationEnd.GONE
    assert not machine.store.touch_run(run_id, 0)
    for first in range(1, last + 1):  # of a process that was frozen before the run ended
        with suppress(AppendConflict):
            machine.store.append(run_id, Batch(first, first, b"[]", epoch - 1))
            pytest.fail(f"a batch at {first} was accepted")
        if machine.store.__class__ is DynamoStore:
            break  # its batches have other first events: the next test
    machine.clock.advance(ERASED_KEPT_MS)
    sweep(machine.world)
    assert machine.invoke(Message(run_id, "start")) is InvocationEnd.GONE
    assert machine.store.get_run(run_id) is None and dict(machine.calls) == calls


def test_a_frozen_process_cannot_commit_where_any_batch_was(machine: Any, node: Node) -> None:
    run_id = ended(machine, node)
    firsts = [batch.first for batch in machine.store.read_log(run_id)]
    machine.service.erase(run_id)
    for first in firsts:
        with pytest.raises(AppendConflict):
            machine.store.append(run_id, Batch(first, first + 9, b"[]", 1))


def test_a_start_with_the_same_key_never_creates_the_run_again(machine: Any, node: Node) -> None:
    machine.service.publish({"id": "small", "nodes": {"a": node()}})
    run_id = machine.service.start("small", {}, key="k").run_id
    machine.drain()
    machine.service.erase(run_id)
    with pytest.raises(Conflict) as refused:
        machine.service.start("small", {}, key="k")
    assert (refused.value.code, refused.value.facts["run_id"]) == ("run_erased", run_id)
    machine.clock.advance(ERASED_KEPT_MS)
    sweep(machine.world)
    assert machine.store.get_run(run_id) is None
    other = machine.service.start("small", {}, key="k").run_id  # the key has expired, as without an erasure
    assert other != run_id


def test_a_repeated_event_of_an_erased_run_is_taken_for_handled(machine: Any, node: Node) -> None:
    entry = {"type": "event", "with": {"pattern": {"source": ["shop"]}}}
    machine.service.publish({"id": "small", "nodes": {"e": entry, "a": node("e")}})
    event = {"id": "e-1", "source": "shop", "detail-type": "x", "detail": {}}
    (started,) = machine.service.deliver(event)
    machine.drain()
    machine.service.erase(started.run_id)
    assert machine.service.deliver(event) == []
    machine.drain()
    assert machine.calls == {"a": 1}


def test_a_rerun_whose_origin_was_erased_before_it_began_is_cancelled(machine: Any, node: Node) -> None:
    run_id = machine.start({"a": node(), "b": node("a")})
    machine.drain()
    again = machine.service.rerun(run_id, node="b").run_id
    machine.service.erase(run_id)
    calls = dict(machine.calls)
    machine.drain()
    view = machine.view(again)
    assert (view.status, dict(machine.calls)) == ("cancelled", calls)


def test_a_run_with_a_damaged_log_can_be_erased(machine: Any, node: Node) -> None:
    run_id = ended(machine, node)
    last = machine.store.read_log(run_id)[-1].last
    machine.store.append(run_id, Batch(last + 1, last + 1, b"damaged", 9))
    told = machine.service.erase(run_id)
    assert told.more and traces(machine, run_id) == []


def test_a_run_that_a_process_works_on_is_busy(machine: Any, node: Node) -> None:
    run_id = ended(machine, node)
    now_ms = machine.clock.now_ms()
    assert machine.store.take_lease(run_id, "runner", now_ms, now_ms + 30_000) is not None
    with pytest.raises(Conflict) as refused:
        machine.service.erase(run_id)
    assert refused.value.code == "run_busy"
    machine.clock.advance(30_000)
    machine.service.erase(run_id)
    assert traces(machine, run_id) == []


@pytest.mark.parametrize("repeated", ["by the caller", "by the sweeper"])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("ground", ["memory", "dynamo"])
def test_an_erasure_that_dies_at_any_step_is_completed(
    make_machine: Any, node: Node, ground: str, after: bool, repeated: str
) -> None:
    for at in range(1, 60):
        store: Store | None = DynamoStore(DirectClient(Table()), "table", shards=3) if ground == "dynamo" else None
        machine = make_machine(store)
        run_id = ended(machine, node)
        from stepless.runtime.verbs.changes.erasing import erase

        if not died(machine, at, after, lambda world, run_id=run_id: erase(world, run_id)):
            break
        machine.clock.advance(60_000)  # the lease of the dead process expires
        if repeated == "by the caller":
            machine.service.erase(run_id)
        else:
            for _ in range(3):
                sweep(machine.world)
                machine.clock.advance(60_000)
        found = machine.store.get_run(run_id)
        assert found is not None
        if found.status == ERASED:
            assert traces(machine, run_id) == [], f"it died at call {at}"
        else:  # it died before its first write: nothing is erased
            assert repeated == "by the sweeper" and machine.view(run_id).status == "completed"
        machine.clock.advance(ERASED_KEPT_MS)
        sweep(machine.world)
        assert (machine.store.get_run(run_id) is None) is (found.status == ERASED)
    assert at > 5


def test_the_previous_release_takes_an_erased_run_for_one_that_ended(tmp_path: Path, make_machine: Any, node: Node) -> None:
    """It knows neither column nor attribute: the status that it reads is an end, so it starts nothing."""
    table = Table()
    store, file = DynamoStore(DirectClient(table), "table", shards=3), SqliteStore(tmp_path / "runs.db")
    for machine in (make_machine(store), make_machine(file, SqliteBlobs(file.database))):
        run_id = ended(machine, node)
        machine.service.erase(run_id)
        if machine.store is store:
            item = table.item((f"RUN#{run_id}", "HEAD"))
            assert item is not None and item["st"] == {"S": "completed"} and int(item["q"]["N"]) > 0
            assert {"h", "u", "m", "n", "t1", "g1", "i"} <= item.keys() and not {"r", "z"} & item.keys()
        else:
            ((status, sequence),) = file.database.rows("SELECT status, sequence FROM run WHERE run_id = ?", (run_id,))
            assert (status, sequence > 0) == ("completed", True)
    file.close()


def test_an_old_value_that_runs_may_share_stays(machine: Any, node: Node) -> None:
    run_id = ended(machine, node)
    shared = machine.world.blobs.put(json.dumps("shared by runs of a former release").encode())
    machine.service.erase(run_id)
    assert machine.world.blobs.get(shared) is not None
