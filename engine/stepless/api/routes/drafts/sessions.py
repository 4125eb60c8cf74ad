"""Opens a draft session: a ticket over HTTP, then a WebSocket."""

from __future__ import annotations

from enum import Enum
from functools import partial
from typing import Final

from fastapi import APIRouter, FastAPI, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.websockets import WebSocket
from typing_extensions import TypedDict

from stepless.api.draft_sessions.seat import serve as serve_seat
from stepless.api.draft_sessions.seats import Seats
from stepless.api.draft_sessions.sessions import person_of
from stepless.api.guards.auth import until_ms_of
from stepless.api.problems import documented, respond
from stepless.api.replies import reply
from stepless.errors import SteplessError
from stepless.runtime.access.current_roles import key_id_of
from stepless.runtime.access.tickets import Tickets

_TAGS: Final[list[str | Enum]] = ["drafts"]


class TicketOut(TypedDict):
    ticket: str


def add_routes(router: APIRouter, tickets: Tickets) -> None:
    @router.post(
        "/drafts/{workflow_id}/ticket", summary="Enter the room of a draft", response_model=TicketOut,
        responses=documented(401, 403, 503), tags=_TAGS,
    )  # fmt: skip
    async def enter_draft(workflow_id: str, request: Request) -> Response:
        """Returns a ticket for the WebSocket `/drafts/{id}/room?ticket=…`, on AWS for that of the console's settings. It is valid
        once, for a minute."""
        caller = person_of(request)
        issue = partial(
            tickets.issue, workflow_id, caller, request.state.roles,
            getattr(request.state, "session_id", "") or key_id_of(caller), until_ms_of(request),
        )
        return reply({"ticket": await run_in_threadpool(issue)})


def serve(app: FastAPI, tickets: Tickets, seats: Seats) -> None:
    """Adds the WebSocket. A bad ticket is refused before it opens, with a problem document."""

    async def enter(socket: WebSocket) -> None:
        workflow_id = socket.path_params["workflow_id"]
        try:
            visitor = await run_in_threadpool(partial(tickets.spend, socket.query_params.get("ticket", ""), workflow_id))
        except SteplessError as error:
            await socket.send_denial_response(respond(error))
            return
        await serve_seat(seats, socket, visitor)

    app.router.add_api_websocket_route("/drafts/{workflow_id}/room", enter)
