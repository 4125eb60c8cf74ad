"""Serves the routes of the items of a `distributed` node: how far they have come, one item, and how the node runs."""

from __future__ import annotations

from enum import Enum
from functools import partial
from typing import Any, Final, Literal

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from typing_extensions import TypedDict

from stepless.api.bodies import documented_body, read_model
from stepless.api.problems import documented
from stepless.api.replies import instant, reply
from stepless.api.requests import ItemsBody
from stepless.runtime.service import Service

_TAGS: Final[list[str | Enum]] = ["runs"]


class ItemErrorOut(TypedDict):
    code: str
    message: str


class ItemFailureOut(TypedDict):
    """`item` is null for a row that cannot be read, and where it would take too long to read it."""

    index: int
    error: ItemErrorOut
    item: Any


class ShardCountsOut(TypedDict):
    total: int
    ended: int
    running: int


class NodeItemsOut(TypedDict):
    """The items of a node. `stopped` says why no item begins any more. `codes` counts failures by their code. With `more`, items
    of other shards in progress are not counted. `left_ms` is estimated from the time so far; null before an item has ended."""

    status: str
    stopped: str | None
    total: int
    completed: int
    failed: int
    shards: ShardCountsOut
    more: bool
    concurrency: int
    tolerate: dict[str, float] | None
    started_at: str
    spent_ms: int
    per_second: float
    left_ms: int | None
    codes: dict[str, int]
    failures: list[ItemFailureOut]


class NodeItemOut(TypedDict):
    """One item. `result` is null for one that has not completed, and where the node keeps no results."""

    index: int
    shard: int
    status: Literal["pending", "running", "completed", "failed", "cancelled"]
    item: Any
    result: Any
    error: ItemErrorOut | None


def add_routes(router: APIRouter, service: Service) -> None:
    @router.get(
        "/runs/{run_id}/nodes/{instance}/items", summary="Follow the items of a node", response_model=NodeItemsOut,
        responses=documented(401, 404), tags=_TAGS,
    )  # fmt: skip
    def read_items(run_id: str, instance: str) -> Response:
        """Returns how far the items of a `distributed` node have come, and some of those that have failed."""
        return reply(_progress(service, run_id, instance))

    @router.get(
        "/runs/{run_id}/nodes/{instance}/items/{index}", summary="Read an item of a node", response_model=NodeItemOut,
        responses=documented(401, 404, 422), tags=_TAGS,
    )  # fmt: skip
    def read_item(run_id: str, instance: str, index: int) -> Response:
        """Returns an item of a `distributed` node by its number, and what it returned."""
        from stepless.runtime.verbs.reads.items import item  # imported late: few runs have `distributed` nodes

        return reply(item(service.world, run_id, instance, index))

    @router.patch(
        "/runs/{run_id}/nodes/{instance}", summary="Change a node that runs", response_model=NodeItemsOut,
        responses=documented(400, 401, 403, 404, 409, 413, 415, 422), openapi_extra=documented_body(ItemsBody, required=True),
        tags=_TAGS,
    )  # fmt: skip
    async def change_items(run_id: str, instance: str, request: Request) -> Response:
        """Changes how many items of a `distributed` node run at once, and how many may fail. The document stays as it is."""
        from stepless.runtime.verbs.reads.items import change

        body = await read_model(request, ItemsBody)
        given = body.model_dump(exclude_none=True)
        await run_in_threadpool(partial(change, service.world, run_id, instance, **given))
        return reply(await run_in_threadpool(_progress, service, run_id, instance))


def _progress(service: Service, run_id: str, instance: str) -> dict[str, Any]:
    from stepless.runtime.verbs.reads.items import progress

    found = progress(service.world, run_id, instance)
    found["started_at"] = instant(found.pop("started_at_ms"))
    return found
