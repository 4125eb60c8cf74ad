"""Routes that are built when they are first asked for are the ones of the described API, and the index finds them as a router
would that tries all of them, in few calls."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from types import FrameType
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Match, Mount, Route

from stepless.api.app import create_app
from stepless.api.routing import LateRoute, RouteIndex
from stepless.runtime.wiring.local import local

HOOKS = "/hooks/{path}"  # served outside of the router, to everyone
METHODS = {"get", "post", "put", "patch", "delete", "head"}
MOST_CALLS = 10


@pytest.mark.parametrize("development", [False, True])
def test_every_route_has_the_name_that_the_api_describes_since_it_decides_the_role(development: bool) -> None:
    app: Any = create_app(local(None).service, api_keys=["k"], development=development)
    routes = [route for route in app.routes if isinstance(route, Route)]
    served = {(route.path_format, method): route.name for route in routes for method in route.methods or ()}
    paths = app.openapi()["paths"]
    described = {
        (path, method.upper()): operation["operationId"]
        for path, item in paths.items() if path != HOOKS for method, operation in item.items() if method in METHODS
    }  # fmt: skip
    assert len(described) > 50
    assert {key: served.get(key) for key in described} == described


# -- the index ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def app() -> Any:
    return create_app(local(None).service, api_keys=None, development=True)


def scope_of(method: str, path: str, root_path: str = "") -> dict[str, Any]:
    return {
        "type": "http", "method": method, "path": path, "root_path": root_path, "headers": [], "query_string": b"",
    }  # fmt: skip


def filled(path: str) -> str:
    return re.sub(r"\{[^}]*\}", "x", path)


def tried(routes: Iterable[BaseRoute], scope: dict[str, Any]) -> tuple[BaseRoute, Any] | None:
    """The route that a router finds by trying them in their order, and the parameters of its path."""
    for route in routes:
        match, child = route.matches(scope)
        if match is Match.FULL:
            return route, child["path_params"]
    return None


def found(app: Any, scope: dict[str, Any]) -> tuple[BaseRoute, Any] | None:
    [index] = [route for route in app.routes if isinstance(route, RouteIndex)]
    match, child = index.matches(scope)
    return (child["route"], child["path_params"]) if match is Match.FULL else None


def test_the_index_finds_what_a_router_finds_that_tries_every_route(app: Any) -> None:
    paths = {filled(route.path) for route in app.routes if isinstance(route, Route)}
    odd = {path + end for path in paths for end in ("/", "\n", "/more", "//")} | {"", "/", "//", "runs", "/Runs", "/nothing/here"}
    odd |= {"/runs/a%2Fb", "/runs/ü", "/hooks", "/hooks/", "/hooks/a/b/", "/console/a/b.js"}
    methods = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "get")
    answers = 0
    for path in paths | odd:
        for method in methods:
            for root_path in ("", "/below"):
                scope = scope_of(method, root_path + path, root_path)
                expected = tried(app.routes[1:], scope)
                if not path.endswith("\n"):
                    assert found(app, scope) == expected, (method, path)
                else:
                    assert found(app, scope) in (None, expected)
                answers += expected is not None
    assert answers > 2 * len(paths)


class Selected(Exception):
    """A route is asked to handle the request."""


HANDLES = (LateRoute.handle.__code__, Route.handle.__code__)


async def calls_until_selected(routed: Any, scope: dict[str, Any]) -> tuple[int, BaseRoute]:
    """How many calls of Python code it takes until a route is asked to handle the request, and which one. It is not handled."""
    calls, selected = 0, list[BaseRoute]()

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"
        if event == "call" and frame.f_code in HANDLES:
            selected.append(frame.f_locals["self"])
            raise Selected

    sys.setprofile(count)
    try:
        await routed(scope, None, None)
    except Selected:
        return calls, selected[0]
    finally:
        sys.setprofile(None)
    raise AssertionError("no route was selected")


@pytest.mark.anyio
async def test_a_router_finds_every_route_in_few_calls(app: Any) -> None:
    calls = {}
    await calls_until_selected(app.router, scope_of("GET", "/runs"))  # makes the table
    for route in app.routes:
        for method in getattr(route, "methods", None) or ():
            scope = scope_of(method, filled(route.path))
            expected = tried(app.routes[1:], scope)
            calls[method, route.path], selected = await calls_until_selected(app.router, scope)
            assert expected is not None and selected is expected[0]
    assert len(calls) > 80
    assert max(calls.values()) <= MOST_CALLS, max(calls.items(), key=lambda call: call[1])


def plain(text: str) -> Any:
    async def answer(request: Request) -> Response:
        return PlainTextResponse(text)

    return answer


async def text_of(app: Any, path: str, method: str = "GET") -> str:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
        answer = await client.request(method, path)
        return answer.text if answer.status_code == 200 else str(answer.status_code)


@pytest.mark.anyio
async def test_routes_that_are_added_to_the_app_keep_their_place(app: Any) -> None:
    assert await text_of(app, "/plugin/page") == "404" and await text_of(app, "/health") != "before"
    app.router.routes.append(Route("/plugin/page", plain("page")))
    app.mount("/mounted", Starlette(routes=[Route("/page", plain("mounted"))]))
    app.router.routes.append(Route("/health", plain("behind")))
    assert await text_of(app, "/plugin/page") == "page"
    assert await text_of(app, "/mounted/page") == "mounted"
    assert await text_of(app, "/health") != "behind"
    app.router.routes.insert(0, Route("/health", plain("before")))
    assert await text_of(app, "/health") == "before"
    del app.router.routes[0]
    app.router.routes.insert(1, Route("/{name}", plain("any")))  # behind the index, before all others
    assert await text_of(app, "/health") == "any"
    app.router.routes[1] = Mount("/health", plain_app("mounted"))
    assert await text_of(app, "/health/x") == "mounted"


def plain_app(text: str) -> Any:
    async def answer(scope: Any, receive: Any, send: Any) -> None:
        await PlainTextResponse(text)(scope, receive, send)

    return answer


@pytest.mark.anyio
async def test_a_route_that_is_removed_is_found_no_more(app: Any) -> None:
    assert await text_of(app, "/health") not in ("404", "405")
    [health] = [route for route in app.routes if getattr(route, "path", "") == "/health"]
    app.router.routes.remove(health)
    assert await text_of(app, "/health") == "404"


@pytest.mark.anyio
async def test_an_app_below_a_prefix_finds_its_routes_and_answers_as_before(app: Any) -> None:
    parent = Starlette(routes=[Mount("/below", app)])
    assert await text_of(parent, "/below/health") == await text_of(app, "/health")
    assert await text_of(app, "/health", "DELETE") == "405" and await text_of(app, "/nothing") == "404"
    assert await text_of(app, "/health/") == "404"  # nothing is redirected
    assert await text_of(app, "/health", "HEAD") == "405"


def test_parameters_are_converted_and_the_index_has_no_path_of_its_own(app: Any) -> None:
    app.router.routes.insert(1, Route("/number/{value:int}", plain("number"), name="number"))
    matched = found(app, scope_of("GET", "/number/7"))
    assert matched is not None and matched[1] == {"value": 7}
    assert app.url_path_for("number", value=7) == "/number/7"
