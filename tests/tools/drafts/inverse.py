"""Computes the operation that undoes effects, from the state before them.

Its guards say what must still be so. An entity that was added is taken away only as it was added; a value is put back only while
it is the one that was set. A text needs no guard: its splices are transformed with whatever was typed since.
"""

from __future__ import annotations

from collections.abc import Iterable

from stepless.drafts.rules.effects import Delete, Effect, Put, Set, Splice, Unset
from stepless.drafts.rules.fold import after
from stepless.drafts.rules.requests import Guard, Operation
from stepless.drafts.rules.shapes import REPLACED
from stepless.drafts.rules.state import Layer, State, prefix_of, value_at
from stepless.drafts.rules.values import NOTHING, Object, at, key_after


def inverse(state: State, effects: Iterable[Effect]) -> Operation:
    """Returns the operation that restores `state` after the effects: each entity as it was, with its keys in their order. Effects
    that change nothing have no part in it."""
    layer = Layer(state)
    back: list[Effect] = []
    watched: dict[tuple[str, tuple[str, ...]], None] = {}
    for effect in effects:
        held = layer.get(effect.key)
        made = after(held, effect)
        if made is held:
            continue
        back.append(_undone(held, effect))
        if isinstance(effect, Set | Unset):
            watched[effect.key, effect.path] = None
        elif isinstance(effect, Put) and held is None and prefix_of(effect.key) not in REPLACED:
            watched[effect.key, ()] = None
        layer.put(effect.key, made)
    back.reverse()
    return Operation(tuple(back), tuple(_guards(layer, state, watched)))


def _undone(held: Object | None, effect: Effect) -> Effect:
    if held is None:
        return Delete(effect.key)
    match effect:
        case Put() | Delete():
            return Put(effect.key, held)
        case Splice(key=key, path=path, start=start, removed=removed, text=text):
            former = at(held, path)
            start = min(start, len(former))
            return Splice(key, path, start, len(text), former[start:start + removed])
    former = at(held, effect.path)
    if former is NOTHING:
        return Unset(effect.key, _first_made(held, effect.path))
    if isinstance(effect, Set):
        return Set(effect.key, effect.path, former)
    return Set(effect.key, effect.path, former, key_after(at(held, effect.path[:-1]), effect.path[-1]))


def _first_made(held: Object, path: tuple[str, ...]) -> tuple[str, ...]:
    """The path to the first key that a set made on its way."""
    for length in range(1, len(path)):
        if at(held, path[:length]) is NOTHING:
            return path[:length]
    return path


def _guards(made: State, former: State, watched: Iterable[tuple[str, tuple[str, ...]]]) -> list[Guard]:
    """The values after the effects that the undo replaces. What the effects themselves took away again needs none."""
    whole = {key for key, path in watched if not path}
    return [
        Guard(key, path, value_at(made, key, path))
        for key, path in watched
        if key in made and (not path or key not in whole)
    ]


