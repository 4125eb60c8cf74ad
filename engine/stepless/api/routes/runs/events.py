"""Serves `GET /runs/{id}/events`: a run's log from any point on, as pages of JSON or as server-sent events.

The cursor has the same rules for both (docs/run/http.md). The query `afterEventId` overrides the header `Last-Event-ID`. A cursor
that is not a number from 0 on is refused. A cursor at or past the end of the log waits for new events. A stream that reconnects
after the terminal event gets 204, which ends an EventSource; a page says `ended`.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Final, Protocol

from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from stepless.api import requests
from stepless.api.negotiation import preferred, requested_wait_s
from stepless.api.problems import documented
from stepless.api.replies import fitting, page
from stepless.api.responses.general import EventsOut
from stepless.api.waiting import wait_for
from stepless.core.history.digest import path_of
from stepless.errors import InvalidRequest
from stepless.limits import (
    MAX_INSTANCE_CHARACTERS,
    MAX_LONG_POLL_MS,
    MAX_SEARCH_TEXT_CHARACTERS,
    PAGE_EVENTS,
    STREAM_RETRY_MS,
)
from stepless.runtime.service import Service
from stepless.runtime.verbs.reads.inspecting import EventPage, Fits

STREAM: Final = "text/event-stream"
STREAM_HEADERS: Final = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "connection": "keep-alive",
    "x-accel-buffering": "no",
}
_RETRY: Final = b"retry: %d\n\n" % STREAM_RETRY_MS
_HEARTBEAT: Final = b"event: heartbeat\ndata: {}\n\n"  # without an id: the client's cursor stays where it is
_CURSOR_DIGITS: Final = 15
_LAST_EVENT_ID: Final = {
    "name": "Last-Event-ID",
    "in": "header",
    "required": False,
    "schema": {"type": "string"},
    "description": "Sent by browsers that reconnect to a stream",
}


class EventsQuery(requests.Query):
    """With `instance`, `node`, `type` or `text`, a page has only the events that fit; 20,000 events are read for it, and its
    cursor is the last one read. Such a page does not wait, is no stream, and has no `inputs`."""

    after_event_id: str | None = Field(None, alias="afterEventId", description="Only events above it; overrides Last-Event-ID")
    limit: int = Field(PAGE_EVENTS, ge=1, le=PAGE_EVENTS, description="Events per page")
    instance: str | None = Field(None, max_length=MAX_INSTANCE_CHARACTERS, description="Only events about this instance")
    node: str | None = Field(None, max_length=MAX_INSTANCE_CHARACTERS, description="Only events about this node, by path: `x@l`")
    type: str | None = Field(None, max_length=64, description="Only this type, or the types that begin like this: `node.`")
    text: str | None = Field(None, max_length=MAX_SEARCH_TEXT_CHARACTERS, description="Only events whose JSON has this text")
    inputs: bool = Field(False, description="Include inputs of starts and outputs of containers, computed from the log")


@dataclass(frozen=True, slots=True)
class Slice:
    """A piece of the log: `events` as (id, type, JSON)."""

    events: Sequence[tuple[int, str, bytes]]
    cursor: int
    ended: bool


def add_routes(router: APIRouter, service: Service, stream_seconds: float | None, heartbeat_seconds: float) -> None:
    longest_s = MAX_LONG_POLL_MS / 1000 if stream_seconds is None else stream_seconds

    @router.get(
        "/runs/{run_id}/events",
        summary="Replay a run's events",
        response_model=EventsOut,
        responses={
            200: {"content": {STREAM: {"schema": {"type": "string"}}}, "description": "A page, or a stream"},
            204: {"description": "The stream has ended"},
            **documented(400, 401, 404),
        },
        openapi_extra={"parameters": [_LAST_EVENT_ID]},
        tags=["runs"],
    )
    async def replay_events(run_id: str, query: Annotated[EventsQuery, Query()], request: Request) -> Response:
        """Events above the cursor, as JSON, or as a stream if `Accept` prefers `text/event-stream`. If there are none, waits for
        the next one: at most 20 seconds, or the time in `Prefer: wait`."""
        after = _cursor(query.after_event_id, request.headers.get("last-event-id"))
        filtered = fitting_events(query)
        if filtered and (query.inputs or preferred(request, "application/json", STREAM) == STREAM):
            mend = "leave out `inputs`, and request application/json"
            raise InvalidRequest("filtered events come as pages of what is stored", place="inputs", mend=mend)
        read = await run_in_threadpool(_reader, service, run_id, query.inputs, filtered)
        first = await run_in_threadpool(_slice, read, after, query.limit)
        streams = preferred(request, "application/json", STREAM) == STREAM
        if filtered:
            return page("events", [data for _, _, data in first.events], cursor=first.cursor, ended=first.ended)
        if streams and first.ended and not first.events:
            return Response(status_code=204)
        if streams and stream_seconds is None:
            return StreamingResponse(_stream(service, run_id, read, first, heartbeat_seconds), headers=STREAM_HEADERS)
        if not first.events and not first.ended:
            requested_s = None if streams else requested_wait_s(request)
            wait_s = longest_s if requested_s is None else min(requested_s, longest_s)
            first = await _next(service, run_id, read, first, query.limit, wait_s)
        if streams:
            return Response(_RETRY + (b"".join(_frames(first)) or _HEARTBEAT), headers=STREAM_HEADERS)
        return page("events", [data for _, _, data in first.events], cursor=first.cursor, ended=first.ended)


def _cursor(queried: str | None, last_event_id: str | None) -> int:
    text = queried if queried is not None else last_event_id
    if text is None:
        return 0
    if not (text.isascii() and text.isdecimal() and len(text) <= _CURSOR_DIGITS):
        place = "afterEventId" if queried is not None else "Last-Event-ID"
        mend = "send the id of the last event that you have, or nothing"
        raise InvalidRequest(f"{text[:40]!r} is not an event id", code="invalid_cursor", place=place, mend=mend)
    return int(text)


class Read(Protocol):
    def __call__(self, *, after: int, limit: int) -> EventPage: ...


def _reader(service: Service, run_id: str, inputs: bool, fits: Fits | None) -> Read:
    return service.replay(run_id).events if inputs else partial(service.events, run_id, fits=fits)


def fitting_events(query: EventsQuery) -> Fits | None:
    """Returns whether an event is wanted, by its envelope; None if all are."""
    wanted = (query.instance, query.node, query.type, query.text)
    if wanted == (None, None, None, None):
        return None

    def fits(event: Mapping[str, Any]) -> bool:
        instance = event["payload"].get("instance", "")
        return (
            (query.instance is None or instance == query.instance)
            and (query.node is None or path_of(instance) == query.node)
            and (query.type is None or event["type"] == query.type or event["type"].startswith(query.type))
            and (query.text is None or query.text.casefold() in json.dumps(event, ensure_ascii=False).casefold())
        )

    return fits


def _slice(read: Read, after: int, limit: int = PAGE_EVENTS) -> Slice:
    found = read(after=after, limit=limit)
    encoded = fitting(found.events, lambda event: event)
    events = [(event["eventId"], event["type"], data) for event, data in zip(found.events, encoded, strict=False)]
    if len(events) == len(found.events):
        return Slice(events, found.cursor, found.ended)
    return Slice(events, events[-1][0], False)


async def _next(service: Service, run_id: str, read: Read, former: Slice, limit: int, seconds: float) -> Slice:
    """The next piece of the log as soon as there is one; an empty piece after `seconds`."""

    def poll() -> Slice | None:
        found = _slice(read, former.cursor, limit)
        return found if found.events or found.ended else None

    return await wait_for(service, run_id, poll, seconds, closely=True) or Slice((), former.cursor, False)


async def _stream(service: Service, run_id: str, read: Read, piece: Slice, heartbeat_seconds: float) -> AsyncIterator[bytes]:
    """Every event once and in order, until the last event of the run, with heartbeats in between."""
    yield _RETRY
    while True:
        for frame in _frames(piece):
            yield frame
        if piece.ended:
            return
        piece = await _next(service, run_id, read, piece, PAGE_EVENTS, heartbeat_seconds)
        if not piece.events and not piece.ended:
            yield _HEARTBEAT


def _frames(piece: Slice) -> Sequence[bytes]:
    return [b"id: %d\nevent: %s\ndata: %s\n\n" % (number, type.encode(), data) for number, type, data in piece.events]
