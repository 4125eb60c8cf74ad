"""Checks the request to run items of a `distributed` node again."""

from __future__ import annotations

from collections.abc import Mapping

from stepless.errors import Conflict, InvalidRequest
from stepless.model.graph import Graph
from stepless.model.json import JSON
from stepless.model.runs.statuses import ENDED
from stepless.ports import RunHead
from stepless.runtime.shards.repeats import Former, distribution_of
from stepless.runtime.world import World


def checked_items(
    world: World, head: RunHead, graph: Graph, node: str | None, items: str | list[int]
) -> Mapping[str, JSON]:
    """Returns what the header of the rerun says of the items. Raises `InvalidRequest` (not_distributed, out_of_range) and
    `Conflict` (run_not_ended, predecessor_never_ran, nothing_failed)."""
    position = graph.root.positions.get((node or "").removeprefix("node:"))
    if position is None or not graph.root.nodes[position].kind.distributes:
        message, mend = "`items` needs a `distributed` node to begin at", "name one in `from`"
        raise InvalidRequest(message, code="not_distributed", status=422, place="items", mend=mend)
    if head.status not in ENDED:
        message = f"the run {head.run_id} has not ended"
        raise Conflict(message, code="run_not_ended", mend="wait for its end, or cancel it", run_status=head.status)
    run_id = distribution_of(world, head.run_id, graph.root.nodes[position].id)
    if run_id is None:
        message = f"{node} did not begin in that run"
        raise Conflict(message, code="predecessor_never_ran", mend="rerun without `items`")
    former = Former(world, run_id)
    total = former.plan.total
    for index in items if isinstance(items, list) else ():
        if index >= total:
            message, mend = f"there is no item {index:,}: there are {total:,}", "use the numbers of `failures`, which begin at 0"
            raise InvalidRequest(message, code="out_of_range", status=422, place="items", mend=mend)
    if not former.shards_again(items if isinstance(items, list) else None):
        raise Conflict(f"no item of {node} failed", code="nothing_failed", mend="name the items by their numbers")
    return {"items": items, "shards": run_id}
