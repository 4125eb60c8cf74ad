"""Adds the routes of an app that share dependencies, builds each at its first request, and finds the one of a request."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any, Final, TypeAlias

from fastapi import APIRouter, FastAPI
from fastapi.params import Depends
from starlette._utils import get_route_path
from starlette.convertors import Convertor, PathConvertor, StringConvertor
from starlette.datastructures import URLPath
from starlette.routing import BaseRoute, Match, NoMatchFound, Route, Router, WebSocketRoute
from starlette.types import Receive, Scope, Send

_Convertors: TypeAlias = Sequence[tuple[str, Convertor[Any]]]
_found: Final[ContextVar[Route]] = ContextVar("found")  # the route that the index has found for the request


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


class RouteIndex(BaseRoute):
    """Finds the route of a request by its method and the first segment of its path. It is placed before the routes of `router`.

    A router tries its routes one by one, with several calls for each, so that a request for the last of eighty costs hundreds.
    The index finds the same route: the first that takes the path and the method. It knows the routes that follow it, up to the
    first of another kind: an app that is mounted, a router that is included, a path that begins with a parameter. For all else
    it does not match, and the router tries every route: for those behind these, for WebSockets, and to answer 404 and 405.
    """

    def __init__(self, router: Router) -> None:
        self._router = router
        self._known: list[BaseRoute] = []
        self._table: Mapping[tuple[str, str], Sequence[tuple[Route, _Convertors]]] = {}

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] != "http":
            return Match.NONE, {}
        if self._known != self._router.routes:  # compares identities: no route is asked
            known = list(self._router.routes)
            self._table = _table(known[known.index(self) + 1 :])
            self._known = known
        path: str = get_route_path(scope) if scope.get("root_path") else scope["path"]
        for route, convertors in self._table.get((scope["method"], path[1:].partition("/")[0]), ()):
            match = route.path_regex.match(path)
            if match is not None:
                _found.set(route)
                params = {**scope.get("path_params", {}), **match.groupdict()}
                for name, convertor in convertors:
                    params[name] = convertor.convert(params[name])
                return Match.FULL, {"endpoint": route.endpoint, "path_params": params, "route": route}
        return Match.NONE, {}

    @property
    def path_format(self) -> str | None:
        """The path of the route that was found, which FastAPI notes in the spans of the request."""
        route = _found.get(None)
        return None if route is None else route.path_format

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        route: Route = scope["route"]
        await route.handle(scope, receive, send)

    def url_path_for(self, name: str, /, **path_params: Any) -> URLPath:
        """The index has no path of its own."""
        raise NoMatchFound(name, path_params)


def _table(routes: Iterable[BaseRoute]) -> Mapping[tuple[str, str], Sequence[tuple[Route, _Convertors]]]:
    """Routes by method and first segment, each list in the order of the routes, with the convertors that change a parameter."""
    table: dict[tuple[str, str], list[tuple[Route, _Convertors]]] = {}
    for route in routes:
        if isinstance(route, WebSocketRoute):
            continue
        if not isinstance(route, Route) or type(route) not in (LateRoute, Route) or not route.methods:
            break
        first = route.path[1:].partition("/")[0]
        if "{" in first:
            break
        changing = [named for named in route.param_convertors.items() if type(named[1]) not in (StringConvertor, PathConvertor)]
        for method in route.methods:
            table.setdefault((method, first), []).append((route, changing))
    return table
