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
from stepless.runtime.inbox import MESSAGE, body_of
from stepless.runtime.messages.bodies import encoded, in_inbox
from stepless.runtime.messages.keys import Slot
from stepless.runtime.world import World

_ROUTES: Final = "routes:"
_KEPT: Final = "kept:"
_UNTIL: Final = "until"  # in the body of a kept message: until when it is kept, in milliseconds since 1970 UTC


def put_route(world: World, slot: Slot, run_id: str) -> None:
    """Makes a run answer to a further key. May be repeated."""
    world.store.join_line(f"{_ROUTES}{slot.digest}", run_id)


def remove_route(world: World, slot: Slot, run_id: str) -> None:
    """Ends what `put_route` began. May be repeated. A route that is left over costs its sender a look at an ended run."""
    world.store.leave_line(f"{_ROUTES}{slot.digest}", run_id)


def routes_of(world: World, slot: Slot) -> list[str]:
    """Returns the runs that wait under a further key; one more than MAX_RECEIVERS at most."""
    return [*world.store.read_line(f"{_ROUTES}{slot.digest}", limit=MAX_RECEIVERS + 1)]


def keep(world: World, slot: Slot, signal: Signal, until_ms: int) -> tuple[Signal, int]:
    """Keeps a message until an instant. Returns it, or the one that was kept under its id before, and until when that is kept."""
    now_ms = world.clock.now_ms()
    mine = encoded({**body_of(signal), _UNTIL: until_ms})
    body = world.store.claim(_claim(slot, signal.identity), mine, now_ms, until_ms)
    world.store.join_line(f"{_KEPT}{slot.digest}", signal.identity)
    kept = signal._replace(body=body)
    return kept, int(body_of(kept)[_UNTIL])


def kept_for(world: World, slot: Slot, since_ms: int | None = None) -> Iterator[Signal]:
    """Yields the messages that are kept for a key, at most MAX_KEPT_MESSAGES, in the order of their ids. `since_ms` is when the
    reader began to answer to the key, if that is a while ago: what was kept then is for it."""
    line, now_ms = f"{_KEPT}{slot.digest}", world.clock.now_ms()
    as_of_ms = now_ms if since_ms is None else min(since_ms, now_ms)
    for identity in world.store.read_line(line, limit=MAX_KEPT_MESSAGES):
        claim = _claim(slot, identity)
        body = world.store.get_claim(claim, as_of_ms)
        if body is not None:
            yield Signal(MESSAGE, identity, body, now_ms)
            continue
        world.store.leave_line(line, identity)
        if world.store.get_claim(claim, now_ms) is not None:  # it was sent again in between
            world.store.join_line(line, identity)


def take_kept(world: World, slot: Slot, run_id: str, since_ms: int | None = None) -> None:
    """Puts what is kept for a key into the inbox of a run that answers to the key. `since_ms` as in `kept_for`."""
    for signal in kept_for(world, slot, since_ms):
        world.store.put_signal(run_id, in_inbox(world, run_id, signal))


def count_kept(world: World, slot: Slot) -> int:
    """Returns how many messages are listed as kept for a key, expired ones included."""
    return len(world.store.read_line(f"{_KEPT}{slot.digest}", limit=MAX_KEPT_MESSAGES))


def _claim(slot: Slot, identity: str) -> str:
    return f"kept:{slot.digest}:{identity}"
