"""What the table must do beyond the contract: repeated and lost responses, due runs, pieces, keys."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError
from sweeps import at_most

from stepless.adapters.aws.dynamo.store import DynamoStore
from stepless.adapters.aws.dynamo.table import item_keys
from stepless.adapters.memory.blobs import MemoryBlobs
from stepless.core.events import Event, EventType
from stepless.errors import AppendConflict, LeaseLost, LimitExceeded, StoreUnavailable, StoreUnusable
from stepless.limits import MAX_PAGE_ITEMS
from stepless.ports import MESSAGE, Batch, RunFilter, RunHead, Signal, Version
from stepless.runtime.runlog import RunLog

WRITES = {"put_item", "update_item"}


class Altered:
    """A client some of whose calls go through `alter(call, given)`."""

    def __init__(self, client: Any, alter: Callable[[Callable[..., Any], dict[str, Any]], Any], names: set[str]) -> None:
        self._client, self._alter, self._names = client, alter, names

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._client, name)
        return (lambda **given: self._alter(call, given)) if name in self._names else call


def repeated(call: Callable[..., Any], given: dict[str, Any]) -> Any:
    """As botocore does it when the first answer is lost."""
    call(**given)
    return call(**given)


def unanswered(call: Callable[..., Any], given: dict[str, Any]) -> Any:
    call(**given)
    raise ReadTimeoutError(endpoint_url="x")


def head(run_id: str = "r", due_ms: int | None = 10, **more: Any) -> RunHead:
    return RunHead(run_id, "wf", "h", "created", 1, 1, b"{}", due_ms=due_ms, **more)


@pytest.fixture
def store(dynamo: Any, table: str) -> DynamoStore:
    return DynamoStore(dynamo, table)


# -- answers that are lost -------------------------------------------------------------------------------------------


def test_a_write_that_is_sent_twice_is_known_again(dynamo: Any, table: str) -> None:
    store = DynamoStore(Altered(dynamo, repeated, WRITES), table)
    signal = Signal("resume", "p", b"{}", 1)
    assert store.create_run(head())
    assert not store.create_run(head())
    assert store.put_signal("r", signal) == signal
    assert store.claim("k", b"v", 1) == b"v"
    assert store.put_version("wf", "h", b"{}", 1).number == 1
    lease = store.take_lease("r", "me", 1, 100)
    assert lease
    assert store.update_run(lease, 2, status="paused", release=True).epoch == lease.epoch


def test_a_batch_that_is_sent_twice_is_this_writers_and_nobody_elses(dynamo: Any, table: str, store: DynamoStore) -> None:
    twice = DynamoStore(Altered(dynamo, repeated, WRITES), table)
    events = [Event(1, EventType.RUN_STARTED, 5, "", 0, {}), Event(2, EventType.NODE_QUEUED, 6, "a", 1, {})]
    with pytest.raises(AppendConflict):
        twice.append("raw", Batch(1, 2, b"[]", 3))
    RunLog(twice, MemoryBlobs(), "r", 3).append(events)
    RunLog(store, MemoryBlobs(), "r", 3).append(events)
    for rival in (RunLog(store, MemoryBlobs(), "r", 4), RunLog(twice, MemoryBlobs(), "r", 2)):
        with pytest.raises(AppendConflict):
            rival.append(events)
    with pytest.raises(AppendConflict):
        RunLog(store, MemoryBlobs(), "r", 3).append(events[:1])
    assert len(store.read_log("r")) == 1


def test_an_answer_that_never_came_leaves_the_caller_unsure(dynamo: Any, table: str, store: DynamoStore) -> None:
    events = [Event(1, EventType.RUN_STARTED, 5, "", 0, {})]
    with pytest.raises(StoreUnavailable) as raised:
        RunLog(DynamoStore(Altered(dynamo, unanswered, WRITES), table), MemoryBlobs(), "r", 3).append(events)
    assert raised.value.facts["unsure"]
    RunLog(store, MemoryBlobs(), "r", 3).append(events)  # as the runner does: the same again
    assert len(store.read_log("r")) == 1


def test_a_table_that_is_not_there_never_heals(dynamo: Any) -> None:
    with pytest.raises(StoreUnusable, match="nobody-made-this"):
        DynamoStore(dynamo, "nobody-made-this").get_run("r")


def test_signals_that_a_write_leaves_out_are_written_again(dynamo: Any, table: str, store: DynamoStore) -> None:
    signals = [store.put_signal("r", Signal("resume", f"p{i:02}", b"{}", i)) for i in range(60)]

    def halved(call: Callable[..., Any], given: dict[str, Any]) -> Any:
        wanted = given["RequestItems"][table]
        now, later = wanted[: max(1, len(wanted) // 2)], wanted[max(1, len(wanted) // 2) :]
        return call(RequestItems={table: now}) | {"UnprocessedItems": {table: later} if later else {}}

    def nothing(call: Callable[..., Any], given: dict[str, Any]) -> Any:
        return {"UnprocessedItems": given["RequestItems"]}

    with pytest.raises(StoreUnavailable):
        DynamoStore(Altered(dynamo, nothing, {"batch_write_item"}), table).take_signals("r", signals)
    assert len(store.read_inbox("r")) == 60
    DynamoStore(Altered(dynamo, halved, {"batch_write_item"}), table).take_signals("r", [*signals, signals[0]])
    assert store.read_inbox("r") == []
    assert store.get_signal("r", "resume", "p07") == signals[7]._replace(taken=True)


def test_keys_that_a_read_leaves_out_are_asked_for_again(dynamo: Any, table: str, store: DynamoStore) -> None:
    for i in range(30):
        store.create_run(head(f"r{i:02}"))

    def halved(call: Callable[..., Any], given: dict[str, Any]) -> Any:
        wanted = given["RequestItems"][table]["Keys"]
        now, later = wanted[: max(1, len(wanted) // 2)], wanted[max(1, len(wanted) // 2) :]
        answer = call(RequestItems={table: {**given["RequestItems"][table], "Keys": now}})
        return answer | ({"UnprocessedKeys": {table: {"Keys": later}}} if later else {})

    def nothing(call: Callable[..., Any], given: dict[str, Any]) -> Any:
        return {"Responses": {}, "UnprocessedKeys": given["RequestItems"]}

    assert len(DynamoStore(Altered(dynamo, halved, {"batch_get_item"}), table).list_runs(RunFilter()).items) == 30
    with pytest.raises(StoreUnavailable):
        DynamoStore(Altered(dynamo, nothing, {"batch_get_item"}), table).list_runs(RunFilter())


def test_a_message_that_was_moved_is_not_read_again(dynamo: Any, table: str) -> None:
    """It is sent again in the instant of the move; or the process that moves it dies before it deletes it."""
    store = DynamoStore(dynamo, table)
    store.most_beside = 2
    beside = [store.put_signal("r", Signal(MESSAGE, f"m{i}", b"{}", i)) for i in range(3)]
    store.take_signals("r", beside[:2])
    assert store.read_inbox("r") == beside[2:]
    store.take_signals("r", beside[2:])
    new = store.put_signal("r", Signal(MESSAGE, "new", b"{}", 9))
    item = {"pk": item_keys.run("r"), "sk": item_keys.signal(MESSAGE, "m2"), "k": MESSAGE, "i": "m2", "b": b"{}", "c": 2}
    for _ in range(2):
        store._wire.put(item)
        assert DynamoStore(dynamo, table).put_signal("r", beside[2]) == beside[2]._replace(taken=True)
        assert store.read_inbox("r") == [new]
        assert store._wire.get(item["pk"], item["sk"]) is None


# -- what is due -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(at_most(1, 4)))
def test_what_is_due_is_found_whatever_happened_to_it_before(dynamo: Any, table: str, seed: int) -> None:
    """The index holds only a lower bound of each due instant."""
    store = DynamoStore(dynamo, table, shards=2)
    chance, leases, runs = random.Random(seed), dict[str, Any](), [f"r{i}" for i in range(12)]
    for run_id in runs:
        store.create_run(head(run_id, chance.choice([None, chance.randrange(400)])))
    over = set[str]()
    for now_ms in range(0, 300, 6):
        run_id, later_ms = chance.choice([run_id for run_id in runs if run_id not in over]), now_ms + chance.randrange(1, 200)
        match chance.randrange(5):
            case 0:
                store.touch_run(run_id, later_ms)
            case 1 | 2:
                leases[run_id] = store.take_lease(run_id, "me", now_ms, later_ms)
            case 3 if leases.get(run_id):
                store.update_run(leases[run_id], now_ms, until_ms=chance.choice([None, later_ms, now_ms + 1]))
            case 4 if leases.get(run_id):
                status, due_ms = chance.choice([("completed", None), ("paused", None), ("paused", later_ms)])
                store.update_run(leases.pop(run_id), now_ms, status=status, due_ms=due_ms, release=True)
        heads = [store.get_run(run_id) for run_id in runs]
        overdue = sorted((run.due_ms, run.run_id) for run in heads if run and run.due_ms is not None and run.due_ms <= now_ms)
        assert [(run.due_ms, run.run_id) for run in store.list_due(now_ms)] == overdue
        assert [run.due_ms for run in store.list_due(now_ms, limit=3)] == [due_ms for due_ms, _ in overdue[:3]]
        live = {run.run_id for run in heads if run and run.status == "paused"}
        assert {run.run_id for run in store.list_runs(RunFilter("wf", "paused")).items} == live
        over = {run.run_id for run in heads if run and run.status == "completed"}
        assert {run.run_id for run in store.list_runs(RunFilter("wf", "completed")).items} == over
        due = {run.run_id for run in heads if run and run.due_ms is not None}
        assert {run.run_id for run in store.list_runs(RunFilter("wf", due=True)).items} == due


def test_a_released_lease_can_not_be_renewed(store: DynamoStore) -> None:
    store.create_run(head())
    lease = store.take_lease("r", "me", 0, 100)
    assert lease
    store.update_run(lease, 1, status="paused", release=True)
    for until_ms in (None, 200):
        with pytest.raises(LeaseLost):
            store.update_run(lease, 2, until_ms=until_ms)


def test_a_run_that_was_parked_for_days_is_found_when_its_holder_dies(store: DynamoStore) -> None:
    store.create_run(head(due_ms=10**12))
    assert store.take_lease("r", "me", 0, 100)
    assert [run.run_id for run in store.list_due(100)] == ["r"]


def test_the_most_overdue_is_found_behind_a_full_page_of_leased_runs(store: DynamoStore, dynamo: Any, table: str) -> None:
    for i in range(150):
        store.create_run(head(f"r{i}", 5))
        store.take_lease(f"r{i}", "me", 6, 10_000)
    store.create_run(head("dead", 7))
    assert [run.run_id for run in store.list_due(8, limit=1)] == ["dead"]


# -- logs, pieces, keys ----------------------------------------------------------------------------------------------


def test_a_store_that_never_saw_the_log_still_knows_where_it_ends(dynamo: Any, table: str, store: DynamoStore) -> None:
    store.append("r", Batch(1, 3, b"", 1))
    for first in (2, 3, 5):
        with pytest.raises(AppendConflict):
            DynamoStore(dynamo, table).append("r", Batch(first, first, b"", 1))
    DynamoStore(dynamo, table).append("r", Batch(4, 9, b"", 1))
    with pytest.raises(AppendConflict):
        store.append("r", Batch(4, 4, b"", 1))
    store.append("r", Batch(10, 10, b"", 1))
    assert [batch.first for batch in store.read_log("r", 5)] == [4, 10]


def test_a_snapshot_in_pieces_leaves_none_behind_when_it_is_replaced(dynamo: Any, table: str, store: DynamoStore) -> None:
    data = random.Random(1).randbytes(900_000)
    for sequence, size in ((5, 900_000), (9, 800_000), (7, 900_000), (9, 800_000), (12, 10)):
        store.put_snapshot("r", sequence, data[:size])
        pieces = dynamo.query(
            TableName=table, KeyConditionExpression="pk = :p AND begins_with(sk, :s)",
            ExpressionAttributeValues={":p": {"S": "RUN#r"}, ":s": {"S": "SNAP#"}},
        )["Count"]  # fmt: skip
        assert pieces == (0 if size == 10 else 3)
    assert store.get_snapshot("r") == (12, data[:10])


def test_a_snapshot_whose_writer_died_half_way_leaves_the_former_one(dynamo: Any, table: str, store: DynamoStore) -> None:
    store.put_snapshot("r", 5, b"five")
    left = [2]

    def dying(call: Callable[..., Any], given: dict[str, Any]) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise ReadTimeoutError(endpoint_url="x")
        return call(**given)

    with pytest.raises(StoreUnavailable):
        DynamoStore(Altered(dynamo, dying, WRITES), table).put_snapshot("r", 9, bytes(900_000))
    assert store.get_snapshot("r") == (5, b"five")


def test_a_document_may_be_larger_than_an_item(store: DynamoStore) -> None:
    document = random.Random(1).randbytes(1_200_000)
    assert store.put_version("wf", "h", document, 1).number == 1
    assert store.get_version("wf", hash="h").document == document  # type: ignore[union-attr]


def test_which_version_is_the_newest_is_one_request_without_its_document(dynamo: Any, table: str, store: DynamoStore) -> None:
    store.put_version("wf", "h", random.Random(1).randbytes(600_000), 1)
    requests: list[str] = []

    def counted(call: Callable[..., Any], given: dict[str, Any]) -> Any:
        requests.append(given["TableName"])
        return call(**given)

    known = DynamoStore(Altered(dynamo, counted, {"query", "get_item", "batch_get_item"}), table).newest_version("wf")
    assert known == Version("wf", 1, "h")
    assert len(requests) == 1


def test_inputs_come_back_whatever_their_size(store: DynamoStore) -> None:
    chance = random.Random(1)
    sizes = [0, 512, 513, 5_000, 250_000]
    given = {f"{size}{kind}": data for size in sizes for kind, data in (("x", b"x" * size), ("?", chance.randbytes(size)))}
    for run_id, inputs in given.items():
        assert store.create_run(RunHead(run_id, "wf", "h", "created", 1, 1, inputs))
        assert store.get_run(run_id).inputs == inputs  # type: ignore[union-attr]
    assert {run.run_id: run.inputs for run in store.list_runs(RunFilter()).items} == given
    with pytest.raises(LimitExceeded):
        store.create_run(RunHead("huge", "wf", "h", "created", 1, 1, chance.randbytes(400_000)))


def test_texts_that_are_too_long_for_a_key_are_told_apart(store: DynamoStore) -> None:
    long = ["a" * 3_000, "a" * 3_001, "日" * 400]
    hashed = [item_keys.fitting(text) for text in long]
    for identity in (*long, *hashed):
        signal = Signal("resume", identity, identity.encode(), 1)
        assert store.put_signal("r", signal) == signal == store.get_signal("r", "resume", identity)
        assert store.claim(identity, identity.encode(), 0) == identity.encode()
    assert {signal.identity for signal in store.read_inbox("r")} == {*long, *hashed}
    one, other = Signal("a#b", "c", b"1", 1), Signal("a", "b#c", b"2", 1)
    assert [store.put_signal("r2", signal) for signal in (one, other)] == [one, other]


def test_an_id_that_no_index_can_hold_is_refused(store: DynamoStore) -> None:
    for refused in (lambda: store.create_run(head("日" * 301)), lambda: store.put_version("日" * 301, "h", b"", 1)):
        with pytest.raises(LimitExceeded):
            refused()


def test_runs_of_many_workflows_are_listed_together(store: DynamoStore) -> None:
    for i in range(60):
        store.create_run(RunHead(f"r{i:02}", f"wf{i % 7}", "h", "created", i, i, b"{}"))
    assert [run.created_ms for run in store.list_runs(RunFilter(), limit=MAX_PAGE_ITEMS).items] == [*range(59, -1, -1)]
