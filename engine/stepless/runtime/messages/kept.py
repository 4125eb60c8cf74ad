"""Keeps messages for runs that do not answer to their key yet.

Two sets by key, both read with read-your-writes: the kept messages, and the routes (`routes.py`) of the runs that wait under a
further key. A sender and a receiver that act at the same time must not miss each other, and each acts in two steps:

    sender:    keep the message,   then read the routes
    receiver:  put its route,      then read the kept messages

Whatever the order of the four steps, at least one of the two sees the other. If both do, the message is put into the inbox twice
under one id, and the inbox keeps one. Exchanging the steps of either side loses messages.

A message is kept in a claim, and listed by its id in a line. The claim says until when the message is kept. A run answers to its
key since it was created, and may begin later than that: after an outage, for example. So a message that has expired stays stored
until a reader removes it, and a reader leaves it to a run that was created in time and has not begun. KEPT_CLAIM_MS after its
expiry, the store itself forgets the message of a key that is not used any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from stepless.errors import Damaged
from stepless.limits import KEPT_CLAIM_MS, MAX_KEPT_MESSAGES
from stepless.model.stored.damage import json_object
from stepless.ports import Signal
from stepless.runtime.inbox import MESSAGE, body_of
from stepless.runtime.messages.bodies import encoded, in_inbox
from stepless.runtime.messages.keys import RunKey, live_run
from stepless.runtime.world import World

_KEPT: Final = "kept:"
_LISTED: Final = 2 * MAX_KEPT_MESSAGES  # with those that have expired, and that a run has yet to take
_FIX: Final = "restore the store from a backup; the record expires by itself"
_UNTIL: Final = "until"  # in the body of a kept message: until when it is kept, in milliseconds since 1970 UTC


def keep(world: World, run_key: RunKey, signal: Signal, keeps_ms: int) -> tuple[Signal, int]:
    """Keeps a message for a time from now on. Returns it, or the one that is kept under its id already, and until when that is
    kept."""
    now_ms, claim = world.clock.now_ms(), _claim(run_key, signal.identity)
    until_ms = now_ms + keeps_ms
    mine = encoded({**body_of(signal), _UNTIL: until_ms})
    body = world.store.claim(claim, mine, now_ms, until_ms + KEPT_CLAIM_MS)
    while _until(body) <= now_ms:  # it has expired, and is sent again
        if world.store.replace_claim(claim, body, mine, now_ms, until_ms + KEPT_CLAIM_MS):
            body = mine
        else:
            body = world.store.claim(claim, mine, now_ms, until_ms + KEPT_CLAIM_MS)
    world.store.join_line(_line(run_key), signal.identity)
    return signal._replace(body=body), _until(body)


def kept_for(world: World, run_key: RunKey, since_ms: int | None = None) -> Iterator[Signal]:
    """Yields the messages that are kept for a key, in the order of their ids. `since_ms` is when the reader began to answer to
    the key, if that is a while ago: what was kept then is for it. Removes what has expired."""
    now_ms, expired = world.clock.now_ms(), list[tuple[str, bytes | None]]()
    as_of_ms = now_ms if since_ms is None else min(since_ms, now_ms)
    for identity in world.store.read_line(_line(run_key), limit=_LISTED):
        body = world.store.get_claim(_claim(run_key, identity), now_ms)
        if body is not None and _until(body) > as_of_ms:
            yield Signal(MESSAGE, identity, body, now_ms)
        elif body is None or _until(body) <= now_ms:
            expired.append((identity, body))
    _forget(world, run_key, expired)


def take_kept(world: World, run_key: RunKey, run_id: str, since_ms: int | None = None) -> None:
    """Puts what is kept for a key into the inbox of a run that answers to the key. `since_ms` as in `kept_for`."""
    for signal in kept_for(world, run_key, since_ms):
        world.store.put_signal(run_id, in_inbox(world, run_id, signal))


def count_kept(world: World, run_key: RunKey) -> int:
    """Counts the messages that are kept for a key: those that are listed, and at the limit those that have not expired."""
    listed = len(world.store.read_line(_line(run_key), limit=_LISTED))
    if listed < MAX_KEPT_MESSAGES:
        return listed
    kept = sum(1 for _ in kept_for(world, run_key))
    return kept if listed < _LISTED else listed


def _forget(world: World, run_key: RunKey, expired: Sequence[tuple[str, bytes | None]]) -> None:
    """Removes expired messages, except those that a run of the key has yet to take: it was created before they expired, and has
    not begun."""
    live = live_run(world, run_key) if any(body is not None for _, body in expired) else None
    created_ms = live.created_ms if live is not None and not live.sequence else None
    for identity, body in expired:
        if body is not None and created_ms is not None and created_ms < _until(body):
            continue
        if body is not None:
            world.store.release_claim(_claim(run_key, identity), body)
        world.store.leave_line(_line(run_key), identity)
        if world.store.get_claim(_claim(run_key, identity), world.clock.now_ms()) is not None:  # it was sent again in between
            world.store.join_line(_line(run_key), identity)


def _until(body: bytes) -> int:
    """Until when a message is kept, from its stored form. Raises `Damaged`."""
    until = json_object(body, "claim.value of a kept message", _FIX).get(_UNTIL)
    if type(until) is not int:
        raise Damaged("it does not say until when", place="claim.value of a kept message", mend=_FIX)
    return until


def _line(run_key: RunKey) -> str:
    return f"{_KEPT}{run_key.digest}"


def _claim(run_key: RunKey, identity: str) -> str:
    return f"{_KEPT}{run_key.digest}:{identity}"
