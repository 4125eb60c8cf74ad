"""The number of index shards is an item of the table: it is only raised, and no reader misses a run meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from stepless.adapters.aws.dynamo.store import DynamoStore
from stepless.adapters.aws.dynamo.table import item_keys
from stepless.adapters.aws.dynamo.table.shards import DEFAULT_SHARDS, Shards
from stepless.adapters.aws.dynamo.table.wire import Wire
from stepless.errors import LimitExceeded
from stepless.limits import MAX_SHARDS, SHARDS_FRESH_MS
from stepless.ports import RunFilter, RunHead


class Time:
    now_ms = 1_800_000_000_000

    def __call__(self) -> int:
        return self.now_ms


@pytest.fixture
def time() -> Time:
    return Time()


def shards(dynamo: Any, table: str, time: Time) -> Shards:
    return Shards(Wire(dynamo, table), now_ms=time, elapsed=lambda: time.now_ms / 1000)


def test_readers_use_a_raise_at_once_and_writers_when_every_reader_knows_it(dynamo: Any, table: str, time: Time) -> None:
    old, new = shards(dynamo, table, time), shards(dynamo, table, time)
    assert (old.readers, old.writers) == (DEFAULT_SHARDS, DEFAULT_SHARDS)
    assert new.raise_to(32) == 32
    assert (new.readers, new.writers) == (32, DEFAULT_SHARDS)
    assert old.readers == DEFAULT_SHARDS  # what it has read is fresh enough
    time.now_ms += SHARDS_FRESH_MS
    assert (old.readers, old.writers) == (32, DEFAULT_SHARDS)
    time.now_ms += SHARDS_FRESH_MS - 1
    assert old.writers == new.writers == DEFAULT_SHARDS
    time.now_ms += 1
    assert old.writers == new.writers == 32


def test_no_writer_uses_a_number_that_some_reader_does_not_know(dynamo: Any, table: str, time: Time) -> None:
    """Processes that read the item at any moment, over two raises."""
    processes = [shards(dynamo, table, time) for _ in range(12)]
    for step in range(80):
        if step in (5, 40):
            processes[0].raise_to(16 if step == 5 else 64)
        seen = [(one.readers, one.writers) for one in processes[: 1 + step % 12]]  # the others keep what they have read
        known = [one._counts.readers for one in processes if one._read_at is not None]
        ages = [time.now_ms / 1000 - one._read_at for one in processes if one._read_at is not None]
        fresh = [count for count, age in zip(known, ages, strict=True) if age * 1000 < SHARDS_FRESH_MS]
        assert max(writers for _, writers in seen) <= min(fresh)
        time.now_ms += SHARDS_FRESH_MS // 7
    assert processes[0].writers == 64


def test_the_number_is_never_lowered_and_one_raise_follows_another(dynamo: Any, table: str, time: Time) -> None:
    one = shards(dynamo, table, time)
    assert one.raise_to(16) == 16
    assert one.raise_to(8) == 16
    assert one.raise_to(64) == 16  # the first raise is not in effect yet
    time.now_ms += 2 * SHARDS_FRESH_MS
    assert one.raise_to(64) == 64
    assert shards(dynamo, table, time).writers == 16
    with pytest.raises(LimitExceeded):
        one.raise_to(MAX_SHARDS + 1)


def test_of_two_raises_at_once_one_counts(dynamo: Any, table: str, time: Time) -> None:
    class Late(Wire):
        def put(self, *given: Any, **more: Any) -> Any:
            shards(dynamo, table, time).raise_to(100)
            return super().put(*given, **more)

    assert Shards(Late(dynamo, table), now_ms=time, elapsed=lambda: time.now_ms / 1000).raise_to(20) == 100
    assert shards(dynamo, table, time).readers == 100


def test_runs_of_a_smaller_number_stay_in_every_listing(dynamo: Any, table: str, time: Time) -> None:
    before = DynamoStore(dynamo, table, shards=8)
    for number in range(20):
        before.create_run(RunHead(f"r{number}", "wf", "h", "created", number, number, b"{}", due_ms=10))
    after = DynamoStore(dynamo, table, shards=50)
    moved = after.take_lease("r3", "me", 0, 5)  # the row is written again, in a shard of the larger number
    assert moved
    for number in range(20, 40):
        after.create_run(RunHead(f"r{number}", "wf", "h", "created", number, number, b"{}", due_ms=10))
    every = {f"r{number}" for number in range(40)}
    for filter in (RunFilter("wf"), RunFilter("wf", due=True), RunFilter("wf", "created", due=True)):
        assert {run.run_id for run in after.list_runs(filter).items} == every
    assert {run.run_id for run in after.list_due(10)} == every
    assert {run.run_id for part in range(7) for page in after.each_due(10, (part, 7)) for run in page} == every


def test_a_workflow_with_a_similar_name_is_not_listed(dynamo: Any, table: str, time: Time) -> None:
    store = DynamoStore(dynamo, table, shards=8)
    for name in ("wf", "wf#1", "wf#1#2"):
        store.create_run(RunHead(f"r-{name}", name, "h", "created", 1, 1, b"{}", due_ms=10))
    assert [run.run_id for run in store.list_runs(RunFilter("wf", due=True)).items] == ["r-wf"]


def test_the_item_has_its_own_key() -> None:
    assert item_keys.SHARDS not in {item_keys.PUBLISHED, item_keys.STARTED}


def test_a_process_raises_the_number_to_the_one_that_is_wanted(dynamo: Any, table: str, time: Time) -> None:
    wire = Wire(dynamo, table)
    wanting = Shards(wire, wanted=20, now_ms=time, elapsed=lambda: time.now_ms / 1000)
    assert (wanting.readers, wanting.writers) == (20, DEFAULT_SHARDS)
    assert shards(dynamo, table, time).readers == 20
    less = Shards(wire, wanted=10, now_ms=time, elapsed=lambda: time.now_ms / 1000)
    assert less.readers == 20
