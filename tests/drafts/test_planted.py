"""Mistakes that worlds of random edits do not show by themselves: each is planted in a world of its own kind, and found."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import inverse as inverting
import pytest
import test_undo
import world
from invariants import faults
from replica import Replica
from world import World, episode, mutated

from stepless.drafts.rules import validation
from stepless.drafts.rules.effects import Delete, Set
from stepless.drafts.rules.requests import EditRequest, Operation
from stepless.drafts.rules.resolve import Change, resolve
from stepless.drafts.rules.state import Entities
from stepless.drafts.rules.values import Object
from stepless.model.json import JSON

pytestmark = pytest.mark.nightly

SEEDS = 300


def deletion(seed: int) -> None:
    """One person deletes a container, and sends the deletions of what is inside with it, as derived; another has moved some of it
    out, or to the inside, meanwhile. What is inside by then goes; what is outside stays."""
    dice = Random(seed)

    def block(name: str, parent: str | None) -> Object:
        fields: dict[str, JSON] = {"id": name, "type": "http", "parent": parent, "order": "V"}
        return fields

    children, others = [f"c{one}" for one in range(dice.randrange(1, 5))], ["o1", "o2"]
    start: dict[str, Object] = {"doc": {"id": "w", "nodes": None}, "block/l": block("l", None)}
    start |= {f"block/{one}": block(one, "l") for one in children} | {f"block/{one}": block(one, None) for one in others}
    out = [one for one in children if dice.random() < 0.4]
    into = [one for one in others if dice.random() < 0.4]
    since = [Set(f"block/{one}", ("parent",), None) for one in out] + [Set(f"block/{one}", ("parent",), "l") for one in into]
    state = Entities(start)
    world.apply(state, since)
    derived = tuple((place + 1, 0) for place in range(len(children)))
    asked = Operation((Delete("block/l"), *(Delete(f"block/{one}") for one in children)), (), derived)
    made = resolve(state, [asked], [Change("bo", since)])
    left = {key.removeprefix("block/") for key in made.state if key.startswith("block/")}
    assert left == {*out, *others} - {*into}, seed
    assert list(faults(made.state)) == [] and made.outcomes == ()


def test_a_deletion_takes_what_is_inside_when_it_is_committed() -> None:
    for seed in range(SEEDS):
        deletion(seed)


def _derived_deletions_done(derived: Callable[..., bool]) -> Callable[..., bool]:
    def done(self: Any, write: Any, cause: Any) -> bool:
        if isinstance(write, Delete) and write.key in self.layer:
            return bool(self._delete(write.key))
        return derived(self, write, cause)

    return done


def _given_up(message: Callable[..., EditRequest | None]) -> Callable[..., EditRequest | None]:
    tried: dict[tuple[Any, ...], int] = {}

    def asked(self: Replica, tag: Callable[[], str]) -> EditRequest | None:
        made = message(self, tag)
        if made is not None:
            key = (id(self), made.client, made.n, made.tag)
            tried[key] = tried.get(key, 0) + 1
            if tried[key] > 3:
                self.sent, self._view = None, None
                self.unsent.clear()
                return None
        return made

    return asked


PLANTED: dict[str, tuple[object, str, object, Callable[[int], object]]] = {
    "derived deletions are done as they were sent": (
        validation.Validation, "_derived", _derived_deletions_done(validation.Validation._derived), deletion,
    ),
    "an undo puts a key back without its place": (inverting, "key_after", lambda value, key: None, test_undo.session),
    "the queue is cleared after three tries": (Replica, "message", _given_up(Replica.message), episode),
}


@pytest.mark.parametrize("mistake", PLANTED)
def test_a_planted_mistake_is_found(mistake: str) -> None:
    owner, name, value, play = PLANTED[mistake]
    with mutated(owner, name, value), mutated(World, "patience", 200):
        for seed in range(SEEDS):
            try:
                play(seed)
            except (AssertionError, KeyError, ValueError):
                return
    pytest.fail(f"{SEEDS} seeds do not find that {mistake}")
