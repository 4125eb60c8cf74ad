"""Commits intents: any process may, none owns a draft. An item is appended on condition that its place in the log is free.

A process decides over what it has read so far. If that is not all, its append fails, and it reads the rest and decides again. So
a decision that ends in an item needs no read before it; one that ends in an answer is made only over the end of the log.
"""

from __future__ import annotations

from stepless.drafts.log.editing import S, Undecided
from stepless.drafts.log.entries import Answer, Intent, Item, Last
from stepless.drafts.log.records import Records
from stepless.drafts.log.warm_draft import Room
from stepless.errors import InvalidRequest
from stepless.limits import BUSY_RETRY_MS, SEQUENCING_TRIES
from stepless.model.json import JSON
from stepless.ports import Clock

BUSY = Answer("busy", BUSY_RETRY_MS)
REPLACED = Answer("replaced")


def submit(room: Room[S], intent: Intent, by: str, clock: Clock) -> Item | Answer:
    """The item of an intent: committed now, or before if this is a repeat. Otherwise why there is none:

    * `forked`: the client has sent another intent with this `n`, or a later one, or it is another person's; it goes on as a new
      client. This is known for as long as the client is remembered, and beyond that from the items behind its base;
    * `stale`: intents before this one are missing, or its base is out of the window, or more was typed since into the same texts
      than is crossed here; the client pulls and rebases;
    * `too_large`: to decide its gestures together takes too long; the client sends fewer at once;
    * `replaced`: the epoch is closed;
    * `busy`: other processes committed first, SEQUENCING_TRIES times.
    """
    if not intent.client or intent.n < 1 or intent.base < 0:
        raise InvalidRequest("an intent has a client, an `n` from 1 on and a `base` from 0 on", place="intent")
    with room.lock:
        known_end = False
        for _ in range(SEQUENCING_TRIES):
            made = _made(room, intent, by, clock)
            if isinstance(made, Answer) and not known_end:
                room.catch_up()
                known_end = True
                made = _made(room, intent, by, clock)
            if isinstance(made, Answer) or made.seq <= room.seq:
                return made
            if room.records.append(made):
                room.take(made)
                return made
            room.catch_up()
            known_end = True
        return BUSY


def close(records: Records, checked: int, successor: JSON, by: str, clock: Clock) -> Item | Answer:
    """Ends an epoch with an item that carries the next head. Returns the item that has ended it: with another head, if another
    process was first. `busy` as above. Needs the end of the log only, so a draft that cannot be opened can be left."""
    for _ in range(SEQUENCING_TRIES):
        last = records.last_item()
        if last is not None and last.closes is not None:
            return last
        seq, at_ms = (last.seq, last.at_ms) if last is not None else (0, 0)
        item = Item(max(seq, checked) + 1, "", 0, "", by, max(clock.now_ms(), at_ms + 1), (), closes=successor)
        if records.append(item):
            return item
    return BUSY


def _made(room: Room[S], intent: Intent, by: str, clock: Clock) -> Item | Answer:
    """The item to append to what was read so far, the one that is there already, or an answer."""
    if room.closes is not None:
        return REPLACED
    last = room.last.get(intent.client, Last(0, 0, ""))
    if last.by not in ("", by):
        return Answer("forked")
    if intent.n <= last.n:
        return _repeated(room, intent, last)
    since = room.since(intent.base)
    if intent.n > last.n + 1 or since is None:
        return Answer("stale")
    for item in since:
        if _identity(item) == _identity(intent):  # of a client that was renamed, of a copy of its tab, or forgotten since
            return item
    if any(item.client == intent.client and item.n >= intent.n for item in since):  # a copied tab, of a client that was forgotten
        return Answer("forked")
    try:
        decided = room.editing.resolve(room.state, intent, [item for item in since if item.client != intent.client])
    except Undecided as undecided:
        return Answer(undecided.code)
    at_ms = max(clock.now_ms(), room.at_ms + 1)
    return Item(
        room.seq + 1, intent.client, intent.n, intent.tag, by, at_ms, tuple(decided.effects), tuple(decided.outcomes),
        first=intent.first,
    )


def _identity(one: Intent | Item) -> tuple[str, str]:
    """By what an intent is recognized in the log."""
    return one.first or one.client, one.tag


def _repeated(room: Room[S], intent: Intent, last: Last) -> Item | Answer:
    if (intent.n, intent.tag) != (last.n, last.tag):
        return Answer("forked")
    found = room.records.some_items(last.seq - 1, 1)
    return found[0] if found and found[0].seq == last.seq else Answer("stale")
