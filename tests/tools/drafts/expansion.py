"""Expands an operation on the client before it is shown: free names, rewritten references.

A client that showed less than the server will do would undo less, too: a deleted block came back without its edges.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from stepless.drafts.rules.effects import Effect, Rename, Set, Splice, Unset, Write
from stepless.drafts.rules.requests import Operation, Outcome
from stepless.drafts.rules.resolve import resolve
from stepless.drafts.rules.state import State
from stepless.drafts.rules.values import Path

_ORDER: Final = ("order",)


class Expanded(NamedTuple):
    """The operation as it is sent, and its effects over what the client shows; no operation where it does nothing or is
    refused."""

    operation: Operation | None
    effects: tuple[Effect, ...]
    outcomes: tuple[Outcome, ...]


def expand(view: State, operation: Operation) -> Expanded:
    """Decides an operation over a view, as the server would. What it drops here is not sent at all, nor is what follows where it
    is committed: the deletions of a cascade, the edges and the name that a move takes, the orders of siblings."""
    decision = resolve(view, [operation])
    if not decision.effects:
        return Expanded(None, (), decision.outcomes)
    renames = {write.key: write for write in operation.writes if isinstance(write, Rename)}
    asked = {(write.key, _place(write)) for write in operation.writes}
    orders = [(write.key, write.value) for write in operation.writes if isinstance(write, Set) and write.path == _ORDER]
    writes: list[Write] = []
    derived: list[tuple[int, int]] = []
    causes: dict[str, int] = {}  # by the new name: where the rename stands
    for effect in decision.effects:
        rename = renames.get(effect.key)
        if isinstance(effect, Set) and effect.path == ("id",) and rename is not None and effect.value == rename.id:
            causes[rename.id] = len(writes)
            writes.append(rename._replace(expanded=True))
        elif isinstance(effect, Set) and effect.path == _ORDER and (effect.key, effect.value) not in orders:
            continue  # the siblings of one whose order was too long get new ones where it is committed, and so does it
        elif (effect.key, _place(effect)) in asked:
            writes.append(effect)
        elif isinstance(effect, Splice):
            if effect.text in causes:
                derived.append((len(writes), causes[effect.text]))
            writes.append(effect)
    return Expanded(Operation(tuple(writes), operation.guards, tuple(derived)), decision.effects, decision.outcomes)


def _place(write: Write) -> Path:
    return write.path if isinstance(write, Set | Unset | Splice) else ()
