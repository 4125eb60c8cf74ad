"""Limits how much the decision of one request may take. What people do never comes near it: it bounds what a message can ask of
the process that decides it, for which others wait.

Four things grow faster than the message. A write has as many effects as hang on what it changes: a thousand renames of one node
that a thousand texts mention are a million. What a client did not expect is transformed with each later write of the same entity.
Changing one field copies the whole entity. And of a thousand blocks of one name, the last tries a thousand names.
"""

from __future__ import annotations

from typing import Final, Literal

from stepless.drafts.rules.effects import Effect, Set, Splice, Unset
from stepless.drafts.rules.state import TEXT
from stepless.drafts.rules.values import Object
from stepless.limits import MAX_CROSSED_PAIRS, MAX_DECIDED_CHARACTERS, MAX_DECIDED_EFFECTS, MAX_REWRITTEN_PARTS

MENTION_PARTS: Final = 16
PART_CHARACTERS: Final = 100
"""A name that a text may mention takes as long as 16 fields that are copied; 100 characters take as long as one."""
EFFECT_NAMES: Final = 10
"""As many names are tried in the time that one effect takes."""


class Exhausted(Exception):
    """The decision would take more. `by` says what of, `key` is the entity that it was about."""

    def __init__(self, by: Literal["effects", "transform"], key: str) -> None:
        super().__init__(by, key)
        self.by = by
        self.key = key


class Budget:
    """What is left to one decision."""

    def __init__(self) -> None:
        self._effects = MAX_DECIDED_EFFECTS
        self._characters = MAX_DECIDED_CHARACTERS
        self._pairs = MAX_CROSSED_PAIRS
        self._parts = MAX_REWRITTEN_PARTS

    def took(self, effect: Effect, entity: Object | None) -> None:
        """Counts an effect on an entity. Raises `Exhausted`."""
        self._effects -= 1
        if isinstance(effect, Splice):
            self._characters -= len(effect.text)
        if isinstance(effect, Set | Unset | Splice):
            self._parts -= _parts(effect, entity)
        if self._effects < 0 or self._characters < 0 or self._parts < 0:
            raise Exhausted("effects", effect.key)

    def looked_at(self, count: int, key: str) -> None:
        """Counts entities that a write concerns without changing them, as effects. Raises `Exhausted`."""
        self._effects -= count
        if self._effects < 0:
            raise Exhausted("effects", key)

    def tried(self, names: int, key: str) -> None:
        """Counts names that were taken, of those that were tried for a block. Raises `Exhausted`."""
        self.looked_at(names // EFFECT_NAMES, key)

    def transformed(self, pairs: int, key: str) -> None:
        """Counts pairs of writes of one entity before they are transformed. Raises `Exhausted`."""
        self._pairs -= pairs
        if self._pairs < 0:
            raise Exhausted("transform", key)


def _parts(effect: Set | Unset | Splice, entity: Object | None) -> int:
    """What is made again when a part of an entity changes: the other fields, and the text that it is in."""
    count, held = 0, entity
    for step in effect.path:
        if not isinstance(held, dict):
            break
        count += len(held)
        held = held.get(step)
    if isinstance(effect, Splice) and isinstance(held, str):
        count += len(held) // PART_CHARACTERS + (0 if effect.key == TEXT else held.count("<") * MENTION_PARTS)
    return count
