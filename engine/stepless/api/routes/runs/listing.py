"""Serves `GET /runs`: list and search runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, NamedTuple

from fastapi import APIRouter, Query
from starlette.responses import Response

from stepless.api.links import Links
from stepless.api.problems import documented
from stepless.api.replies import damaged, instant, reply, run_facts
from stepless.api.requests import BulkFilter, CountQuery, RunsQuery
from stepless.api.responses.runs import CountOut, NotedErrorOut, NotedPauseOut, RunHeadOut, RunsOut
from stepless.errors import InvalidRequest
from stepless.model.json import JSON
from stepless.model.runs.filters import RUN_FILTERS, Form
from stepless.model.runs.prices import bill, usd
from stepless.model.runs.statuses import STORED
from stepless.model.runs.tally import decode_tally
from stepless.model.texts.durations import parse_duration_ms
from stepless.ports import RunFilter, RunHead
from stepless.runtime.header_notes import damage_of, error_of, pauses_of
from stepless.runtime.headers import version_of
from stepless.runtime.service import Service
from stepless.runtime.verbs.reads.searching import (
    Wanted,
    failed_node_of,
    status_of,
    summary_of,
    waits_of,
)

_MAX_INSTANT_MS: Final = 253_402_300_799_999  # the year 9999

_COUNTED: Final[CountOut] = {"count": 412, "statuses": {"failed": 12, "completed": 400}, "cursor": "k1.bmV3ZXI"}


class Selection(NamedTuple):
    """The runs that a request names: by what the store applies, by keywords, and by what a search applies."""

    filter: RunFilter
    keywords: Sequence[str]
    wanted: Wanted


def add_routes(router: APIRouter, service: Service, links: Links) -> None:
    @router.get("/runs", summary="List runs", response_model=RunsOut, responses=documented(400, 401), tags=["runs"])
    def list_runs(query: Annotated[RunsQuery, Query()]) -> Response:
        """Lists runs, newest first."""
        filter, keywords, wanted = selection(query)
        found = service.search(filter, keywords=keywords, wanted=wanted, limit=query.limit, cursor=query.cursor)
        now_ms = service.world.clock.now_ms()
        return reply({"runs": [_head(head, now_ms, links) for head in found.items], "cursor": found.cursor})


    @router.get(
        "/runs/count", summary="Count runs", response_model=CountOut, tags=["runs"],
        responses={200: {"content": {"application/json": {"example": _COUNTED}}}, **documented(400, 401)},
    )
    def count_runs(query: Annotated[CountQuery, Query()]) -> Response:
        """Counts the runs that `GET /runs` lists, among the next 2,000 that match the indexed part of the filter. While there is
        a cursor, there may be more."""
        filter, keywords, wanted = selection(query)
        found = service.count(filter, keywords=keywords, wanted=wanted, cursor=query.cursor)
        return reply({"count": found.total, "statuses": dict(found.statuses), "cursor": found.cursor})


def selection(query: RunsQuery | BulkFilter) -> Selection:
    """Reads the filter of a listing or a bulk change. Raises `InvalidRequest`."""
    if query.status is not None and query.status not in STORED:
        mend = f"use one of {', '.join(STORED)}"
        raise InvalidRequest(f"{query.status!r} is not a status", place="status", mend=mend)
    given = {row.name: (row, getattr(query, row.name)) for row in RUN_FILTERS if row.form is not Form.KEYWORDS}
    read = {name: _READ.get(row.form, _as_it_is)(value, name) for name, (row, value) in given.items() if value is not None}
    indexed = RunFilter(read.get("workflow"), read.get("status"), read.get("since"), waiting=read.get("waiting"))
    left = {row.name for row in RUN_FILTERS if not row.indexed}
    return Selection(indexed, query.words, {name: value for name, value in read.items() if name in left and value != ()})


def requested_ms(place: str, text: str) -> int:
    """Milliseconds, from a duration like `5m`. Raises `InvalidRequest`."""
    try:
        return parse_duration_ms(text)
    except ValueError as error:
        raise InvalidRequest(f"`{place}`: {error}", place=place, mend="write it like `90s`, `5m` or `1h`") from error


def instant_ms(text: str, place: str = "since") -> int:
    """Milliseconds since 1970, from an instant in ISO 8601 with an offset or from a number of milliseconds. Raises
    `InvalidRequest` that names `place`."""
    try:
        if text.isascii() and text.isdecimal():
            at_ms = int(text[:20])
        else:
            read = datetime.fromisoformat(text)
            if read.tzinfo is None:
                raise ValueError("without an offset")
            at_ms = int(read.timestamp() * 1000)
    except (ValueError, OverflowError):
        at_ms = -1
    if not 0 <= at_ms <= _MAX_INSTANT_MS:
        mend = "write 2026-01-31T12:00:00Z, or milliseconds since 1970"
        raise InvalidRequest(f"{text[:40]!r} is not an instant", place=place, mend=mend)
    return at_ms


def _as_it_is(value: Any, place: str) -> Any:
    return value


_READ: Final[Mapping[Form, Callable[[Any, str], Any]]] = {
    Form.INSTANT: instant_ms,
    Form.WORDS: lambda text, place: tuple(dict.fromkeys(text.split())),
}


def _head(head: RunHead, now_ms: int, links: Links) -> RunHeadOut:
    return {
        **run_facts(
            head, now_ms, links, version=version_of(head), status=status_of(head, now_ms), waits=waits_of(head),
            summary=summary_of(head, now_ms),
        ),
        "failed_node": failed_node_of(head),
        "error": _error(head),
        "pauses": [_pause(pause) for pause in pauses_of(head)],
        "usd": None if not head.spent else round(usd(bill(decode_tally(head.spent))), 12),
        "updated_at": str(instant(head.updated_ms)),
        **damaged(damage_of(head)),
    }


def _error(head: RunHead) -> NotedErrorOut | None:
    noted = error_of(head)
    if noted is None:
        return None
    node = noted.get("node")
    return {"code": str(noted["code"]), "message": str(noted["message"]), "node": None if node is None else str(node)}


def _pause(noted: Mapping[str, JSON]) -> NotedPauseOut:
    return {
        "pause": str(noted["pause"]), "node": str(noted["node"]), "reason": str(noted["reason"]),
        "message": str(noted["message"]), "since": str(instant(noted["since"])), "deadline": instant(noted.get("deadline")),
    }  # fmt: skip
