"""Applies effects to a draft, in log order.

Every replica of a draft, on the server and in each browser, folds the same log, and all must reach the same state without asking
each other. So folding is total: it never refuses. An effect that finds nothing to work on (no entity, a step of the path that is
no object, a splice where no text is) changes nothing. Whether an operation *may* happen was decided once, when its entry was
committed (`resolve`), over the state that the log had then; what was decided is the effect, and it is not decided again.

The counterexample: a fold that refused an effect, because this release thinks it invalid, would leave a replica of another
release with another state, and from then on each of them would decide differently over the same log.

Do not add a check that depends on anything but the entity and the effect, and do not change what an effect of an old log does:
the golden logs of the tests hold both halves, Python and TypeScript, to the same result. An entity is not changed in place:
layers and earlier states share it.
"""

from __future__ import annotations

from collections.abc import Iterable

from stepless.drafts.rules.effects import Delete, Effect, Put, Set, Splice
from stepless.drafts.rules.state import Layer, State
from stepless.drafts.rules.values import NOTHING, Object, at, spliced, with_leaf, without


def after(entity: Object | None, effect: Effect) -> Object | None:
    """Returns the entity after the effect, the same object where nothing changes; None where there is no entity then."""
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
    """Returns a state over the given one in which the effects have happened."""
    layer = Layer(state)
    apply(layer, effects)
    return layer
