"""Stores the data of a large message as a value of the run, so that a full inbox stays small."""

from __future__ import annotations

import json

from stepless.errors import Damaged
from stepless.limits import INLINE_MESSAGE_BYTES
from stepless.model.json import JSON
from stepless.ports import Signal
from stepless.runtime import inbox
from stepless.runtime.world import World


def in_inbox(world: World, run_id: str, signal: Signal) -> Signal:
    """Returns the message as the inbox of a run holds it: large data is a blob of the run, so that a full inbox stays small."""
    if len(signal.body) <= INLINE_MESSAGE_BYTES:
        return signal
    body = inbox.body_of(signal)
    large = {part: body[part] for part in ("data", "start") if part in body}
    kept = {part: value for part, value in body.items() if part not in large}
    kept[inbox.BLOB] = world.blobs.put(encoded(large), run_id)
    return signal._replace(body=encoded(kept))


def with_data(world: World, signal: Signal) -> Signal:
    """Returns the message as it was sent, from the form of `for_run`."""
    body = inbox.body_of(signal)
    if inbox.BLOB not in body:
        return signal
    data = world.blobs.get(str(body[inbox.BLOB]))
    if data is None:
        place, mend = f"inbox.body of message/{signal.identity}", "restore the blobs from a backup"
        raise Damaged("its value is missing", place=place, mend=mend)
    said = {part: value for part, value in body.items() if part != inbox.BLOB}
    return signal._replace(body=encoded({**said, **json.loads(data)}))


def encoded(value: JSON) -> bytes:
    """Returns a value of a body, as it is stored."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
