"""Merges into a draft what was changed elsewhere: in the file that it is saved to, or by a version that was published meanwhile.

Each difference to the base is an operation, guarded by what the base had. Where the draft has changed the same place, the
difference is a conflict, which is kept with the base until a person decides. The file or version is the base then. All of it
may be repeated: what is there already is found by its content.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple

from stepless.drafts.log.entries import Answer, LogEntry
from stepless.drafts.operations.bases import Base, move_base, read_base, state_of_base
from stepless.drafts.operations.diff import version_of
from stepless.drafts.operations.texts import differences, kept_text
from stepless.drafts.operations.verbs import At, DraftVerbs
from stepless.drafts.rules.diff import hunks, transplanted
from stepless.drafts.rules.diff.values import canonical
from stepless.drafts.rules.document.values import decoded
from stepless.drafts.rules.effects import Delete, Put, Rename, Set, Splice, Unset, Write
from stepless.drafts.rules.fold import apply
from stepless.drafts.rules.requests import EditRequest, Guard, Operation
from stepless.drafts.rules.resolve import resolve
from stepless.drafts.rules.state import TEXT, Entities, Layer, State, prefix_of, tail_of, value_at
from stepless.drafts.rules.values import NOTHING, same
from stepless.drafts.rules.values import at as found_at
from stepless.errors import Conflict, NotFound, Refused, SteplessError
from stepless.limits import MAX_CONFLICTS, SEQUENCING_TRIES
from stepless.model.json import JSON
from stepless.ports import DraftHead

_log = logging.getLogger(__name__)
_CLIENT: Final = "file"


class Came(NamedTuple):
    """What a file or a version has now. `newest` is the newest version as of then."""

    version: int | None
    file: str | None
    document: Mapping[str, JSON]
    text: str | None
    newest: int
    layout: Mapping[str, JSON] | None = None

    @property
    def name(self) -> str:
        return f"file {self.file}" if self.file is not None else f"version {self.version}"

    def is_of(self, base: Base) -> bool:
        text = base.text == self.text or self.text is None
        return text and canonical(dict(base.document)) == canonical(dict(self.document))


def take_in_version(verbs: DraftVerbs, workflow_id: str) -> LogEntry | None:
    """Brings in the newest version, unless the draft has it or there is no draft. Returns the entry. Never fails because of the
    draft: what could not be brought in is when the draft is published."""
    try:
        head = verbs.drafting.head(workflow_id)
        newest = verbs.world.store.newest_version(workflow_id)
        base = read_base(verbs, head)
        if newest is None or newest.number <= base.newest:
            return None
        document, text = version_of(verbs, workflow_id, newest.number)
        return take_in(verbs, workflow_id, Came(newest.number, None, document, text, newest.number))
    except (NotFound, Refused):
        return None  # no draft is open, or none are kept
    except SteplessError as error:
        _log.warning("version not merged into the draft of %s: %s", workflow_id, error)
        return None


def take_in(verbs: DraftVerbs, workflow_id: str, came: Came) -> LogEntry | None:
    """Brings in what came; returns the entry, if there was a difference that the draft could take. Raises `NotFound`
    (unknown_draft), `InvalidRequest` (id_mismatch), `Conflict` (draft_busy)."""
    for _ in range(SEQUENCING_TRIES):
        at = verbs.at(workflow_id)
        base = read_base(verbs, at.head)
        named = base._replace(
            version=came.version if came.version is not None else base.version, file=came.file or base.file,
            newest=max(base.newest, came.newest),
        )  # fmt: skip
        if came.is_of(base):
            if named == base or move_base(verbs, at.head, named):
                return None
            continue
        entry, seq, conflicts = _merged(verbs, at, base, came)
        if entry is not None and seq < 0:
            continue
        open_now = {(one["key"], tuple(one["path"])): one for one in (*base.conflicts, *conflicts)}
        whole = named._replace(
            document=came.document, text=came.text if came.text is not None else base.text, seq=seq,
            layout=came.layout if came.layout is not None else base.layout, conflicts=list(open_now.values())[:MAX_CONFLICTS],
        )  # fmt: skip
        if move_base(verbs, at.head, whole):
            return entry
    raise Conflict("others keep changing the draft", code="draft_busy", place=f"draft of {workflow_id}", mend="try again")


def _merged(verbs: DraftVerbs, at: At, base: Base, came: Came) -> tuple[LogEntry | None, int, list[dict[str, Any]]]:
    """Commits what the draft can take. The entry, its number, and the conflicts; a number below 0 asks to try again."""
    before = Layer(state_of_base(verbs, at.head, base, at.state, at.seq))
    digest = sha256(canonical([came.name, came.text, dict(came.document)]).encode()).hexdigest()
    now = Layer(at.state)
    operations: list[Operation] = []
    conflicts: list[dict[str, Any]] = []
    for writes in differences(verbs, before, came.document, f"{at.head.epoch} {digest}"):
        operation = Operation(tuple(writes), tuple(_guards(before, writes)))
        apply(before, resolve(before, [Operation(tuple(writes))]).effects)
        decided = resolve(now, [operation])
        if not decided.outcomes:
            operations.append(operation)
            apply(now, decided.effects)
        elif not all(_is_there(before, now, write) for write in writes):
            conflicts.extend(_conflict(before, operation, write, came.name) for write in writes[-1:])
    text = _text(base, now, came)
    if isinstance(text, Operation):
        operations.append(text)
    elif text is not None:
        conflicts.append(text)
    if not operations:
        return None, at.seq, conflicts
    made = _commit(verbs, at.head, at.seq, operations, came, digest)
    if isinstance(made, Answer):
        return LogEntry(0, "", 0, "", "", 0, ()), -1, []
    for outcome in made.outcomes:  # changed in this instant
        operation = operations[outcome["gesture"]]
        conflicts.append(_conflict(before, operation, operation.writes[-1], came.name))
    return made, made.seq, conflicts


def _commit(
    verbs: DraftVerbs, head: DraftHead, seq: int, operations: Sequence[Operation], came: Came, digest: str
) -> LogEntry | Answer:
    """Each content is a client of its own that sends one request: a repeat finds its entry."""
    client = f"{_CLIENT}-{digest[:16]}-{seq}"
    request = EditRequest(client, 1, digest[:16], seq, tuple(operations))
    return verbs.drafting.commit(head.draft, request, came.name)


def _guards(before: State, writes: Sequence[Write]) -> list[Guard]:
    """That the draft still has what the base had, where these writes change it."""
    made: dict[tuple[str, tuple[str, ...]], Guard] = {}
    for write in writes:
        path: tuple[str, ...] = ()
        match write:
            case Put(key=key):
                if key not in before:
                    continue
            case Rename():
                path = ("id",)
            case Set(path=path) | Unset(path=path) | Splice(path=path):
                pass
        made.setdefault((write.key, path), Guard(write.key, path, value_at(before, write.key, path)))
    return list(made.values())


def _is_there(after: State, now: State, write: Write) -> bool:
    """Whether the draft has already what the write would make."""
    path = _path_of(write)
    wanted, held = (found_at(entity, path) if (entity := state.get(write.key)) is not None else NOTHING for state in (after, now))
    return wanted is held or (wanted is not NOTHING and held is not NOTHING and same(wanted, held))


def _path_of(write: Write) -> tuple[str, ...]:
    match write:
        case Rename():
            return ("id",)
        case Set(path=path) | Unset(path=path) | Splice(path=path):
            return path
    return ()


def _conflict(after: State, operation: Operation, write: Write, name: str) -> dict[str, Any]:
    """`entity` is the whole entity as what came has it, for a draft that has deleted it."""
    path = _path_of(write)
    block = after.get(f"block/{tail_of(write.key)}") or {}
    base = next((guard.value for guard in operation.guards if (guard.key, guard.path) == (write.key, path)), None)
    entity = after.get(write.key)
    value = found_at(entity, path) if entity is not None else NOTHING
    return {
        "key": write.key, "id": str((block or entity or {}).get("id", "")), "path": list(path), "base": base, "from": name,
        "file": None if value is NOTHING else value, "has": value is not NOTHING, "entity": entity,
    }  # fmt: skip


def _text(base: Base, now: State, came: Came) -> Operation | dict[str, Any] | None:
    """The parts of the incoming text that are merged: the lines that changed, where it still has what was there."""
    kept = kept_text(now)
    if came.text is None or kept == came.text:
        return None
    if kept is None:
        return Operation((Put(TEXT, {"yaml": came.text}),))
    carried = came.text if base.text is None else transplanted(kept, base.text, came.text)
    if carried is None:
        return {
            "key": TEXT, "id": "", "path": ["yaml"], "base": base.text, "from": came.name, "file": came.text, "has": True,
            "entity": {"yaml": came.text},
        }  # fmt: skip
    writes = tuple(Splice(TEXT, ("yaml",), *hunk) for hunk in hunks(kept, carried))
    return Operation(writes) if writes else None


# -- conflicts ---------------------------------------------------------------------------------------------------------


def conflicts(verbs: DraftVerbs, workflow_id: str) -> tuple[At, list[dict[str, JSON]]]:
    """Returns the open conflicts, each with what the draft has now. Raises `NotFound` (unknown_draft)."""
    at = verbs.at(workflow_id)
    shown: list[dict[str, JSON]] = []
    for one in read_base(verbs, at.head).conflicts:
        made = {name: one[name] for name in ("key", "id", "path", "from")}
        values = {"base": one["base"], "draft": value_at(at.state, one["key"], one["path"]), "file": one["file"]}
        shown.append(made | {name: decoded(value) for name, value in values.items()})
    return at, shown


def settle(verbs: DraftVerbs, workflow_id: str, key: str, path: Sequence[str], take: str) -> tuple[At, Sequence[Operation]]:
    """Closes a conflict; returns the writes that give the draft the content of the file, if that is taken. Raises `NotFound`
    (unknown_draft, unknown_conflict), `Conflict` (draft_busy)."""
    for _ in range(SEQUENCING_TRIES):
        at = verbs.at(workflow_id)
        base = read_base(verbs, at.head)
        found = next((one for one in base.conflicts if (one["key"], one["path"]) == (key, list(path))), None)
        if found is None:
            message, mend = "this is not in conflict", "read the conflicts again: a person may have decided"
            raise NotFound(message, code="unknown_conflict", place=key, mend=mend)
        left = [one for one in base.conflicts if one is not found]
        if move_base(verbs, at.head, base._replace(conflicts=left)):
            writes = _taking(at.state, found) if take == "file" else []
            return at, [Operation(tuple(writes))] if writes else []
    raise Conflict("others keep changing the draft", code="draft_busy", place=f"draft of {workflow_id}", mend="try again")


def _taking(state: Entities, found: Mapping[str, Any]) -> list[Write]:
    key, path, value = found["key"], tuple(found["path"]), found["file"]
    if not found["has"] and not path:
        return [Delete(key)] if key in state else []
    if key not in state:
        return [Put(key, found["entity"])] if found["entity"] is not None and prefix_of(key) != "doc" else []
    if key == TEXT:
        return [Splice(TEXT, ("yaml",), *hunk) for hunk in hunks(kept_text(state) or "", value)]
    if not path:
        return [Delete(key), Put(key, value)]
    if path == ("id",) and prefix_of(key) == "block":
        return [Rename(key, value)]
    return [Set(key, path, value)] if found["has"] else [Unset(key, path)]

