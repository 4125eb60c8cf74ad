"""Finds the parent of a run, its child runs, and its reruns."""

from __future__ import annotations

from typing import NamedTuple

from stepless.core.events import EventType
from stepless.errors import Damaged, LimitExceeded, LogUnreadable
from stepless.limits import MAX_LISTED_RELATIVES
from stepless.ports import RunHead
from stepless.runtime import inbox
from stepless.runtime.header_notes import notes_in
from stepless.runtime.runlog import RunLog
from stepless.runtime.world import World

_DAMAGED = "?"  # the id of no run


class Relatives(NamedTuple):
    """The ids of the runs that a run has started, in the order of their start; at most MAX_LISTED_RELATIVES of each. `more` means
    that there are others, or that not all of the run can be read: its log is damaged, or its removal may have begun."""

    children: tuple[str, ...] = ()
    reruns: tuple[str, ...] = ()
    more: bool = False


def note_rerun(world: World, run_id: str, rerun_id: str) -> None:
    """Notes in a run that `rerun_id` repeats it, before the rerun is created. Costs one write. Concurrent reruns compete for a
    number, and each gets one. A run that has many reruns already gets no further notes."""
    now_ms = world.clock.now_ms()
    for number in range(_reruns(world, run_id) + 1, MAX_LISTED_RELATIVES + 1):
        note = inbox.rerun_note(number, rerun_id, now_ms)
        try:
            if world.store.put_signal(run_id, note).body == note.body:
                return
        except LimitExceeded:  # the inbox is full: the list stays incomplete, which is no reason to refuse the rerun
            return


def _reruns(world: World, run_id: str) -> int:
    """The number of notes: exponential search, then binary search."""
    low, high = 0, 1
    while high <= MAX_LISTED_RELATIVES and _noted(world, run_id, high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _noted(world, run_id, middle) else (low, middle)
    return low


def _noted(world: World, run_id: str, number: int) -> str:
    """The run that a note names; a text that names none for a damaged note."""
    note = world.store.get_signal(run_id, inbox.RERUN, str(number))
    try:
        return str(inbox.body_of(note).get("run") or _DAMAGED) if note is not None else ""
    except Damaged:
        return _DAMAGED


def reruns_of(world: World, run_id: str) -> tuple[RunHead, ...]:
    """Returns the headers of the reruns of a run that still exist, in the order of their start: a few reads, and two for each
    rerun. Reruns of former releases left no note."""
    noted = (_noted(world, run_id, number) for number in range(1, _reruns(world, run_id) + 1))
    return tuple(head for rerun in noted if (head := world.store.get_run(rerun)) is not None)


def relatives_of(world: World, head: RunHead) -> Relatives:
    """Reads the whole log of the run. Reruns of former releases left no note."""
    children, readable = dict[str, None](), True
    try:
        for event in RunLog(world.store, world.blobs, head.run_id).read(whole=False):
            if event.type is EventType.NODE_WAITING and event.data.get("reason") == "subrun":
                children[str(event.data["details"]["run"])] = None
                if len(children) > MAX_LISTED_RELATIVES:
                    break
    except LogUnreadable:
        readable = False
    noted = [_noted(world, head.run_id, number) for number in range(1, _reruns(world, head.run_id) + 1)]
    reruns = [run_id for run_id in noted if world.store.get_run(run_id) is not None]
    readable = readable and (head.expires_ms is None or head.expires_ms > world.clock.now_ms())
    more = not readable or len(children) > MAX_LISTED_RELATIVES or len(noted) == MAX_LISTED_RELATIVES
    return Relatives(tuple(children)[:MAX_LISTED_RELATIVES], tuple(reruns), more)


def living_parent(world: World, head: RunHead) -> str:
    """Returns the parent of a child run, if it has not ended; else empty. Until it has, its next session may read the child's
    outcome."""
    parent = notes_in(head).get("parent")
    if not isinstance(parent, dict):
        return ""
    found = world.store.get_run(str(parent.get("run")))
    return "" if found is None or found.status in inbox.OVER else found.run_id
