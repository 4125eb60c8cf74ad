"""Webhooks: `ANY /hooks/{path}` starts a run of the workflow that has a webhook on this path."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from stepless.api.bodies import read_body
from stepless.api.links import Links
from stepless.api.negotiation import headers_of
from stepless.api.problems import documented
from stepless.api.replies import encode
from stepless.api.routes.runs import idempotency_key, reply_started
from stepless.api.schemas import StartedOut
from stepless.api.waiting import has_responded, watch
from stepless.errors import AuthorError
from stepless.limits import MAX_LONG_POLL_MS
from stepless.model.json import JSON
from stepless.runtime.service import Service
from stepless.runtime.triggers.webhooks import HookRequest
from stepless.runtime.verbs.inspecting import RunView
from stepless.runtime.verbs.starting import Started

METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")
_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE: Final = re.compile(r"[\t\x20-\x7e\xa0-\xff]*")
_OF_THE_CONNECTION: Final = frozenset(
    {"connection", "content-length", "date", "keep-alive", "server", "te", "trailer", "transfer-encoding", "upgrade"}
)
_RESPONSES: Final[dict[int | str, dict[str, Any]]] = {
    200: {"description": "The response of the run, or an earlier start with the same key"},
    **documented(400, 401, 404, 405, 409, 413, 422, 429, 503),
}
_ANY_BODY: Final[dict[str, Any]] = {
    "requestBody": {"description": "A body that fits the webhook's `schema`", "content": {"application/json": {"schema": {}}}}
}
_WITHOUT_BODY: Final = frozenset({204, 205, 304})


def add_routes(router: APIRouter, service: Service, links: Links) -> None:
    async def trigger(path: str, request: Request) -> Response:
        """Starts a run by the webhook on this path. The webhook defines the method, the signature or token, and the body. Returns
        202 with links; for a webhook with `response: wait`, returns the response of the run."""
        idempotency_key(request)  # refuses an empty one
        body = await read_body(request)
        query, headers = dict(request.query_params), headers_of(request)
        hook = HookRequest(f"/{path}", request.method, headers, query, body)
        hooked = await run_in_threadpool(service.trigger, hook)
        if not hooked.waits:
            return reply_started(hooked.started, None, links)
        view = await watch(service, hooked.started.run_id, has_responded, MAX_LONG_POLL_MS / 1000)
        return _answered(hooked.started, view, links)

    for method in METHODS:
        router.add_api_route(
            "/hooks/{path:path}",
            trigger,
            methods=[method],
            name=f"trigger_{method.lower()}",
            summary=f"Trigger a webhook by {method}",
            status_code=202,
            response_model=StartedOut,
            responses=_RESPONSES,
            openapi_extra=None if method == "GET" else _ANY_BODY,
            tags=["hooks"],
        )


def _answered(started: Started, view: RunView | None, links: Links) -> Response:
    """The run's own response; its status if it ended without a response; links if it takes longer. A caller of a webhook may not
    read runs, so the response has nothing of the run but its status."""
    if view is None:
        return reply_started(started, None, links)
    if view.response is not None:
        return _response(view.response)
    if view.status == "completed":
        return reply_started(started, {"status": view.status}, links)
    message = f"the run ended without a response: {view.status}"
    raise AuthorError(message, code=f"run_{view.status}", status=500, run_id=started.run_id, mend="see the run for the cause")


def _response(response: Mapping[str, JSON]) -> Response:
    status, body = int(response["status"]), response["body"]
    headers = {"content-type": _content_type(body), **dict(_checked(response["headers"] or {}))}
    headers.setdefault("x-content-type-options", "nosniff")
    if status in _WITHOUT_BODY or body is None:
        headers.pop("content-type")
        return Response(None, status, headers)
    data = body.encode("utf-8", "replace") if isinstance(body, str) else encode(body)
    return Response(data, status, headers)


def _content_type(body: JSON) -> str:
    return "text/plain; charset=utf-8" if isinstance(body, str) else "application/json"


def _checked(headers: Mapping[str, JSON]) -> list[tuple[str, str]]:
    """The header values as text. Raises `AuthorError` for a value that cannot be sent: it could end the header and inject a
    response of its own."""
    pairs = []
    for name, value in headers.items():
        text = value if isinstance(value, str) else encode(value).decode()
        if not _NAME.fullmatch(name) or not _VALUE.fullmatch(text) or name.lower() in _OF_THE_CONNECTION:
            message = f"the workflow responds with a header that cannot be sent: {name[:100]!r}"
            raise AuthorError(message, code="invalid_response", status=500, place="headers", mend="fix its `respond` node")
        pairs.append((name.lower(), text))
    return pairs
