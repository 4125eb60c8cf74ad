"""Reads how far the items of a `distributed` node have come, and single items; changes how the node runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stepless.errors import Conflict, InvalidRequest, NotFound
from stepless.limits import MAX_FAILURES_COUNTED, MAX_FAILURES_SHOWN, MAX_ITEM_READS, MAX_SHARD_WORKERS, MAX_SHARDS_READ
from stepless.model.json import JSON
from stepless.model.runs.statuses import ENDED
from stepless.ports import Message, ObjectChanged, ObjectRefused
from stepless.runtime.shards.plans import Board, Plan, ShardEnd
from stepless.runtime.shards.repeats import Former, distribution_of
from stepless.runtime.shards.sources import Item, parsed, shard_items
from stepless.runtime.verbs.reads.inspecting import head_of
from stepless.runtime.world import World


class _Node:
    """The items of one node. Raises `NotFound` (unknown_node, unknown_run) if there are none."""

    def __init__(self, world: World, run_id: str, instance: str) -> None:
        head_of(world, run_id)
        distribution = distribution_of(world, run_id, instance)
        head = world.store.get_run(distribution) if distribution is not None else None
        if distribution is None or head is None:
            message = f"{instance} is no `distributed` node that has begun"
            raise NotFound(message, code="unknown_node", mend="see the nodes of the run: `stepless runs show`")
        self.world, self.head = world, head
        self.read: dict[int, Sequence[Item]] = {}  # the items of some shards
        self.board, self.former = Board(world.store, distribution), Former(world, distribution, may_run=True)

    @property
    def plan(self) -> Plan:
        return self.former.plan

    @property
    def ended(self) -> bool:
        return self.head.status in ENDED

    def ends(self) -> dict[int, ShardEnd]:
        """How shards ended, also those whose ends are not recorded yet."""
        told = map(ShardEnd.read, self.board.ends(MAX_SHARD_WORKERS))
        return {**{end.number: end for end in told}, **self.former.ends}


def progress(world: World, run_id: str, instance: str) -> dict[str, Any]:
    """Returns the counts of the items of a node, the codes with which items failed, and some of these. Reads the logs of at most
    MAX_SHARDS_READ shards in progress; `more` says that there are others, whose items are not counted. Raises `NotFound`."""
    node = _Node(world, run_id, instance)
    plan, head, now_ms = node.plan, node.head, world.clock.now_ms()
    ends, steer = node.ends(), node.board.steer(now_ms)
    live = [number for number in node.board.live(MAX_SHARD_WORKERS) if number not in ends]
    failures, completed, failed = [*_failures(node, ends)], 0, 0
    for number in live[:MAX_SHARDS_READ]:
        begun, rows = node.former.shard(number)
        completed, failed = completed + begun.completed, failed + begun.failed
        first, _ = plan.range_of(number)
        failures += [{"index": first + row[0], "error": row[2]} for row in rows if len(row) > 2]
    completed += sum(end.completed for end in ends.values())
    failed += sum(end.failed for end in ends.values())
    spent_ms = max(1, (head.updated_ms if node.ended else now_ms) - head.created_ms)
    shown = sorted(failures, key=lambda failure: failure["index"])[:MAX_FAILURES_SHOWN]
    left = 0 if node.ended else plan.total - completed - failed
    done = completed + failed
    return {
        "status": head.status, "stopped": steer.stop or None, "total": plan.total, "completed": completed, "failed": failed,
        "shards": {"total": plan.shards, "ended": len(ends), "running": len(live)}, "more": len(live) > MAX_SHARDS_READ,
        "concurrency": steer.concurrency or plan.concurrency, "tolerate": steer.tolerate or plan.tolerate,
        "started_at_ms": head.created_ms, "spent_ms": spent_ms, "per_second": round(done * 1000 / spent_ms, 3),
        "left_ms": left * spent_ms // done if done else None,
        "codes": dict(Counter(failure["error"]["code"] for failure in failures).most_common()),
        "failures": [{**failure, "item": _item(node, failure["index"])} for failure in shown],
    }  # fmt: skip


def _failures(node: _Node, ends: Mapping[int, ShardEnd]) -> Iterator[dict[str, Any]]:
    """The failures of shards that have ended, MAX_FAILURES_COUNTED at most."""
    counted = 0
    for number in sorted(ends):
        if counted >= MAX_FAILURES_COUNTED:
            return
        counted += ends[number].failed
        yield from node.former.lines(ends[number].failures)


def _item(node: _Node, index: int) -> JSON:
    """What an item is. None for a row that cannot be read, for a source that has changed, and beyond the first shards."""
    number = index // node.plan.size
    if number not in node.read:
        if len(node.read) >= MAX_ITEM_READS:
            return None
        try:
            node.read[number] = shard_items(node.world, node.plan, number)
        except (ObjectChanged, ObjectRefused):
            node.read[number] = []
    some, place = node.read[number], index - node.plan.range_of(number)[0]
    return parsed(some[place])[0] if some else None


def item(world: World, run_id: str, instance: str, index: int) -> dict[str, Any]:
    """Returns one item, its status and what it returned; `result` is None where the node keeps no results. Raises `NotFound`
    (unknown_node, unknown_run), `InvalidRequest` (out_of_range)."""
    node = _Node(world, run_id, instance)
    plan = node.plan
    if not 0 <= index < plan.total:
        message = f"there is no item {index:,}: there are {plan.total:,}"
        raise InvalidRequest(message, code="out_of_range", status=422, place="index", mend="use a number from 0")
    number = index // plan.size
    begun, rows = node.former.shard(number)
    place = index - plan.range_of(number)[0]
    row = next((row for row in rows if row[0] == place), None)
    if begun.ended[place]:
        status = "failed" if row is not None and len(row) > 2 else "completed"
    elif place < begun.started_to and not node.ended:
        status = "running"
    else:
        status = "cancelled" if node.ended else "pending"
    error = row[2] if row is not None and len(row) > 2 else None
    return {
        "index": index, "shard": number, "status": status, "item": _item(node, index),
        "result": row[1] if row is not None else None, "error": error,
    }  # fmt: skip


def change(world: World, run_id: str, instance: str, **changes: JSON) -> None:
    """Changes `concurrency` and `tolerate` of a node that runs. Workers that are missing start within some seconds; one that is
    too many ends after its shard. Raises `NotFound`, `Conflict` (run_ended)."""
    node = _Node(world, run_id, instance)
    now_ms = world.clock.now_ms()
    if node.ended or node.board.steer(now_ms).stop:
        raise Conflict(f"{instance} has ended", code="run_ended", mend="rerun its items", run_status=node.head.status)
    node.board.change(now_ms, **changes)
    world.queue.send(Message(node.head.run_id, "signal"))
