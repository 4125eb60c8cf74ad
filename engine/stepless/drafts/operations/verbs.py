"""Implements the operations on drafts, as HTTP and the console call them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple, Protocol

from stepless.compile import parse
from stepless.compile.canonical import content_hash, json_findings
from stepless.drafts.log.draft_logs import DraftLogs
from stepless.drafts.log.entries import Answer, LogEntry
from stepless.drafts.log.origins import EMPTY, Origins
from stepless.drafts.log.records import storage_of
from stepless.drafts.log.rules_adapter import Rules
from stepless.drafts.rules.document import to_document
from stepless.drafts.rules.messages import Malformed, read_request
from stepless.drafts.rules.state import Entities, named_in, snapshot
from stepless.errors import Conflict, DocumentRefused, InvalidRequest, NotFound
from stepless.limits import MAX_ID_CHARACTERS, SEQUENCING_TRIES
from stepless.model.findings import Finding
from stepless.model.json import JSON
from stepless.model.stored.version_metadata import decode_attached
from stepless.model.texts.ids import is_slug
from stepless.ports import Draft, DraftHead, Page, StoredVersion
from stepless.runtime.id_suggestions import unknown_workflow
from stepless.runtime.world import World


@dataclass(frozen=True, slots=True)
class Shown:
    """A draft as of an entry: its head, and its entities by key."""

    head: DraftHead
    seq: int
    entities: Mapping[str, JSON]


class At(NamedTuple):
    """A draft as of entry `seq`; `last` is the entry at the end of its log. The state is a copy."""

    head: DraftHead
    seq: int
    state: Entities
    last: int


class _Read(NamedTuple):
    """A file of the folder."""

    name: str
    document: dict[str, JSON]
    text: str
    layout: Mapping[str, JSON] | None


class Files(Protocol):
    """The folder of the workflows. Names are paths below it, with slashes."""

    def holding(self, workflow_id: str) -> Sequence[str]:
        """Returns the names of the documents with this id, sorted."""
        ...

    def read(self, name: str) -> str | None:
        """Returns the text of a file; None if there is none. Raises `InvalidRequest` (file_not_read)."""
        ...

    def layout(self, name: str) -> Mapping[str, JSON] | None:
        """Returns the layout of a file, from `<file>.layout.json`; empty if there is none, None if it is no JSON object."""
        ...

    def write(self, name: str, expected: str | None, text: str) -> bool:
        """Replaces the text `expected` (None: no file) of a file. False, and the file as it was, if it is another one by then:
        nothing that another program has written is lost. Raises `InvalidRequest` (file_not_written, file_outside,
        invalid_file)."""
        ...

    def write_layout(self, name: str, layout: Mapping[str, JSON] | None) -> None:
        """Replaces the layout of a file; None removes it."""
        ...


class DraftVerbs:
    """Safe to use from several threads; one for a process. Every method may raise `StoreUnavailable`, and `Refused`
    (drafts_not_kept) where the store keeps no drafts. `files` is the folder that drafts are saved to, in `stepless dev`."""

    def __init__(self, world: World, files: Files | None = None) -> None:
        self._world = world
        self.files = files
        self._origins = Origins(world.versions, world.blobs, world.kinds)
        self._made: DraftLogs[Entities] | None = None
        self._making = Lock()

    @property
    def world(self) -> World:
        return self._world

    @property
    def origins(self) -> Origins:
        return self._origins

    @property
    def drafting(self) -> DraftLogs[Entities]:
        """The drafts as they are kept. Raises `Refused` (drafts_not_kept)."""
        return self._drafting

    @property
    def _drafting(self) -> DraftLogs[Entities]:
        with self._making:
            if self._made is None:
                rules = Rules(self._origins.read, self._origins.is_container)
                self._made = DraftLogs(storage_of(self._world.drafts, self._world.blobs, self._world.clock), rules)
            return self._made

    # -- drafts -----------------------------------------------------------------------------------------------------

    def open_version(self, workflow_id: str, number: int | None, by: str) -> Shown:
        """Opens a draft from a published version, the newest without a `number`; replaces one that is open. Raises `NotFound`
        (unknown_workflow) and what `DraftLogs.open` raises."""
        found = self._world.store.get_version(workflow_id, number)
        if found is None:
            raise unknown_workflow(self._world.store, workflow_id, what=f"{workflow_id}@{number}" if number is not None else "")
        from_file = self._file_of(found) if number is None else None
        if from_file is not None:
            return self.open_document(workflow_id, from_file.document, from_file.text, by, from_file.layout, from_file.name)
        attached = decode_attached(self._world.store.get_attached(workflow_id, found.number))
        origin = self._origins.of_version(found, attached)
        newest = self._world.store.newest_version(workflow_id)
        known = {"newest": newest.number} if newest is not None and newest.number != found.number else {}
        self._drafting.open(workflow_id, origin, by, {**origin, **known})
        return self.show(workflow_id)

    def _file_of(self, version: StoredVersion) -> _Read | None:
        """The one file that has this version."""
        names = self.files.holding(version.workflow_id) if self.files is not None else ()
        if self.files is None or len(names) != 1 or (text := self.files.read(names[0])) is None:
            return None
        document = dict(parse(text))
        if content_hash(document) != version.hash:
            return None
        return _Read(names[0], document, text, self.files.layout(names[0]))

    def open_document(
        self, workflow_id: str, document: Mapping[str, JSON], text: str | None, by: str,
        layout: Mapping[str, JSON] | None = None, file: str | None = None,
    ) -> Shown:
        """Opens a draft from a document, valid or not; with `file`, which has it, it is the base. Raises `DocumentRefused` for
        a value that is not JSON, `InvalidRequest` (id_mismatch, invalid_workflow_id), and what `DraftLogs.open` raises."""
        _check_id(workflow_id)
        if document.get("id", workflow_id) != workflow_id:
            message = f"the document is of another workflow than {workflow_id}"
            raise InvalidRequest(message, code="id_mismatch", status=422, place="document.id", mend="use the same id in both")
        findings = list(json_findings(document))
        if findings:
            raise DocumentRefused(findings)
        whole = {"id": workflow_id, **document}
        origin = self._origins.of_document(workflow_id, whole, text, layout)
        self._drafting.open(workflow_id, origin, by, self._base_of(workflow_id, origin, file))
        return self.show(workflow_id)

    def open_empty(self, workflow_id: str, by: str) -> Shown:
        """Opens a draft without a node. Raises `InvalidRequest` (invalid_workflow_id), and what `DraftLogs.open` raises."""
        _check_id(workflow_id)
        self._drafting.open(workflow_id, EMPTY, by, self._base_of(workflow_id, EMPTY, None))
        return self.show(workflow_id)

    def _base_of(self, workflow_id: str, origin: JSON, file: str | None) -> JSON:
        """The origin as a base: with the file that it is of, and the newest version, which publication must not pass over."""
        newest = self._world.store.newest_version(workflow_id)
        known = {} if newest is None else {"newest": newest.number}
        return {**({} if file is None else {"file": file}), **origin, **known}

    def discard(self, workflow_id: str, by: str) -> Draft:
        """Returns the discarded draft. Raises as `DraftLogs.discard` does."""
        return self._drafting.discard(workflow_id, by)

    def each(self, limit: int, cursor: str | None) -> Page[DraftHead]:
        """Returns the open drafts, by workflow. A page may have fewer than `limit`."""
        page = storage_of(self._world.drafts, self._world.blobs, self._world.clock).drafts.list_heads(limit=limit, cursor=cursor)
        return Page(tuple(head for head in page.items if head.is_open), page.cursor)

    def show(self, workflow_id: str) -> Shown:
        """Returns the draft at the end of its log. Raises `NotFound` (unknown_draft)."""
        for _ in range(SEQUENCING_TRIES):
            warm = self._drafting.current(workflow_id)
            head = self._drafting.head(workflow_id)
            if head.draft == warm.draft:
                with warm.lock:
                    return Shown(head, warm.seq, snapshot(warm.state))
        raise Conflict("others keep replacing the draft", code="draft_busy", place=f"draft of {workflow_id}", mend="try again")

    def document(self, workflow_id: str, seq: int | None = None) -> tuple[At, dict[str, JSON]]:
        """Returns the document as of an entry, the end of the log without one. Raises as `at` does."""
        at = self.at(workflow_id, seq)
        return at, to_document(at.state)

    def findings(self, workflow_id: str, seq: int | None = None) -> tuple[At, Sequence[tuple[Finding, str | None]]]:
        """Returns the findings of publishing as of an entry: each with the key of the block that it is about. Raises as `at`
        does."""
        from stepless.compile.compiler import check_document  # imported late: only a check loads all checks

        at = self.at(workflow_id, seq)
        found = check_document(to_document(at.state), self._world.kinds)
        return at, [(finding, block_of(at.state, finding)) for finding in found]

    def at(self, workflow_id: str, seq: int | None = None) -> At:
        """Returns the draft as of an entry, at the end of the log without one: a copy, since what is made of it takes longer than
        others should wait. Raises `NotFound`: unknown_draft, or unknown_item for one that the log does not have, or not any
        more."""
        for _ in range(SEQUENCING_TRIES):
            warm = self._drafting.current(workflow_id)
            head = self._drafting.head(workflow_id)
            if head.draft != warm.draft:
                continue
            with warm.lock:
                last, entities = warm.seq, snapshot(warm.state)
            if seq is None or seq == last:
                return At(head, last, Entities(entities), last)
            if not 0 <= seq < last:
                message = f"the log ends with item {last:,}"
                raise NotFound(message, code="unknown_item", place=f"draft of {workflow_id}", mend="take an earlier one")
            return At(head, seq, self._drafting.state_at(head, seq), last)
        raise Conflict("others keep replacing the draft", code="draft_busy", place=f"draft of {workflow_id}", mend="try again")

    # -- editing ----------------------------------------------------------------------------------------------------

    def submit(self, draft: Draft, message: JSON, by: str) -> LogEntry | Answer:
        """Commits a request. Raises `InvalidRequest` (malformed_intent) with the place, `NotFound` (unknown_draft)."""
        try:
            request = read_request(message)
        except Malformed as error:
            mend = "send it as the console does: docs/understand/drafts.md has the form"
            raise InvalidRequest(error.message, code="malformed_intent", place=error.place, mend=mend) from error
        return self._drafting.commit(draft, request, by)

    def after(self, draft: Draft, seq: int) -> None:
        """See `DraftLogs.after`."""
        self._drafting.after(draft, seq)

    def checkpoint(self, workflow_id: str) -> None:
        """See `DraftLogs.checkpoint`."""
        self._drafting.checkpoint(workflow_id)

    def sweep(self, idle_ms: int, until_ms: int | None = None) -> None:
        """See `DraftLogs.sweep`."""
        self._drafting.sweep(idle_ms, until_ms)

    def now_ms(self) -> int:
        """Returns the clock that the log has its times from."""
        return self._world.clock.now_ms()

    def entries(self, draft: Draft, after: int, limit: int) -> tuple[Sequence[LogEntry], int, bool]:
        """Entries above `after`, the end of the log, and True; nothing and False if the epoch has ended. Raises `NotFound`
        (unknown_draft)."""
        warm = self._drafting.current(draft.workflow_id)
        if warm.draft != draft:
            return [], 0, False
        entries = self._drafting.entries(draft, after, limit) if after < warm.seq else []
        return entries, max(warm.seq, entries[-1].seq if entries else 0), True


def _check_id(workflow_id: str) -> None:
    if not is_slug(workflow_id):
        message = f"the id of a workflow has at most {MAX_ID_CHARACTERS} lower-case letters, digits and hyphens"
        raise InvalidRequest(message, code="invalid_workflow_id", place="workflow_id", mend="use an id like refund-approval")


def block_of(state: Entities, finding: Finding) -> str | None:
    """Returns the key of the block that a finding is about: its path names the nodes from the outside in."""
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
