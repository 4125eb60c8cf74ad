"""Routes of an app that share dependencies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.params import Depends
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Receive, Scope, Send


class Routes(APIRouter):
    """Adds its routes to an app, each with `dependencies`.

    A router that is included would have each route built a second time at the first request. Unless `documented`, a route is
    built at its first request: a process that serves one request would otherwise spend most of its start on the other routes.
    The models of responses are left out then: every endpoint returns a response of its own, so they serve /openapi.json only.
    """

    def __init__(self, app: FastAPI, dependencies: Sequence[Depends] = (), *, documented: bool) -> None:
        super().__init__()
        self._app = app
        self._shared = list(dependencies)
        self._documented = documented

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        options = {**options, "dependencies": self._shared}
        if self._documented:
            self._app.router.add_api_route(path, endpoint, **options)
            return
        build = partial(self._built, path, endpoint, {**options, "response_model": None, "responses": None})
        self._app.router.routes.append(LateRoute(path, endpoint, options.get("name"), options.get("methods") or ("GET",), build))

    def _built(self, path: str, endpoint: Callable[..., Any], options: dict[str, Any]) -> BaseRoute:
        super().add_api_route(path, endpoint, **options)
        return self.routes.pop()


class LateRoute(Route):
    """A route of which only the path, the name and the methods are known, until a request for it has come. The name decides which
    role a caller needs, so it is that of the route to be built."""

    def __init__(
        self, path: str, endpoint: Callable[..., Any], name: str | None, methods: Iterable[str], build: Callable[[], BaseRoute]
    ) -> None:
        super().__init__(path, endpoint, name=name)
        self.methods = set(methods)
        self._build = build
        self._route: BaseRoute | None = None

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, found = super().matches(scope)
        return match, {**found, "route": self}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._route is None:
            self._route = self._build()
        await self._route.handle(scope, receive, send)
