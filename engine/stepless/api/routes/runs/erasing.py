"""Serves `DELETE /runs/{id}`: erases a run that has ended."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Final

from fastapi import APIRouter, Query
from starlette.responses import Response

from stepless.api.problems import documented
from stepless.api.replies import reply
from stepless.api.requests import EraseQuery
from stepless.api.responses.admin import EraseOut
from stepless.runtime.service import Service

_TAGS: Final[list[str | Enum]] = ["runs"]


def add_routes(router: APIRouter, service: Service) -> None:
    @router.delete(
        "/runs/{run_id}",
        summary="Erase a run",
        response_model=EraseOut,
        responses=documented(400, 401, 403, 404, 409, 503),
        tags=_TAGS,
    )
    def erase_run(run_id: str, query: Annotated[EraseQuery, Query()]) -> Response:
        """Erases the inputs, the log, the answers and the values of a run that has ended, for ever. Needs the role `admin`. Its
        child runs and its reruns are listed and stay. With `dry_run` nothing is erased. A request that failed may be repeated: it
        continues the erasure. A run that has not ended answers 409, and so does one whose events are not exported yet
        (`exports_pending`), unless `force` is given, which drops them."""
        erased = service.erase(run_id, dry=query.dry_run, force=query.force)
        answer: EraseOut = {
            "run_id": run_id,
            "erased": not query.dry_run,
            "children": list(erased.children),
            "reruns": list(erased.reruns),
            "more": erased.more,
        }
        return reply(answer)
