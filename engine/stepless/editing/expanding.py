"""What a client makes of a gesture before it shows it: the names that are free, the references that a rename rewrites.

A client that showed less than the server will do would undo less, too: a deleted block came back without its edges.
"""

from __future__ import annotations

from typing import NamedTuple

from stepless.editing.effects import Delete, Effect, Rename, Set, Splice, Write
from stepless.editing.gestures import Gesture, Outcome
from stepless.editing.resolve import resolve
from stepless.editing.state import State


class Expanded(NamedTuple):
    """The gesture as it is sent, and its effects over what the client shows; no gesture where it does nothing or is refused."""

    gesture: Gesture | None
    effects: tuple[Effect, ...]
    outcomes: tuple[Outcome, ...]


def expand(view: State, gesture: Gesture) -> Expanded:
    """Decides a gesture over a view, as the server would. What it drops here is not sent at all."""
    decision = resolve(view, [gesture])
    if not decision.effects:
        return Expanded(None, (), decision.outcomes)
    writes: list[Write] = []
    derived: list[tuple[int, int]] = []
    names = {write.key: write for write in gesture.writes if isinstance(write, Rename)}
    causes: dict[str, int] = {}  # by the new name: where the rename stands
    deleted = {write.key for write in gesture.writes if isinstance(write, Delete)}
    for effect in decision.effects:
        renamed = names.get(effect.key)
        if isinstance(effect, Set) and effect.path == ("id",) and renamed is not None and effect.value == renamed.id:
            causes[renamed.id] = len(writes)
            writes.append(renamed._replace(expanded=True))
        elif isinstance(effect, Delete) and effect.key not in deleted:
            continue  # follows from another deletion or from a move, and is derived anew where it is committed
        else:
            cause = causes.get(effect.text) if isinstance(effect, Splice) else None
            if cause is not None and effect not in gesture.writes:
                derived.append((len(writes), cause))
            writes.append(effect)
    return Expanded(Gesture(tuple(writes), gesture.guards, tuple(derived)), decision.effects, decision.outcomes)


