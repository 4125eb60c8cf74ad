"""Serves `POST /import`: converts the export of another tool into a document. Nothing is stored."""

from __future__ import annotations

from enum import Enum
from typing import Any, Final, Literal

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from typing_extensions import TypedDict

from stepless.api.bodies import documented_body, read_model
from stepless.api.problems import documented
from stepless.api.replies import finding_out, reply
from stepless.api.requests import Body
from stepless.api.responses.general import FindingOut
from stepless.imports import TOOLS
from stepless.limits import MAX_DOCUMENT_BYTES
from stepless.model.json import JSON

_TAGS: Final[list[str | Enum]] = ["drafts"]


class ImportBody(Body):
    """`export` is the JSON that the tool writes."""

    tool: Literal["sim", "n8n"] = "sim"
    export: dict[str, Any]


class ImportedOut(TypedDict):
    """`document` compiles. `findings`, all warnings, report what was not converted unchanged; their paths are paths in the
    export."""

    document: dict[str, Any]
    findings: list[FindingOut]


def add_routes(router: APIRouter) -> None:
    @router.post(
        "/import", summary="Convert an export", response_model=ImportedOut, openapi_extra=documented_body(ImportBody),
        responses=documented(400, 401, 403, 413, 415, 422), tags=_TAGS,
    )  # fmt: skip
    async def convert_export(request: Request) -> Response:
        """Converts the export of another tool into a document, as `stepless import` does. A draft can be opened from it."""
        body = await read_model(request, ImportBody, MAX_DOCUMENT_BYTES)
        return reply(await run_in_threadpool(_converted, body.tool, body.export))


def _converted(tool: str, export: dict[str, JSON]) -> dict[str, Any]:
    imported = TOOLS[tool].convert(export)
    return {"document": imported.document, "findings": [finding_out(finding) for finding in imported.findings]}
