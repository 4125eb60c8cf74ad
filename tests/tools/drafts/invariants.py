"""Checks what must hold of every state of a draft, committed or shown; for tests and the simulation."""

from __future__ import annotations

from collections.abc import Iterator

from stepless.drafts.rules.shapes import HANGING
from stepless.drafts.rules.state import State, named_in, prefix_of, tail_of


def faults(state: State) -> Iterator[str]:
    """Yields a sentence for each entity that is not whole. Costs the whole state."""
    for key in state:
        entity = state.get(key) or {}
        prefix = prefix_of(key)
        if prefix == "edge":
            ends = [state.get(f"block/{entity.get(end)}") for end in ("source", "target")]
            if None in ends:
                yield f"{key} has an end without a block"
            elif ends[0] is not None and ends[1] is not None and ends[0].get("parent") != ends[1].get("parent"):
                yield f"{key} joins two bodies"
        elif prefix in HANGING and f"block/{tail_of(key)}" not in state:
            yield f"{key} has no block"
        elif prefix == "block":
            parent = entity.get("parent")
            if parent is not None and f"block/{parent}" not in state:
                yield f"{key} is inside a block that does not exist"
            if len(state.found(named_in(parent, entity.get("id")))) > 1:
                yield f"{key} has the name of another block in its body"
            if _inside_itself(state, key):
                yield f"{key} is inside itself"


def _inside_itself(state: State, key: str) -> bool:
    seen = {key}
    above = (state.get(key) or {}).get("parent")
    while above is not None:
        if f"block/{above}" in seen:
            return True
        seen.add(f"block/{above}")
        above = (state.get(f"block/{above}") or {}).get("parent")
    return False
