"""Runs with `distributed` nodes, over a real store, queue and runner (docs/write/fan-out.md)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from inspect import isawaitable
from typing import Any

import pytest

from stepless.limits import ERASED_KEPT_MS
from stepless.model.work import NodeFailure, Result
from stepless.ports import SHARD, Call, Message, RunFilter
from stepless.runtime.hosting.sweep import sweep
from stepless.runtime.removal import remove_expired
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.pauses.distributing import distributor
from stepless.runtime.shards.plans import DISTRIBUTION, Board, shard_id

Work = Callable[[Call], Any]
BODY = {"nodes": {"one": {"type": "function", "with": {"call": "test.echo", "args": {"n": "<item>", "by": "<go.factor>"}}}}}


@pytest.fixture
def machine(stored_machine: Any) -> Any:
    return stored_machine


class Fan:
    """A machine whose functions multiply, or do what the test says for an item."""

    def __init__(self, machine: Any, **with_: Any) -> None:
        self.machine, self.with_ = machine, with_
        self.calls: Counter[int] = Counter()
        self.special: dict[int, Callable[[], Any]] = {}
        kinds = {**machine.world.kind_code, "function": self._work, "distributed": distributor(machine.world)}
        machine.world = replace(machine.world, kind_code=kinds)
        machine.runner = machine.process()

    async def _work(self, call: Call) -> Result:
        args: Any = call.params["args"]
        self.calls[args["n"]] += 1
        special = self.special.get(args["n"])
        if special is None:
            return Result(args["n"] * args["by"])
        given = special()
        return Result(await given if isawaitable(given) else given)

    def start(self, number: int, **top: Any) -> str:
        given = {"items": "<go.numbers>", "shard": 10, "commit": {"items": 5}, "lanes": 3, "body": BODY, **self.with_}
        nodes = {"go": {"type": "manual"}, "each": {"type": "distributed", "after": "go", "with": given}}
        run_id: str = self.machine.start(nodes, {"numbers": list(range(number)), "factor": 3}, **top)
        return run_id

    def output(self, run_id: str) -> Any:
        return self.machine.view(run_id).nodes["each"].output


def refuse() -> Any:
    raise NodeFailure("http_error", "http_error", "it is refused", retryable=False)


def test_every_item_runs_once_and_the_results_are_in_order(machine: Any) -> None:
    fan = Fan(machine)
    run_id = fan.start(47)
    machine.drain()
    output = fan.output(run_id)
    assert output["results"] == [3 * number for number in range(47)]
    assert (output["total"], output["completed"], output["failed"], output["failures"]) == (47, 47, 0, [])
    assert set(fan.calls.values()) == {1} and len(fan.calls) == 47
    manifest = json.loads(machine.world.blobs.get(output["manifest"]))
    assert [part["rows"] for part in manifest["parts"]] == [10, 10, 10, 10, 7]
    assert machine.view(run_id).status == "completed"


def test_no_items_are_a_result_too(machine: Any) -> None:
    fan = Fan(machine)
    run_id = fan.start(0)
    machine.drain()
    assert fan.output(run_id)["results"] == [] and fan.output(run_id)["total"] == 0


def test_no_listing_has_shards(machine: Any) -> None:
    fan = Fan(machine)
    run_id = fan.start(47)
    machine.drain()
    assert [head.run_id for head in machine.store.list_runs(RunFilter()).items] == [run_id]
    assert [head.run_id for head in machine.store.list_runs(RunFilter(due=True)).items] == []
    assert machine.store.get_run(shard_id(f"{run_id}:each", 4)).status == "completed"


MARK = {"error": {"code": "http_error", "message": "it is refused"}, "index": 7}


@pytest.mark.parametrize(("on_error", "marked"), [("mark", MARK), ("drop", 24)])
def test_failed_items_are_marked_or_dropped(machine: Any, on_error: str, marked: Any) -> None:
    fan = Fan(machine, tolerate={"count": 1}, on_error=on_error)
    fan.special[7] = refuse
    run_id = fan.start(20)
    machine.drain()
    output = fan.output(run_id)
    assert output["results"][7] == marked and (output["completed"], output["failed"]) == (19, 1)
    assert output["failures"] == [{"index": 7, "error": {"code": "http_error", "message": "it is refused"}}]


def test_too_many_failures_fail_the_node_and_stop_the_others(machine: Any) -> None:
    fan = Fan(machine, tolerate={"percent": 1}, concurrency=3)

    async def look() -> int:
        await machine.runner.run(Message(shard_id(f"{run_id}:each", DISTRIBUTION), "signal"), Budget(60_000))
        return 0

    fan.special = {**dict.fromkeys(range(10), refuse), 12: look}
    run_id = fan.start(300)
    machine.drain()
    error = machine.view(run_id).nodes["each"].error
    assert error["code"] == "too_many_failures" and "10 of 300 items failed" in error["message"]
    assert len(fan.calls) < 30


def test_a_cancelled_run_begins_no_further_items(machine: Any) -> None:
    fan = Fan(machine, concurrency=3)

    async def cancel() -> int:
        machine.service.cancel(run_id, by="ada")
        for wanted in (run_id, shard_id(f"{run_id}:each", DISTRIBUTION)):
            await machine.runner.run(Message(wanted, "signal"), Budget(60_000))
        return 0

    fan.special[5] = cancel
    run_id = fan.start(200)
    machine.drain()
    assert machine.view(run_id).status == "cancelled"
    assert len(fan.calls) < 20
    head = machine.store.get_run(shard_id(f"{run_id}:each", DISTRIBUTION))
    assert head.status == "cancelled" and not Board(machine.store, head.run_id).live(10)


def test_a_large_result_is_a_list_of_parts(machine: Any) -> None:
    fan = Fan(machine, shard=500)
    run_id = fan.start(1_500)
    machine.drain()
    output = fan.output(run_id)
    parts = [machine.world.blobs.get(part["key"]).splitlines() for part in output["results"]]
    rows = [json.loads(line) for part in parts for line in part]
    assert rows == [{"index": number, "result": 3 * number} for number in range(1_500)]


def test_items_of_an_object_have_keys(machine: Any) -> None:
    body = {"nodes": {"one": {"type": "transform", "with": {"value": ["<item.key>", "<item.value>", "<item.index>"]}}}}
    fan = Fan(machine, items={"a": 1, "b": [2]}, body=body)
    run_id = fan.start(0)
    machine.drain()
    assert fan.output(run_id)["results"] == [["a", 1, 0], ["b", [2], 1]]


@pytest.mark.parametrize(("size", "code"), [(300_000, "item_too_large")])
def test_an_item_that_is_too_large_fails_alone(machine: Any, size: int, code: str) -> None:
    body = {"nodes": {"one": {"type": "transform", "with": {"value": 1}}}}
    fan = Fan(machine, items=["small", "x" * size], body=body, tolerate={"count": 1})
    run_id = fan.start(0)
    machine.drain()
    assert fan.output(run_id)["results"][0] == 1
    assert fan.output(run_id)["failures"][0]["error"]["code"] == code


def test_a_rerun_distributes_again(machine: Any) -> None:
    fan = Fan(machine)
    fan.special[3] = refuse
    run_id = fan.start(20)
    machine.drain()
    assert machine.view(run_id).status == "failed"
    fan.special.clear()
    again = machine.service.rerun(run_id).run_id
    machine.drain()
    assert fan.output(again)["results"] == [3 * number for number in range(20)]


def test_an_erased_run_leaves_nothing_of_its_shards(machine: Any) -> None:
    fan = Fan(machine)
    run_id = fan.start(35)
    machine.drain()
    distribution = shard_id(f"{run_id}:each", DISTRIBUTION)
    manifest = fan.output(run_id)["manifest"]
    assert machine.service.erase(run_id) == ((), (), False)
    assert machine.store.get_run(distribution) is None and machine.world.blobs.get(manifest) is None
    for number in range(4):
        shard = shard_id(f"{run_id}:each", number)
        assert machine.store.get_run(shard) is None and not machine.store.read_log(shard)
    for name in ("shards-drawn", "shards-steer", "shards-removed"):
        assert machine.store.get_claim(f"{name}:{distribution}", machine.clock.now_ms()) is None
    machine.clock.advance(ERASED_KEPT_MS)
    sweep(machine.world)
    assert machine.store.get_run(run_id) is None


def test_shards_expire_with_their_run(machine: Any) -> None:
    fan = Fan(machine)
    run_id = fan.start(15, retention="30d")
    while machine.view(run_id).status != "completed" or machine.queue.next_ms() is not None:
        machine.step()
    distribution = shard_id(f"{run_id}:each", DISTRIBUTION)
    machine.clock.advance(20 * 24 * 3_600_000)
    sweep(machine.world)
    assert machine.store.get_run(distribution) is not None
    machine.clock.advance(200 * 24 * 3_600_000)
    for _ in range(4):
        remove_expired(machine.world)
        sweep(machine.world)
        machine.clock.advance(24 * 3_600_000)
    assert machine.store.get_run(run_id) is None and machine.store.get_run(distribution) is None
    assert machine.store.get_run(shard_id(f"{run_id}:each", 1)) is None


def test_the_api_knows_no_shards(machine: Any) -> None:
    fan = Fan(machine)
    run_id = fan.start(5)
    machine.drain()
    with pytest.raises(Exception, match="there is no run shd_"):
        machine.service.run(shard_id(f"{run_id}:each", 0))


def test_ids_of_shards_follow_from_the_token() -> None:
    assert shard_id("run_1:each", 0).startswith(SHARD)
    assert len({shard_id("run_1:each", number) for number in range(-1, 50)}) == 51


