"""Serves the routes for views of a run of any size: a summary by node, and a timeline of its instances."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query
from pydantic import Field, StringConstraints
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from typing_extensions import TypedDict

from stepless.api.problems import documented
from stepless.api.replies import encoded_reply, fitting, instant, page
from stepless.api.requests import Query as Params
from stepless.api.waiting import wait_for
from stepless.core.history.digest import Digest, NodeDigest, Row
from stepless.core.state import Status
from stepless.limits import (
    DEFAULT_PAGE_ITEMS,
    MAX_COUNT,
    MAX_DIGEST_ROWS,
    MAX_DURATION_FILTER_MS,
    MAX_INSTANCE_CHARACTERS,
    MAX_LONG_POLL_MS,
    MAX_PAGE_ITEMS,
)
from stepless.model.runs.statuses import ENDED
from stepless.model.stored.encoding import encode
from stepless.runtime.service import Service
from stepless.runtime.verbs.reads.summaries import Digests, Shown

_TAGS: Final[list[str | Enum]] = ["runs"]
Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_INSTANCE_CHARACTERS)]
Offset = Annotated[int, Field(ge=0, le=MAX_DURATION_FILTER_MS)]


class ConditionOut(TypedDict):
    """Conditions of the edges from one exit to one target: how often one `held`, and how often one did not."""

    handle: str
    target: str
    held: int
    missed: int


class NodeSummaryOut(TypedDict):
    """All instances of a node. `path` is its id, with the containers around it: `x@l`. `counts` are the instances by status;
    `exits` how many left by each exit; `conditions` what became of the conditions on its edges, where these are known; `failed`
    are the first that failed. Times are milliseconds since the run began; `work_ms` and `wait_ms` are sums. `turns` and
    `failed_turns` are those of a container, the latter of containers that have ended."""

    path: str
    counts: dict[str, int]
    exits: dict[str, int]
    conditions: list[ConditionOut]
    attempts: int
    begin_ms: int | None
    end_ms: int | None
    work_ms: int
    wait_ms: int
    failed: list[str]
    turns: int
    failed_turns: int


class SummaryOut(TypedDict):
    """`sequence` is the last event that it knows. `nodes` are those that something happened to after the event `after`. `busy`
    are the spans [begin, end] in which an attempt was in progress or something happened. `instances` is how many a timeline
    lists, `left_out` how many more there are."""

    run_id: str
    status: str
    sequence: int
    ended: bool
    began_at: str | None
    lasted_ms: int
    instances: int
    left_out: int
    nodes: list[NodeSummaryOut]
    busy: list[list[int]]


class RowOut(TypedDict):
    """One instance. `parts` are ["work" or "wait", begin, end or null]; `first` and `last` are the numbers of its first and last
    event; `code` is that of its failure. Times are milliseconds since the run began."""

    instance: str
    path: str
    status: str
    code: str | None
    attempts: int
    begin_ms: int | None
    end_ms: int | None
    parts: list[list[Any]]
    first: int
    last: int


class TimelineOut(TypedDict):
    """`total` is how many instances fit the filter; `cursor` continues, null at the end."""

    rows: list[RowOut]
    total: int
    cursor: int | None
    sequence: int


_NODE: Final[NodeSummaryOut] = {
    "path": "settle@each", "counts": {"completed": 4_999, "failed": 1}, "exits": {"source": 4_999, "error": 1},
    "conditions": [], "attempts": 5_002, "begin_ms": 12, "end_ms": 61_204,
    "work_ms": 812_455, "wait_ms": 2_000, "failed": ["settle@each[2500]"], "turns": 0, "failed_turns": 0,
}  # fmt: skip
_SUMMARY: Final[SummaryOut] = {
    "run_id": "run_5c9b3c607606162f02b7", "status": "completed", "sequence": 25_010, "ended": True,
    "began_at": "2026-11-22T09:30:00.000Z", "lasted_ms": 61_310, "instances": 10_003, "left_out": 0, "nodes": [_NODE],
    "busy": [[12, 61_204]],
}  # fmt: skip
_ROW: Final[RowOut] = {
    "instance": "settle@each[2500]", "path": "settle@each", "status": "failed", "code": "division_by_zero", "attempts": 1,
    "begin_ms": 30_102, "end_ms": 30_187, "parts": [["work", 30_102, 30_187]], "first": 12_510, "last": 12_513,
}  # fmt: skip
_TIMELINE: Final[TimelineOut] = {"rows": [_ROW], "total": 1, "cursor": 1, "sequence": 25_010}


class SummaryQuery(Params):
    """`after` is the `sequence` of an earlier summary: only nodes that changed since are returned."""

    after: int = Field(0, ge=0, le=MAX_COUNT)
    wait_s: float = Field(0, ge=0, le=MAX_LONG_POLL_MS / 1000, description="How long to wait for an event after `after`")


class TimelineQuery(Params):
    """`node` is the path of a node, and stands for those inside it too; `instance` is an instance with those inside it, or one
    iteration of a container such as `each[7]`. With `from_ms` and `to_ms`, only instances that were not over before, or begun
    after. `after` is how many to skip: the cursor of the page before."""

    node: Name | None = None
    instance: Name | None = None
    status: Status | Literal["pending"] | None = None
    from_ms: Offset | None = None
    to_ms: Offset | None = None
    after: int = Field(0, ge=0, le=MAX_DIGEST_ROWS)
    limit: int = Field(DEFAULT_PAGE_ITEMS, ge=1, le=MAX_PAGE_ITEMS)


def add_routes(router: APIRouter, service: Service) -> None:
    digests = Digests(service.world)

    @router.get(
        "/runs/{run_id}/summary",
        summary="Summarize a run by node",
        response_model=SummaryOut,
        responses={200: {"content": {"application/json": {"example": _SUMMARY}}}, **documented(400, 401, 404)},
        tags=_TAGS,
    )
    async def summarize_run(run_id: str, query: Annotated[SummaryQuery, Query()]) -> Response:
        """Counts the instances of each node by status. With `after` and `wait_s`, waits for a later event."""

        def read() -> bytes:
            return digests.read(run_id, lambda digest: _summary(service, run_id, digest, query.after))

        def poll() -> bytes | None:
            has_more = digests.read(run_id, lambda digest: digest.sequence > query.after or digest.status in ENDED)
            return read() if has_more else None

        found = None
        if query.wait_s and query.after:
            found = await wait_for(service, run_id, poll, query.wait_s, closely=True)
        if found is None:
            found = await run_in_threadpool(read)
        return encoded_reply(found)

    @router.get(
        "/runs/{run_id}/timeline",
        summary="List a run's instances by time",
        response_model=TimelineOut,
        responses={200: {"content": {"application/json": {"example": _TIMELINE}}}, **documented(400, 401, 404)},
        tags=_TAGS,
    )
    def list_timeline(run_id: str, query: Annotated[TimelineQuery, Query()]) -> Response:
        """Lists instances in the order in which they are first mentioned, each with its spans of work and of waiting."""
        status = None if query.status is None else str(query.status)
        shown = Shown(query.node, query.instance, status, query.from_ms, query.to_ms)

        def take(digest: Digest) -> Response:
            found = digests.page(digest, shown, after=query.after, limit=query.limit)
            encoded = fitting(found.rows, _row)
            after = query.after + len(encoded)
            cursor = after if after < found.total else None
            return page("rows", encoded, total=found.total, cursor=cursor, sequence=digest.sequence)

        return digests.read(run_id, take)


def _summary(service: Service, run_id: str, digest: Digest, since: int) -> bytes:
    """The summary, encoded."""
    ended, now_ms = digest.status in ENDED, service.world.clock.now_ms()
    answer: SummaryOut = {
        "run_id": run_id,
        "status": digest.status,
        "sequence": digest.sequence,
        "ended": ended,
        "began_at": instant(digest.began_ms) if digest.sequence else None,
        "lasted_ms": _lasted(digest, now_ms),
        "instances": len(digest.rows),
        "left_out": digest.left_out,
        "nodes": [_node(node) for node in digest.nodes.values() if node.last > since],
        "busy": [list(span) for span in digest.busy(now_ms)],
    }
    return encode(answer)


def _lasted(digest: Digest, now_ms: int) -> int:
    if digest.ended_ms is not None:
        return digest.ended_ms
    return max(0, now_ms - digest.began_ms) if digest.sequence else 0


def _node(node: NodeDigest) -> NodeSummaryOut:
    return {
        "path": node.path, "counts": dict(node.counts), "exits": dict(node.exits), "conditions": _conditions(node),
        "attempts": node.attempts, "begin_ms": node.begin_ms,
        "end_ms": node.end_ms, "work_ms": node.work_ms, "wait_ms": node.wait_ms, "failed": list(node.failed),
        "turns": node.iterations, "failed_turns": node.failed_iterations,
    }  # fmt: skip


def _conditions(node: NodeDigest) -> list[ConditionOut]:
    return [
        {"handle": handle, "target": target, "held": held, "missed": missed}
        for (handle, target), (held, missed) in node.held.items()
    ]


def _row(row: Row) -> RowOut:
    return {
        "instance": row.instance, "path": row.path, "status": row.status, "code": row.code, "attempts": row.attempts,
        "begin_ms": row.begin_ms, "end_ms": row.end_ms, "parts": [list(part) for part in row.parts], "first": row.first,
        "last": row.last,
    }  # fmt: skip
