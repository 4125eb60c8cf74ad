"""Serves webhooks: `ANY /hooks/{path}` starts a run of the workflow that has a webhook on this path."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final

from fastapi import APIRouter, FastAPI, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.routing import Route

from stepless.api.bodies import read_body
from stepless.api.calls import call
from stepless.api.links import RUN_HEADER, Links
from stepless.api.negotiation import headers_of
from stepless.api.problems import documented
from stepless.api.responses.general import StartedOut
from stepless.api.responses.messages import DeliveredOut
from stepless.api.routes.runs.messages import reply_sent
from stepless.api.routes.runs.starting import idempotency_key, reply_started
from stepless.api.urls import called_urls
from stepless.api.waiting import Responded, Watch, overview
from stepless.errors import AuthorError
from stepless.limits import MAX_LONG_POLL_MS
from stepless.model.json import JSON
from stepless.model.stored.encoding import encode
from stepless.nodes.entries.webhook import METHODS
from stepless.runtime.service import Service
from stepless.runtime.triggers.challenges import Challenge
from stepless.runtime.triggers.request_bodies import fields_of
from stepless.runtime.triggers.webhooks import Hooked, HookRequest
from stepless.runtime.verbs.starts.starting import Started, new_run_id

_PATH: Final = "/hooks/{path:path}"
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


def serve(app: FastAPI, service: Service, links: Links) -> None:
    """Adds the route that serves all webhooks. It takes nothing from FastAPI, which would cost a fifth of a request: the routes
    of `add_routes` document it."""
    trigger = _trigger(service, links)

    async def direct(request: Request) -> Response:
        path = _path(request)
        if request.method == "OPTIONS":
            allowed = ", ".join(await run_in_threadpool(service.hook_methods, f"/{path}"))
            return Response(None, 204, {"allow": f"{allowed}, OPTIONS"})
        return await trigger(path, request)

    app.router.routes.append(Route(_PATH, direct, methods=(*METHODS, "OPTIONS"), include_in_schema=False))


def _path(request: Request) -> str:
    """The path below /hooks/. A slash at its end changes nothing; one that is percent-encoded is part of the path."""
    path: str = request.path_params["path"]
    raw: bytes | None = request.scope.get("raw_path")
    ends = path.endswith("/") if raw is None else raw.endswith(b"/")
    return path[:-1] if ends and len(path) > 1 else path


def add_routes(router: APIRouter, service: Service, links: Links) -> None:
    """Adds one route for each method, for /openapi.json. HEAD is like GET, and its answers have no body to document."""
    trigger = _trigger(service, links)
    for method in METHODS:
        if method == "HEAD":
            continue
        router.add_api_route(
            _PATH,
            trigger,
            methods=[method],
            name=f"trigger_{method.lower()}",
            summary=f"Trigger a webhook by {method}",
            status_code=202,
            response_model=StartedOut | DeliveredOut,
            responses=_RESPONSES,
            openapi_extra=None if method == "GET" else _ANY_BODY,
            tags=["hooks"],
        )


def _trigger(service: Service, links: Links) -> Callable[[str, Request], Awaitable[Response]]:
    async def trigger(path: str, request: Request) -> Response:
        """Starts a run by the webhook on this path, or delivers a message. The webhook defines the method, the signature or
        token, and the body. Returns 202 with links, or with the runs that have the message; for a webhook with `response: wait`,
        returns the response of the run. A request by which the sender only checks the address is answered 200, without a run,
        and so is one that the message does not want."""
        idempotency_key(request)  # refuses an empty one
        body = await read_body(request)
        query = fields_of(request.scope["query_string"].decode("latin-1"))
        hook = HookRequest(f"/{path}", request.method, headers_of(request), query, body, called_urls(request, links.base))
        answer, run_id = Responded(), new_run_id()
        with Watch(service, run_id, answer) as watch:
            hooked = await call(service.world, partial(service.receive_hook, hook, run_id), size=len(body))
            if isinstance(hooked, Challenge):
                return _checked_address(hooked)
            if not isinstance(hooked, Hooked):
                return reply_sent(hooked)
            started = hooked.started
            if not hooked.waits or not await watch.is_over(started.run_id, MAX_LONG_POLL_MS / 1000):
                return reply_started(started, None, links)
        if answer.is_large:
            view = await overview(service, started.run_id, MAX_LONG_POLL_MS / 1000)
            if view is None:
                return reply_started(started, None, links)
            answer.response = view.response
        return _answered(started, answer, links)

    return trigger


def _checked_address(challenge: Challenge) -> Response:
    if challenge.body is None:
        return Response(None, 200)
    return Response(encode(challenge.body), 200, {"content-type": "application/json", "x-content-type-options": "nosniff"})


def _answered(started: Started, answer: Responded, links: Links) -> Response:
    """The run's own response; its status if it ended without a response. A caller of a webhook may not read runs, so the response
    has nothing of the run but its status."""
    if answer.response is not None:
        return _response(answer.response, started.run_id)
    if answer.status == "completed":
        return reply_started(started, {"status": answer.status}, links)
    message = f"the run ended without a response: {answer.status}"
    raise AuthorError(message, code=f"run_{answer.status}", status=500, run_id=started.run_id, mend="see the run for the cause")


def _response(response: Mapping[str, JSON], run_id: str) -> Response:
    """The response of a run, with the id of the run in a header of its own, as other answers have it in their body."""
    status, body = int(response["status"]), response["body"]
    headers = {"content-type": _content_type(body), **dict(_checked(response["headers"] or {}))}
    headers.setdefault("x-content-type-options", "nosniff")
    headers[RUN_HEADER] = run_id
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
