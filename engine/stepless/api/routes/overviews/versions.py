"""Serves `GET /workflows/{id}/versions` and `GET /workflows/{id}/diff`: the versions of a workflow, and the diff of two."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any, Final, NotRequired

from fastapi import APIRouter, Query
from starlette.responses import Response
from typing_extensions import TypedDict

from stepless.api.problems import documented
from stepless.api.replies import damaged, instant, reply
from stepless.api.requests import VersionsDiffQuery, VersionsQuery
from stepless.api.responses.general import DamageOut
from stepless.api.routes.drafts.schemas import NodeChangeOut, TextLineOut
from stepless.drafts.operations.diff import diff_versions
from stepless.drafts.operations.verbs import DraftVerbs
from stepless.runtime.service import Service
from stepless.runtime.verbs.overviews.versions import ListedVersion

_TAGS: Final[list[str | Enum]] = ["workflows"]


class ListedVersionOut(TypedDict):
    """`by` and `message` are of a version that was published from a draft, else null. With `damage`, what is kept with the
    version is damaged in the store."""

    version: int
    hash: str
    published_at: str
    by: str | None
    message: str | None
    damage: NotRequired[DamageOut]


class VersionsOut(TypedDict):
    """The newest first. `next_before` continues the list; null at its end."""

    versions: list[ListedVersionOut]
    next_before: int | None


class VersionsDiffOut(TypedDict):
    """The diff, by node and by line of the text, as for a draft. `against` is the former version."""

    against: dict[str, Any]
    nodes: list[NodeChangeOut]
    document: list[dict[str, Any]]
    lines: list[TextLineOut]


def add_routes(router: APIRouter, service: Service, drafts: DraftVerbs) -> None:
    @router.get(
        "/workflows/{workflow_id}/versions", summary="List the versions of a workflow", response_model=VersionsOut,
        responses=documented(400, 401, 404), tags=_TAGS,
    )  # fmt: skip
    def list_versions(workflow_id: str, query: Annotated[VersionsQuery, Query()]) -> Response:
        """Lists the versions of a workflow, the newest first: when each was published, and who published it from a draft, with
        what message."""
        found = service.versions(workflow_id, before=query.before, limit=query.limit)
        return reply({"versions": [_version(each) for each in found.items], "next_before": found.next_before})

    @router.get(
        "/workflows/{workflow_id}/diff", summary="Compare two versions of a workflow", response_model=VersionsDiffOut,
        responses=documented(400, 401, 404), tags=_TAGS,
    )  # fmt: skip
    def compare_versions(workflow_id: str, query: Annotated[VersionsDiffQuery, Query()]) -> Response:
        """Returns what differs between the version `from` and the version `to`, by node and by line of their texts."""
        return reply(diff_versions(drafts, workflow_id, query.from_, query.to)._asdict())


def _version(each: ListedVersion) -> ListedVersionOut:
    return {
        "version": each.version.number,
        "hash": each.version.hash,
        "published_at": str(instant(each.version.created_ms)),
        "by": each.by or None,
        "message": each.message or None,
        **damaged(each.damage),
    }
