"""Defines the interface between the storage of drafts and the rules by which they are edited. Entities, effects, operations and
outcomes are JSON here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

from stepless.drafts.log.entries import LogEntry
from stepless.drafts.rules.requests import EditRequest
from stepless.model.json import JSON
from stepless.ports import Draft

S = TypeVar("S")


class Decided(NamedTuple):
    """What follows from a request: effects, in order, and outcomes of the operations that were refused or in part dropped."""

    effects: Sequence[JSON]
    outcomes: Sequence[JSON] = ()


class Undecided(Exception):
    """A request is not decided, because that would take too long; `code` is its answer: `too_large`, or `stale` where its client
    has to transform it with what others committed."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Editing(Protocol[S]):
    """The rules of editing, over states of the type `S`. All of it is pure, but that `fold` changes the state that it is
    given."""

    def origin(self, draft: Draft, origin: JSON) -> Mapping[str, JSON]:
        """Returns the entities by key of what a draft was opened from. The keys depend on the arguments alone."""
        ...

    def begin(self, entities: Iterable[tuple[str, JSON]]) -> S:
        """Returns a state of these entities, each given once."""
        ...

    def fold(self, state: S, effects: Sequence[JSON]) -> None:
        """Changes the state by effects, in order. An effect changes only the entity that it touches, and depends only on it.
        Never changes an entity in place. Never refuses."""
        ...

    def touched(self, effect: JSON) -> str:
        """Returns the key of the entity that an effect changes."""
        ...

    def entity(self, state: S, key: str) -> JSON:
        """Returns the entity with this key; None if there is none."""
        ...

    def entities(self, state: S) -> Iterable[tuple[str, JSON]]:
        """Returns all entities."""
        ...

    def resolve(self, state: S, request: EditRequest, since: Sequence[LogEntry]) -> Decided:
        """Computes the effects of a request over a state, which it leaves as it is. `since` are the entries of other clients
        between the request's base and the state, in order. Raises `Undecided`."""
        ...
