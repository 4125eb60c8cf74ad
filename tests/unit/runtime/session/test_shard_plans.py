"""The plan of a source: in one invocation or several, and what it refuses (runtime/session/shards/planning.py)."""

from __future__ import annotations

import asyncio
import csv
import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stepless.adapters.folder_objects import FolderObjects
from stepless.ports import Message, Seen
from stepless.runtime import inbox
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.pauses.distributing import distributor
from stepless.runtime.session.shards.planning import Planning, Sizes, Unplanned
from stepless.runtime.shards.plans import DISTRIBUTION, Plan, shard_id
from stepless.runtime.shards.sources import Source, items_between

SMALL = Sizes(in_turn=4, at_once=8)


class Listed(FolderObjects):
    """A folder with the names of objects, three in a page."""

    number = 0

    def names(self, bucket: str, prefix: str, after: str) -> list[Seen]:
        names = [f"{prefix}{number:04}" for number in range(self.number)]
        return [Seen(name, 1, "e") for name in names if name > after][:3]


class Planner:
    """Plans sources of one folder; an invocation ends after `turns` turns."""

    def __init__(self, machine: Any, folder: Path, objects: type[FolderObjects] = FolderObjects) -> None:
        self.objects = objects(folder)
        self.world = replace(machine.world, objects={"file": lambda: self.objects})
        self.folder = folder
        self.records: list[Mapping[str, Any]] = []
        self.invocations = 0

    def open_plan(self, source: Mapping[str, Any], **given: Any) -> Plan:
        whole = {"place": "file", "bucket": "", "format": "jsonl", **source}
        plan = Plan("run_1", "each", "run_1:each", 0, 0, 0, (), {}, 1, 1, 1, None, None, source=whole)
        return replace(plan, **{"wanted_size": 3, **given})

    def plan(self, source: Mapping[str, Any], sizes: Sizes = SMALL, turns: int = 1_000, **given: Any) -> Plan:
        """The plan. Every invocation begins with the records of those before it."""
        self.records, self.invocations = [], 0
        while (plan := self.invoke(source, sizes, turns, **given)) is None:
            continue
        return plan

    def invoke(self, source: Mapping[str, Any], sizes: Sizes = SMALL, turns: int = 1_000, **given: Any) -> Plan | None:
        self.invocations += 1
        left = [turns]
        planning = Planning(
            self.world, "shd_1", self.open_plan(source, **given), lambda record: self._append(planning, record),
            lambda: self._turn(left), sizes,
        )  # fmt: skip
        for record in self.records:
            planning.fold(record)
        return asyncio.run(planning.finished())

    async def _append(self, planning: Planning, record: Mapping[str, Any]) -> None:
        self.records.append(json.loads(json.dumps(record)))
        planning.fold(record)

    async def _turn(self, left: list[int]) -> bool:
        left[0] -= 1
        return left[0] > 0

    def rows(self, plan: Plan) -> list[Any]:
        return [item for items in self.items(plan) for item in items]

    def items(self, plan: Plan) -> list[list[Any]]:
        """The items of every shard."""
        source, shards = Source(**plan.source or {}), []
        for number in range(plan.shards):
            first, following = plan.range_of(number)
            begin, end = plan.marks[number : number + 2]
            shards.append(items_between(self.world, source, begin, end[0], following - first))
        return [[item if isinstance(item, Mapping) else json.loads(item) for item in items] for items in shards]


@pytest.fixture
def planner(machine: Any, tmp_path: Path) -> Planner:
    return Planner(machine, tmp_path)


TABLES = st.lists(st.lists(st.text(st.sampled_from('ab,"\n\r é'), max_size=5), min_size=2, max_size=2), max_size=30)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TABLES, st.integers(1, 7), st.integers(2, 9), st.booleans())
def test_shards_have_the_rows_of_the_csv_module(planner: Planner, table: Any, shard: int, turns: int, packed: bool) -> None:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([["a", "b"], *table])
    data = text.getvalue().encode()
    (planner.folder / "in.csv").write_bytes(gzip.compress(data) if packed else data)
    plan = planner.plan({"name": "in.csv", "format": "csv"}, turns=1_000 if packed else turns, wanted_size=shard)
    assert planner.rows(plan) == list(csv.DictReader(io.StringIO(data.decode(), newline="")))
    assert {len(items) for items in planner.items(plan)[:-1]} <= {shard} and plan.total == len(table)


@pytest.mark.parametrize("turns", [1, 2, 3, 100])
def test_invocations_go_on_where_the_last_one_ended(planner: Planner, turns: int) -> None:
    (planner.folder / "in.jsonl").write_bytes(b"\n".join(b"%d" % number for number in range(50)))
    plan = planner.plan({"name": "in.jsonl"}, turns=turns)
    assert planner.rows(plan) == list(range(50))
    assert planner.invocations == {1: 13, 2: 7, 3: 5, 100: 1}[turns]
    assert sum("source" in record for record in planner.records) == 1


def test_no_record_holds_more_than_was_found_at_once(planner: Planner) -> None:
    (planner.folder / "in.jsonl").write_bytes(b"1\n" * 100)
    planner.plan({"name": "in.jsonl"}, wanted_size=1)
    assert [len(record["marks"]) for record in planner.records if "marks" in record] == [8] * 12


@pytest.mark.parametrize("turns", [1, 4, 100])
def test_a_listing_goes_on_behind_the_last_name(machine: Any, tmp_path: Path, turns: int) -> None:
    planner = Planner(machine, tmp_path, Listed)
    planner.objects.number = 50  # type: ignore[attr-defined]
    plan = planner.plan({"name": "a/", "format": "objects"}, SMALL._replace(listed=7), turns)
    planner.objects.number = 49  # type: ignore[attr-defined]  # what is listed later is not asked
    assert [item["key"] for item in planner.rows(plan)] == [f"a/{number:04}" for number in range(50)]
    assert planner.plan({"name": "a/", "format": "objects"}, max_items=10, truncate=True).total == 10


def test_a_compressed_source_begins_anew_in_each_invocation(planner: Planner) -> None:
    (planner.folder / "in.jsonl").write_bytes(gzip.compress(b"1\n" * 50))
    with pytest.raises(Unplanned, match="takes longer than one invocation has"):
        planner.plan({"name": "in.jsonl"}, turns=3)
    plan = planner.invoke({"name": "in.jsonl"})
    assert plan is not None and planner.rows(plan) == [1] * 50
    assert [set(record) for record in planner.records] == [{"source"}, {"source"}]


PACKED: dict[str, tuple[bytes, Sizes, str]] = {
    "too large": (gzip.compress(b"1\n" * 500), SMALL._replace(gzip_bytes=10), r"takes \d\d bytes: .* and the limit is 10"),
    "a bomb": (zlib.compress(b"1\n" * 100_000, wbits=31), SMALL._replace(unpacked_bytes=100_000), "unpacks to more than 100,000"),
    "cut off": (gzip.compress(b"1\n" * 500)[:-9], SMALL, "cannot be unpacked: it ends too early"),
    "with a tail": (gzip.compress(b"1\n" * 500) + b"tail", SMALL, "cannot be unpacked"),
}


@pytest.mark.parametrize("what", PACKED)
def test_a_compressed_source_has_limits(planner: Planner, what: str) -> None:
    data, sizes, told = PACKED[what]
    (planner.folder / "in.jsonl").write_bytes(data)
    with pytest.raises(Unplanned, match=told) as refused:
        planner.plan({"name": "in.jsonl"}, sizes)
    assert refused.value.code == "source_unreadable"


@pytest.mark.parametrize(("header", "told"), [
    (b"a,a", "in line 2, has one name twice"), (b"\xff", "is not UTF-8"), (b"x" * 300_000, "takes more than 256,000 bytes"),
    (b",".join(b"%d" % number for number in range(1_001)), "has 1,001 columns; 1,000 is the limit"),
])  # fmt: skip
def test_a_header_names_columns(planner: Planner, header: bytes, told: str) -> None:
    (planner.folder / "in.csv").write_bytes(b"\n" + header + b"\n1,2\n")
    with pytest.raises(Unplanned, match=told):
        planner.plan({"name": "in.csv", "format": "csv"})


def test_there_are_only_so_many_shards(planner: Planner) -> None:
    (planner.folder / "in.jsonl").write_bytes(b"1\n" * 16)
    with pytest.raises(Unplanned, match="set a larger `shard`"):
        planner.plan({"name": "in.jsonl"}, SMALL._replace(shards=5))
    assert planner.plan({"name": "in.jsonl"}, SMALL._replace(shards=6)).shards == 6
    with pytest.raises(Unplanned, match="16 items in shards of 100 are 1 shards"):
        planner.plan({"name": "in.jsonl"}, SMALL._replace(shards=0), wanted_size=None)


def test_shards_of_large_rows_have_fewer_of_them(planner: Planner) -> None:
    (planner.folder / "in.jsonl").write_bytes(b'"12345678"\n' * 400_000)  # 100 rows take 1,100 bytes
    sizes = [planner.plan({"name": "in.jsonl"}, Sizes(shard_bytes=most), wanted_size=None).size for most in (1_500, 2_300)]
    assert sizes == [100, 200]
    with pytest.raises(Unplanned, match="set a smaller `shard`"):
        planner.plan({"name": "in.jsonl"}, Sizes(shard_bytes=1_000), wanted_size=None)


class Changing(FolderObjects):
    """Another program writes the file while it is read."""

    def read(self, bucket: str, seen: Seen, first: int, end: int) -> Iterator[bytes]:
        for piece in super().read(bucket, seen, first, end):
            yield piece
            if end > 2:
                (Path(self.folder) / seen.name).write_bytes(b"2\n" * 50)


def test_a_source_that_changes_while_it_is_planned_is_refused(machine: Any, tmp_path: Path) -> None:
    planner = Planner(machine, tmp_path, Changing)
    (tmp_path / "in.jsonl").write_bytes(b"1\n" * 50)
    with pytest.raises(Unplanned, match="has changed while it was planned") as refused:
        planner.plan({"name": "in.jsonl"})
    assert refused.value.code == "source_changed"


class Calling(FolderObjects):
    """Does something whenever a source is read."""

    call: Callable[[], None]

    def read(self, bucket: str, seen: Seen, first: int, end: int) -> Iterator[bytes]:
        self.call()
        yield from super().read(bucket, seen, first, end)


def test_a_cancelled_run_is_not_planned_to_its_end(stored_machine: Any, tmp_path: Path) -> None:
    machine, objects = stored_machine, Calling(tmp_path)
    (tmp_path / "in.jsonl").write_bytes(b"1\n" * 5_000)
    machine.world = replace(machine.world, objects={"file": lambda: objects})
    kinds = {**machine.world.kind_code, "distributed": distributor(machine.world)}
    machine.world = replace(machine.world, kind_code=kinds)
    machine.runner = machine.process()
    body = {"nodes": {"one": {"type": "transform", "with": {"value": "<item>"}}}}
    each = {"type": "distributed", "after": "go", "with": {"source": {"file": "in.jsonl"}, "body": body}}
    run_id = machine.start({"go": {"type": "manual"}, "each": each}, {})
    distribution = shard_id(f"{run_id}:each", DISTRIBUTION)
    objects.call = partial(_cancel, machine, run_id, distribution)
    machine.drain()
    assert machine.view(run_id).status == "cancelled" and machine.store.get_run(distribution).status == "cancelled"
    assert machine.store.get_run(shard_id(f"{run_id}:each", 0)) is None


def _cancel(machine: Any, run_id: str, distribution: str) -> None:
    machine.service.cancel(run_id, by="ada")
    machine.store.put_signal(distribution, inbox.cancel_signal(None, None, machine.clock.now_ms()))
    machine.queue.send(Message(run_id, "signal"))
    assert Budget(60_000).total_ms
