"""Serves `GET /me`: who the caller of the API is, and what they may do."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from stepless.api.guards.auth import until_ms_of
from stepless.api.problems import documented
from stepless.api.replies import instant, reply
from stepless.api.responses.admin import CallerOut


def add_routes(router: APIRouter) -> None:
    @router.get("/me", summary="Read the caller", response_model=CallerOut, responses=documented(401, 403), tags=["keys"])
    def read_caller(request: Request) -> Response:
        """Returns the name under which the audit log and drafts have the caller, the caller's roles with those that they imply,
        and when the token or session ends; null for a key, which has no end."""
        roles = sorted(request.state.roles)
        return reply({"caller": request.state.caller, "roles": roles, "ends_at": instant(until_ms_of(request))})
