"""Assembles the app: all routes over one service, one authentication guard and one error format."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, Final

from fastapi import APIRouter, Depends, FastAPI
from fastapi.middleware.cors import CORSMiddleware
from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter

from stepless.api import problems, reference, viewing
from stepless.api.auditing import recorder
from stepless.api.auth import guard, guard_behind
from stepless.api.examples import add_examples
from stepless.api.links import Links
from stepless.api.routes import (
    audit,
    changing,
    costs,
    erasing,
    events,
    health,
    hooks,
    listing,
    resume,
    runs,
    schedules,
    workflows,
)
from stepless.api.routes.api_keys import add_routes as add_key_routes
from stepless.api.routes.development import add_routes as add_development_routes
from stepless.api.schemas import Problem
from stepless.errors import ConfigError
from stepless.limits import HEARTBEAT_MS, MAX_LONG_POLL_MS
from stepless.runtime.access.api_keys import ApiKeys
from stepless.runtime.access.audit import AuditLog
from stepless.runtime.access.gateways import Gateway
from stepless.runtime.service import Service

_ORIGIN: Final = re.compile(r"\*|https?://[A-Za-z0-9.:\[\]-]+")
_PREFLIGHT_S: Final = 600  # how long a browser caches a preflight response
_ABOUT: Final = "Publish workflows, start runs, answer their questions, replay every event."


def create_app(
    service: Service,
    *,
    api_keys: Collection[str] | None = (),
    gateway: Gateway | None = None,
    base_url: str = "",
    stream_seconds: float | None = None,
    heartbeat_seconds: float = HEARTBEAT_MS / 1000,
    docs: bool = True,
    cors_origins: Collection[str] = (),
    development: bool = False,
) -> FastAPI:
    """The HTTP API (docs/http.md) of a service.

    `api_keys` are the accepted keys, in plain text or as `auth.hashed`. An empty collection refuses every request; None accepts
    every request (a laptop). Keys created by POST /keys are accepted too. With `gateway`, the callers' roles are what it says,
    and no key is accepted. Hooks, signed links, the page of a run, health and the documentation are open to everyone. `base_url`
    is the base of links in responses; without it they are relative. With `stream_seconds` None, an event stream stays open until
    the run ends, with a heartbeat every `heartbeat_seconds`. With a number, at most 20, every stream is one finite response that
    waits at most that long for the next event (Lambda). `docs` False leaves out /docs and /. Pages of `cors_origins`, like
    `https://app.example.com`, may call the API from a browser; by default none may. `development` adds the routes for one process
    over one file. Raises `ConfigError`.
    """
    if stream_seconds is not None and not 0 <= stream_seconds <= MAX_LONG_POLL_MS / 1000:
        message = f"a stream waits 0 to {MAX_LONG_POLL_MS // 1000} seconds"
        raise ConfigError(message, place="stream_seconds", mend="use None for streams that stay open")
    links = Links(base_url.rstrip("/"))
    kept = ApiKeys(service.world.store, service.world.clock)
    log = AuditLog(service.world.store, service.world.clock)
    check = guard(api_keys, kept, service.world) if gateway is None else guard_behind(gateway, service.world.clock)
    guarded = APIRouter(dependencies=[Depends(check), Depends(recorder(log, service.world))])
    public = APIRouter()
    workflows.add_routes(guarded, service, links)
    schedules.add_routes(guarded, service, links)
    listing.add_routes(guarded, service, links)
    costs.add_routes(guarded, service)
    changing.add_routes(guarded, service, links, log)
    erasing.add_routes(guarded, service)
    runs.add_routes(guarded, service, links)
    events.add_routes(guarded, service, stream_seconds, heartbeat_seconds)
    add_key_routes(guarded, kept)
    audit.add_routes(guarded, log)
    if development:
        add_development_routes(guarded, service, links)
    viewing.add_routes(public)
    hooks.add_routes(public, service, links)
    resume.add_routes(public, service, log)
    health.add_routes(public, service)
    app = FastAPI(
        title="Stepless",
        description=_ABOUT,
        version="1",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    if docs:
        reference.add_routes(public, links, lambda: app.openapi())  # noqa: PLW0108 - replaced below
    hooks.serve(app, service, links)  # first: an app tries its routes one by one
    app.include_router(guarded)
    app.include_router(public)
    problems.install(app, [*guarded.routes, *public.routes])
    _allow_origins(app, cors_origins)
    _document(app)
    return app


def _allow_origins(app: FastAPI, origins: Collection[str]) -> None:
    """Adds CORS as the outermost layer, so that a page can read errors too. Keys are sent in a header, never in cookies, so no
    credentials are allowed."""
    for origin in origins:
        if not _ORIGIN.fullmatch(origin):
            mend = "write https://app.example.com, without a path"
            raise ConfigError(f"{origin!r} is not an origin", place="cors_origins", mend=mend)
    if origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=sorted(origins),
            allow_methods=["GET", "PUT", "POST", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID", "Prefer"],
            expose_headers=["Location", "Preference-Applied", "Retry-After"],
            max_age=_PREFLIGHT_S,
        )


def _document(app: FastAPI) -> None:
    """Adds the problem document, which every route refers to, and the examples to /openapi.json."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
            problem = TypeAdapter(Problem).json_schema(ref_template="#/components/schemas/{model}")
            schemas = schema.setdefault("components", {}).setdefault("schemas", {})
            schemas.update(problem.pop("$defs", {}))
            schemas["Problem"] = problem
            add_examples(schema)
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # the way that FastAPI documents
