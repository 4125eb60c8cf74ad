"""The health of a workflow: how many runs, how many of them failed, how long they took, what they cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from stepless.core.state import RunStatus
from stepless.model.prices import bill, usd
from stepless.model.tally import decode_tally
from stepless.ports import RunFilter
from stepless.runtime.nearest import unknown_workflow
from stepless.runtime.verbs.overviews.heads import read_heads
from stepless.runtime.verbs.searching import duration_of, status_of
from stepless.runtime.world import World

_BAD = (RunStatus.FAILED.value, RunStatus.TIMED_OUT.value)
_JUDGED = (RunStatus.COMPLETED.value, *_BAD)


class Health(NamedTuple):
    """Over the runs that were created since `since_ms`. `failure_rate` is that of the runs that completed, failed or timed
    out, and the durations are theirs, with all waits; null without such runs. `usd` is what the runs were billed for on AWS,
    null where requests are not counted. `more`: not all runs were read, so there are others."""

    runs: int
    statuses: Mapping[str, int]
    failure_rate: float | None
    p50_ms: int | None
    p95_ms: int | None
    usd: float | None
    since_ms: int
    until_ms: int
    more: bool


def health(world: World, workflow: str, *, window_ms: int) -> Health:
    """Raises `NotFound` (unknown_workflow)."""
    if world.store.get_version(workflow) is None:
        raise unknown_workflow(world.store, workflow)
    until_ms = world.clock.now_ms()
    since_ms = max(0, until_ms - window_ms)
    found = read_heads(world, RunFilter(workflow, since_ms=since_ms))
    statuses = Counter(status_of(head, until_ms) for head in found.items)
    judged = sum(statuses[status] for status in _JUDGED)
    lasted = sorted(duration_of(head, until_ms) for head in found.items if head.status in _JUDGED)
    spent = [usd(bill(decode_tally(head.spent))) for head in found.items if head.spent]
    return Health(
        len(found.items), statuses, sum(statuses[status] for status in _BAD) / judged if judged else None,
        percentile(lasted, 50), percentile(lasted, 95), round(sum(spent), 12) if spent else None,
        since_ms, until_ms, found.more,
    )  # fmt: skip


def percentile(ordered: Sequence[int], percent: int) -> int | None:
    """The smallest value that at least `percent` of the values do not exceed (nearest rank); None of none."""
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)] if ordered else None

