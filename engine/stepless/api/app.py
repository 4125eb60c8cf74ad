"""Assembles the app: all routes over one service, one authentication guard and one error format."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import Any, Final, Protocol

from fastapi import Depends, FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter

from stepless.api import problems
from stepless.api.draft_sessions.seats import Seats
from stepless.api.draft_sessions.sessions import DraftSessions
from stepless.api.examples.refund import add_examples
from stepless.api.guards.auditing import recorder
from stepless.api.guards.auth import guard, guard_behind
from stepless.api.guards.hosts import KnownHosts
from stepless.api.guards.origins import AllowedOrigins, checked_origins
from stepless.api.links import Links
from stepless.api.pages import reference
from stepless.api.responses.general import Problem
from stepless.api.routes import console, health, hooks, importing, resume, schedules, workflows
from stepless.api.routes import kinds as kind_routes
from stepless.api.routes.access import audit, caller
from stepless.api.routes.access.api_keys import add_routes as add_key_routes
from stepless.api.routes.drafts import editing as draft_routes
from stepless.api.routes.drafts import evaluating as draft_values
from stepless.api.routes.drafts import running as draft_running
from stepless.api.routes.drafts import sessions as draft_sessions
from stepless.api.routes.drafts import texts as draft_texts
from stepless.api.routes.overviews import approvals, errors, stats, versions
from stepless.api.routes.runs import (
    answers,
    changing,
    costs,
    erasing,
    events,
    items,
    listing,
    messages,
    reading,
    starting,
    timeline,
)
from stepless.api.routes.runs.development import add_routes as add_development_routes
from stepless.api.routing import RouteIndex, Routes
from stepless.api.site import LOCAL, Site
from stepless.drafts.operations.verbs import DraftVerbs, Files
from stepless.drafts.sessions.bounds import ON_AWS, Bounds
from stepless.errors import ConfigError
from stepless.limits import HEARTBEAT_MS, MAX_LONG_POLL_MS
from stepless.runtime.access.api_keys import ApiKeys
from stepless.runtime.access.audit import AuditLog
from stepless.runtime.access.current_roles import Standing
from stepless.runtime.access.gateways import Gateway
from stepless.runtime.access.login import Discovery
from stepless.runtime.access.tickets import Tickets
from stepless.runtime.service import Service

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
    codes: console.Codes | None = None,
    hosts: Collection[str] | None = None,
    session_bounds: Bounds | None = None,
    console_files: Mapping[str, bytes] | None = None,
    draft_files: Files | None = None,
    site: Site = LOCAL,
) -> FastAPI:
    """Returns the HTTP API (docs/run/http.md) of a service.

    `api_keys` are the accepted keys, in plain text or as `auth.hashed`. An empty collection refuses every request; None accepts
    every request (a laptop). Keys created by POST /keys are accepted too. With `gateway`, the callers' roles are what it says,
    and no key is accepted. Hooks, signed links, the files of the console, health and the documentation are open to everyone.
    `base_url` is the base of links in responses; without it they are relative. With `stream_seconds` None, an event stream stays
    open until the run ends, with a heartbeat every `heartbeat_seconds`. With a number, at most 20, every stream is one finite
    response that waits at most that long for the next event (Lambda). `docs` False leaves out /docs and /. With `codes`, / leads
    to the console. Pages of `cors_origins`, like `https://app.example.com`, may call the API from a browser; by default none may.
    `development` adds the routes for one process over one file, and the session of a draft; before such a process ends, it calls
    `app.state.draft_editing.close()`. `codes` are exchanged for a token when the console opens. With `hosts`, requests under
    other names than these, `localhost` and IP addresses are refused, and those of pages of other origins, but for hooks, signed
    links and health. `session_bounds` and `console_files`, by path, replace those of this release. `draft_files` is the folder
    that drafts are saved to; without it none can be. A `site` without drafts leaves out their routes and their sessions. Raises
    `ConfigError`.
    """
    if stream_seconds is not None and not 0 <= stream_seconds <= MAX_LONG_POLL_MS / 1000:
        message = f"a stream waits 0 to {MAX_LONG_POLL_MS // 1000} seconds"
        raise ConfigError(message, place="stream_seconds", mend="use None for streams that stay open")
    links = Links(base_url.rstrip("/"))
    kept = ApiKeys(service.world.store, service.world.clock)
    log = AuditLog(service.world.store, service.world.clock)
    sessions = codes.sessions if codes is not None else None
    check = (
        guard(api_keys, kept, service.world, sessions, log) if gateway is None else guard_behind(gateway, service.world, log)
    )
    watch = recorder(log, service.world)
    editing = DraftVerbs(service.world, draft_files)
    bounds = session_bounds or (Bounds() if development else ON_AWS)
    draft_editing = DraftSessions(editing, bounds, lasting=development, beyond=site.beyond)
    tickets = Tickets(service.signer, service.world.store, service.world.clock)
    seats = Seats(draft_editing, Standing(kept, api_keys, service.world.clock, fresh_ms=0, sessions=sessions).roles)
    discovery = Discovery(site.login, service.world.http, service.world.clock) if site.login is not None else None

    def add_routes(app: FastAPI, *, documented: bool) -> None:
        guarded = Routes(app, [Depends(check), Depends(watch)], documented=documented)
        public = Routes(app, documented=documented)
        workflows.add_routes(guarded, service, links, partial(draft_texts.took_in, editing, draft_editing))
        schedules.add_routes(guarded, service, links)
        listing.add_routes(guarded, service, links)
        costs.add_routes(guarded, service)
        changing.add_routes(guarded, service, links, log)
        erasing.add_routes(guarded, service)
        starting.add_routes(guarded, service, links)
        reading.add_routes(guarded, service, links)
        items.add_routes(guarded, service)
        timeline.add_routes(guarded, service)
        events.add_routes(guarded, service, stream_seconds, heartbeat_seconds)
        approvals.add_routes(guarded, service, links, log)
        answers.add_routes(guarded, service, log)
        messages.add_routes(guarded, service, links)
        errors.add_routes(guarded, service)
        stats.add_routes(guarded, service)
        versions.add_routes(guarded, service, editing)
        add_key_routes(guarded, kept)
        audit.add_routes(guarded, log)
        caller.add_routes(guarded)
        plain = Routes(app, [Depends(check)], documented=documented)
        if site.drafts:
            draft_routes.add_routes(guarded, editing, draft_editing)
            draft_texts.add_settling(guarded, editing, draft_editing)
            draft_texts.add_publishing(guarded, editing, draft_editing, log)
            if draft_files is not None:
                draft_texts.add_saving(guarded, editing, draft_files, draft_editing, log)
            draft_routes.add_editing(plain, draft_editing)
            draft_texts.add_routes(plain, editing)
            draft_values.add_routes(plain, editing)
            draft_running.add_routes(guarded, editing, draft_editing, links, log)
            draft_running.add_reading(plain, editing, links)
            importing.add_routes(plain)
            if development or site.beyond is not None:
                draft_sessions.add_routes(plain, tickets)
        else:
            draft_routes.add_absence(plain)
        if codes is not None:  # before the files of the console, which have every other address below it
            console.add_inviting(guarded, codes)
        console.add_routes(public, codes, site, discovery, console_files)
        if development:
            add_development_routes(guarded, service, links)
        kind_routes.add_routes(guarded, service.world.kinds)
        hooks.add_routes(public, service, links)
        resume.add_routes(public, service, log)
        health.add_routes(public, service)
        if docs:
            reference.add_routes(public, links, app.openapi, "/console/" if codes is not None else "/docs")

    app = Stepless(add_routes)
    app.router.routes.insert(0, RouteIndex(app.router))
    hooks.serve(app, service, links)
    add_routes(app, documented=False)
    app.state.draft_editing = draft_editing
    if development and site.drafts:
        draft_sessions.serve(app, tickets, seats)
    problems.install(app, app.routes)
    if hosts is not None:
        app.add_middleware(KnownHosts, hosts=hosts, origins=cors_origins)
    if cors_origins:  # the outermost layer, so that a page can read errors too
        app.add_middleware(AllowedOrigins, origins=checked_origins(cors_origins))
    return app


class AddRoutes(Protocol):
    def __call__(self, app: FastAPI, *, documented: bool) -> None: ...


class Stepless(FastAPI):
    """An app that builds what only /openapi.json shows when that is first asked for."""

    def __init__(self, add_routes: AddRoutes) -> None:
        super().__init__(
            title="Stepless",
            description=_ABOUT,
            version="1",
            docs_url=None,
            redoc_url=None,
            redirect_slashes=False,
            generate_unique_id_function=lambda route: route.name,
        )
        self._add_routes = add_routes

    def openapi(self) -> dict[str, Any]:
        """Returns the document, with the problem document, which every route refers to, and the examples."""
        if self.openapi_schema is None:
            documented = Stepless(self._add_routes)
            self._add_routes(documented, documented=True)
            schema = get_openapi(title=self.title, version=self.version, description=self.description, routes=documented.routes)
            problem = TypeAdapter(Problem).json_schema(ref_template="#/components/schemas/{model}")
            schemas = schema.setdefault("components", {}).setdefault("schemas", {})
            schemas.update(problem.pop("$defs", {}))
            schemas["Problem"] = problem
            add_examples(schema)
            self.openapi_schema = schema
        return self.openapi_schema
