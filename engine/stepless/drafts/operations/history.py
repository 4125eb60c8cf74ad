"""Lists who changed what in a draft, and computes the writes that restore a former state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from stepless.drafts.log.entries import LogEntry
from stepless.drafts.operations.diff import version_of
from stepless.drafts.operations.texts import operations_to
from stepless.drafts.operations.verbs import At, DraftVerbs
from stepless.drafts.rules.diff import flattened, towards
from stepless.drafts.rules.fold import apply
from stepless.drafts.rules.messages import effects_read
from stepless.drafts.rules.requests import Operation
from stepless.drafts.rules.state import Entities, prefix_of, snapshot
from stepless.drafts.rules.values import Object, same
from stepless.errors import NotFound
from stepless.limits import HISTORY_ITEMS, HISTORY_PAUSE_MS, MAX_HISTORY_CHANGES
from stepless.model.json import JSON

_WORDS = {"place": "placed", "text": "typed"}
_NAMED = frozenset({"id", "parent", "order"})


class HistoryEntry(NamedTuple):
    """What one person did without a long pause: the entries `first` to `last`. `refused` counts operations that had no effect."""

    first: int
    last: int
    at_ms: int
    until_ms: int
    by: str
    changes: Sequence[Mapping[str, JSON]]
    refused: int


def history(verbs: DraftVerbs, workflow_id: str, before: int | None, limit: int) -> tuple[At, Sequence[HistoryEntry], int | None]:
    """Returns the last changes before a log entry, the newest first, and the log entry before which the next ones are; None where
    there are no more, or no more is kept. A page reads at most HISTORY_ITEMS log entries: a longer change continues on the next
    page. Raises `NotFound` (unknown_draft)."""
    at = verbs.at(workflow_id)
    end = at.last if before is None else min(at.last, before - 1)
    start = max(0, end - HISTORY_ITEMS)
    entries = list(verbs.drafting.entries(at.head.draft, start, end - start)) if end > start else []
    entries = [entry for entry in entries if entry.seq <= end]
    if not entries:
        return at, [], None
    try:
        state = verbs.drafting.state_at(at.head, entries[0].seq - 1)
    except NotFound:  # what it would be folded from has expired
        return at, [], None
    shown = list(_grouped(state, entries))[::-1][:limit]
    following = shown[-1].first
    return at, shown, following if following > 1 else None


def _grouped(state: Entities, entries: Iterable[LogEntry]) -> Iterator[HistoryEntry]:
    """Groups log entries of one person, in order; the state becomes that after them."""
    run: list[LogEntry] = []
    for entry in entries:
        if run and (entry.by != run[-1].by or entry.at_ms - run[-1].at_ms > HISTORY_PAUSE_MS):
            yield _change(state, run)
            run = []
        run.append(entry)
    if run:
        yield _change(state, run)


def _change(state: Entities, run: Sequence[LogEntry]) -> HistoryEntry:
    effects = [effect for entry in run for effect in effects_read(entry.effects)]
    touched = list(dict.fromkeys(effect.key for effect in effects))
    before = {key: state.get(key) for key in touched}
    names = {end: _name(state, end) for entity in before.values() if entity for end in _ends(entity)}
    apply(state, effects)
    names |= {end: name for key in touched for end in _ends(state.get(key) or {}) if (name := _name(state, end))}
    changes = [change for key in touched for change in _changes(key, before[key], state.get(key), names)]
    refused = sum(bool(outcome.get("refused")) for entry in run for outcome in entry.outcomes)
    first, last = run[0], run[-1]
    return HistoryEntry(first.seq, last.seq, first.at_ms, last.at_ms, first.by, changes[:MAX_HISTORY_CHANGES], refused)


def _ends(entity: Object) -> list[str]:
    return [str(entity[end]) for end in ("source", "target") if end in entity]


def _name(state: Entities, tail: str) -> str:
    return str((state.get(f"block/{tail}") or {}).get("id", ""))


def _changes(key: str, before: Object | None, after: Object | None, names: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    prefix = prefix_of(key)
    told = after or before
    if told is None or same(before, after):
        return
    id_ = " → ".join(names.get(end, "") for end in _ends(told)) if prefix == "edge" else str(told.get("id", ""))
    made: dict[str, Any] = {"key": key, "id": id_}
    if before is None or after is None:
        word = "added" if before is None else "removed"
        yield {"what": word, **made}
        return
    if prefix in _WORDS:
        yield {"what": _WORDS[prefix], **made}
        return
    if before.get("id") != after.get("id") and prefix == "block":
        yield {"what": "renamed", **made, "former_id": before.get("id")}
    if prefix == "block" and (before.get("parent"), before.get("order")) != (after.get("parent"), after.get("order")):
        yield {"what": "moved", **made}
    fields = list(_fields(before, after, prefix))
    if fields:
        yield {"what": "changed", **made, "fields": fields}


def _fields(before: Object, after: Object, prefix: str) -> Iterator[list[str]]:
    for field in {**before, **after}:
        if prefix == "block" and field in _NAMED:
            continue
        old, new = before.get(field), after.get(field)
        if same(old, new):
            continue
        if isinstance(old, dict) and isinstance(new, dict) and field == "with":
            yield from ([field, inner] for inner in {**old, **new} if not same(old.get(inner), new.get(inner)))
        else:
            yield [field]


# -- the way back ------------------------------------------------------------------------------------------------------


def restore(
    verbs: DraftVerbs, workflow_id: str, *, version: int | None = None, seq: int | None = None
) -> tuple[At, Sequence[Operation]]:
    """Returns the writes that restore a draft to an entry or a version: at most one operation, not committed. A version
    leaves places, notes and pins as they are. Raises `NotFound` (unknown_item, unknown_workflow), and as `texts.typed` does."""
    at = verbs.at(workflow_id)
    if version is None:
        former = verbs.at(workflow_id, seq)
        writes = flattened(towards(at.state, snapshot(former.state)))
        return at, [writes] if writes.writes else []
    document, text = version_of(verbs, workflow_id, version)
    salt = f"{at.head.epoch} restored {at.seq} {version} {sha256((text or '').encode()).hexdigest()}"
    return at, operations_to(verbs, at.state, document, text, salt)
