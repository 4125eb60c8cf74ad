"""Finds overdue runs that no process is executing (the sweep). It recovers from every lost message and timer, and removes expired
runs."""

from __future__ import annotations

from collections.abc import Sequence
from secrets import token_hex

from stepless.limits import CLOCK_TOLERANCE_MS, MAX_DUE_PAGES, MAX_ERASED_AT_ONCE, MAX_PAGE_ITEMS, MAX_SWEEP_PARTS, NEVER_MS
from stepless.model.runs.statuses import ENDED
from stepless.ports import Message, RunHead
from stepless.runtime.metering import DUE_RUNS, OLDEST_DUE_AGE, REVIVED_RUNS
from stepless.runtime.removal import is_over, remove_each
from stepless.runtime.world import World


def sweep(world: World, *, limit: int = MAX_PAGE_ITEMS) -> int:
    """Sends a hint for every overdue run, the longest overdue first. Returns how many. Removes the runs among them that are
    over."""
    now_ms = world.clock.now_ms()
    due, over = _due(world, now_ms, limit)
    world.meter.count(DUE_RUNS, len(due))
    world.meter.took(OLDEST_DUE_AGE, now_ms - (due[0].due_ms or now_ms) if due else 0)
    world.queue.send_all([Message(head.run_id, "sweep") for head in due])
    if over:
        remove_each(world, over)
    return len(due)


def _due(world: World, now_ms: int, limit: int) -> tuple[list[RunHead], list[RunHead]]:
    """At most `limit` overdue runs, and those found before them that are to be removed. Many of the latter do not hide the
    others: the search continues after them."""
    due, over = list[RunHead](), list[RunHead]()
    found = world.store.list_due(now_ms, limit=limit)
    for _ in range(MAX_DUE_PAGES):
        due += [head for head in found if not is_over(head, now_ms)]
        over += [head for head in found if is_over(head, now_ms)]
        if len(found) < limit or len(due) >= limit:
            break
        found = world.store.list_due(now_ms, limit=limit, after=(found[-1].due_ms or 0, found[-1].run_id))
    return due[:limit], over[:MAX_ERASED_AT_ONCE]


def sweep_part(world: World, part: tuple[int, int], *, limit: int, until_ms: int) -> int:
    """Sends a hint for every overdue run of one part, at most `limit`, until the clock shows `until_ms`. Returns how many. May be
    repeated, and several parts may be swept at once: a second hint for the same run has no effect."""
    sent, now_ms = 0, world.clock.now_ms()
    for heads in world.store.each_due(now_ms, part):
        some = [head for head in heads if not is_over(head, now_ms)][: limit - sent]
        world.queue.send_all([Message(head.run_id, "sweep") for head in some])
        sent += len(some)
        if sent >= limit or world.clock.now_ms() >= until_ms:
            break
    world.meter.count(REVIVED_RUNS, sent)
    return sent


def parts_of(world: World) -> Sequence[tuple[int, int]]:
    """Returns the parts into which a sweep of many runs is divided."""
    count = min(world.store.due_parts(), MAX_SWEEP_PARTS)
    return [(number, count) for number in range(count)]


def examine(world: World, now_ms: int) -> None:
    """Sends a hint for every run that waits, after the clock was set back: what it waits for may lie days ahead."""
    after = None
    while page := world.store.list_due(NEVER_MS, limit=MAX_PAGE_ITEMS, after=after):
        world.queue.send_all([Message(head.run_id, "sweep") for head in page if (head.due_ms or 0) > now_ms])
        after = (page[-1].due_ms or 0, page[-1].run_id)


def adopt(world: World) -> int:
    """Takes over every lease, for a process that knows that it is the only one after the former one died. Returns how many runs
    were interrupted; all of them are due immediately, like those that were left before the clock was set back."""
    adopted, now_ms, after = 0, world.clock.now_ms(), None
    while page := world.store.list_due(2**62, limit=MAX_PAGE_ITEMS, after=after):
        for head in page:
            after = (head.due_ms or 0, head.run_id)
            if head.owner is None:
                if _was_left_ahead(head, now_ms):
                    world.store.touch_run(head.run_id, now_ms)
                continue
            lease = world.store.take_lease(head.run_id, token_hex(8), max(now_ms, head.lease_until_ms), now_ms)
            if lease is not None:
                world.store.update_run(lease, now_ms, due_ms=now_ms, release=True)
                adopted += 1
    return adopted


def _was_left_ahead(head: RunHead, now_ms: int) -> bool:
    """Whether the header of a run was written before the clock was set back: its due instant may lie far ahead. A run that has
    ended and only waits for its removal does not count."""
    is_kept = head.status in ENDED and head.due_ms == head.expires_ms
    return not is_kept and (head.due_ms or 0) > now_ms and max(head.created_ms, head.updated_ms) > now_ms + CLOCK_TOLERANCE_MS
