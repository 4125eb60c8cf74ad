"""Holds the entities of a draft by key, with the indexes that the rules need: blocks by name and body, children of a container,
edges of a block, and texts by the name that they mention. A change costs what it touches.

`Entities` is changed in place by what is committed. `Layer` stands over another state and holds only what differs from it: a
trial, or what a person sees before the server has decided. A layer is worthless once the state below it changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Protocol, TypeAlias

from stepless.drafts.rules.values import NOTHING, Object, at, texts
from stepless.model.json import JSON

DOC: Final = "doc"
TEXT: Final = "text"

Label: TypeAlias = tuple[JSON, ...]
"""The name of an entry of the index: `("in", parent)`, for example."""

MENTION: Final = re.compile(r"<([A-Za-z_][A-Za-z0-9_-]{0,63})(?=[.>\[]|!>)")


def prefix_of(key: str) -> str:
    """Returns the kind of an entity: `block` of `block/b1`, `doc` of `doc`."""
    return key.partition("/")[0]


def tail_of(key: str) -> str:
    """Returns the block, edge or note that a key belongs to: `b1` of `place/b1`."""
    return key.partition("/")[2]


def children_of(parent: JSON) -> Label:
    """Returns the label of the blocks in a body; the body of the workflow itself has the parent null."""
    return ("in", _part(parent))


def named_in(parent: JSON, id_: JSON) -> Label:
    """Returns the label of the blocks of one name in one body: at most one in a whole state."""
    return ("name", _part(parent), _part(id_))


def ends_at(block: JSON) -> Label:
    """Returns the label of the edges that leave a block or lead to it."""
    return ("end", _part(block))


def mentions(name: str) -> Label:
    """Returns the label of the blocks and subflows whose texts have `<name`."""
    return ("mentions", name)


PINS: Final[Label] = ("pins",)
"""Of all pins."""


def tie_of(edge: Mapping[str, JSON]) -> Label:
    """Returns the label of the edges that carry the same part of one exit into one param: the second of two adds nothing."""
    return (
        "tie", _part(edge.get("source")), _part(edge.get("handle", "source")), _part(edge.get("target")),
        _part(edge.get("param", "input")), _part(edge.get("key", "")),
    )


def _part(value: JSON) -> JSON:
    return value if isinstance(value, str) else None


_NONE: Final[frozenset[Label]] = frozenset()


def _labels(key: str, entity: Object | None) -> frozenset[Label]:
    return _NONE if entity is None else frozenset(_found(key, entity))


def _found(key: str, entity: Object) -> Iterator[Label]:
    match prefix_of(key):
        case "block":
            yield children_of(entity.get("parent"))
            yield named_in(entity.get("parent"), entity.get("id"))
            yield from _mentioned(entity)
        case "subflow":
            yield from _mentioned(entity)
        case "edge":
            yield from {ends_at(entity.get("source")), ends_at(entity.get("target"))}
            yield tie_of(entity)
        case "pin":
            yield PINS


def _mentioned(entity: Object) -> Iterator[Label]:
    yield from {mentions(name) for _, text in texts(entity) if "<" in text for name in MENTION.findall(text)}


class State(Protocol):
    """Entities by key. An entity is never changed in place."""

    def get(self, key: str) -> Object | None:
        """Returns the entity, None where there is none."""

    def __contains__(self, key: object) -> bool:
        """Whether there is such an entity."""

    def found(self, label: Label) -> list[str]:
        """Returns the keys that the index holds under a label, sorted."""

    def labels(self, key: str) -> frozenset[Label]:
        """Returns the labels under which the index holds an entity."""

    def __iter__(self) -> Iterator[str]:
        """Every key, in no promised order."""

    def put(self, key: str, entity: Object | None) -> None:
        """Replaces an entity; None removes it."""

    @property
    def blocks(self) -> int:
        """How many blocks there are."""


class Entities:
    """A state that stands for itself."""

    def __init__(self, entities: Mapping[str, Object] | Iterable[tuple[str, Object]] = ()) -> None:
        self._entities: dict[str, Object] = {}
        self._labels: dict[str, frozenset[Label]] = {}
        self._index: dict[Label, set[str]] = {}
        self._blocks = 0
        for key, entity in dict(entities).items():
            self.put(key, entity)

    def get(self, key: str) -> Object | None:
        return self._entities.get(key)

    def __contains__(self, key: object) -> bool:
        return key in self._entities

    def __iter__(self) -> Iterator[str]:
        return iter(self._entities)

    def found(self, label: Label) -> list[str]:
        return sorted(self._index.get(label, ()))

    def labels(self, key: str) -> frozenset[Label]:
        return self._labels.get(key, _NONE)

    @property
    def blocks(self) -> int:
        return self._blocks

    def put(self, key: str, entity: Object | None) -> None:
        before, after = self.labels(key), _labels(key, entity)
        if prefix_of(key) == "block":
            self._blocks += (entity is not None) - (key in self._entities)
        if entity is None:
            self._entities.pop(key, None)
            self._labels.pop(key, None)
        else:
            self._entities[key] = entity
            self._labels[key] = after
        for label in before - after:
            keys = self._index[label]
            keys.discard(key)
            if not keys:
                del self._index[label]
        for label in after - before:
            self._index.setdefault(label, set()).add(key)


class Layer:
    """What differs from the state below."""

    def __init__(self, below: State) -> None:
        self._below = below
        self._changed: dict[str, Object | None] = {}
        self._labels: dict[str, frozenset[Label]] = {}
        self._index: dict[Label, dict[str, bool]] = {}
        self._more_blocks = 0

    def get(self, key: str) -> Object | None:
        return self._changed[key] if key in self._changed else self._below.get(key)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.get(key) is not None

    def __iter__(self) -> Iterator[str]:
        yield from (key for key in self._below if key in self)
        yield from (key for key, entity in self._changed.items() if entity is not None and key not in self._below)

    def found(self, label: Label) -> list[str]:
        held = self._below.found(label)
        here = self._index.get(label)
        if here is None:
            return held
        return sorted({key for key in held if here.get(key, True)} | {key for key, stands in here.items() if stands})

    def labels(self, key: str) -> frozenset[Label]:
        return self._labels[key] if key in self._labels else self._below.labels(key)

    @property
    def blocks(self) -> int:
        return self._below.blocks + self._more_blocks

    def touched(self) -> Iterator[str]:
        """Returns the keys whose entities differ from those below, or did for a while."""
        return iter(self._changed)

    def put(self, key: str, entity: Object | None) -> None:
        before, after = self.labels(key), _labels(key, entity)
        if prefix_of(key) == "block":
            self._more_blocks += (entity is not None) - (key in self)
        self._changed[key] = entity
        self._labels[key] = after
        for label in before - after:
            self._index.setdefault(label, {})[key] = False
        for label in after - before:
            self._index.setdefault(label, {})[key] = True


def snapshot(state: State) -> dict[str, Object]:
    """Returns the entities by key, sorted by key: a copy that later changes leave as it is."""
    return {key: entity for key in sorted(state) if (entity := state.get(key)) is not None}


def value_at(state: State, key: str, path: Iterable[str]) -> JSON:
    """Returns the value at a path of an entity, null where there is none."""
    found = at(state.get(key), tuple(path))
    return None if found is NOTHING else found
