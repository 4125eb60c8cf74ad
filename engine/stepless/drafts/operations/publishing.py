"""Publishes a draft as a version: as it was after exactly one entry, whatever was edited since."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from stepless.drafts.operations.bases import move_base, read_base
from stepless.drafts.operations.texts import kept_text, shown_text
from stepless.drafts.operations.verbs import At, DraftVerbs, block_of
from stepless.drafts.rules.document import to_document
from stepless.drafts.rules.document.layout import layout_of
from stepless.errors import Conflict, DocumentRefused
from stepless.limits import SEQUENCING_TRIES
from stepless.model.findings import Finding, Severity
from stepless.model.stored.version_metadata import Attached
from stepless.ports import StoredVersion
from stepless.runtime.verbs.publication import publishing
from stepless.runtime.versions import document_of


class Published(NamedTuple):
    version: StoredVersion
    seq: int
    warnings: Sequence[tuple[Finding, str | None]]


class DraftRefused(DocumentRefused):
    """The findings for which a draft is not published; `keys` are the blocks that they are about, in the same order."""

    def __init__(self, findings: Sequence[Finding], keys: Sequence[str | None]) -> None:
        super().__init__(findings)
        self.keys = tuple(keys)


def publish(
    verbs: DraftVerbs, workflow_id: str, seq: int, message: str, by: str, *, write: Callable[[At], str] | None = None
) -> Published:
    """Publishes the draft as of an entry. Its base is the version then, and the epoch stays. `write` saves it to its file first,
    and returns the name of the file, which stays a part of the base.

    Raises `DraftRefused` with every finding, `VersionMoved` if another version than that of the base is the newest, and as
    `DraftVerbs.at`, `write` and `publishing.publish` do. After the version is stored, publishing again completes the rest."""
    at = verbs.at(workflow_id, seq)
    document = to_document(at.state)
    if write is not None:
        _check(verbs, at)  # before the file is written
    file = write(at) if write is not None else None
    base = read_base(verbs, verbs.drafting.head(workflow_id))
    if at.seq < base.seq:
        message = f"the draft as of item {at.seq:,} is older than its base, {base.name}"
        mend = "publish a later item, or restore this one"
        raise Conflict(message, code="version_moved", place=f"workflow {workflow_id}", mend=mend)
    text = shown_text(at.state) if kept_text(at.state) is not None or file is not None else None
    ops = {"epoch": at.head.epoch, "after": min(base.seq, at.seq), "seq": at.seq}
    attached = Attached(text, layout_of(at.state) or {}, by, message, ops)
    try:
        made = publishing.publish(verbs.world, document, attached=attached, expected=base.newest)
    except DocumentRefused as error:
        raise refused(at, error.findings) from error
    verbs.drafting.keep_state_at(at.head.draft, at.seq, at.state)
    _rebase(verbs, at, made.version, text, file)
    return Published(made.version, at.seq, [(finding, block_of(at.state, finding)) for finding in made.warnings])


def _check(verbs: DraftVerbs, at: At) -> None:
    found = [finding for finding, _ in verbs.findings(at.head.workflow_id, at.seq)[1]]
    if any(finding.severity is Severity.ERROR for finding in found):
        raise refused(at, found)


def refused(at: At, findings: Sequence[Finding]) -> DraftRefused:
    """Returns the error with the findings, and the blocks that they are about."""
    return DraftRefused(findings, [block_of(at.state, finding) for finding in findings])


def _rebase(verbs: DraftVerbs, at: At, version: StoredVersion, text: str | None, file: str | None) -> None:
    """Makes the version the base, unless a later one is, or the draft was replaced meanwhile. What was in conflict stays so."""
    for _ in range(SEQUENCING_TRIES):
        head = verbs.drafting.head(at.head.workflow_id)
        base = read_base(verbs, head)
        if head.epoch != at.head.epoch or (base.version or 0) > version.number:
            return
        document = document_of(version)
        named = base._replace(version=version.number, file=file or base.file, document=document, text=text)
        if move_base(verbs, head, named._replace(layout=layout_of(at.state), seq=at.seq, newest=version.number)):
            return
