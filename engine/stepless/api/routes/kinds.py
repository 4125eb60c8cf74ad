"""Route for node kinds: what an editor needs to know of each."""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import Any, Final

from fastapi import APIRouter
from starlette.responses import Response
from typing_extensions import TypedDict

from stepless.api.problems import documented
from stepless.model.encoding import encode
from stepless.model.kind import Kind, Kinds, Nature

_TAGS: Final[list[str | Enum]] = ["workflows"]


class KindOut(TypedDict):
    """`exits` are the exits besides `error`, null if they depend on the parameters. `schema` is the JSON Schema of `with`."""

    name: str
    summary: str
    nature: str
    pure: bool
    exits: list[str] | None
    container: bool
    schema: dict[str, Any]


class KindsOut(TypedDict):
    kinds: list[KindOut]


def add_routes(router: APIRouter, kinds: Kinds) -> None:
    @cache
    def written() -> bytes:
        return encode({"kinds": [_kind(kind) for _, kind in sorted(kinds.items())]})

    @router.get("/kinds", summary="List node kinds", response_model=KindsOut, responses=documented(401), tags=_TAGS)
    def list_kinds() -> Response:
        """Lists the kinds of nodes, plug-ins included."""
        return Response(written(), 200, {"cache-control": "no-cache"}, "application/json")


def _kind(kind: Kind) -> KindOut:
    return {
        "name": kind.name,
        "summary": kind.summary,
        "nature": kind.nature.value,
        "pure": kind.nature is Nature.PURE,
        "exits": _exits(kind),
        "container": kind.nature is Nature.CONTAINER,
        "schema": kind.params.model_json_schema(by_alias=True),
    }


def _exits(kind: Kind) -> list[str] | None:
    if kind.terminal:
        return []
    try:
        return list(kind.exits(kind.params.model_construct()))
    except AttributeError:  # they are made from a parameter that has no default
        return None
