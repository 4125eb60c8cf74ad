"""Serves the routes for messages: send one to the runs of a key or to one run, and find the runs of a key."""

from __future__ import annotations

from enum import Enum
from functools import partial
from typing import Annotated, Final
from urllib.parse import unquote_to_bytes

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from stepless.api.bodies import is_json, media_type, read_body, unsupported
from stepless.api.calls import call
from stepless.api.links import Links
from stepless.api.problems import documented
from stepless.api.replies import instant, reply
from stepless.api.requests import SendQuery
from stepless.api.responses.messages import DeliveredOut, KeyRunsOut, RunOfKeyOut
from stepless.api.routes.runs.listing import requested_ms
from stepless.api.routes.runs.starting import idempotency_key
from stepless.compile.reading.strict_json import strict_json
from stepless.errors import InvalidRequest
from stepless.limits import MAX_MESSAGE_BYTES
from stepless.model.json import JSON
from stepless.runtime.service import Service
from stepless.runtime.triggers.message_sources import Ignored
from stepless.runtime.verbs.changes.sending import Delivered, too_large

_READ_BYTES: Final = 2 * MAX_MESSAGE_BYTES  # of a body, which may have spaces and escapes
_TAGS: Final[list[str | Enum]] = ["messages"]
_BODY: Final = {"requestBody": {
    "description": "The data of the message: any JSON that satisfies its declaration.",
    "content": {"application/json": {"schema": {}}},
}}  # fmt: skip


def add_routes(router: APIRouter, service: Service, links: Links) -> None:
    @router.post(
        "/workflows/{workflow_id}/messages/{name}", summary="Send a message to the runs of a key", status_code=202,
        response_model=DeliveredOut, openapi_extra=_BODY,
        responses=documented(400, 401, 403, 404, 409, 413, 415, 422, 429, 503), tags=_TAGS,
    )  # fmt: skip
    async def send_message(workflow_id: str, name: str, query: Annotated[SendQuery, Query()], request: Request) -> Response:
        """Delivers a message to the live run of a key, and to runs that wait under the key. Needs the role `send` or `run`. The
        `Idempotency-Key` is the id of the message: a repeated request delivers it once. With `start=true`, exactly one run of
        the key gets the message: the live one, or a new one. With `keep=1h`, it waits for runs that begin to answer to the key.
        Without either, and without a run, 404 `no_receiver`."""
        _check_query(query, request)
        data, inputs = await _data(request), _inputs(query.inputs)
        keep_ms = None if query.keep is None else requested_ms("keep", query.keep)
        send = partial(
            service.send, workflow_id, name, data, key=query.key, id=idempotency_key(request), by=request.state.caller,
            keep_ms=keep_ms, start=query.start, inputs=inputs,
        )
        return reply_sent(await call(service.world, send))

    @router.post(
        "/runs/{run_id}/messages/{name}", summary="Send a message to a run", status_code=202, response_model=DeliveredOut,
        openapi_extra=_BODY, responses=documented(400, 401, 403, 404, 409, 410, 413, 415, 422, 429, 503), tags=_TAGS,
    )  # fmt: skip
    async def send_to_run(run_id: str, name: str, request: Request) -> Response:
        """Delivers a message to one run. Needs the role `send` or `run`. The `Idempotency-Key` is the id of the message. A run
        that has ended answers 410 `run_ended`."""
        data = await _data(request)
        send = partial(service.send_to_run, run_id, name, data, id=idempotency_key(request), by=request.state.caller)
        return reply_sent(await call(service.world, send))

    @router.get(
        "/workflows/{workflow_id}/keys/{key:path}", summary="Find the runs of a key", response_model=KeyRunsOut,
        responses=documented(401, 404, 422), tags=_TAGS,
    )  # fmt: skip
    def read_key(workflow_id: str, key: str) -> Response:
        """Returns the live run of a key and the last ten runs that had it."""
        found = service.runs_of_key(workflow_id, key)
        runs: list[RunOfKeyOut] = [
            {
                "run_id": head.run_id, "status": head.status, "created_at": str(instant(head.created_ms)),
                "links": links.run(head.run_id),
            }
            for head in found.runs
        ]  # fmt: skip
        answer: KeyRunsOut = {"key": key, "live": found.live, "runs": runs}
        return reply(answer)


async def _data(request: Request) -> JSON:
    """The data in the body; null for an empty one. Raises `InvalidRequest` (unsupported_media_type 415, invalid_json) and
    `LimitExceeded` (message_too_large)."""
    try:
        body = await read_body(request, _READ_BYTES)
    except InvalidRequest as error:
        raise too_large(_READ_BYTES) if error.code == "body_too_large" else error from error
    if not body.strip():
        return None
    if not is_json(kind := media_type(request)):
        raise unsupported(kind, "application/json")
    return strict_json(body, unreadable=422)


def _check_query(query: SendQuery, request: Request) -> None:
    """Raises `InvalidRequest` for a key that is not UTF-8 (key_invalid), and for what has no effect (invalid_request)."""
    try:
        unquote_to_bytes(request.scope["query_string"]).decode()
    except UnicodeDecodeError as error:
        mend = "encode the query as UTF-8, then with percent signs"
        raise InvalidRequest("the query is not UTF-8", code="key_invalid", status=422, place="query.key", mend=mend) from error
    if query.inputs is not None and not query.start:
        message, mend = "`inputs` has no effect without `start=true`", "leave it out, or add `start=true`"
        raise InvalidRequest(message, place="query.inputs", mend=mend)
    if query.keep is not None and query.start:
        message, mend = "`keep` has no effect with `start=true`: one run of the key gets the message", "leave one of them out"
        raise InvalidRequest(message, place="query.keep", mend=mend)


def _inputs(text: str | None) -> JSON:
    return None if text is None else strict_json(text.encode("utf-8", "surrogatepass"))


def reply_sent(done: Delivered | Ignored) -> Response:
    """Returns the answer to a sender: what was delivered, or that the delivery is ignored."""
    if isinstance(done, Ignored):
        return reply({"ignored": True})
    answer: DeliveredOut = {
        "id": done.id, "delivered": list(done.delivered), "kept_until": instant(done.kept_until_ms), "started": done.started,
    }  # fmt: skip
    return reply(answer, 202)
