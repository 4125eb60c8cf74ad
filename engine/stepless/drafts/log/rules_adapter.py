"""Adapts the rules of `stepless.drafts.rules` to the interface that the log needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from stepless.drafts.log.editing import Decided, Undecided
from stepless.drafts.log.entries import LogEntry
from stepless.drafts.rules import messages
from stepless.drafts.rules.budget import Budget, Exhausted
from stepless.drafts.rules.document import from_document
from stepless.drafts.rules.document.layout import entities_of
from stepless.drafts.rules.document.reading import IsContainer
from stepless.drafts.rules.effects import all_written
from stepless.drafts.rules.fold import apply
from stepless.drafts.rules.requests import EditRequest
from stepless.drafts.rules.requests import LogEntry as TypedEntry
from stepless.drafts.rules.resolve import Change, resolve
from stepless.drafts.rules.state import TEXT, Entities
from stepless.model.json import JSON
from stepless.ports import Draft


class Origin(NamedTuple):
    """What a draft was opened from: a document, the text that it was read from, and where its nodes were
    placed, if that is kept."""

    document: Mapping[str, JSON]
    text: str | None = None
    layout: Mapping[str, JSON] | None = None


class Rules:
    """An `Editing` whose requests have typed operations, as `messages.read_request` makes them. `origin_of` gives what an origin
    of a workflow names, and may read it from a store."""

    def __init__(self, origin_of: Callable[[str, JSON], Origin], is_container: IsContainer) -> None:
        self._origin_of = origin_of
        self._is_container = is_container

    def origin(self, draft: Draft, origin: JSON) -> Mapping[str, JSON]:
        found = self._origin_of(draft.workflow_id, origin)
        made = from_document(found.document, str(draft.epoch), self._is_container)
        if found.layout is not None:
            made |= entities_of(found.layout, Entities(made), str(draft.epoch))
        return made if found.text is None else {**made, TEXT: {"yaml": found.text}}

    def begin(self, entities: Iterable[tuple[str, JSON]]) -> Entities:
        """Returns the state of these entities. Raises `ValueError` for one that is no object."""
        made = dict(entities)
        for key, value in made.items():
            if not isinstance(value, dict):
                raise ValueError(f"the entity {key} is a {type(value).__name__}")
        return Entities(made)

    def fold(self, state: Entities, effects: Sequence[JSON]) -> None:
        apply(state, messages.effects_read(effects))

    def touched(self, effect: JSON) -> str:
        return str(effect[1])

    def entity(self, state: Entities, key: str) -> JSON:
        return state.get(key)

    def entities(self, state: Entities) -> Iterable[tuple[str, JSON]]:
        return [(key, state.get(key)) for key in state]

    def resolve(self, state: Entities, request: EditRequest, since: Sequence[LogEntry]) -> Decided:
        changes = [Change(entry.by, messages.effects_read(entry.effects)) for entry in since]
        try:
            decided = resolve(state, request.operations, changes, Budget())
        except Exhausted as exhausted:
            touched = {self.touched(effect) for entry in since for effect in entry.effects}
            is_behind = exhausted.by == "transform" and exhausted.key in touched
            raise Undecided("stale" if is_behind else "too_large") from exhausted
        return Decided(all_written(decided.effects), [messages.outcome_written(outcome) for outcome in decided.outcomes])


def typed(entry: LogEntry) -> TypedEntry:
    """Returns an entry as the rules have it."""
    return messages.entry_read({**entry._asdict(), "at": entry.at_ms})
