"""Rewrites references when a block is renamed: finds the texts that refer to it, and computes the splices.

A name in a text means the nearest block of that name: in the body of the node that the text belongs to, else in the body around
it, and so on. A container's own parameters belong to the body in which the container stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from stepless.drafts.rules.effects import Set, Splice
from stepless.drafts.rules.shapes import SHAPES
from stepless.drafts.rules.state import MENTION, State, mentions, named_in, prefix_of, tail_of
from stepless.drafts.rules.values import texts
from stepless.model.json import JSON

_NO_TEXT: Final = frozenset(name for name, shape in SHAPES["block"].fields.items() if shape != "object")
"""Fields of a block in which `<name` is no reference."""


def meant(state: State, body: JSON, name: str) -> str | None:
    """Returns the key of the block that a name means in a body (None is the workflow's own, else the container's tail)."""
    seen: set[JSON] = set()
    while body not in seen:
        seen.add(body)
        found = state.found(named_in(body, name))
        if found:
            return found[0]
        if body is None:
            return None
        body = body_of(state, f"block/{body}")
    return None


def body_of(state: State, entity: str) -> JSON:
    """Returns the container, by its tail, in whose body the texts of an entity are; None for the workflow's own."""
    return (state.get(f"block/{tail_of(entity)}") or {}).get("parent")


def sees(state: State, reader: str, body: JSON) -> bool:
    """Returns whether the texts of an entity are in a body or below it."""
    inside = body_of(state, reader)
    while inside != body:
        if inside is None:
            return False
        inside = body_of(state, f"block/{inside}")
    return True


def readers(state: State, key: str) -> list[str]:
    """Returns the blocks and subflows that refer to this block by name."""
    name = (state.get(key) or {}).get("id")
    if not isinstance(name, str):
        return []
    return [
        other for other in state.found(mentions(name))
        if meant(state, body_of(state, other), name) == key
    ]


def renaming(state: State, key: str, name: str) -> Iterator[Set | Splice]:
    """Yields the effects that give a block another name: its id, then each reference."""
    block = state.get(key) or {}
    former = block.get("id")
    changed = readers(state, key)  # before the name is another one
    yield Set(key, ("id",), name)
    if isinstance(former, str):
        yield from rewritten(state, changed, former, name)


def rewritten(state: State, keys: Iterable[str], former: str, name: str) -> Iterator[Splice]:
    """Yields a splice for each `<former` in the texts of these entities."""
    for key in keys:
        prefix = prefix_of(key)
        for path, text in texts(state.get(key)):
            if prefix == "block" and path[0] in _NO_TEXT:
                continue
            shift = 0
            for found in MENTION.finditer(text):
                if found[1] == former:
                    yield Splice(key, path, found.start(1) + shift, len(former), name)
                    shift += len(name) - len(former)
