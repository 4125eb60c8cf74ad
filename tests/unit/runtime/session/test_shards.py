"""Runs with `distributed` nodes, over a real store, queue and runner (docs/write/fan-out.md)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from inspect import isawaitable
from typing import Any

import pytest

from stepless.errors import Conflict, InvalidRequest
from stepless.limits import ERASED_KEPT_MS
from stepless.model.work import NodeFailure, Result
from stepless.ports import SHARD, Call, Message, RunFilter
from stepless.runtime.hosting.sweep import sweep
from stepless.runtime.removal import remove_expired
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.pauses.distributing import distributor
from stepless.runtime.shards.plans import DISTRIBUTION, Board, shard_id
from stepless.runtime.verbs.changes.erasing import erase
from stepless.runtime.verbs.reads import items
from stepless.runtime.verbs.starts import reruns

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




# -- reruns of items ----------------------------------------------------------------------------------------------------


def rerun(fan: Fan, run_id: str, items: Any, node: str | None = "each") -> str:
    again: str = reruns.rerun(fan.machine.world, run_id, node=node, items=items).run_id
    fan.calls.clear()
    fan.machine.drain()
    return again


@pytest.mark.parametrize("results", ["all", "failed", "none"])
def test_a_rerun_runs_the_failed_items_and_merges_their_results(machine: Any, results: str) -> None:
    fan = Fan(machine, tolerate={"count": 3}, results=results)
    fan.special = dict.fromkeys((3, 7, 31), refuse)
    run_id = fan.start(47)
    machine.drain()
    del fan.special[3], fan.special[7]
    again = rerun(fan, run_id, "failed")
    assert fan.calls == {3: 1, 7: 1, 31: 1}
    output = fan.output(again)
    failure = {"error": {"code": "http_error", "message": "it is refused"}, "index": 31}
    rows = {"all": [3 * number if number != 31 else failure for number in range(47)], "failed": [failure], "none": []}
    assert output["results"] == rows[results]
    assert (output["completed"], output["failed"], output["failures"]) == (46, 1, [failure])
    manifest = json.loads(machine.world.blobs.get(output["manifest"]))
    assert (manifest["run"], manifest["rerun_of"]) == (again, run_id)
    fan.special.clear()
    last = rerun(fan, again, "failed")  # of a shard that the run in between has taken over, too
    assert fan.calls == {31: 1} and fan.output(last)["completed"] == 47
    assert fan.output(last)["results"] == {"all": [3 * number for number in range(47)], "failed": [], "none": []}[results]


def test_a_rerun_runs_the_items_that_are_named(machine: Any) -> None:
    fan = Fan(machine)
    run_id = fan.start(30)
    machine.drain()
    fan.special[12] = lambda: "other"
    again = rerun(fan, run_id, [12, 15])
    assert fan.calls == {12: 1, 15: 1}
    assert fan.output(again)["results"] == ["other" if number == 12 else 3 * number for number in range(30)]
    assert fan.output(run_id)["results"][12] == 36


@pytest.mark.parametrize(("node", "items"), [("each", "failed"), ("failed", None)])
def test_a_rerun_of_a_node_that_stopped_runs_what_has_not_completed(machine: Any, node: str, items: Any) -> None:
    fan = Fan(machine, tolerate={"count": 2}, concurrency=3)
    fan.special = dict.fromkeys(range(3, 9), refuse)
    run_id = fan.start(60)
    machine.drain()
    assert machine.view(run_id).nodes["each"].error["code"] == "too_many_failures"
    completed = {number for number, count in fan.calls.items() if count and number not in fan.special}
    fan.special.clear()
    again = rerun(fan, run_id, items, node)
    assert set(fan.calls) == set(range(60)) - completed and set(fan.calls.values()) == {1}
    assert fan.output(again)["results"] == [3 * number for number in range(60)]


def test_an_item_whose_effect_may_have_happened_keeps_its_token(machine: Any) -> None:
    fan, tokens = Fan(machine, tolerate={"count": 2}), dict[int, set[str]]()

    def times_out() -> Any:
        raise NodeFailure("timeout", "timeout", "no answer", retryable=False)

    work = fan._work

    async def noted(call: Call) -> Result:
        index: Any = call.params["args"]
        tokens.setdefault(index["n"], set()).add(call.token)
        return await work(call)

    machine.world = replace(machine.world, kind_code={**machine.world.kind_code, "function": noted})
    machine.runner = machine.process()
    fan.special = {4: times_out, 5: refuse}
    run_id = fan.start(10)
    machine.drain()
    fan.special.clear()
    again = rerun(fan, run_id, "failed")
    assert tokens[4] == {f"{run_id}:one@each[4]"}
    assert tokens[5] == {f"{run_id}:one@each[5]", f"{again}:one@each[5]"}


def test_a_rerun_outlives_the_run_that_it_repeats(machine: Any) -> None:
    fan = Fan(machine, tolerate={"count": 1})
    fan.special[7] = refuse
    run_id = fan.start(30)
    machine.drain()
    fan.special.clear()
    again = rerun(fan, run_id, "failed")
    erase(machine.world, run_id)
    manifest = json.loads(machine.world.blobs.get(fan.output(again)["manifest"]))
    assert all(machine.world.blobs.get(part["key"]) for part in manifest["parts"]) and len(manifest["parts"]) == 3
    other = rerun(fan, again, [3])
    assert fan.output(other)["results"] == [3 * number for number in range(30)]


def test_a_rerun_of_a_run_that_is_erased_meanwhile_runs_nothing_again(machine: Any) -> None:
    fan = Fan(machine, tolerate={"count": 1})
    fan.special[7] = refuse
    run_id = fan.start(30)
    machine.drain()
    again = reruns.rerun(machine.world, run_id, node="each", items="failed").run_id
    erase(machine.world, run_id)
    fan.calls.clear()
    machine.drain()
    assert machine.view(again).status == "cancelled" and not fan.calls


@pytest.mark.parametrize(("node", "items", "code"), [
    ("go", "failed", "not_distributed"), (None, [1], "not_distributed"), ("each", [30], "out_of_range"),
    ("each", "failed", "nothing_failed"), ("failed", "failed", "nothing_failed"),
])
def test_items_are_named_where_there_are_some(machine: Any, node: str | None, items: Any, code: str) -> None:
    fan = Fan(machine)
    run_id = fan.start(30)
    machine.drain()
    with pytest.raises((InvalidRequest, Conflict)) as raised:
        reruns.rerun(machine.world, run_id, node=node, items=items)
    assert raised.value.code == code


def test_items_are_looked_at_and_the_node_is_changed_while_they_run(machine: Any) -> None:
    fan, seen = Fan(machine, concurrency=3), list[Any]()

    def look() -> int:
        seen.append((items.progress(machine.world, run_id, "each"), items.item(machine.world, run_id, "each", 17)))
        items.change(machine.world, run_id, "each", concurrency=30, tolerate={"count": 1})
        return 51

    fan.special = {17: look, 40: refuse}
    run_id = fan.start(47)
    machine.drain()
    [(progress, one)] = seen
    assert progress["shards"] == {"total": 5, "ended": 1, "running": 1} and progress["left_ms"] is not None
    assert 10 < progress["completed"] <= 17 and progress["concurrency"] == 3
    assert one == {"index": 17, "shard": 1, "status": "running", "item": 17, "result": None, "error": None}
    after = items.progress(machine.world, run_id, "each")
    assert (after["status"], after["completed"], after["failed"], after["concurrency"]) == ("completed", 46, 1, 30)
    assert after["codes"] == {"http_error": 1} and after["failures"][0]["item"] == 40
    assert items.item(machine.world, run_id, "each", 17)["result"] == 51
    with pytest.raises(Conflict):
        items.change(machine.world, run_id, "each", concurrency=1)
