"""Renders a draft as the text that its author writes, and turns an edit of this text into writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

from stepless.compile import parse
from stepless.compile.patching import composed, patched
from stepless.drafts.operations.verbs import At, DraftVerbs
from stepless.drafts.rules.diff import OtherWorkflow, difference, flattened, hunks, transplanted
from stepless.drafts.rules.document import to_document
from stepless.drafts.rules.effects import Put, Splice, Write, all_written
from stepless.drafts.rules.requests import Operation
from stepless.drafts.rules.state import TEXT, Entities, State
from stepless.errors import InvalidRequest
from stepless.limits import MAX_INTENT_WRITES
from stepless.model.json import JSON

_BOM: Final = "\ufeff"


def kept_text(state: State) -> str | None:
    """Returns the text of the author that a draft keeps; not what it says now (`shown_text`)."""
    entity = state.get(TEXT)
    text = entity.get("yaml") if entity is not None else None
    return text if isinstance(text, str) else None


def shown_text(state: State) -> str:
    """Returns the draft in the text of its author, changed where the draft differs; without one, as we write YAML."""
    text = kept_text(state)
    return composed(to_document(state)) if text is None else patched(text, to_document(state))


def is_json(text: str) -> bool:
    return text.removeprefix(_BOM).lstrip().startswith("{")


def read_text(verbs: DraftVerbs, workflow_id: str, seq: int | None) -> tuple[At, str]:
    """Returns the text as of an item. Raises as `DraftVerbs.at` does."""
    at = verbs.at(workflow_id, seq)
    return at, shown_text(at.state)


def typed(verbs: DraftVerbs, workflow_id: str, seq: int | None, text: str) -> tuple[At, Sequence[Operation]]:
    """Returns the operation that an edit of the text makes of the draft as of an item: at most one operation, not committed.
    After it, the draft says exactly what was typed, and its text is exactly the typed one. Raises `DocumentRefused` for a text
    that does not parse, `InvalidRequest` (id_mismatch, gesture_too_large), and as `DraftVerbs.at` does."""
    at = verbs.at(workflow_id, seq)
    document = parse(text)
    salt = f"{at.head.epoch} typed {at.seq} {sha256(text.encode()).hexdigest()}"
    return at, operations_to(verbs, at.state, document, text, salt)


def operations_to(
    verbs: DraftVerbs, state: Entities, document: Mapping[str, JSON], text: str | None, salt: str
) -> Sequence[Operation]:
    """Returns the operation that leads from a state to a document, and to its text if there is one; none if nothing differs."""
    writes = list(flattened(differences(verbs, state, document, salt)).writes)
    if text is not None:
        writes += _text_writes(state, document, text)
    if len(writes) > MAX_INTENT_WRITES:
        message, mend = f"this changes {len(writes):,} things at once", f"change at most {MAX_INTENT_WRITES:,} at once"
        raise InvalidRequest(message, code="gesture_too_large", status=413, place="text", mend=mend)
    return [Operation(tuple(writes))] if writes else []


def differences(verbs: DraftVerbs, state: State, document: Mapping[str, JSON], salt: str) -> list[list[Write]]:
    """`editing.difference` for a document that came from outside. Raises `InvalidRequest` (id_mismatch)."""
    try:
        return difference(state, document, salt, verbs.origins.is_container)
    except OtherWorkflow:
        message = f"the id of a draft stays: it is {(state.get('doc') or {}).get('id')!r}"
        mend = "use the same id, or open a draft of the other workflow"
        raise InvalidRequest(message, code="id_mismatch", status=422, place="id", mend=mend) from None


def _text_writes(state: State, document: Mapping[str, JSON], typed: str) -> list[Write]:
    """What makes the typed text the one that is shown. The text that is kept may be behind the draft. Where it can, only what the
    person typed is spliced into it: two people who type at once would otherwise both add what it lacks."""
    kept = kept_text(state)
    if kept is None:
        return [] if typed == composed(document) else [Put(TEXT, {"yaml": typed})]
    carried = transplanted(kept, shown_text(state), typed)
    wanted = carried if carried is not None and patched(carried, document) == typed else typed
    return [Splice(TEXT, ("yaml",), *hunk) for hunk in hunks(kept, wanted)]


def operation_out(operation: Operation) -> dict[str, Any]:
    """Returns an operation as a client sends it."""
    made: dict[str, Any] = {"writes": all_written(operation.writes)}
    if operation.guards:
        made["guards"] = [[guard.key, list(guard.path), guard.value] for guard in operation.guards]
    return made
