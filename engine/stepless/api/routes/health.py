"""Serves `GET /health`: whether this process and its store work."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from stepless.api.calls import call
from stepless.api.problems import documented
from stepless.api.replies import reply
from stepless.api.responses.admin import HealthOut
from stepless.runtime.service import Service


def add_routes(router: APIRouter, service: Service) -> None:
    @router.get("/health", summary="Check the service", response_model=HealthOut, responses=documented(503), tags=["health"])
    async def health() -> Response:
        """Returns 200 if the store responds, else 503. It also does while another process writes to its file."""
        await call(service.world, service.world.store.check)
        return reply({"status": "ok"})
