"""Serves the kinds of nodes with the parameters and exits that an editor shows."""

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
from stepless.model.declaration.policies import RETRIED, Merge
from stepless.model.kind import Kind, Kinds, Nature, Part
from stepless.model.kind_settings import obeys
from stepless.model.stored.encoding import encode
from stepless.nodes.entries.webhook import KIND as WEBHOOK

_TAGS: Final[list[str | Enum]] = ["workflows"]
_SHOWN_OTHERWISE: Final = ("type", "after", "with", "enabled", "at")
_OF_A_GRAPH: Final = ("id", "nodes", "edges", "made_by", "rate_limit")
_DEFINITIONS: Final = ("RetryDocument", "JoinDocument", "ConcurrencyDocument", "NodeRateDocument", "CustomMerge")
_DEFINITIONS_OF_A_WORKFLOW: Final = ("ConcurrencyDocument", "MessageDocument", "StartRateDocument")
_OF_A_SOURCE: Final = ("path", "method", "auth")  # the fields of the kind `webhook` that a message's webhook has
_OF_INPUTS: Final = "input_contract"  # an entry has `inputs` instead


class KindOut(TypedDict):
    """`exits` are the exits other than `error`, null if they depend on the parameters. `schema` is the JSON Schema of `with`.
    `parts` says of each of its fields what a text in it is: a `template` with references, an `expression`, `cases` (a mapping of
    names to expressions), or `literal`, which is used unchanged. `settings` are the fields next to `with` that an editor
    offers."""

    name: str
    summary: str
    nature: str
    pure: bool
    exits: list[str] | None
    container: bool
    schema: dict[str, Any]
    parts: dict[str, Literal["template", "expression", "cases", "literal"]]
    settings: list[str]


class KindsOut(TypedDict):
    """`node` is the JSON Schema of the fields that nodes of every kind have in addition to `with`, `workflow` that of the fields
    that a document has in addition to its id, nodes and edges."""

    kinds: list[KindOut]
    node: dict[str, Any]
    workflow: dict[str, Any]


def add_routes(router: APIRouter, kinds: Kinds) -> None:
    @cache
    def written() -> bytes:
        listed = [_kind(kind) for _, kind in sorted(kinds.items())]
        return encode({"kinds": listed, "node": node_schema(), "workflow": workflow_schema()})

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
        "container": kind.container is not None,
        "schema": _schema(kind),
        "parts": {name: kind.parts.get(name, Part.TEMPLATE).value for name in _names(kind.params)},
        "settings": [name for name in node_schema()["properties"] if _is_offered(kind, name)],
    }


def _is_offered(kind: Kind, name: str) -> bool:
    return obeys(kind, name) and not (name == _OF_INPUTS and kind.nature is Nature.ENTRY)


@cache
def node_schema() -> dict[str, Any]:
    """Returns the schema of a node without what an editor shows in other ways: its kind, edges, parameters and switch."""
    definitions = _document_schema()["$defs"]
    definitions["RetryDocument"]["properties"]["retry_on"].setdefault("default", list(RETRIED))
    node = definitions["NodeDocument"]
    fields = {name: about for name, about in node["properties"].items() if name not in _SHOWN_OTHERWISE}
    fields["merge"] = {**fields["merge"], "enum": [word.value for word in Merge]}  # without its older names
    return {"type": "object", "properties": fields, "$defs": {name: definitions[name] for name in _DEFINITIONS}}


@cache
def workflow_schema() -> dict[str, Any]:
    """Returns the schema of a document without what an editor shows in other ways, and without the former form of `rate`."""
    schema = _document_schema()
    fields = {name: about for name, about in schema["properties"].items() if name not in _OF_A_GRAPH}
    definitions = {name: schema["$defs"][name] for name in _DEFINITIONS_OF_A_WORKFLOW}
    webhook = _schema(WEBHOOK)
    source = {name: webhook["properties"][name] for name in _OF_A_SOURCE}
    message = definitions["MessageDocument"]["properties"]
    about = message["webhook"]["description"]
    message["webhook"] = {"description": about, "type": "object", "properties": source, "required": ["path"]}
    return {"type": "object", "properties": fields, "$defs": {**webhook["$defs"], **definitions}}


def _document_schema() -> dict[str, Any]:
    from stepless.model.declaration import validation  # imported late: only editors ask

    schema: dict[str, Any] = validation.Document.model_json_schema(by_alias=True)
    _describe(validation.Document, schema)
    for name in (*_DEFINITIONS, *_DEFINITIONS_OF_A_WORKFLOW, "NodeDocument"):
        _describe(getattr(validation, name), schema["$defs"][name])
    return schema


def _schema(kind: Kind) -> dict[str, Any]:
    """The schema of `with`, with the meaning of each field as its description."""
    schema = kind.params.model_json_schema(by_alias=True)
    parts = [(kind.params, schema)]
    for name, part in schema.get("$defs", {}).items():
        model = getattr(sys.modules[kind.params.__module__], name, None)
        if isinstance(model, type) and issubclass(model, BaseModel):
            parts.append((model, part))
    for model, part in parts:
        _describe(model, part)
    return schema


def _describe(model: type[BaseModel], part: dict[str, Any]) -> None:
    """Adds the meaning of each field of a model to its schema."""
    for field, meaning in field_docs(model).items():
        about = part.get("properties", {}).get(model.model_fields[field].alias or field)
        if about is not None:
            about.setdefault("description", meaning)


def _names(params: type[BaseModel]) -> list[str]:
    return [about.alias or name for name, about in params.model_fields.items()]


def _exits(kind: Kind) -> list[str] | None:
    if kind.terminal:
        return []
    try:
        return list(kind.exits(kind.params.model_construct()))
    except AttributeError:  # they are made from a parameter that has no default
        return None
