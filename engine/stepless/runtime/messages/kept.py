"""Keeps messages for runs that do not answer to their key yet, and says which runs answer to a key.

Two sets by key, both read with read-your-writes: the kept messages, and the routes, which are the runs that wait under a further
key. A sender and a receiver that act at the same time must not miss each other, and each acts in two steps:

    sender:    keep the message,   then read the routes
    receiver:  put its route,      then read the kept messages

Whatever the order of the four steps, at least one of the two sees the other. If both do, the message is put into the inbox twice
under one id, and the inbox keeps one. Exchanging the steps of either side loses messages.

A message is kept in a claim, which expires by itself, and listed by its id in a line. A listed id without a claim has expired;
the next reader removes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stepless.limits import MAX_KEPT_MESSAGES, MAX_RECEIVERS
from stepless.ports import Signal
from stepless.runtime.inbox import MESSAGE
from stepless.runtime.messages.keys import Slot
from stepless.runtime.world import World

_ROUTES: Final = "routes:"
_KEPT: Final = "kept:"


def put_route(world: World, slot: Slot, run_id: str) -> None:
    """Makes a run answer to a further key. May be repeated."""
    world.store.join_line(f"{_ROUTES}{slot.digest}", run_id)


def remove_route(world: World, slot: Slot, run_id: str) -> None:
    """Ends what `put_route` began. May be repeated. A route that is left over costs its sender a look at an ended run."""
    world.store.leave_line(f"{_ROUTES}{slot.digest}", run_id)


def routes_of(world: World, slot: Slot) -> list[str]:
    """The runs that wait under a further key; one more than MAX_RECEIVERS at most."""
    return [*world.store.read_line(f"{_ROUTES}{slot.digest}", limit=MAX_RECEIVERS + 1)]


def keep(world: World, slot: Slot, signal: Signal, until_ms: int) -> Signal:
    """Keeps a message until an instant. Returns it, or the one that was kept under its id before."""
    claim, now_ms = _claim(slot, signal.identity), world.clock.now_ms()
    kept = world.store.claim(claim, signal.body, now_ms, until_ms)
    world.store.join_line(f"{_KEPT}{slot.digest}", signal.identity)
    return signal._replace(body=kept)


def kept_for(world: World, slot: Slot) -> Iterator[Signal]:
    """The messages that are kept for a key, at most MAX_KEPT_MESSAGES, in the order of their ids."""
    line, now_ms = f"{_KEPT}{slot.digest}", world.clock.now_ms()
    for identity in world.store.read_line(line, limit=MAX_KEPT_MESSAGES):
        body = world.store.get_claim(_claim(slot, identity), now_ms)
        if body is None:
            world.store.leave_line(line, identity)
        else:
            yield Signal(MESSAGE, identity, body, now_ms)


def count_kept(world: World, slot: Slot) -> int:
    """How many messages are listed as kept for a key, expired ones included."""
    return len(world.store.read_line(f"{_KEPT}{slot.digest}", limit=MAX_KEPT_MESSAGES))


def _claim(slot: Slot, identity: str) -> str:
    return f"kept:{slot.digest}:{identity}"
