"""Routes that are built when they are first asked for are the ones of the described API."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.routing import Route

from stepless.api.app import create_app
from stepless.runtime.wiring.local import local

HOOKS = "/hooks/{path}"  # served outside of the router, to everyone
METHODS = {"get", "post", "put", "patch", "delete", "head"}


@pytest.mark.parametrize("development", [False, True])
def test_every_route_has_the_name_that_the_api_describes_since_it_decides_the_role(development: bool) -> None:
    app: Any = create_app(local(None).service, api_keys=["k"], development=development)
    routes = [route for route in app.routes if isinstance(route, Route)]
    served = {(route.path, method): route.name for route in routes for method in route.methods or ()}
    paths = app.openapi()["paths"]
    described = {
        (path, method.upper()): operation["operationId"]
        for path, item in paths.items() if path != HOOKS for method, operation in item.items() if method in METHODS
    }  # fmt: skip
    assert len(described) > 50
    assert {key: served.get(key) for key in described} == described
