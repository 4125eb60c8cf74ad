"""Reads what the header of a run holds in addition to its columns, and writes the notes of `core/history/notes.py` into it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson

from stepless.core.history.notes import ERROR, NOTES, PAUSES, notes_of
from stepless.core.history.waits import ANSWER
from stepless.core.state import RunStatus, State
from stepless.errors import DamagedHeader
from stepless.model.json import JSON
from stepless.model.stored.damage import FAULTS, Damage, told_by, why_of
from stepless.ports import RunHead

_PAUSE = frozenset({"pause", "node", "reason", "message", "since"})  # what every note of a question has


def noted_meta(head: RunHead, state: State) -> bytes | None:
    """Returns the `meta` to write into the header of a run at `state`, in a write that is made anyway: with the notes of
    `core/history/notes.py`. None if neither has any. `head` may be older than the lease: notes that a session in between has made
    are then left, and readers ignore notes that the header's status and waits contradict."""
    kept: Mapping[str, JSON] = meta_of(head)
    notes = notes_of(state)
    if not notes and not any(name in kept for name in NOTES):
        return None
    meta = {**{name: value for name, value in kept.items() if name not in NOTES}, **notes}
    return json.dumps(meta, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def error_of(head: RunHead) -> Mapping[str, JSON] | None:
    """Returns why the run failed: {code, message, node?}, shortened. None for other runs, and for runs of a release that did not
    note it."""
    error = notes_in(head).get(ERROR) if head.status == RunStatus.FAILED else None
    return error if isinstance(error, dict) and {"code", "message"} <= error.keys() else None


def pauses_of(head: RunHead) -> Sequence[Mapping[str, JSON]]:
    """Returns the first questions that the run waits for, as `core/history/notes.py` describes them; empty if it waits for no
    answer."""
    pauses = notes_in(head).get(PAUSES) if ANSWER in head.waits.split() else None
    return [pause for pause in pauses if _is_whole(pause)] if isinstance(pauses, list) else []


def _is_whole(pause: object) -> bool:
    return isinstance(pause, dict) and pause.keys() >= _PAUSE and type(pause["since"]) is int


# -- the whole of it -----------------------------------------------------------------------------------------------------

DRAFT_RUN: Final = "draft"  # in the meta of a test run
DAMAGED: Final = "damaged"  # the status of a run whose header is damaged, where it is shown
_STATUS: Final = re.compile(r"[a-z_]{3,40}")  # of this release or of another one


_NONE: Final = type(None)
_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "entry": (list, _NONE), "tags": (list, _NONE), "non_entries": (list, _NONE), "parent": (dict, _NONE), "rerun": (dict, _NONE),
    "trigger": (dict, _NONE), DRAFT_RUN: (dict, _NONE), "erased": (dict, _NONE), "error": (dict, _NONE), "pauses": (list, _NONE),
    "unread": (int, _NONE), "key": (str, _NONE), "key_number": (int, _NONE), "after": (str, _NONE), "begins_at": (int, _NONE),
}  # fmt: skip
"""The types of the values that a header may hold, by the names that the engine reads."""


def meta_of(head: RunHead) -> dict[str, Any]:
    """Reads what the header of a run holds in addition to its columns. Raises `DamagedHeader` if that cannot be decoded, or if a
    column is damaged: then nothing is to be done with the run."""
    damage = damage_of(head)
    if damage is not None:
        raise DamagedHeader(damage.why, run_id=head.run_id, place=damage.place)
    return _decoded(head.meta)


def inputs_of(head: RunHead) -> JSON:
    """Returns the inputs of a run. Raises `DamagedHeader`."""
    try:
        return json.loads(head.inputs.decode("utf-8", "surrogatepass"))
    except FAULTS as error:
        raise DamagedHeader(why_of(error), run_id=head.run_id, place=f"run.inputs of {head.run_id}") from error


def notes_in(head: RunHead) -> dict[str, Any]:
    """Reads like `meta_of`, for a list; empty for a damaged header, whose status is shown as DAMAGED."""
    try:
        return _decoded(head.meta)
    except FAULTS:
        return {}


def damage_of(head: RunHead) -> Damage | None:
    """Returns the damage to the header of a run."""
    try:
        _decoded(head.meta)
    except FAULTS as error:
        return told_by(head.meta) or Damage(f"run.meta of {head.run_id}", why_of(error))
    if not _STATUS.fullmatch(head.status):
        return Damage(f"run.status of {head.run_id}", "it is no status")
    return None


def _decoded(meta: bytes) -> dict[str, Any]:
    try:
        found = orjson.loads(meta)
    except ValueError:  # orjson knows no lone surrogates
        found = json.loads(meta.decode("utf-8", "surrogatepass"))
    if not isinstance(found, dict):
        raise ValueError(f"a JSON object was stored, and there is a {type(found).__name__}")
    for name in found.keys() & _TYPES.keys():
        if not isinstance(found[name], _TYPES[name]):
            raise ValueError(f"`{name}` is a {type(found[name]).__name__}")
    return found
