"""Applies effects to a draft, in log order.

It never refuses. An effect that finds nothing to work on (no entity, a step of the path that is no object, a splice where no text
is) changes nothing, and so every replica that folds the same log has the same state.
"""

from __future__ import annotations

from collections.abc import Iterable

from stepless.drafts.rules.effects import Delete, Effect, Put, Set, Splice
from stepless.drafts.rules.state import Layer, State
from stepless.drafts.rules.values import NOTHING, Object, at, spliced, with_leaf, without


def after(entity: Object | None, effect: Effect) -> Object | None:
    """The entity after the effect, the same object where nothing changes; None where there is no entity then."""
    match effect:
        case Put(entity=put):
            return put
        case Delete():
            return None
        case _ if entity is None or not effect.path:
            return entity
        case Set(path=path, value=value, before=before):
            made = with_leaf(entity, path, value, before)
        case Splice(path=path, start=start, removed=removed, text=text):
            held = at(entity, path)
            made = with_leaf(entity, path, spliced(held, start, removed, text)) if isinstance(held, str) else NOTHING
        case _:
            made = without(entity, effect.path)
    return made if isinstance(made, dict) else entity


def apply(state: State, effects: Iterable[Effect]) -> None:
    """Applies effects to a state in place. Costs what they touch."""
    for effect in effects:
        held = state.get(effect.key)
        made = after(held, effect)
        if made is not held:
            state.put(effect.key, made)


def fold(state: State, effects: Iterable[Effect]) -> Layer:
    """A state over the given one in which the effects have happened."""
    layer = Layer(state)
    apply(layer, effects)
    return layer
