"""Fires schedules: those of one store in a process that serves it, and those that a calendar delivers.

Each start has the idempotency key (node, instant), so a repeated firing starts no second run. A paused schedule starts none.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from stepless.core.decision import iso
from stepless.errors import AuthorError, CallerError, LogUnreadable, NotFound, SteplessError
from stepless.limits import CLOCK_TOLERANCE_MS, NEVER_MS
from stepless.model.graph import Graph, Node
from stepless.ports import Version
from stepless.runtime.triggers.entry_versions import OnUnreadable, versions_with
from stepless.runtime.triggers.payloads import Firing
from stepless.runtime.triggers.schedule_instants import ALL, LAST, is_missed, next_ms, to_catch_up
from stepless.runtime.triggers.schedule_records import (
    LastFiring,
    Progress,
    change_progress,
    pause_of,
    progress_of,
    rhythm_text,
)
from stepless.runtime.verbs.publication.calendar_registration import rhythm_of
from stepless.runtime.verbs.starts.starting import Started, latest, start
from stepless.runtime.world import World

_log = logging.getLogger(__name__)


def entries(world: World, kind: str, on_unreadable: OnUnreadable | None = None) -> Iterator[tuple[Version, Node]]:
    """Yields every entry of this kind in the newest versions; see `versions_with`."""
    for version, graph in versions_with(world, kind, on_unreadable):
        yield from ((version, node) for node in _entries_in(graph, kind))


def entries_of(world: World, version: Version, kind: str) -> Iterator[Node]:
    return _entries_in(world.versions.graph(version.workflow_id, version.hash), kind)


def _entries_in(graph: Graph, kind: str) -> Iterator[Node]:
    return (node for node in graph.root.nodes if node.kind.name == kind and node.enabled)


def policy_of(node: Node) -> str | None:
    policy = node.config.literals.get("catch_up")
    return str(policy) if policy is not None else None


def start_scheduled(world: World, firing: Firing) -> tuple[Started | None, LastFiring]:
    """Starts the run of one instant; a repeated firing returns the same run. Returns no run if the start is refused, for example
    by a rate limit: this instant is then skipped. Raises `StoreUnavailable`."""
    at = iso(firing.at_ms)
    meta = {"trigger": {"kind": "schedule", "node": firing.node, "at": at}}
    inputs, key = {"scheduled_at": at, "node": firing.node}, f"schedule:{firing.node}:{firing.at_ms}"
    try:
        run = start(world, firing.workflow_id, inputs, key=key, entry=[firing.node], anywhere=True, meta=meta)
    except (AuthorError, CallerError) as error:
        _log.warning("the schedule %s of %s was refused: %s", firing.node, firing.workflow_id, error)
        return None, LastFiring(firing.at_ms, code=error.code)
    return run, LastFiring(firing.at_ms, run.run_id)


# -- a process that fires schedules itself ----------------------------------------------------------------------------


class Schedules:
    """Fires the schedules of one store's workflows, for a process that serves all of them.

    The next instant of each schedule is kept in the store. For instants that pass while no process is running, the field
    `catch_up` decides after the next start; without it the first one fires, and the others are skipped. Instants of a pause are
    left to `resume_schedule`.

    After the clock was set back, a schedule continues with its next instant from now on. An instant that has fired starts no
    second run when it comes again.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._fired_ms = NEVER_MS  # when `fire` was last called; never: the clock may have been set back before
        self._told: dict[str, str] = {}  # the last error that was logged, by schedule: each is logged once, not every second

    def fire(self, now_ms: int) -> Sequence[Started]:
        """Starts the runs that are due. A schedule that cannot start its run (rate limit, store unavailable) is logged and does
        not stop the others."""
        started: list[Started] = []
        set_back, self._fired_ms = now_ms < self._fired_ms - CLOCK_TOLERANCE_MS, now_ms
        for version, node in entries(self._world, "schedule", self._unreadable):
            name, told = f"{version.workflow_id}/{node.id}", ""
            try:
                if set_back:
                    self._rewind(version.workflow_id, node, now_ms)
                started += self._fire(version.workflow_id, node, now_ms)
            except SteplessError as error:
                told = str(error)
                if self._told.get(name) != told:
                    _log.warning("the schedule %s of %s did not start: %s", node.id, version.workflow_id, error)
            self._told[name] = told
        return started

    def _unreadable(self, version: Version, error: LogUnreadable) -> None:
        if self._told.get(version.workflow_id) != str(error):
            _log.error("the schedules of %s start no runs: %s", version.workflow_id, error)
        self._told[version.workflow_id] = str(error)

    def _rewind(self, workflow_id: str, node: Node, now_ms: int) -> None:
        """Lets a schedule whose next instant was computed while the clock was ahead continue with the next one from now on."""
        progress, rhythm = progress_of(self._world, workflow_id, node.id), rhythm_of(node)
        if progress is None or progress.at_ms is None or progress.rhythm != rhythm_text(node):
            return
        coming_ms = next_ms(rhythm, now_ms + CLOCK_TOLERANCE_MS)
        if coming_ms is not None and progress.at_ms > coming_ms:
            moved = _moved(progress.rhythm, progress.at_ms, next_ms(rhythm, now_ms), None)
            change_progress(self._world, workflow_id, node.id, moved)

    def _fire(self, workflow_id: str, node: Node, now_ms: int) -> Iterator[Started]:
        rhythm, text = rhythm_of(node), rhythm_text(node)
        progress = progress_of(self._world, workflow_id, node.id)
        if progress is None or progress.rhythm != text:  # new, or changed
            change_progress(self._world, workflow_id, node.id, _begun(text, next_ms(rhythm, now_ms)))
            return
        at_ms = progress.at_ms
        if at_ms is None or at_ms > now_ms:
            return
        pause = pause_of(self._world, workflow_id, node.id)
        if pause is not None and pause.holds(now_ms):
            return
        if progress_of(self._world, workflow_id, node.id) != progress:
            return  # a pause may have ended between the two reads, with the instants that were read first
        from_ms = at_ms if pause is None or pause.ending_ms is None else max(at_ms, pause.ending_ms + 1)
        for instant in (due := to_catch_up(rhythm, policy_of(node), from_ms, now_ms)):
            run, firing = start_scheduled(self._world, Firing(workflow_id, node.id, instant))
            # If the process dies before this, the same instant fires again, which starts no new run.
            after_ms = now_ms if instant == due[-1] else instant
            change_progress(self._world, workflow_id, node.id, _moved(text, at_ms, next_ms(rhythm, after_ms), firing))
            at_ms = next_ms(rhythm, instant)
            if run is not None:
                yield run
        if not due:
            change_progress(self._world, workflow_id, node.id, _moved(text, at_ms, next_ms(rhythm, now_ms), None))


def _begun(text: str, at_ms: int | None) -> Callable[[Progress | None], Progress | None]:
    def change(former: Progress | None) -> Progress | None:
        if former is not None and former.rhythm == text:
            return None  # another process was first
        return Progress(text, at_ms, last=former.last if former is not None else None)

    return change


def _moved(
    text: str, from_ms: int | None, to_ms: int | None, firing: LastFiring | None
) -> Callable[[Progress | None], Progress | None]:
    """Moves the next instant from `from_ms` on, unless another process has moved it, and notes the firing."""

    def change(former: Progress | None) -> Progress | None:
        if former is None or former.rhythm != text:
            return None
        moved = replace(former, at_ms=to_ms) if former.at_ms == from_ms else former
        return moved.fired(firing) if firing is not None else moved

    return change


# -- a calendar that delivers firings ---------------------------------------------------------------------------------


def fire_delivered(world: World, firing: Firing) -> Started | None:
    """Starts the run of a firing that a calendar delivers, if the newest version still has that schedule, it is not paused, and
    the firing is not too late for its `catch_up`. Raises `StoreUnavailable`."""
    node = _scheduled_node(world, firing)
    if node is None:
        return None
    rhythm, now_ms = rhythm_of(node), world.clock.now_ms()
    if is_missed(rhythm, policy_of(node), firing.at_ms, now_ms):
        reason: str | None = f"it was missed, and `catch_up` is {policy_of(node)}"
    else:
        reason = _reason_to_skip(world, firing, node)
    if reason is not None:
        _log.info("the schedule %s of %s did not fire for %s: %s", firing.node, firing.workflow_id, iso(firing.at_ms), reason)
        return None
    run, fired = start_scheduled(world, firing)
    change_progress(world, firing.workflow_id, firing.node, _noted(rhythm_text(node), fired))
    return run


def _scheduled_node(world: World, firing: Firing) -> Node | None:
    try:
        version = latest(world, firing.workflow_id)
    except NotFound:
        return None
    return next((node for node in entries_of(world, version, "schedule") if node.id == firing.node), None)


def _reason_to_skip(world: World, firing: Firing, node: Node) -> str | None:
    pause = pause_of(world, firing.workflow_id, firing.node)
    if pause is not None and pause.holds(firing.at_ms):
        if policy_of(node) not in (LAST, ALL) or (pause.ending_ms is not None and firing.at_ms >= pause.missed_ms):
            return "it is paused"  # `resume_schedule` skips the instant, or finds it by itself
        change_progress(world, firing.workflow_id, firing.node, _delayed(rhythm_text(node), firing.at_ms))
        if pause_of(world, firing.workflow_id, firing.node) == pause:
            return "it is paused"
        return _reason_to_skip(world, firing, node)  # the pause ended meanwhile, maybe without this instant
    progress = progress_of(world, firing.workflow_id, firing.node)
    if progress is not None and progress.is_over(firing.at_ms):
        return "it was paused then"
    return None


def _delayed(text: str, at_ms: int) -> Callable[[Progress | None], Progress | None]:
    def change(former: Progress | None) -> Progress | None:
        return (former or Progress(text)).with_late(at_ms)

    return change


def _noted(text: str, firing: LastFiring) -> Callable[[Progress | None], Progress | None]:
    def change(former: Progress | None) -> Progress | None:
        return replace(former or Progress(text), rhythm=text).fired(firing)

    return change
