"""How many requests the list of workflows takes on DynamoDB. The figures of docs/run/http.md are counted here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stepless.adapters.aws.capacity import CapacityMeter
from stepless.adapters.aws.dynamo.store import DynamoStore
from stepless.limits import MAX_LISTED_STATS
from stepless.model.stored.document import encode_document
from stepless.model.stored.version_metadata import Attached, encode_attached
from stepless.ports import RunHead
from stepless.runtime.triggers.schedule_verbs import list_schedules
from stepless.runtime.verbs.overviews.health import each_health
from stepless.runtime.verbs.overviews.versions import versions
from stepless.runtime.versions import Versions
from stepless.runtime.wiring.local import local
from stepless.runtime.world import World

PAGE = (Path(__file__).parents[4] / "docs/run/http.md").read_text()
DAY_MS = 24 * 3_600_000
BEGIN = {"begin": {"type": "manual"}}
NIGHT = {"night": {"type": "schedule", "with": {"cron": "15 2 * * *"}}}


@pytest.fixture
def meter(dynamo: Any) -> Iterator[CapacityMeter]:
    meter = CapacityMeter()
    meter.watch(dynamo)
    yield meter
    meter.unwatch(dynamo)


@pytest.fixture
def world(dynamo: Any, table: str) -> Iterator[World]:
    store = DynamoStore(dynamo, table, shards=1)
    made = local(None)
    yield replace(made.world, store=store, versions=Versions(store, made.world.kinds), near=False)
    made.close()


def publish(world: World, name: str, nodes: dict[str, Any], runs: int) -> None:
    now_ms = world.clock.now_ms()
    world.store.put_version(name, name, encode_document({"id": name, "nodes": nodes}, ()), now_ms)
    for number in range(runs):
        head = RunHead(f"run_{name}_{number}", name, name, "completed", now_ms - number * 1_000, now_ms, b"{}")
        assert world.store.create_run(head)


def test_a_page_of_workflows_takes_what_the_documentation_says(world: World, meter: CapacityMeter) -> None:
    for number in range(MAX_LISTED_STATS):
        publish(world, f"w{number}", BEGIN, 2)
    meter.take()
    page = each_health(world, window_ms=DAY_MS, limit=MAX_LISTED_STATS)
    asked = sum(meter.take().requests.values())
    assert [one.health.runs for one in page.items] == [2] * MAX_LISTED_STATS
    assert f"{asked} requests on DynamoDB for {MAX_LISTED_STATS} workflows" in PAGE


def test_a_page_of_versions_takes_two_requests_and_reads_no_document(world: World, meter: CapacityMeter) -> None:
    for number in range(1, 51):
        attached = encode_attached(Attached(by="ada", message=f"v{number}"))
        document = encode_document({"id": "many", "nodes": BEGIN}, ())
        world.store.put_version("many", f"h{number}", document, number, attached=attached)
    meter.take()
    page = versions(world, "many", limit=20)
    assert dict(meter.take().requests) == {"dynamodb.Query": 1, "dynamodb.BatchGetItem": 1}
    assert [one.message for one in page.items] == [f"v{number}" for number in range(50, 30, -1)]
    assert page.next_before == 31
    plain = [world.store.put_version("plain", f"h{number}", b"{}", number) for number in range(3)]
    meter.take()
    assert [one.version.number for one in versions(world, "plain", limit=20).items] == [one.number for one in reversed(plain)]
    assert dict(meter.take().requests) == {"dynamodb.Query": 1}


def test_a_quiet_workflow_takes_one_request_less_and_a_schedule_three_more(world: World, meter: CapacityMeter) -> None:
    def asked(read: Callable[[], object]) -> int:
        meter.take()
        read()
        return sum(meter.take().requests.values())

    def page() -> object:
        return each_health(world, window_ms=DAY_MS, limit=1)

    publish(world, "one", BEGIN, 0)
    quiet = asked(page)
    publish(world, "one", BEGIN, 1)
    assert asked(page) == quiet + 1
    publish(world, "two", {**BEGIN, **NIGHT}, 0)
    list_schedules(world, "two")  # compiles the version
    assert asked(lambda: list_schedules(world, "two")) == 3
