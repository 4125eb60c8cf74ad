"""Serves the routes for the text of a draft, its diff, its history, restoring, and publication."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import partial
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from stepless.api.bodies import documented_body, read_model
from stepless.api.draft_sessions.sessions import DraftSessions, person_of
from stepless.api.guards.auditing import note
from stepless.api.problems import MEDIA_TYPE, documented, problem_of
from stepless.api.replies import finding_out, instant, reply
from stepless.api.routes.drafts.editing import SeqQuery
from stepless.api.routes.drafts.schemas import (
    ConflictBody,
    ConflictsOut,
    DiffOut,
    DiffQuery,
    GesturesOut,
    HistoryOut,
    HistoryQuery,
    PublishBody,
    PublishedDraftOut,
    RestoreBody,
    SaveBody,
    SavedDraftOut,
    TextBody,
    TextOut,
)
from stepless.drafts.log.entries import LogEntry
from stepless.drafts.operations.diff import diff
from stepless.drafts.operations.files import Saved, conflict_of, save
from stepless.drafts.operations.history import HistoryEntry, history, restore
from stepless.drafts.operations.merging import conflicts, settle, take_in_version
from stepless.drafts.operations.publishing import DraftRefused, publish
from stepless.drafts.operations.texts import is_json, operation_out, read_text, typed
from stepless.drafts.operations.verbs import At, DraftVerbs, Files
from stepless.drafts.rules.requests import Operation
from stepless.errors import InvalidRequest, VersionMoved
from stepless.limits import MAX_DOCUMENT_BYTES, MAX_INTENT_BYTES
from stepless.model.stored.encoding import encode
from stepless.runtime.access.audit import AuditLog

_TAGS: Final[list[str | Enum]] = ["drafts"]
_ESCAPED: Final = 6  # bytes of JSON that one character of a text may take


def add_routes(router: APIRouter, drafts: DraftVerbs) -> None:
    """Adds the routes that change nothing: what follows from a text or a former state is sent by the client."""

    @router.get(
        "/drafts/{workflow_id}/yaml", summary="Read the text of a draft", response_model=TextOut,
        responses=documented(400, 401, 404, 503), tags=_TAGS,
    )
    def read_draft_text(workflow_id: str, query: Annotated[SeqQuery, Query()]) -> Response:
        """Returns the draft in the text of its author, after the item `seq` or now: what did not change keeps its place, its form
        and its comments."""
        at, text = read_text(drafts, workflow_id, query.seq)
        return reply({"epoch": at.head.epoch, "seq": at.seq, "format": "json" if is_json(text) else "yaml", "text": text})

    @router.post(
        "/drafts/{workflow_id}/yaml", summary="Read an edit of the text of a draft", response_model=GesturesOut,
        openapi_extra=documented_body(TextBody), responses=documented(400, 401, 403, 404, 413, 415, 422, 503), tags=_TAGS,
    )  # fmt: skip
    async def type_draft_text(workflow_id: str, request: Request) -> Response:
        """Returns what an edit of the text means: a gesture over the draft after item `seq`, which the client sends as any other.
        After it, the text of the draft is exactly this one. 422: the text does not parse, with line and column."""
        body = await read_model(request, TextBody, MAX_DOCUMENT_BYTES * _ESCAPED)
        return await run_in_threadpool(lambda: _operations(*typed(drafts, workflow_id, body.seq, body.text)))

    @router.get(
        "/drafts/{workflow_id}/diff", summary="Compare a draft", response_model=DiffOut,
        responses=documented(400, 401, 404, 503), tags=_TAGS,
    )
    def compare_draft(workflow_id: str, query: Annotated[DiffQuery, Query()]) -> Response:
        """Returns what differs between the draft and its base, or a version, by node and by line of the text."""
        version = None if query.against == "base" else int(query.against)
        at, found = diff(drafts, workflow_id, version, query.seq)
        return reply({"epoch": at.head.epoch, "seq": at.seq, **found._asdict()})

    @router.get(
        "/drafts/{workflow_id}/history", summary="Read the history of a draft", response_model=HistoryOut,
        responses=documented(400, 401, 404, 503), tags=_TAGS,
    )
    def read_draft_history(workflow_id: str, query: Annotated[HistoryQuery, Query()]) -> Response:
        """Returns who did what, the newest first."""
        at, entries, following = history(drafts, workflow_id, query.before, query.limit)
        return reply({"epoch": at.head.epoch, "entries": [_entry(entry) for entry in entries], "next_before": following})

    @router.get(
        "/drafts/{workflow_id}/conflicts", summary="List the conflicts of a draft", response_model=ConflictsOut,
        responses=documented(401, 404, 503), tags=_TAGS,
    )
    def read_draft_conflicts(workflow_id: str) -> Response:
        """Returns the differences of the file, or of a version that was published meanwhile, at places that the draft has changed
        too: each with three values, until a person decides."""
        at, found = conflicts(drafts, workflow_id)
        return reply({"epoch": at.head.epoch, "seq": at.seq, "conflicts": found})

    @router.post(
        "/drafts/{workflow_id}/restore", summary="Read the way back to a former state of a draft", response_model=GesturesOut,
        openapi_extra=documented_body(RestoreBody), responses=documented(400, 401, 403, 404, 413, 415, 422, 503), tags=_TAGS,
    )  # fmt: skip
    async def restore_draft(workflow_id: str, request: Request) -> Response:
        """Returns the writes that restore a draft to an entry or a version: one operation, which the client sends as
        any other."""
        body = await read_model(request, RestoreBody, MAX_INTENT_BYTES)
        if (body.version is None) == (body.seq is None):
            raise InvalidRequest("give either `version` or `seq`", place="version", mend="leave one of them out")
        made = partial(restore, drafts, workflow_id, version=body.version, seq=body.seq)
        return await run_in_threadpool(lambda: _operations(*made()))


def add_settling(router: APIRouter, drafts: DraftVerbs, sessions: DraftSessions) -> None:
    @router.post(
        "/drafts/{workflow_id}/conflicts", summary="Decide a conflict of a draft", response_model=GesturesOut,
        openapi_extra=documented_body(ConflictBody), responses=documented(400, 401, 403, 404, 409, 413, 415, 422, 503),
        tags=_TAGS,
    )  # fmt: skip
    async def settle_draft_conflict(workflow_id: str, request: Request) -> Response:
        """Closes a conflict. With `take` `file`, returns the writes that give the draft the content of the file, which the client
        sends as any other gesture."""
        body = await read_model(request, ConflictBody, MAX_INTENT_BYTES)
        made = await run_in_threadpool(partial(settle, drafts, workflow_id, body.key, body.path, body.take))
        sessions.rebased(workflow_id)
        return _operations(*made)


async def took_in(drafts: DraftVerbs, sessions: DraftSessions, workflow_id: str) -> None:
    """Brings a version that was published past the draft into it."""
    item = await run_in_threadpool(take_in_version, drafts, workflow_id)
    if item is not None:
        await sessions.announce(drafts.drafting.head(workflow_id).draft, item)
    sessions.rebased(workflow_id)


def add_publishing(router: APIRouter, drafts: DraftVerbs, sessions: DraftSessions, log: AuditLog) -> None:
    @router.post(
        "/drafts/{workflow_id}/publish", summary="Publish a draft", response_model=PublishedDraftOut,
        openapi_extra=documented_body(PublishBody), responses=documented(400, 401, 403, 404, 409, 413, 415, 422, 503), tags=_TAGS,
    )  # fmt: skip
    async def publish_draft(workflow_id: str, request: Request) -> Response:
        """Publishes the draft as it was after item `seq`; later edits stay in the draft, whose base is this version then. 422:
        the findings, each with the `key` of its block. 409 version_moved: another version than that of the base is the
        newest."""
        body = await read_model(request, PublishBody, MAX_INTENT_BYTES)
        facts = {"seq": body.seq, **({"message": body.message} if body.message else {})}
        await note(log, request, facts)
        came: list[LogEntry] = []
        write = partial(_written, drafts, came) if drafts.files is not None else None
        try:
            made = await run_in_threadpool(
                partial(publish, drafts, workflow_id, body.seq, body.message, person_of(request), write=write)
            )
        except VersionMoved:
            await took_in(drafts, sessions, workflow_id)
            raise
        except DraftRefused as error:
            return refusal_of(error)
        finally:
            for item in came:
                await sessions.announce(drafts.drafting.head(workflow_id).draft, item)
        warnings = [{**finding_out(finding), "key": key} for finding, key in made.warnings]
        return reply({"version": made.version.number, "hash": made.version.hash, "seq": made.seq, "warnings": warnings})


def refusal_of(error: DraftRefused) -> Response:
    """Returns the problem document of a draft with errors: each finding has the `key` of its block."""
    problem: dict[str, Any] = {**problem_of(error)}
    keys = zip(problem["findings"], error.keys, strict=True)
    problem["findings"] = [{**finding, "key": key} for finding, key in keys]
    return Response(encode(problem), 422, {"cache-control": "no-store"}, MEDIA_TYPE)


def add_saving(router: APIRouter, drafts: DraftVerbs, files: Files, sessions: DraftSessions, log: AuditLog) -> None:
    @router.post(
        "/drafts/{workflow_id}/save", summary="Save a draft to its file", response_model=SavedDraftOut,
        openapi_extra=documented_body(SaveBody), responses=documented(400, 401, 403, 404, 409, 413, 415, 422, 503), tags=_TAGS,
    )  # fmt: skip
    async def save_draft(workflow_id: str, request: Request) -> Response:
        """Writes the draft, as it was after item `seq`, to the file that it was read from, and what has no place in it to
        `<file>.layout.json`. The server then publishes the file. 409 file_changed: another program has changed the file; its
        changes are in the draft now. 409 files_claim_id: several files have the id; `file` chooses one."""
        body = await read_model(request, SaveBody, MAX_INTENT_BYTES)
        await note(log, request, {"seq": body.seq, **({"file": body.file} if body.file else {})})

        def work() -> tuple[Saved | None, LogEntry | None]:
            return save(drafts, files, drafts.at(workflow_id, body.seq), body.file)

        saved, item = await run_in_threadpool(work)
        if item is not None:
            await sessions.announce(drafts.drafting.head(workflow_id).draft, item)
        sessions.rebased(workflow_id)
        if saved is None:
            raise conflict_of(body.file or "the file")
        return reply(saved._asdict())


def _written(drafts: DraftVerbs, came: list[LogEntry], at: At) -> str:
    """Saves a draft before it is published; adds the item with which a changed file came in."""
    assert drafts.files is not None
    saved, item = save(drafts, drafts.files, at)
    came.extend([item] if item is not None else [])
    if saved is None:
        raise conflict_of("the file")
    return saved.file


def _operations(at: At, operations: Sequence[Operation]) -> Response:
    return reply({"epoch": at.head.epoch, "seq": at.seq, "gestures": [operation_out(operation) for operation in operations]})


def _entry(entry: HistoryEntry) -> dict[str, Any]:
    made: dict[str, Any] = {
        "from": entry.first, "to": entry.last, "at": instant(entry.at_ms), "until": instant(entry.until_ms), "by": entry.by,
        "changes": list(entry.changes),
    }  # fmt: skip
    return {**made, "refused": entry.refused} if entry.refused else made
