"""The app, assembled: routes over one service, behind one guard, with one way to say what went wrong."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from fastapi import APIRouter, Depends, FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter

from stepless.api import events, health, hooks, problems, resume, runs, workflows
from stepless.api.auth import guard
from stepless.api.links import Links
from stepless.api.models import Problem
from stepless.errors import ConfigError
from stepless.limits import HEARTBEAT_MS, MAX_LONG_POLL_MS
from stepless.runtime.service import Service

_ABOUT: Final = "Publish workflows, start runs, answer what they ask, replay every event."


def create_app(
    service: Service,
    *,
    api_keys: Collection[str] | None = (),
    base_url: str = "",
    stream_seconds: float | None = None,
    heartbeat_seconds: float = HEARTBEAT_MS / 1000,
    docs: bool = True,
) -> FastAPI:
    """The HTTP interface (4.1) of a service.

    `api_keys` are those that are accepted, as they are or as `auth.hashed`; none refuses everybody, None lets everybody in
    (a laptop). Hooks, signed links, health and the documentation need none. `base_url` precedes the links in answers, which
    are relative without it. `stream_seconds` None keeps event streams open until the run ends, with a heartbeat every
    `heartbeat_seconds`; a number, at most 20, makes every stream one finite answer that waits at most so long for the next
    event (Lambda). `docs` False leaves out /docs. Raises `ConfigError`.
    """
    if stream_seconds is not None and not 0 <= stream_seconds <= MAX_LONG_POLL_MS / 1000:
        message = f"a stream waits 0 to {MAX_LONG_POLL_MS // 1000} seconds"
        raise ConfigError(message, place="stream_seconds", mend="use None for streams that stay open")
    links = Links(base_url.rstrip("/"))
    guarded, public = APIRouter(dependencies=[Depends(guard(api_keys))]), APIRouter()
    workflows.add_routes(guarded, service, links)
    runs.add_routes(guarded, service, links)
    events.add_routes(guarded, service, stream_seconds, heartbeat_seconds)
    hooks.add_routes(public, service, links)
    resume.add_routes(public, service)
    health.add_routes(public, service)
    app = FastAPI(
        title="Stepless",
        description=_ABOUT,
        version="1",
        docs_url="/docs" if docs else None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    app.include_router(guarded)
    app.include_router(public)
    problems.install(app, [*guarded.routes, *public.routes])
    _document(app)
    return app


def _document(app: FastAPI) -> None:
    """Puts the problem document, which every route refers to, into /openapi.json."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
            problem = TypeAdapter(Problem).json_schema(ref_template="#/components/schemas/{model}")
            schemas = schema.setdefault("components", {}).setdefault("schemas", {})
            schemas.update(problem.pop("$defs", {}))
            schemas["Problem"] = problem
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's own way to change what it documents
