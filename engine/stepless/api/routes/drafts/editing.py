"""Serves the routes for drafts: open, read, edit, discard."""

from __future__ import annotations

import gzip
from enum import Enum
from functools import partial
from hashlib import sha256
from typing import Annotated, Any, Final, Literal, NotRequired

from fastapi import APIRouter, Query, Request
from pydantic import ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from typing_extensions import TypedDict

from stepless.api.bodies import documented_body, is_json, media_type, read_body, read_model, unsupported
from stepless.api.draft_sessions.sessions import DraftSessions, person_of
from stepless.api.problems import documented
from stepless.api.replies import damaged, finding_out, fitting, instant, page, reply
from stepless.api.requests import Body, ListQuery
from stepless.api.responses.general import DamageOut, FindingOut
from stepless.compile.reading.strict_json import strict_json
from stepless.drafts.log.entries import LogEntry
from stepless.drafts.log.heads import base_of, origin_of
from stepless.drafts.operations.bases import standing
from stepless.drafts.operations.fixes import Checked, checked
from stepless.drafts.operations.texts import operation_out
from stepless.drafts.operations.verbs import DraftVerbs, Shown
from stepless.drafts.sessions.messages import answer_out, item_out
from stepless.errors import Conflict, Damaged, InvalidRequest, NotFound
from stepless.limits import (
    MAX_BEHIND_ITEMS,
    MAX_COUNT,
    MAX_DOCUMENT_BYTES,
    MAX_INTENT_BYTES,
    MAX_LONG_POLL_MS,
    MAX_VERSION,
    NEAR_REQUEST_BYTES,
)
from stepless.model.json import JSON
from stepless.model.stored.damage import Damage
from stepless.model.stored.encoding import encode
from stepless.ports import Draft, DraftHead

_TAGS: Final[list[str | Enum]] = ["drafts"]
_METHODS: Final = ["GET", "POST", "PUT", "DELETE"]
_TAG_CHARACTERS: Final = 12
_PACKED_BYTES: Final = 4_096  # of a draft that is sent compressed
_SHOWN: Final = ("version", "hash", "file")  # of a base
_REQUEST: Final = {
    "type": "object", "description": "docs/understand/drafts.md has the form",
    "required": ["epoch", "client", "n", "tag", "base", "gestures"],
    "properties": {
        "epoch": {"type": "integer"}, "client": {"type": "string"}, "n": {"type": "integer"}, "tag": {"type": "string"},
        "base": {"type": "integer"}, "gestures": {"type": "array", "items": {"type": "object"}},
        "first": {"type": "string"},
    },
}  # fmt: skip
_REQUEST_BODY: Final = {"requestBody": {"required": True, "content": {"application/json": {"schema": _REQUEST}}}}


class DraftOut(TypedDict):
    """The draft of a workflow. `epoch` counts how often it was opened, replaced or discarded; `base` is what it is compared
    with: a version, a document, or nothing."""

    workflow: str
    epoch: int
    origin: dict[str, Any]
    base: dict[str, Any]
    created_at: str
    created_by: str


class ListedDraftOut(DraftOut):
    """With `damage`, the draft is damaged in the store and cannot be opened."""

    damage: NotRequired[DamageOut]


class DraftsOut(TypedDict):
    drafts: list[ListedDraftOut]
    cursor: str | None


class SaveOut(TypedDict):
    """Whether the draft can be saved, which only `stepless dev` does; to which file; and whether that has another text than the
    draft was last read from or saved to."""

    possible: bool
    file: str | None
    differs: bool


class OpenDraftOut(DraftOut):
    """`entities` are the parts of the draft by key, as of item `seq` of its log. `newest` is the newest published version, null
    if there is none; `conflicts` counts what differs from the file or from that version until a person decides. `roles` are those
    of the caller."""

    seq: int
    newest: int | None
    conflicts: int
    save: SaveOut
    roles: list[str]
    entities: dict[str, Any]


class ItemsOut(TypedDict):
    """`head` is the last item of the log, which may be further than the last one here."""

    items: list[dict[str, Any]]
    head: int


class SubmittedOut(TypedDict, total=False):
    """`item`: what the log holds of this intent. `answer`: why it holds nothing; `n` stays free, and the intent can be sent
    again."""

    item: dict[str, Any]
    answer: dict[str, Any]


class FixOut(TypedDict):
    """The operation that fixes a finding; `label` is the text of a button. Send it as it is, under the epoch of the findings."""

    label: str
    writes: list[list[Any]]
    guards: NotRequired[list[list[Any]]]


class DraftFindingOut(FindingOut):
    """`key` is the block that the finding is about, null for the workflow itself. `fix` is there where the fix
    is known exactly."""

    fix: NotRequired[FixOut]


class DraftFindingsOut(TypedDict):
    epoch: int
    seq: int
    findings: list[DraftFindingOut]


class DocumentOfDraftOut(TypedDict):
    epoch: int
    seq: int
    document: dict[str, Any]


class DiscardedOut(TypedDict):
    """The epoch that has ended."""

    workflow: str
    epoch: int


class OpenBody(Body):
    """What the draft is opened from: a published `version` (the newest, if it has no number), a `document`, which may be invalid,
    with the `text` that it was read from, or nothing (`empty`). A draft that is open already is replaced."""

    from_: Literal["version", "document", "empty"] = Field("version", alias="from")
    version: int | None = Field(None, ge=1, le=MAX_VERSION)
    document: dict[str, Any] | None = None
    text: str | None = Field(None, max_length=MAX_DOCUMENT_BYTES)


class SeqQuery(Body):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)

    seq: Annotated[int | None, Field(ge=0, le=MAX_COUNT)] = None


class OpsQuery(Body):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)

    epoch: Annotated[int, Field(ge=1, le=MAX_COUNT)]
    after: Annotated[int, Field(ge=0, le=MAX_COUNT)] = 0
    limit: Annotated[int, Field(ge=1, le=MAX_BEHIND_ITEMS)] = 200
    wait: Annotated[float, Field(ge=0, le=MAX_LONG_POLL_MS / 1000)] = 0


def add_routes(router: APIRouter, drafts: DraftVerbs, sessions: DraftSessions) -> None:
    _add_reading(router, drafts, sessions)

    @router.post(
        "/drafts/{workflow_id}", summary="Open a draft", response_model=OpenDraftOut, openapi_extra=documented_body(OpenBody),
        responses=documented(400, 401, 403, 404, 409, 413, 415, 422, 503), tags=_TAGS,
    )
    async def open_draft(workflow_id: str, request: Request) -> Response:
        """Opens a draft of a workflow. Others who edit a draft that this replaces keep what they have not sent, and decide what
        becomes of it."""
        body = await read_model(request, OpenBody, MAX_DOCUMENT_BYTES)
        by = person_of(request)
        if body.from_ == "document":
            if body.document is None:
                raise InvalidRequest("`document` is missing", place="document", mend="send the document, or another `from`")
            made = partial(drafts.open_document, workflow_id, body.document, body.text, by)
        elif body.from_ == "version":
            made = partial(drafts.open_version, workflow_id, body.version, by)
        else:
            made = partial(drafts.open_empty, workflow_id, by)
        shown = await run_in_threadpool(made)
        await sessions.announce(Draft(workflow_id, shown.head.epoch - 1), None)
        return await run_in_threadpool(_reply, drafts, shown, request)

    @router.delete(
        "/drafts/{workflow_id}", summary="Discard a draft", response_model=DiscardedOut,
        responses=documented(401, 403, 404, 409, 503), tags=_TAGS,
    )  # fmt: skip
    async def discard_draft(workflow_id: str, request: Request) -> Response:
        """Discards the draft for everyone. Its log is kept for a year."""
        over = await run_in_threadpool(drafts.discard, workflow_id, person_of(request))
        await sessions.announce(over, None)
        return reply({"workflow": over.workflow_id, "epoch": over.epoch})


def add_absence(router: APIRouter) -> None:
    """Adds the answer of every address of a draft on a server that keeps no drafts."""

    @router.api_route("/drafts", methods=_METHODS, include_in_schema=False)
    @router.api_route("/drafts/{path:path}", methods=_METHODS, include_in_schema=False)
    def refuse_draft() -> Response:
        raise NotFound("this server has no drafts", code="no_drafts", mend="deploy it with `Console: yes`")


def add_editing(router: APIRouter, sessions: DraftSessions) -> None:
    """Adds the routes that the log of the draft records itself, with person and time: the audit log has no entry for them."""

    @router.put(
        "/drafts/{workflow_id}/ops", summary="Edit a draft", response_model=SubmittedOut, openapi_extra=_REQUEST_BODY,
        responses=documented(400, 401, 403, 404, 413, 415, 503), tags=_TAGS,
    )  # fmt: skip
    async def edit_draft(workflow_id: str, request: Request) -> Response:
        """Commits the gestures of one client, in order, each whole or not at all: `{epoch, client, n, tag, base, gestures}`. The
        same `client`, `n` and `tag` again return the same item. The form of a gesture is described in
        docs/understand/drafts.md."""
        data = await read_body(request, MAX_INTENT_BYTES)
        if not is_json(kind := media_type(request)):
            raise unsupported(kind, "application/json")
        is_large = len(data) > NEAR_REQUEST_BYTES
        message = await run_in_threadpool(strict_json, data) if is_large else strict_json(data)
        epoch = message.get("epoch") if isinstance(message, dict) else None
        if type(epoch) is not int or not 1 <= epoch <= MAX_COUNT:
            raise InvalidRequest("`epoch` is missing", code="malformed_intent", place="epoch", mend="send that of the draft")
        made = await sessions.submit(Draft(workflow_id, epoch), message, person_of(request))
        answer = {"item": item_out(made)} if isinstance(made, LogEntry) else {"answer": answer_out(message, made)}
        return await run_in_threadpool(reply, answer) if is_large else reply(answer)


def _add_reading(router: APIRouter, drafts: DraftVerbs, sessions: DraftSessions) -> None:
    @router.get("/drafts", summary="List drafts", response_model=DraftsOut, responses=documented(400, 401, 503), tags=_TAGS)
    def list_drafts(query: Annotated[ListQuery, Query()]) -> Response:
        """Lists the open drafts, by workflow."""
        page = drafts.each(query.limit, query.cursor)
        return reply({"drafts": [_listed(head) for head in page.items], "cursor": page.cursor})

    @router.get(
        "/drafts/{workflow_id}", summary="Read a draft", response_model=OpenDraftOut,
        responses={304: {"description": "As it was when the client read it"}, **documented(401, 404, 409, 503)}, tags=_TAGS,
    )  # fmt: skip
    def read_draft(workflow_id: str, request: Request) -> Response:
        """Returns the whole draft at the end of its log. `GET /drafts/{id}/ops` continues from there. `If-None-Match` with the
        `ETag` of an earlier response saves the transfer."""
        return _reply(drafts, drafts.show(workflow_id), request)

    @router.get(
        "/drafts/{workflow_id}/ops", summary="Follow a draft", response_model=ItemsOut,
        responses=documented(400, 401, 404, 409, 503), tags=_TAGS,
    )
    async def read_ops(workflow_id: str, query: Annotated[OpsQuery, Query()]) -> Response:
        """Returns the items after `after`, in order; waits up to `wait` seconds for the next one. 409 draft_replaced: the epoch
        is over."""
        draft = Draft(workflow_id, query.epoch)
        items, head, current = await sessions.follow(draft, query.after, query.limit, query.wait)
        if not current:
            mend = "read the draft again"
            message = "the draft was replaced or discarded"
            raise Conflict(message, code="draft_replaced", place=f"draft of {workflow_id}", mend=mend)
        return page("items", await run_in_threadpool(fitting, items, item_out), head=head)

    @router.get(
        "/drafts/{workflow_id}/document", summary="Read the document of a draft", response_model=DocumentOfDraftOut,
        responses=documented(400, 401, 404, 503), tags=_TAGS,
    )
    def read_draft_document(workflow_id: str, query: Annotated[SeqQuery, Query()]) -> Response:
        """Returns the workflow document as the draft has it, valid or not: after the item `seq`, or now."""
        at, document = drafts.document(workflow_id, query.seq)
        return reply({"epoch": at.head.epoch, "seq": at.seq, "document": document})

    @router.get(
        "/drafts/{workflow_id}/findings", summary="Check a draft", response_model=DraftFindingsOut,
        responses=documented(400, 401, 404, 503), tags=_TAGS,
    )
    def read_draft_findings(workflow_id: str, query: Annotated[SeqQuery, Query()]) -> Response:
        """Returns what publishing would refuse or warn about: after the item `seq`, or now."""
        at, found = checked(drafts, workflow_id, query.seq)
        findings = [_finding(one) for one in found]
        return reply({"epoch": at.head.epoch, "seq": at.seq, "findings": findings})


# -- what is sent ------------------------------------------------------------------------------------------------------


def _finding(one: Checked) -> dict[str, Any]:
    made: dict[str, Any] = {**finding_out(one.finding), "key": one.key}
    if one.operation is not None and one.finding.fix is not None:
        made["fix"] = {"label": one.finding.fix.label, **operation_out(one.operation)}
    return made


def _head(head: DraftHead) -> dict[str, JSON]:
    return {
        "workflow": head.workflow_id, "epoch": head.epoch, "origin": origin_of(head),
        "base": {name: value for name, value in base_of(head).items() if name in _SHOWN},
        "created_at": instant(head.created_ms), "created_by": head.created_by,
    }


def _listed(head: DraftHead) -> dict[str, JSON]:
    """A draft in a list; a damaged one without what it was opened from."""
    try:
        return _head(head)
    except Damaged as error:
        told = damaged(Damage(error.place, error.why, error.mend))
        made: dict[str, JSON] = {"workflow": head.workflow_id, "epoch": head.epoch, "origin": {}, "base": {}}
        return {**made, "created_at": instant(head.created_ms), "created_by": head.created_by, **told}


def _reply(drafts: DraftVerbs, shown: Shown, request: Request) -> Response:
    """The draft, compressed if it is large. The item names the state, so its number is the tag, with what else may change."""
    extra = {**standing(drafts, shown.head), "roles": sorted(request.state.roles)}
    digest = sha256(shown.head.base + encode(extra)).hexdigest()[:_TAG_CHARACTERS]
    tag = f'"{shown.head.epoch}-{shown.seq}-{digest}"'
    headers = {"etag": tag, "vary": "Accept-Encoding", "cache-control": "private, no-cache", "x-content-type-options": "nosniff"}
    if request.method == "GET" and tag in request.headers.get("if-none-match", ""):
        return Response(None, 304, headers)
    data = encode({**_head(shown.head), **extra, "seq": shown.seq, "entities": dict(shown.entities)})
    if len(data) > _PACKED_BYTES and "gzip" in request.headers.get("accept-encoding", ""):
        data, headers["content-encoding"] = gzip.compress(data, 5, mtime=0), "gzip"
    return Response(data, 200, headers, "application/json")
