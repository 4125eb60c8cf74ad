"""Route for node kinds: what an editor needs to know of each."""

from __future__ import annotations

import sys
from enum import Enum
from functools import cache
from typing import Any, Final, Literal

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import Response
from typing_extensions import TypedDict

from stepless.api.problems import documented
from stepless.model.declaration.field_docs import field_docs
from stepless.model.encoding import encode
from stepless.model.kind import Kind, Kinds, Nature, Part

_TAGS: Final[list[str | Enum]] = ["workflows"]


class KindOut(TypedDict):
    """`exits` are the exits besides `error`, null if they depend on the parameters. `schema` is the JSON Schema of `with`.
    `parts` says of each of its fields what a text in it is: a `template` with references, an `expression`, `cases` (a mapping of
    names to expressions), or `literal`, which is used unchanged."""

    name: str
    summary: str
    nature: str
    pure: bool
    exits: list[str] | None
    container: bool
    schema: dict[str, Any]
    parts: dict[str, Literal["template", "expression", "cases", "literal"]]


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
        "schema": _schema(kind),
        "parts": {name: kind.parts.get(name, Part.TEMPLATE).value for name in _names(kind.params)},
    }


def _schema(kind: Kind) -> dict[str, Any]:
    """The schema of `with`, with the meaning of each field as its description."""
    schema = kind.params.model_json_schema(by_alias=True)
    parts = [(kind.params, schema)]
    for name, part in schema.get("$defs", {}).items():
        model = getattr(sys.modules[kind.params.__module__], name, None)
        if isinstance(model, type) and issubclass(model, BaseModel):
            parts.append((model, part))
    for model, part in parts:
        for field, meaning in field_docs(model).items():
            about = part.get("properties", {}).get(model.model_fields[field].alias or field)
            if about is not None:
                about.setdefault("description", meaning)
    return schema


def _names(params: type[BaseModel]) -> list[str]:
    return [about.alias or name for name, about in params.model_fields.items()]


def _exits(kind: Kind) -> list[str] | None:
    if kind.terminal:
        return []
    try:
        return list(kind.exits(kind.params.model_construct()))
    except AttributeError:  # they are made from a parameter that has no default
        return None
