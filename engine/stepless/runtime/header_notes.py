"""Writes the notes of `core/history/notes.py` into the header of a run, and reads them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from stepless.core.history.notes import ERROR, NOTES, PAUSES, notes_of
from stepless.core.history.waits import ANSWER
from stepless.core.state import RunStatus, State
from stepless.model.json import JSON
from stepless.ports import RunHead
from stepless.runtime.headers import meta_of, notes_in

_PAUSE = frozenset({"pause", "node", "reason", "message", "since"})  # what every note of a question has


def noted_meta(head: RunHead, state: State) -> bytes | None:
    """The `meta` to write into the header of a run at `state`, in a write that is made anyway: with the notes of
    `core/history/notes.py`. None if neither has any. `head` may be older than the lease: notes that a session in between has made
    are then left, and readers ignore notes that the header's status and waits contradict."""
    kept: Mapping[str, JSON] = meta_of(head)
    notes = notes_of(state)
    if not notes and not any(name in kept for name in NOTES):
        return None
    meta = {**{name: value for name, value in kept.items() if name not in NOTES}, **notes}
    return json.dumps(meta, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def error_of(head: RunHead) -> Mapping[str, JSON] | None:
    """Why the run failed: {code, message, node?}, shortened. None for other runs, and for runs of a release that did not note
    it."""
    error = notes_in(head).get(ERROR) if head.status == RunStatus.FAILED else None
    return error if isinstance(error, dict) and {"code", "message"} <= error.keys() else None


def pauses_of(head: RunHead) -> Sequence[Mapping[str, JSON]]:
    """The first questions that the run waits for, as `core/history/notes.py` describes them; empty if it waits for no answer."""
    pauses = notes_in(head).get(PAUSES) if ANSWER in head.waits.split() else None
    return [pause for pause in pauses if _is_whole(pause)] if isinstance(pauses, list) else []


def _is_whole(pause: object) -> bool:
    return isinstance(pause, dict) and pause.keys() >= _PAUSE and type(pause["since"]) is int
