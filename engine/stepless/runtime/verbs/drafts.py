"""The verbs of drafts, as HTTP and the console call them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Final

from stepless.compile.canonical import json_findings
from stepless.editing.document import to_document
from stepless.editing.messages import Malformed, read_intent
from stepless.editing.state import Entities, named_in, snapshot
from stepless.errors import Conflict, DocumentRefused, InvalidRequest
from stepless.limits import MAX_ID_CHARACTERS, SEQUENCING_TRIES
from stepless.model.findings import Finding
from stepless.model.json import JSON
from stepless.model.packing import unpack
from stepless.ports import Draft, DraftHead, Page
from stepless.runtime.drafts.drafting import Drafting
from stepless.runtime.drafts.items import Answer, Intent, Item
from stepless.runtime.drafts.origins import EMPTY, Origins
from stepless.runtime.drafts.records import storage_of
from stepless.runtime.drafts.rules import Rules
from stepless.runtime.nearest import unknown_workflow
from stepless.runtime.world import World

_WORKFLOW_ID: Final = re.compile(rf"[a-z0-9][a-z0-9-]{{0,{MAX_ID_CHARACTERS - 1}}}")


@dataclass(frozen=True, slots=True)
class Shown:
    """A draft as of an item: its head, and its entities by key."""

    head: DraftHead
    seq: int
    entities: Mapping[str, JSON]


class DraftVerbs:
    """Safe to use from several threads; one for a process. Every method may raise `StoreUnavailable`, and `Refused`
    (drafts_not_kept) where the store keeps no drafts."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._origins = Origins(world.versions, world.blobs, world.kinds)
        self._made: Drafting[Entities] | None = None
        self._making = Lock()

    @property
    def _drafting(self) -> Drafting[Entities]:
        with self._making:
            if self._made is None:
                rules = Rules(self._origins.read, self._origins.is_container)
                self._made = Drafting(storage_of(self._world.drafts, self._world.blobs, self._world.clock), rules)
            return self._made

    # -- drafts -----------------------------------------------------------------------------------------------------

    def open_version(self, workflow_id: str, number: int | None, by: str) -> Shown:
        """Opens a draft from a published version, the newest without a `number`; replaces one that is open. Raises `NotFound`
        (unknown_workflow) and what `Drafting.open` raises."""
        found = self._world.store.get_version(workflow_id, number)
        if found is None:
            raise unknown_workflow(self._world.store, workflow_id, what=f"{workflow_id}@{number}" if number is not None else "")
        self._drafting.open(workflow_id, self._origins.of_version(found), by)
        return self.show(workflow_id)

    def open_document(self, workflow_id: str, document: Mapping[str, JSON], text: str | None, by: str) -> Shown:
        """Opens a draft from a document, valid or not. Raises `DocumentRefused` for a value that is not JSON, `InvalidRequest`
        (id_mismatch, invalid_workflow_id), and what `Drafting.open` raises."""
        _check_id(workflow_id)
        if document.get("id", workflow_id) != workflow_id:
            message = f"the document is of another workflow than {workflow_id}"
            raise InvalidRequest(message, code="id_mismatch", status=422, place="document.id", mend="use the same id in both")
        findings = list(json_findings(document))
        if findings:
            raise DocumentRefused(findings)
        whole = {"id": workflow_id, **document}
        self._drafting.open(workflow_id, self._origins.of_document(workflow_id, whole, text), by)
        return self.show(workflow_id)

    def open_empty(self, workflow_id: str, by: str) -> Shown:
        """Opens a draft without a node. Raises `InvalidRequest` (invalid_workflow_id), and what `Drafting.open` raises."""
        _check_id(workflow_id)
        self._drafting.open(workflow_id, EMPTY, by)
        return self.show(workflow_id)

    def discard(self, workflow_id: str, by: str) -> Draft:
        """Returns the draft that is over. Raises as `Drafting.discard` does."""
        return self._drafting.discard(workflow_id, by)

    def each(self, limit: int, cursor: str | None) -> Page[DraftHead]:
        """The open drafts, by workflow. A page may have fewer than `limit`."""
        page = storage_of(self._world.drafts, self._world.blobs, self._world.clock).drafts.list_heads(limit=limit, cursor=cursor)
        return Page(tuple(head for head in page.items if head.is_open), page.cursor)

    def show(self, workflow_id: str) -> Shown:
        """The draft at the end of its log. Raises `NotFound` (unknown_draft)."""
        for _ in range(SEQUENCING_TRIES):
            room = self._drafting.current(workflow_id)
            head = self._drafting.head(workflow_id)
            if head.draft == room.draft:
                with room.lock:
                    return Shown(head, room.seq, snapshot(room.state))
        raise Conflict("others keep replacing the draft", code="draft_busy", place=f"draft of {workflow_id}", mend="try again")

    def document(self, workflow_id: str) -> tuple[int, dict[str, JSON]]:
        """The item at the end of the log, and the document as of it. Raises `NotFound` (unknown_draft)."""
        seq, state = self._copy(workflow_id)
        return seq, to_document(state)

    def findings(self, workflow_id: str) -> tuple[int, Sequence[tuple[Finding, str | None]]]:
        """The item at the end of the log, and what publishing would say: each finding, with the key of the block that it is
        about. Raises `NotFound` (unknown_draft)."""
        from stepless.compile.compiler import check_document  # imported late: only a check loads all checks

        seq, state = self._copy(workflow_id)
        return seq, [(finding, _block(state, finding)) for finding in check_document(to_document(state), self._world.kinds)]

    def _copy(self, workflow_id: str) -> tuple[int, Entities]:
        """The state as of now: what is made of it takes longer than others should wait."""
        room = self._drafting.current(workflow_id)
        with room.lock:
            seq, entities = room.seq, snapshot(room.state)
        return seq, Entities(entities)

    # -- editing ----------------------------------------------------------------------------------------------------

    def submit(self, draft: Draft, message: JSON, by: str) -> Item | Answer:
        """Commits an intent. Raises `InvalidRequest` (malformed_intent) with the place, `NotFound` (unknown_draft)."""
        try:
            intent = read_intent(message)
        except Malformed as error:
            mend = "send it as the console does: docs/drafts.md has the form"
            raise InvalidRequest(error.message, code="malformed_intent", place=error.place, mend=mend) from error
        asked = Intent(intent.client, intent.n, intent.tag, intent.base, intent.gestures)
        return self._drafting.submit(draft, asked, by)

    def after(self, draft: Draft, seq: int) -> None:
        """See `Drafting.after`."""
        self._drafting.after(draft, seq)

    def checkpoint(self, workflow_id: str) -> None:
        """See `Drafting.checkpoint`."""
        self._drafting.checkpoint(workflow_id)

    def sweep(self, idle_ms: int, until_ms: int | None = None) -> None:
        """See `Drafting.sweep`."""
        self._drafting.sweep(idle_ms, until_ms)

    def items(self, draft: Draft, after: int, limit: int) -> tuple[Sequence[Item], int, bool]:
        """Items above `after`, the end of the log, and True; nothing and False if the epoch is over. Raises `NotFound`
        (unknown_draft)."""
        room = self._drafting.current(draft.workflow_id)
        if room.draft != draft:
            return [], 0, False
        items = self._drafting.items(draft, after, limit) if after < room.seq else []
        return items, max(room.seq, items[-1].seq if items else 0), True


def origin_of(head: DraftHead) -> JSON:
    return unpack(head.origin)


def base_of(head: DraftHead) -> JSON:
    return unpack(head.base)


def _check_id(workflow_id: str) -> None:
    if not _WORKFLOW_ID.fullmatch(workflow_id):
        message = f"the id of a workflow has at most {MAX_ID_CHARACTERS} lower-case letters, digits and hyphens"
        raise InvalidRequest(message, code="invalid_workflow_id", place="workflow_id", mend="use an id like refund-approval")


def _block(state: Entities, finding: Finding) -> str | None:
    """The block that a finding is about: its path names the nodes from the outside in."""
    key: str | None = None
    parts = iter(finding.path.split("."))
    for part in parts:
        if part == "nodes":
            name = next(parts, None)
            inside = key.partition("/")[2] if key else None
            found = next(iter(state.found(named_in(inside, name))), None)
            if found is None:
                return key
            key = found
    return key
