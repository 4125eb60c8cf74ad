"""Implements the verbs for schedules: list, pause, resume, and fire now.

A pause is stored in the table of the runs, per workflow and node, and is read at every firing. So it holds as soon as the verb
returns, whatever is published or deployed, and a calendar need not know it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from secrets import token_hex

from stepless.core.decision import iso
from stepless.errors import Damaged, InvalidRequest, LogUnreadable, NotFound, StoreUnavailable
from stepless.limits import (
    MAX_CATCH_UP_RUNS,
    MAX_IDEMPOTENCY_KEY_CHARACTERS,
    MAX_UPCOMING_FIRINGS,
    NEVER_MS,
    SCHEDULE_TRIES,
)
from stepless.model.graph import Node
from stepless.model.stored.damage import Damage, damage_in
from stepless.model.triggers.clock_changes import ClockChange, clock_changes
from stepless.ports import Page, Rhythm, Version
from stepless.runtime.triggers.payloads import Firing
from stepless.runtime.triggers.schedule_firing import entries_of, policy_of, start_scheduled
from stepless.runtime.triggers.schedule_instants import ALL, LAST, next_ms, to_catch_up
from stepless.runtime.triggers.schedule_records import (
    LastFiring,
    Pause,
    Progress,
    change_pause,
    change_progress,
    end_pause,
    pause_of,
    progress_of,
    put_pause,
    rhythm_text,
)
from stepless.runtime.verbs.publication.calendar_registration import rhythm_of
from stepless.runtime.verbs.starts.starting import Started, latest, start
from stepless.runtime.world import World


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule of the newest version. `next_ms` is the first instant from now on; None while it is paused, if it never fires
    again, and for a rate that a calendar fires and that has not fired yet, because the calendar chooses its first instant.
    `upcoming` are the first MAX_UPCOMING_FIRINGS instants, beginning with `next_ms`. `last` is its newest firing by the calendar
    or the clock, None before the first. `clock_changes` are the changes of the clocks within about a year that it falls into."""

    workflow_id: str
    version: int
    node: str
    cron: str | None
    rate: str | None
    timezone: str
    catch_up: str | None
    next_ms: int | None
    last: LastFiring | None
    pause: Pause | None
    upcoming: tuple[int, ...] = ()
    clock_changes: tuple[ClockChange, ...] = ()
    damage: Damage | None = None


@dataclass(frozen=True, slots=True)
class Resumed:
    """`started` are the runs of instants of the pause, by the schedule's `catch_up`."""

    schedule: Schedule
    started: tuple[str, ...] = ()


def list_schedules(
    world: World, workflow_id: str | None = None, *, limit: int = 100, cursor: str | None = None
) -> Page[Schedule]:
    """Returns the schedules of one workflow, or of all, sorted by workflow id, then in the order of the document. `limit` is the
    number of workflows. Raises `NotFound` (unknown_workflow) and `InvalidRequest` (invalid_cursor)."""
    if workflow_id is not None:
        page: Page[Version] = Page((latest(world, workflow_id),))
    else:
        page = world.store.list_entries("schedule", limit=limit, cursor=cursor)
    return Page(tuple(each for version in page.items for each in _schedules(world, version)), page.cursor)


def _schedules(world: World, version: Version) -> Sequence[Schedule]:
    """The schedules of a version. What is damaged is listed as such: a version as one schedule without a node."""
    try:
        nodes = [*entries_of(world, version, "schedule")]
    except LogUnreadable as error:
        damage = damage_in(error, f"version.document of {version.workflow_id}/{version.number}")
        return [_damaged(version, "", damage)]
    found = list[Schedule]()
    for node in nodes:
        try:
            found.append(_schedule(world, version, node))
        except Damaged as error:
            found.append(_damaged(version, node.id, damage_in(error, node.id)))
    return found


def _damaged(version: Version, node: str, damage: Damage) -> Schedule:
    return Schedule(version.workflow_id, version.number, node, None, None, "UTC", None, None, None, None, damage=damage)


def pause_schedule(world: World, workflow_id: str, node: str, *, by: str | None = None, reason: str | None = None) -> Schedule:
    """Pauses a schedule: from now on it starts no run, until it is resumed; a firing that has already begun may still start its
    run. The pause belongs to the workflow and the node, and outlives new versions. Pausing a paused schedule changes nothing.
    Raises `NotFound` (unknown_workflow, unknown_schedule)."""
    version, found = _found(world, workflow_id, node)
    wanted = Pause(world.clock.now_ms(), by, reason)
    for _ in range(SCHEDULE_TRIES):
        stored = put_pause(world, workflow_id, node, wanted)
        if stored.ending_ms is None or change_pause(world, workflow_id, node, stored, wanted):
            return _schedule(world, version, found)
    raise _overtaken(workflow_id, node)


def resume_schedule(world: World, workflow_id: str, node: str, *, by: str | None = None) -> Resumed:
    """Ends the pause of a schedule. For the instants of the pause, `catch_up` decides: `last` and `all` start their runs now,
    otherwise they are skipped. Later instants fire as usual. A schedule that is not paused does not change.

    Raises `NotFound` as `pause_schedule` does. Raises `StoreUnavailable` if not all runs of the pause could be started: resuming
    again starts the others, and none twice."""
    version, found = _found(world, workflow_id, node)
    pause = _ending(world, workflow_id, found)
    if pause is None or pause.ending_ms is None:
        return Resumed(_schedule(world, version, found))
    ending_ms, rhythm, started = pause.ending_ms, rhythm_of(found), list[Started]()
    missed = set(to_catch_up(rhythm, policy_of(found), pause.missed_ms, ending_ms, pause.phase_ms))
    decided = set[int]()
    while True:  # again if another late instant was delivered meanwhile
        progress = progress_of(world, workflow_id, node)
        late = set(progress.late) - decided if progress is not None else set[int]()
        last = None
        for at_ms in _chosen(policy_of(found), missed | late, decided):
            run, last = start_scheduled(world, Firing(workflow_id, node, at_ms))
            started += [run] if run is not None else []
        decided |= missed | late
        kept = change_progress(world, workflow_id, node, _ended(world, found, pause, ending_ms, decided, last))
        if kept is None or not kept.late:
            break
    end_pause(world, workflow_id, node, pause)
    return Resumed(_schedule(world, version, found), tuple(run.run_id for run in started))


def _chosen(policy: str | None, instants: Collection[int], decided: Collection[int]) -> Sequence[int]:
    """Which of the instants of a pause start a run at its end, in order."""
    if policy not in (LAST, ALL):
        return ()
    newest = sorted({*instants, *decided})[-1 if policy == LAST else -MAX_CATCH_UP_RUNS :]
    return [at_ms for at_ms in newest if at_ms not in decided]


def _ended(
    world: World, node: Node, pause: Pause, ending_ms: int, decided: Collection[int], last: LastFiring | None
) -> Callable[[Progress | None], Progress]:
    """Notes the end of a pause. Where its instants are skipped, that includes those before an instant that fired in it."""
    since_ms = pause.missed_ms if policy_of(node) in (LAST, ALL) else min(pause.missed_ms, pause.at_ms)

    def change(former: Progress | None) -> Progress:
        kept = (former or Progress("")).ended(since_ms, ending_ms + 1).without_late(decided)
        moves = kept.rhythm != rhythm_text(node) or (kept.at_ms is not None and kept.at_ms <= ending_ms)
        if world.calendar is None and moves:
            kept = replace(kept, at_ms=next_ms(rhythm_of(node), ending_ms))
        kept = replace(kept, rhythm=rhythm_text(node))
        return kept.fired(last) if last is not None else kept

    return change


def fire_schedule(world: World, workflow_id: str, node: str, *, key: str | None = None, by: str | None = None) -> Started:
    """Starts a run as a firing of the schedule would, now, also while it is paused. `scheduled_at` is the present instant. The
    next regular firing does not change. With `key`, repeated requests return the same run for 24 hours. Raises `NotFound` as
    `pause_schedule` does, and otherwise as `start`."""
    _found(world, workflow_id, node)
    if key is not None and not 0 < len(key) <= MAX_IDEMPOTENCY_KEY_CHARACTERS:
        message = f"an idempotency key has 1 to {MAX_IDEMPOTENCY_KEY_CHARACTERS} characters"
        raise InvalidRequest(message, code="invalid_idempotency_key")
    at = iso(world.clock.now_ms())
    unique = sha256(key.encode("utf-8", "surrogatepass")).hexdigest() if key is not None else token_hex(16)
    meta = {"trigger": {"kind": "schedule", "node": node, "at": at, "by": by, "now": True}}
    return start(
        world, workflow_id, {"scheduled_at": at, "node": node}, key=f"schedule-now:{node}:{unique}", entry=[node], anywhere=True,
        meta=meta, same=node,
    )  # fmt: skip


# -- reading ----------------------------------------------------------------------------------------------------------


def _found(world: World, workflow_id: str, node: str) -> tuple[Version, Node]:
    version = latest(world, workflow_id)
    nodes = list(entries_of(world, version, "schedule"))
    for each in nodes:
        if each.id == node:
            return version, each
    known = ", ".join(each.id for each in nodes)
    mend = f"its schedules are {known}" if known else "it has no schedule"
    message = f"the workflow {workflow_id} has no schedule {node}"
    raise NotFound(message, code="unknown_schedule", place=f"workflow {workflow_id}", mend=mend)


def _schedule(world: World, version: Version, node: Node) -> Schedule:
    literals, rhythm = node.config.literals, rhythm_of(node)
    pause = pause_of(world, version.workflow_id, node.id)
    progress = progress_of(world, version.workflow_id, node.id)
    last = progress.last if progress is not None else None
    phase_ms: int | None = 0
    if world.calendar is not None and rhythm.rate_ms is not None:  # fires at whole multiples from its creation
        same = progress is not None and progress.rhythm == rhythm_text(node)
        phase_ms = last.at_ms if same and last is not None else None
    fires = (pause is None or pause.ending_ms is not None) and phase_ms is not None
    upcoming = _upcoming(rhythm, world.clock.now_ms(), phase_ms or 0) if fires else ()
    cron, rate = literals.get("cron"), literals.get("rate")
    return Schedule(
        version.workflow_id, version.number, node.id, str(cron) if cron else None, str(rate) if rate else None,
        rhythm.timezone, policy_of(node), upcoming[0] if upcoming else None, last, pause, upcoming,
        clock_changes(rhythm.cron, rhythm.timezone, world.clock.now_ms()) if rhythm.cron is not None else (),
    )  # fmt: skip


def _upcoming(rhythm: Rhythm, after_ms: int, phase_ms: int) -> tuple[int, ...]:
    """The first instants after one, at most MAX_UPCOMING_FIRINGS."""
    found = list[int]()
    following = next_ms(rhythm, after_ms, phase_ms)
    while following is not None and len(found) < MAX_UPCOMING_FIRINGS:
        found.append(following)
        following = next_ms(rhythm, following, phase_ms)
    return tuple(found)


def _ending(world: World, workflow_id: str, node: Node) -> Pause | None:
    """The pause of a schedule, after it was marked as ending; None if there is none."""
    for _ in range(SCHEDULE_TRIES):
        pause = pause_of(world, workflow_id, node.id)
        if pause is None or pause.ending_ms is not None:
            return pause
        missed_ms, phase_ms = _missed_from(world, workflow_id, node, pause)
        ending = replace(pause, ending_ms=world.clock.now_ms(), missed_ms=missed_ms, phase_ms=phase_ms)
        if change_pause(world, workflow_id, node.id, pause, ending):
            return ending
    raise _overtaken(workflow_id, node.id)


def _missed_from(world: World, workflow_id: str, node: Node, pause: Pause) -> tuple[int, int]:
    """From when on the end of this pause finds missed instants, and the phase of a rate. In a process that fires schedules
    itself, an instant before the pause that had not fired when it began counts, too."""
    progress = progress_of(world, workflow_id, node.id)
    if progress is None or progress.rhythm != rhythm_text(node):
        return pause.at_ms, 0
    if world.calendar is None:
        return (NEVER_MS if progress.at_ms is None else progress.at_ms), 0
    if progress.last is None:
        return max(pause.at_ms, progress.from_ms), 0
    return max(progress.last.at_ms + 1, progress.from_ms), progress.last.at_ms


def _overtaken(workflow_id: str, node: str) -> StoreUnavailable:
    message = "other processes keep changing the schedule"
    return StoreUnavailable(message, place=f"workflow {workflow_id}, node {node}", mend="try again")
