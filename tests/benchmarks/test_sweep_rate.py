"""How many runs a divided sweep revives in a minute: the requests of a bounded number of runs are counted, and their documented
times are assumed. The parts share no run and may be repeated."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any

import pytest
from dynamo_table import DirectClient, Table

from benchmarks import scale, sweep_rate
from stepless.adapters.aws.dynamo.store import DynamoStore
from stepless.adapters.aws.queue import SqsQueue, decode_message
from stepless.adapters.memory.clock import SettableClock
from stepless.limits import MAX_PAGE_ITEMS, MAX_SWEEP_PARTS, SWEEP_PART_MS
from stepless.ports import RunHead
from stepless.runtime.hosting.sweep import parts_of, sweep, sweep_part
from stepless.runtime.wiring.local import local
from stepless.runtime.world import World

RUNS = 8_000
SHARDS = 8
NOW_MS = 1_000_000
TAKES_MS = {"query": scale.QUERY_MS, "batch_get_item": scale.HEADERS_MS, "send_message_batch": scale.SEND_MS}


class Counting:
    """A client that counts its calls, safe to use from several threads."""

    def __init__(self, client: Any) -> None:
        self._client, self._lock = client, Lock()
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        def counted(**given: Any) -> Any:
            with self._lock:
                self.calls[name] += 1
                return getattr(self._client, name)(**given)

        return counted


class Sqs:
    def __init__(self) -> None:
        self.hints: list[str] = []

    def send_message_batch(self, *, QueueUrl: str, Entries: list[dict[str, str]]) -> dict[str, Any]:  # noqa: N803
        self.hints += [decode_message(entry["MessageBody"]).run_id for entry in Entries]
        return {}


@pytest.fixture(scope="module")
def table() -> Table:
    found = Table()
    store = DynamoStore(DirectClient(found), "table", shards=SHARDS)
    for number in range(RUNS):
        store.create_run(RunHead(f"run_{number}", "wf", "h", "running", number, number, b"{}", due_ms=number))
    return found


@pytest.fixture
def scene(table: Table) -> Any:
    dynamo, sqs = Counting(DirectClient(table)), Counting(Sqs())
    store = DynamoStore(dynamo, "table", shards=SHARDS, at_once=1)
    world: World = replace(local(None).world, store=store, queue=SqsQueue(sqs, "url"), clock=SettableClock(NOW_MS))
    return world, dynamo, sqs


def test_a_hundred_thousand_runs_take_less_than_a_minute(scene: Any) -> None:
    world, dynamo, sqs = scene
    parts = parts_of(world)
    assert len(parts) == SHARDS
    slowest_ms = 0.0
    for part in parts:
        dynamo.calls.clear()
        sqs.calls.clear()
        sent = sweep_part(world, part, limit=10**6, until_ms=NOW_MS + SWEEP_PART_MS)
        took_ms = sum(TAKES_MS[name] * number for name, number in [*dynamo.calls.items(), *sqs.calls.items()])
        took_ms += sent * scale.sweep_cpu_ms()
        slowest_ms = max(slowest_ms, took_ms / sent)
    assert Counter(sqs._client.hints) == Counter({f"run_{number}": 1 for number in range(RUNS)})
    per_minute = SHARDS * SWEEP_PART_MS / slowest_ms
    assert per_minute > 100_000
    assert per_minute == pytest.approx(scale.revived_per_minute(SHARDS), rel=0.1)


def test_the_recorded_cpu_time_is_about_what_is_measured_here() -> None:
    """Through boto3 itself. Machines differ, and the tests around it: an order of magnitude would be a change of the code."""
    found = sweep_rate.measure(1_000, {})
    assert 0.1 < found.cpu_us / scale.SWEEP_CPU_US < 5
    assert found.runs == 1_000


def test_the_latencies_are_injected() -> None:
    assert sweep_rate.measure(200, {"SendMessageBatch": 10}).seconds > 20 * 0.01


def test_the_memory_of_the_model_is_that_of_the_template() -> None:
    text = (Path(__file__).parents[2] / "template.yaml").read_text("utf-8")
    function = text[text.index('"${AWS::StackName}-sweeper"') :]
    assert f"MemorySize: {scale.SWEEP_MEMORY_MB} " in function[: function.index("Timeout")]


def test_parts_run_at_once_and_twice_without_harm(scene: Any) -> None:
    world, _, sqs = scene
    with ThreadPoolExecutor(4) as threads:
        twice = [*parts_of(world), *parts_of(world)]
        sent = list(threads.map(lambda part: sweep_part(world, part, limit=10**6, until_ms=NOW_MS + SWEEP_PART_MS), twice))
    assert sum(sent) == 2 * RUNS
    assert set(sqs._client.hints) == {f"run_{number}" for number in range(RUNS)}


def test_a_part_stops_at_its_limit_and_at_its_time(scene: Any) -> None:
    world, _, sqs = scene
    assert sweep_part(world, (3, SHARDS), limit=250, until_ms=NOW_MS + SWEEP_PART_MS) == 250
    assert sweep_part(world, (3, SHARDS), limit=10**6, until_ms=NOW_MS) == 100  # one page of headers
    assert len(sqs._client.hints) == 350


def test_a_small_sweep_is_not_divided(scene: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from stepless.runtime.wiring import aws_sweeping

    world, _, _ = scene
    asked = Counting(PartsSqs())
    monkeypatch.setenv("STEPLESS_SWEEP_QUEUE_URL", "parts")
    world = replace(world, queue=Dropping())
    assert aws_sweeping.due(world, lambda: asked) == MAX_PAGE_ITEMS
    assert len(asked._client.bodies) == SHARDS
    early = replace(world, clock=SettableClock(MAX_PAGE_ITEMS - 2))  # one run less than a page is due
    assert aws_sweeping.due(early, lambda: asked) == MAX_PAGE_ITEMS - 1
    monkeypatch.setenv("STEPLESS_SWEEP_RATE", str(MAX_PAGE_ITEMS))
    assert aws_sweeping.due(world, lambda: asked) == MAX_PAGE_ITEMS
    assert len(asked._client.bodies) == SHARDS
    assert sweep(world) == MAX_PAGE_ITEMS


def test_records_that_fail_come_again(scene: Any) -> None:
    from stepless.runtime.wiring.aws_sweeping import sweep_parts

    world, _, sqs = scene
    records = [{"messageId": "a", "body": "nonsense"}, {"messageId": "b", "body": '{"part":[2,8],"limit":7}'}]
    assert sweep_parts(world, records) == [{"itemIdentifier": "a"}]
    assert len(sqs._client.hints) == 7


def test_there_are_never_too_many_parts(table: Table, scene: Any) -> None:
    world, _, _ = scene
    wide = replace(world, store=DynamoStore(DirectClient(table), "table", shards=MAX_SWEEP_PARTS + 50))
    assert len(parts_of(wide)) == MAX_SWEEP_PARTS


class PartsSqs:
    def __init__(self) -> None:
        self.bodies: list[str] = []

    def send_message_batch(self, *, QueueUrl: str, Entries: list[dict[str, str]]) -> dict[str, Any]:  # noqa: N803
        self.bodies += [entry["MessageBody"] for entry in Entries]
        return {}


class Dropping:
    def send(self, message: Any, delay_ms: int = 0) -> None:
        return

    def send_all(self, messages: Any) -> None:
        return
