"""Serves the routes for workflows: publish, list and read."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from enum import Enum
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Path, Query, Request
from pydantic import ConfigDict
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from stepless.api.bodies import is_json, media_type, read_body, unsupported
from stepless.api.links import Links
from stepless.api.problems import documented
from stepless.api.replies import damaged, finding_out, instant, reply
from stepless.api.requests import Body, ListQuery
from stepless.api.responses.general import DocumentOut, PublishedOut, VersionOut, WorkflowsOut
from stepless.compile import parse
from stepless.compile.reading.read import Syntax
from stepless.compile.reading.write_yaml import write_yaml
from stepless.errors import InvalidRequest
from stepless.limits import MAX_DOCUMENT_BYTES, MAX_VERSION
from stepless.model.json import JSON
from stepless.model.stored.version_metadata import Attached, decode_attached
from stepless.ports import StoredVersion
from stepless.runtime.id_suggestions import unknown_workflow
from stepless.runtime.service import Service
from stepless.runtime.verbs.publication.publishing import Published
from stepless.runtime.versions import document_of, version_damage

_YAML: Final = frozenset({"application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"})
_TAGS: Final[list[str | Enum]] = ["workflows"]

Number = Annotated[int, Path(ge=1, le=MAX_VERSION)]


class VersionQuery(Body):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)

    format: Literal["json", "yaml"] = "json"


After = Callable[[str], Awaitable[None]]
"""Is awaited after a workflow was published."""


def add_routes(router: APIRouter, service: Service, links: Links, after: After) -> None:
    @router.put(
        "/workflows/{workflow_id}",
        summary="Publish a workflow",
        status_code=201,
        response_model=PublishedOut,
        responses={
            200: {"model": PublishedOut, "description": "Already published as the newest version"},
            **documented(400, 401, 409, 413, 415, 422),
        },
        openapi_extra=_DOCUMENT_BODY,
        tags=_TAGS,
    )
    async def publish_workflow(workflow_id: str, request: Request) -> Response:
        """Stores the document, in JSON or YAML, as the newest version. Returns 201, or 200 if it already is the newest version. A
        document with errors is refused with all its findings."""
        syntax = _syntax(request)
        data = await read_body(request, MAX_DOCUMENT_BYTES)
        published = await run_in_threadpool(_publish, service, workflow_id, data, syntax)
        if published.new:
            await after(published.version.workflow_id)
        answer: PublishedOut = {**_version(published.version, links), "warnings": [finding_out(w) for w in published.warnings]}
        return reply(answer, 201 if published.new else 200, {"location": answer["links"]["version"]})

    @router.get("/workflows", summary="List workflows", response_model=WorkflowsOut, responses=documented(400, 401), tags=_TAGS)
    def list_workflows(query: Annotated[ListQuery, Query()]) -> Response:
        """Lists the newest version of every workflow, by id."""
        found = service.world.store.list_workflows(limit=query.limit, cursor=query.cursor)
        return reply({"workflows": [_version(version, links) for version in found.items], "cursor": found.cursor})

    @router.get(
        "/workflows/{workflow_id}",
        summary="Read a workflow",
        response_model=DocumentOut,
        responses=documented(401, 404),
        tags=_TAGS,
    )
    def read_workflow(workflow_id: str) -> Response:
        """Returns the newest version, with its document."""
        return reply(_document(service, workflow_id, None, links))

    @router.get(
        "/workflows/{workflow_id}/versions/{number}",
        summary="Read a version of a workflow",
        response_model=DocumentOut,
        responses={
            200: {"content": {"application/yaml": {"schema": {"type": "string"}}}, "description": "The version"},
            **documented(400, 401, 404),
        },
        tags=_TAGS,
    )
    def read_version(workflow_id: str, number: Number, query: Annotated[VersionQuery, Query()]) -> Response:
        """Returns one version, with its document, and who published it from a draft, with what message. A version never changes.
        With `format=yaml`, returns its text as its author wrote it, in YAML or JSON, or the document in YAML if no text was
        kept."""
        if query.format == "yaml":
            return _text(service, workflow_id, number)
        return reply(_document(service, workflow_id, number, links))


_DOCUMENT_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {kind: {"schema": {"type": "object"}} for kind in ("application/json", "application/yaml")},
    }
}


def _syntax(request: Request) -> Syntax:
    kind = media_type(request)
    if is_json(kind):
        return "json"
    if kind in _YAML:
        return "yaml"
    raise unsupported(kind, "application/json", "application/yaml")


def _publish(service: Service, workflow_id: str, data: bytes, syntax: Syntax) -> Published:
    document = parse(data, syntax=syntax)
    _check_id(document, workflow_id)
    return service.publish(document, attached=_written(data, syntax))


def _written(data: bytes, syntax: Syntax) -> Attached | None:
    """Returns the text to keep with the version. JSON in one line was written by a program, and says nothing that the document
    does not."""
    text = data.decode()
    return Attached(text) if syntax == "yaml" or "\n" in text.strip() else None


def _check_id(document: Mapping[str, JSON], workflow_id: str) -> None:
    if "id" in document and document["id"] != workflow_id:
        message = f"the id in the URL is {workflow_id!r}, the id in the document is {document['id']!r}"
        raise InvalidRequest(message, code="id_mismatch", status=422, place="id", mend="use the same id in both")


def _version(version: StoredVersion, links: Links) -> VersionOut:
    damage = version_damage(version)
    name = None if damage is not None else json.loads(version.document).get("name")
    return {
        "id": version.workflow_id,
        "name": str(name or version.workflow_id),
        "version": version.number,
        "hash": version.hash,
        "published_at": str(instant(version.created_ms)),
        "links": links.workflow(version.workflow_id, version.number),
        **damaged(damage),
    }


def _document(service: Service, workflow_id: str, number: int | None, links: Links) -> DocumentOut:
    version = _found(service, workflow_id, number)
    return {**_version(version, links), "document": document_of(version)}


def _found(service: Service, workflow_id: str, number: int | None) -> StoredVersion:
    version = service.world.store.get_version(workflow_id, number)
    if version is None:
        what = workflow_id if number is None else f"{workflow_id}, version {number}"
        raise unknown_workflow(service.world.store, workflow_id, what=what)
    return version


def _text(service: Service, workflow_id: str, number: int) -> Response:
    version = _found(service, workflow_id, number)
    text = decode_attached(service.world.store.get_attached(workflow_id, version.number)).text
    if text is None:
        text = write_yaml(document_of(version))
    return Response(text.encode(), 200, {"x-content-type-options": "nosniff"}, "application/yaml")  # as JSON is, too
