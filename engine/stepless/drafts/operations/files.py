"""Saves a draft to its file, in `stepless dev`: the file is the base, so it is only written while it still is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import NamedTuple

from stepless.compile import parse
from stepless.drafts.log.entries import LogEntry
from stepless.drafts.operations.bases import Base, move_base, read_base
from stepless.drafts.operations.merging import Came, take_in
from stepless.drafts.operations.texts import is_json, shown_text
from stepless.drafts.operations.verbs import At, DraftVerbs, Files
from stepless.drafts.rules.diff.values import canonical
from stepless.drafts.rules.document import to_document
from stepless.drafts.rules.document.layout import layout_of
from stepless.errors import Conflict, DocumentRefused, InvalidRequest
from stepless.limits import SEQUENCING_TRIES
from stepless.model.json import JSON


class Saved(NamedTuple):
    file: str
    hash: str
    seq: int


def save(verbs: DraftVerbs, files: Files, at: At, file: str | None = None) -> tuple[Saved | None, LogEntry | None]:
    """Writes the draft to its file, in the text of its author; to `file`, or to the file that is its base, or has its id, or to a
    new one with the name of the workflow. The file is the base then. Without a result, the file had changed: it has come in, and
    the item is what the draft took of it. Raises `Conflict` (files_claim_id) if several files have the id and none is named."""
    workflow_id = at.head.workflow_id
    base = read_base(verbs, verbs.drafting.head(workflow_id))
    name = _named(files, workflow_id, base, file)
    current = files.read(name)
    text = _text_for(name, at)
    if current is not None and current != text and not _is_base(current, base, name):
        return None, _come(verbs, workflow_id, name, current, base, files)
    if current != text and not files.write(name, current, text):
        changed = files.read(name)
        return None, _come(verbs, workflow_id, name, changed, base, files) if changed is not None else None
    layout = layout_of(at.state)
    files.write_layout(name, layout)
    _rebase(verbs, at, name, text, layout)
    return Saved(name, sha256(text.encode()).hexdigest(), at.seq), None


def file_changed(verbs: DraftVerbs, files: Files, workflow_id: str, name: str, text: str, newest: int) -> LogEntry | None:
    """Brings a file that was saved by another program into the draft whose base it is, or whose base is a version. Raises as
    `take_in` does, and `DocumentRefused` for a text that does not parse: the draft stays as it is."""
    head = verbs.drafting.head(workflow_id)
    base = read_base(verbs, head)
    if base.file not in (None, name):
        return None
    document = parse(text, syntax="json" if name.endswith(".json") else None)
    return take_in(verbs, workflow_id, Came(None, name, document, text, newest, files.layout(name)))


def _named(files: Files, workflow_id: str, base: Base, file: str | None) -> str:
    if file is not None:
        return file
    found = files.holding(workflow_id)
    if len(found) > 1:
        message, mend = f"{len(found)} files have the id {workflow_id}: {', '.join(found)}", "name the `file` to save to"
        raise Conflict(message, code="files_claim_id", place=workflow_id, mend=mend, violations=list(found))
    return base.file or (found[0] if found else f"{workflow_id}.yaml")


def _is_base(current: str, base: Base, name: str) -> bool:
    """Whether a file has what the draft is compared with. A base of a version without a text has none to compare."""
    if base.text is not None:
        return current == base.text and base.file in (None, name)
    try:
        return canonical(dict(parse(current))) == canonical(dict(base.document)) and base.file in (None, name)
    except DocumentRefused:
        return False


def _text_for(name: str, at: At) -> str:
    text = shown_text(at.state)
    if name.endswith(".json") and not is_json(text):
        return json.dumps(to_document(at.state), ensure_ascii=False, indent=2) + "\n"
    return text


def _come(
    verbs: DraftVerbs, workflow_id: str, name: str, text: str, base: Base, files: Files
) -> LogEntry | None:
    try:
        document = parse(text, syntax="json" if name.endswith(".json") else None)
    except DocumentRefused as error:
        message, mend = f"{name} has changed, and cannot be read: {error.findings[0]}", "mend the file, then save again"
        raise Conflict(message, code="file_changed", place=name, mend=mend) from error
    if document.get("id") != workflow_id:
        message, mend = f"{name} is of another workflow: {document.get('id')!r}", "save to a file of another name"
        raise InvalidRequest(message, code="invalid_file", status=422, place=name, mend=mend)
    return take_in(verbs, workflow_id, Came(None, name, document, text, base.newest, files.layout(name)))


def _rebase(verbs: DraftVerbs, at: At, name: str, text: str, layout: Mapping[str, JSON] | None) -> None:
    for _ in range(SEQUENCING_TRIES):
        head = verbs.drafting.head(at.head.workflow_id)
        if head.epoch != at.head.epoch:
            return
        base = read_base(verbs, head)
        saved = base._replace(file=name, document=to_document(at.state), text=text, layout=layout, seq=at.seq)
        if move_base(verbs, head, saved):
            return


def conflict_of(name: str) -> Conflict:
    """Returns the error of a save that did not write."""
    message = f"{name} has changed since the draft was read from it; its changes are in the draft now"
    return Conflict(message, code="file_changed", place=name, mend="look at the draft and its conflicts, then save again")

