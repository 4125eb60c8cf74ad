"""Reads and writes the record of a schedule: its progress, and whether it is paused. Two claims, which outlive publications.

`schedule:{workflow}:{node}` is the progress. A process that fires schedules itself keeps in `at` the earliest instant that it has
not handled. With a calendar, `over` are the spans of pauses that have ended: firings of their instants are dropped, whenever they
are delivered. `from` is the end of the last one; `late` are instants before a pause that were delivered in it, for
`resume_schedule`.
`schedule-pause:{workflow}:{node}` exists while the schedule is paused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from stepless.errors import StoreUnavailable
from stepless.limits import MAX_CATCH_UP_RUNS, MAX_ENDED_PAUSES, NEVER_MS, SCHEDULE_TRIES
from stepless.model.graph import Node
from stepless.model.stored.damage import decoding, json_object
from stepless.runtime.world import World


@dataclass(frozen=True, slots=True)
class LastFiring:
    """The newest instant that started a run, or that the start refused with `code`."""

    at_ms: int
    run_id: str | None = None
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """`at_ms` None: the schedule never fires again."""

    rhythm: str
    at_ms: int | None = None
    from_ms: int = 0
    last: LastFiring | None = None
    over: tuple[tuple[int, int], ...] = ()
    late: tuple[int, ...] = ()

    def fired(self, firing: LastFiring) -> Progress:
        kept = self.without_late([firing.at_ms])
        return kept if self.last is not None and self.last.at_ms >= firing.at_ms else replace(kept, last=firing)

    def with_late(self, at_ms: int) -> Progress:
        """Also keeps this instant for the end of the pause. The last MAX_CATCH_UP_RUNS are kept."""
        return replace(self, late=tuple(sorted({*self.late, at_ms})[-MAX_CATCH_UP_RUNS:]))

    def without_late(self, done: Collection[int]) -> Progress:
        return replace(self, late=tuple(at for at in self.late if at not in done)) if self.late else self

    def is_over(self, at_ms: int) -> bool:
        """Returns whether the end of a pause has decided about this instant. A former release noted the end of the last pause
        only."""
        return any(since <= at_ms < until for since, until in self.over) if self.over else at_ms < self.from_ms

    def ended(self, since_ms: int, until_ms: int) -> Progress:
        """Adds the span of a pause that has ended. The newest MAX_ENDED_PAUSES are kept."""
        before = self.over or (((0, self.from_ms),) if self.from_ms else ())
        over = before if (since_ms, until_ms) in before else (*before, (since_ms, until_ms))
        return replace(self, from_ms=until_ms, over=over[-MAX_ENDED_PAUSES:])


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause that began at `at_ms`. While `resume_schedule` ends it, `ending_ms` is the instant of the request: later instants
    fire again, and those from `missed_ms` to `ending_ms` are its work. `phase_ms` is an instant of a rate."""

    at_ms: int
    by: str | None = None
    reason: str | None = None
    ending_ms: int | None = None
    missed_ms: int = 0
    phase_ms: int = 0

    def holds(self, at_ms: int) -> bool:
        """Returns whether the instant `at_ms` starts no regular run."""
        return self.ending_ms is None or at_ms <= self.ending_ms


def rhythm_text(node: Node) -> str:
    """Identifies a rhythm: a schedule with another one starts anew."""
    return json.dumps([node.config.literals.get(name) for name in ("cron", "rate", "timezone")])


def change_progress(
    world: World, workflow_id: str, node: str, change: Callable[[Progress | None], Progress | None]
) -> Progress | None:
    """Stores what `change` makes of the progress, unless that is None or the same; returns the stored one. `change` is called
    again if another process was first. Raises `StoreUnavailable`."""
    key, now_ms = _progress_key(workflow_id, node), world.clock.now_ms()
    for _ in range(SCHEDULE_TRIES):
        kept = world.store.get_claim(key, now_ms)
        former = read_progress(kept, key)
        wanted = change(former)
        if wanted is None or wanted == former:
            return former
        data = _encoded(wanted)
        if kept is None and world.store.claim(key, data, now_ms) == data:
            return wanted
        if kept is not None and world.store.replace_claim(key, kept, data, now_ms):
            return wanted
    message = "other processes keep changing the schedule"
    raise StoreUnavailable(message, place=f"workflow {workflow_id}, node {node}", mend="try again")


def progress_of(world: World, workflow_id: str, node: str) -> Progress | None:
    key = _progress_key(workflow_id, node)
    return read_progress(world.store.get_claim(key, world.clock.now_ms()), key)


def pause_of(world: World, workflow_id: str, node: str) -> Pause | None:
    """Returns the pause of a schedule, None if it is not paused."""
    key = _pause_key(workflow_id, node)
    kept = world.store.get_claim(key, world.clock.now_ms())
    return read_pause(kept, key) if kept is not None else None


def put_pause(world: World, workflow_id: str, node: str, pause: Pause) -> Pause:
    """Stores the pause unless there is one; returns the stored one."""
    key, data = _pause_key(workflow_id, node), _pause_data(pause)
    return read_pause(world.store.claim(key, data, world.clock.now_ms()), key)


def change_pause(world: World, workflow_id: str, node: str, former: Pause, pause: Pause) -> bool:
    """Replaces the pause `former`. False if another process has changed or ended it."""
    key, now_ms = _pause_key(workflow_id, node), world.clock.now_ms()
    return world.store.replace_claim(key, _pause_data(former), _pause_data(pause), now_ms)


def end_pause(world: World, workflow_id: str, node: str, pause: Pause) -> bool:
    """Removes this pause. A later one stays."""
    return world.store.release_claim(_pause_key(workflow_id, node), _pause_data(pause))


def _progress_key(workflow_id: str, node: str) -> str:
    return f"schedule:{workflow_id}:{node}"


def _pause_key(workflow_id: str, node: str) -> str:
    return f"schedule-pause:{workflow_id}:{node}"


def _encoded(progress: Progress) -> bytes:
    body: dict[str, Any] = {"rhythm": progress.rhythm, "at": progress.at_ms}
    if progress.from_ms:
        body["from"] = progress.from_ms
    if progress.over:
        body["over"] = progress.over
    if progress.late:
        body["late"] = list(progress.late)
    if progress.last is not None:
        body["last"] = {"at": progress.last.at_ms, "run": progress.last.run_id, "code": progress.last.code}
    return json.dumps(body).encode()


_FIX = "restore the store from a backup, or give the node of the schedule another id: its schedule then begins anew"


def read_progress(kept: bytes | None, key: str) -> Progress | None:
    """Returns the progress in the value of a claim. Raises `Damaged`."""
    if kept is None:
        return None
    place = f"claim.value of {key}"
    body = json_object(kept, place, _FIX)
    with decoding(kept, place, _FIX):
        last: Mapping[str, Any] | None = body.get("last")
        fired = LastFiring(_instant(last["at"]), last.get("run"), last.get("code")) if last is not None else None
        over = tuple((_instant(since), _instant(until)) for since, until in body.get("over", ()))
        at_ms = None if body["at"] is None else _instant(body["at"])
        late = tuple(map(_instant, body.get("late", ())))
        return Progress(_text(body["rhythm"]), at_ms, _instant(body.get("from", 0)), fired, over, late)


def read_pause(kept: bytes, key: str) -> Pause:
    """Returns the pause in the value of a claim. Raises `Damaged`."""
    place = f"claim.value of {key}"
    body = json_object(kept, place, _FIX)
    with decoding(kept, place, _FIX):
        ending = body.get("ending") or {}
        ending_ms = None if ending.get("at") is None else _instant(ending["at"])
        by, reason = (None if body.get(name) is None else _text(body[name]) for name in ("by", "reason"))
        return Pause(
            _instant(body["at"]), by, reason, ending_ms, _instant(ending.get("missed", 0)), _instant(ending.get("phase", 0))
        )


def _instant(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= NEVER_MS:
        raise ValueError(f"{value!r:.40} is no instant")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r:.40} is no text")
    return value


def _pause_data(pause: Pause) -> bytes:
    body: dict[str, Any] = {"at": pause.at_ms, "by": pause.by, "reason": pause.reason}
    if pause.ending_ms is not None:
        body["ending"] = {"at": pause.ending_ms, "missed": pause.missed_ms, "phase": pause.phase_ms}
    return json.dumps(body).encode()
