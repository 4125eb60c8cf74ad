"""Implements the code of the `distributed` kind: it plans the shards of a node, and starts its distribution."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from stepless.core.shards.sizes import items_per_shard, shards_of
from stepless.errors import ConfigError
from stepless.limits import (
    DEFAULT_CHUNK_ITEMS,
    MAX_CALL_DEPTH,
    MAX_ITEM_SHARDS,
    MAX_LIST_ITEMS,
    MAX_OUTER_BYTES,
    PLAN_PAGE_BYTES,
    START_GRACE_MS,
)
from stepless.model.effects.call import token_of
from stepless.model.json import JSON
from stepless.model.kind import Pause
from stepless.model.stored.packing import dump
from stepless.model.work import NodeFailure, misconfigured
from stepless.nodes import KindCode
from stepless.ports import Call, Message, RunHead
from stepless.runtime.header_notes import meta_of
from stepless.runtime.session.execution.execute import REPEATS
from stepless.runtime.session.pauses.children import distribution_id, reach_run
from stepless.runtime.shards.plans import DISTRIBUTION, Plan, shard_id
from stepless.runtime.shards.repeats import Former, repeated_plan
from stepless.runtime.world import World

if TYPE_CHECKING:
    from stepless.nodes.control.distributed import ChunkParams, DistributedParams


def distributor(world: World) -> KindCode:
    """Returns the code of the `distributed` kind."""

    async def run(call: Call) -> Pause:
        depth = int(call.facts.get("depth", 0)) + 1
        if depth > MAX_CALL_DEPTH:
            message = f"workflows call each other more than {MAX_CALL_DEPTH} levels deep"
            raise NodeFailure("config", "call_depth_exceeded", message, retryable=False, mend="check for a cycle of calls")
        run_id, total = await reach_run(partial(_start, world, call))
        return Pause("subrun", exits=(), details={"workflow": call.workflow_id, "run": run_id, "items": total})

    return run


async def _start(world: World, call: Call) -> tuple[str, int | None]:
    from stepless.nodes.control.item_places import planned_into

    run_id = shard_id(call.token, DISTRIBUTION)
    head = world.store.get_run(call.run_id)
    former, items = _repeated(world, head, call)
    if former is not None and former.plan.is_open:  # its source was never read
        former = None
    prefix = token_of(call.run_id, call.instance)
    used = int(call.token.removeprefix(f"{prefix}:")) - 1 if call.token.startswith(f"{prefix}:") else 0
    if former is None:
        plan = _planned(world, call, run_id, used)
    else:
        own = {"run": call.run_id, "instance": call.instance, "token": call.token, "used": used}
        plan = repeated_plan(former, run_id, items, into=planned_into(_params(call).into), **own)
    if head is not None:
        now_ms = world.clock.now_ms()
        entry = {name: value for name, value in meta_of(head).items() if name == "entry"}
        meta = {"parent": {"run": call.run_id, "instance": call.instance}, "number": DISTRIBUTION, **entry,
                "plan": world.blobs.put(plan.encoded(), run_id)}  # fmt: skip
        world.store.create_run(RunHead(
            run_id, head.workflow_id, head.version, "created", now_ms, now_ms, b"null", json.dumps(meta).encode(),
            due_ms=now_ms + START_GRACE_MS,
        ))  # fmt: skip
        world.queue.send(Message(run_id, "start"))
    return run_id, None if plan.is_open else plan.total


def _repeated(world: World, head: RunHead | None, call: Call) -> tuple[Former | None, Sequence[int] | None]:
    """The distribution of which a rerun repeats items, and which ones: None for those that have failed. A rerun that begins at
    the node itself says it; any other one repeats what has failed of a node that has not completed."""
    rerun = meta_of(head).get("rerun") if head is not None else None
    if isinstance(rerun, dict) and str(rerun["from"]).removeprefix("node:") == call.instance:
        if (items := rerun.get("items")) is None:
            return None, None
        return Former(world, str(rerun["shards"])), items if isinstance(items, list) else None
    repeats = call.facts.get(REPEATS)
    if repeats is None:
        return None, None
    former = distribution_id(str(repeats)) if ":" in str(repeats) else str(repeats)
    return (Former(world, former), None) if world.store.get_run(former) is not None else (None, None)


def _params(call: Call) -> DistributedParams:
    from stepless.nodes.control.distributed import DistributedParams, check
    from stepless.nodes.params import rendered

    given = {name: value for name, value in call.params.items() if name != "outer"}
    try:
        return rendered(DistributedParams, given, call.literals, {"body": {}}, check=check)
    except ConfigError as error:
        raise misconfigured(error) from error


def _planned(world: World, call: Call, run_id: str, used: int) -> Plan:
    from stepless.nodes.control.item_places import planned_into, planned_source

    params = _params(call)
    items = None if params.source is not None else _items(params.items, params.max_items, truncate=params.truncate)
    outer: Any = call.params.get("outer")
    if (size := len(dump(outer))) > MAX_OUTER_BYTES:
        message = f"the values that the body reads from outside take {size:,} bytes; {MAX_OUTER_BYTES:,} is the limit"
        raise NodeFailure("config", "inputs_too_large", message, retryable=False, mend="read less of them")
    total = len(items or ())
    shard = items_per_shard(total, params.shard)
    if (shards := shards_of(total, shard)) > MAX_ITEM_SHARDS:
        message = f"{total:,} items in shards of {shard:,} are {shards:,} shards; {MAX_ITEM_SHARDS:,} is the limit"
        raise NodeFailure("config", "out_of_range", message, retryable=False, mend="set a larger `shard`")
    pages = [(first, world.blobs.put(page, run_id)) for first, page in _pages(items or [], shard)]
    return Plan(
        call.run_id, call.instance, call.token, used, total, 0 if items is None else shard, pages, outer, params.concurrency,
        params.lanes, *_chunk(params.commit),
        params.tolerate.model_dump(exclude_none=True) if params.tolerate is not None else None, params.on_error, params.results,
        isinstance(params.items, dict), source=planned_source(params.source), into=planned_into(params.into),
        wanted_size=params.shard, max_items=params.max_items, truncate=params.truncate,
    )  # fmt: skip


def _chunk(given: ChunkParams | None) -> tuple[int, int | None]:
    """How many items a chunk has, and its largest age; None for the usual one."""
    if given is None:
        return DEFAULT_CHUNK_ITEMS, None
    return given.items, given.ms if "ms" in given.model_fields_set else None


def _items(given: JSON, most: int, *, truncate: bool) -> list[JSON]:
    """The items as a list; an object gives {key, value}. Raises `NodeFailure`."""
    if isinstance(given, dict):
        given = [{"key": key, "value": value} for key, value in given.items()]
    if not isinstance(given, list):
        what = "null" if given is None else f"a {type(given).__name__}"
        message = f"items is {what}, not a list or an object"
        raise NodeFailure("config", "not_a_collection", message, retryable=False)
    if len(given) > most and truncate:
        return given[:most]
    if len(given) > min(most, MAX_LIST_ITEMS):
        message = f"there are {len(given):,} items; {min(most, MAX_LIST_ITEMS):,} is the limit"
        raise NodeFailure("config", "too_many_items", message, retryable=False, mend="raise `max_items`, or use a file")
    return given


def _pages(items: list[JSON], shard: int) -> Iterator[tuple[int, bytes]]:
    """The pages of a plan: the first item of each, and its items, one on each line. A page holds whole shards."""
    lines: list[bytes] = []
    first = size = 0
    for start in range(0, len(items), shard):
        some = [dump(item) for item in items[start : start + shard]]
        length = sum(map(len, some)) + len(some)
        if lines and size + length > PLAN_PAGE_BYTES:
            yield first, b"\n".join(lines)
            lines, first, size = [], start, 0
        lines += some
        size += length
    if lines:
        yield first, b"\n".join(lines)
