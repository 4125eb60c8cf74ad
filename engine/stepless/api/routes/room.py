"""The room of a draft: a ticket over HTTP, then a WebSocket."""

from __future__ import annotations

from enum import Enum
from functools import partial
from typing import Final

from fastapi import APIRouter, FastAPI, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.websockets import WebSocket
from typing_extensions import TypedDict

from stepless.api.problems import documented
from stepless.api.replies import reply
from stepless.api.rooms import person_of
from stepless.api.sockets import Seats
from stepless.errors import Forbidden
from stepless.runtime.access.tickets import Tickets

_TAGS: Final[list[str | Enum]] = ["drafts"]
_POLICY_VIOLATION: Final = 1008


class TicketOut(TypedDict):
    ticket: str


def add_routes(router: APIRouter, tickets: Tickets) -> None:
    @router.post(
        "/drafts/{workflow_id}/ticket", summary="Enter the room of a draft", response_model=TicketOut,
        responses=documented(401, 403, 503), tags=_TAGS,
    )
    async def enter_draft(workflow_id: str, request: Request) -> Response:
        """Returns a ticket for the WebSocket `/drafts/{id}/room?ticket=…`. It is good once, for a minute."""
        caller = person_of(request)
        key_id = caller.split(" ")[1] if caller.startswith("key ") else ""
        issue = partial(tickets.issue, workflow_id, caller, request.state.roles, key_id)
        return reply({"ticket": await run_in_threadpool(issue)})


def serve(app: FastAPI, tickets: Tickets, seats: Seats) -> None:
    """The WebSocket. A page of another site, and a bad ticket, are refused before it opens."""

    async def room(socket: WebSocket) -> None:
        origin = socket.headers.get("origin")
        workflow_id = socket.path_params["workflow_id"]
        if origin is not None and origin.partition("://")[2] != socket.headers.get("host"):
            await socket.close(_POLICY_VIOLATION)
            return
        try:
            visitor = await run_in_threadpool(partial(tickets.spend, socket.query_params.get("ticket", ""), workflow_id))
        except Forbidden:
            await socket.close(_POLICY_VIOLATION)
            return
        await seats.serve(socket, visitor)

    app.router.add_api_websocket_route("/drafts/{workflow_id}/room", room)
