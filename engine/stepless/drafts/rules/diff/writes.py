"""Computes the writes that turn one state into another, in an order in which each can be done.

    moves        a block into another body, all at once: edges among them stay
    removals     edges, blocks with what hangs on them, subflows
    renames      through a name in between where two change places; texts are written by themselves, so no reference follows
    additions    blocks from the outside in, each with its subflow
    changes      of entities that stay
    ties         edges that are new

What cannot be reached by changes (a node that has lost its type) is removed and added again, under its key.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from stepless.drafts.rules.diff.entity_keys import aligned
from stepless.drafts.rules.diff.values import can_become, entity_writes
from stepless.drafts.rules.document.reading import IsContainer
from stepless.drafts.rules.document.writing import to_document
from stepless.drafts.rules.effects import Delete, Put, Rename, Set, Write
from stepless.drafts.rules.fold import apply
from stepless.drafts.rules.requests import Operation
from stepless.drafts.rules.resolve import resolve
from stepless.drafts.rules.state import Entities, Layer, State, named_in, prefix_of, tail_of, tie_of
from stepless.drafts.rules.values import Object, same
from stepless.model.json import JSON

Group = list[Write]
_IN_DOCUMENT: Final = frozenset({"doc", "block", "edge", "subflow"})
_HANGING: Final = ("subflow", "place", "pin")


class OtherWorkflow(ValueError):
    """The document has another id than the draft, or none: that is not changed by an edit."""


def difference(
    state: State, document: Mapping[str, JSON], salt: str, is_container: IsContainer = lambda type_: None
) -> list[Group]:
    """Groups of writes after which the document of the state is the given one; what is not in a document stays. Each group makes
    one difference, and builds on those before it. Raises `OtherWorkflow`."""
    doc = state.get("doc") or {}
    if ("id" in doc) != ("id" in document) or not same(doc.get("id"), document.get("id")):
        raise OtherWorkflow
    made = towards(state, {**_concurrent(state), **aligned(state, document, salt, is_container)})
    reached = to_document(resolve(state, [flattened(made)]).state)
    if same(reached, dict(document)):
        return made
    bare = Entities({"doc": doc} if "doc" in state else {})  # everything but the top level is new to it
    anew = aligned(bare, document, f"{salt} anew", is_container)
    return towards(state, {**_concurrent(state), **anew})


def flattened(groups: Sequence[Group]) -> Operation:
    """Returns all groups as one operation."""
    return Operation(tuple(write for group in groups for write in group))


def _concurrent(state: State) -> dict[str, Object]:
    return {key: entity for key in state if prefix_of(key) not in _IN_DOCUMENT and (entity := state.get(key)) is not None}


def towards(state: State, target: Mapping[str, Object]) -> list[Group]:
    """Groups of writes after which the state has exactly the entities of `target`, which is whole: `resolve` over the state, with
    all of them, drops and refuses nothing."""
    return _Steps(state, target).groups()


class _Steps:
    def __init__(self, state: State, target: Mapping[str, Object]) -> None:
        self._now = Layer(state)
        self._target = {key: entity for key, entity in target.items() if self._has_its_block(key, target)}
        self._groups: list[Group] = []

    @staticmethod
    def _has_its_block(key: str, target: Mapping[str, Object]) -> bool:
        return prefix_of(key) not in _HANGING or f"block/{tail_of(key)}" in target

    def groups(self) -> list[Group]:
        self._move()
        self._remove()
        self._rename()
        self._add()
        self._change()
        self._tie()
        return self._groups

    def _do(self, *writes: Write) -> None:
        self._groups.append(list(writes))
        apply(self._now, resolve(self._now, [Operation(writes)]).effects)

    def _keys(self, *prefixes: str) -> list[str]:
        return sorted(key for key in self._now if prefix_of(key) in prefixes)

    def _blocks(self) -> list[str]:
        return [key for key in self._keys("block") if key in self._target]

    # -- what goes ---------------------------------------------------------------------------------------------------

    def _move(self) -> None:
        moved = [
            Set(key, ("parent",), self._target[key]["parent"]) for key in self._blocks()
            if self._held(key)["parent"] != self._target[key]["parent"]
        ]
        if moved:
            self._do(*moved)

    def _remove(self) -> None:
        for key in self._keys("edge"):
            if key not in self._target or self._other_edge(key):
                ends = [f"block/{self._held(key)[end]}" for end in ("source", "target")]
                if all(end in self._target for end in ends):
                    self._do(Delete(key))
        gone = {key for key in self._keys("block") if key not in self._target or not self._becomes(key)}
        for key in sorted(gone):
            if key in self._now and not self._inside(key, gone):
                self._do(Delete(key))
        for key in self._keys("subflow", "place", "note", "pin", "text"):
            if key not in self._target:
                self._do(Delete(key))

    def _other_edge(self, key: str) -> bool:
        return tie_of(self._held(key)) != tie_of(self._target[key]) or not self._becomes(key)

    def _becomes(self, key: str) -> bool:
        return can_become(key, self._held(key), self._target[key])

    def _inside(self, key: str, gone: set[str]) -> bool:
        above = self._held(key)["parent"]
        while above is not None:
            if f"block/{above}" in gone:
                return True
            above = self._held(f"block/{above}").get("parent")
        return False

    # -- names -------------------------------------------------------------------------------------------------------

    def _rename(self) -> None:
        """A block gets its name as soon as that is free, and then the one that waited for its former name."""
        waiting = {key: None for key in self._blocks() if self._held(key)["id"] != self._target[key]["id"]}
        after = {(self._held(key)["parent"], self._target[key]["id"]): key for key in waiting}
        for first in list(waiting):
            key: str | None = first
            while key in waiting and self._is_free(key, name := self._target[key]["id"]):
                del waiting[key]
                held = self._held(key)
                self._do(Rename(key, name, True))
                key = after.get((held["parent"], held["id"]))
        if waiting:
            self._exchange(list(waiting))

    def _exchange(self, waiting: Sequence[str]) -> None:
        """Names that wait for each other."""
        wanted = {block.get("id") for key, block in self._target.items() if prefix_of(key) == "block"}
        first = [Rename(key, self._unused(key, place, wanted), True) for place, key in enumerate(waiting)]
        self._do(*first, *(Rename(key, self._target[key]["id"], True) for key in waiting))

    def _unused(self, key: str, place: int, wanted: Collection[JSON]) -> str:
        name = f"renamed_{place}"
        while not self._is_free(key, name) or name in wanted:
            name += "_"
        return name

    def _is_free(self, key: str, name: str) -> bool:
        return all(other == key for other in self._now.found(named_in(self._held(key)["parent"], name)))

    # -- what comes --------------------------------------------------------------------------------------------------

    def _add(self) -> None:
        new = [key for key in self._target if prefix_of(key) == "block" and key not in self._now]
        for key in sorted(new, key=lambda key: (self._depth(key), str(self._target[key]["order"]), key)):
            below = f"subflow/{tail_of(key)}"
            self._do(Put(key, self._target[key]), *([Put(below, self._target[below])] if below in self._target else []))
        for key in sorted(key for key in self._target if prefix_of(key) not in ("block", "edge") and key not in self._now):
            self._do(Put(key, self._target[key]))

    def _depth(self, key: str) -> int:
        depth, above = 0, self._target[key]["parent"]
        while above is not None:
            depth, above = depth + 1, self._target[f"block/{above}"]["parent"]
        return depth

    def _change(self) -> None:
        for key in sorted(key for key in self._target if key in self._now):
            held, wanted = self._held(key), self._target[key]
            if not same(held, wanted):
                for group in entity_writes(key, held, wanted):
                    self._do(*group)

    def _tie(self) -> None:
        for key in sorted(key for key in self._target if prefix_of(key) == "edge" and key not in self._now):
            self._do(Put(key, self._target[key]))

    def _held(self, key: str) -> Object:
        return self._now.get(key) or {}
