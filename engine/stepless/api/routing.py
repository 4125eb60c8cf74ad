"""Routes of an app that share dependencies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.params import Depends


class Routes(APIRouter):
    """Adds its routes to an app at once, each with `dependencies`.

    A router that is included would have each route built a second time at the first request. Unless `documented`, the models of
    responses are left out: every endpoint returns a response of its own, so they serve /openapi.json only, and building them
    takes most of the time in which the API starts.
    """

    def __init__(self, app: FastAPI, dependencies: Sequence[Depends] = (), *, documented: bool) -> None:
        super().__init__()
        self._app = app
        self._shared = list(dependencies)
        self._documented = documented

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        if not self._documented:
            options |= {"response_model": None, "responses": None}
        self._app.router.add_api_route(path, endpoint, **{**options, "dependencies": self._shared})
