"""Computes the health of workflows: how many runs, how many of them failed, how long they took, what they cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

from stepless.core.state import RunStatus
from stepless.errors import DamagedVersion
from stepless.limits import ERROR_BARS, MAX_STATS_RUNS, STATS_THREADS
from stepless.model.json import JSON
from stepless.model.kind import Nature
from stepless.model.runs.prices import bill, usd
from stepless.model.runs.tally import decode_tally
from stepless.ports import Page, RunFilter, StoredVersion
from stepless.runtime.id_suggestions import unknown_workflow
from stepless.runtime.verbs.overviews.failures import bar_of
from stepless.runtime.verbs.reads.header_reads import Heads, read_heads
from stepless.runtime.verbs.reads.searching import duration_of, status_of
from stepless.runtime.versions import document_of
from stepless.runtime.world import World

A = TypeVar("A")
B = TypeVar("B")

_BAD = (RunStatus.FAILED.value, RunStatus.TIMED_OUT.value)
_EVALUATED = (RunStatus.COMPLETED.value, *_BAD)


class Health(NamedTuple):
    """Over the runs that were created since `since_ms`. `failure_rate` is that of the runs that completed, failed or timed
    out, and the durations are theirs, with all waits; null without such runs. `usd` is what the runs were billed for on AWS,
    null where requests are not counted. `more`: not all runs of the window were read; `since_ms` is then when the oldest one
    that was read was created. `bars` counts the runs in ERROR_BARS equal spans of the time from `since_ms` to `until_ms`, and
    `failed_bars` those of them that failed or timed out."""

    runs: int
    statuses: Mapping[str, int]
    failure_rate: float | None
    p50_ms: int | None
    p95_ms: int | None
    usd: float | None
    since_ms: int
    until_ms: int
    more: bool
    bars: Sequence[int]
    failed_bars: Sequence[int]


class WorkflowHealth(NamedTuple):
    """A workflow in a list. `starts` are the kinds of its enabled entries, sorted."""

    version: StoredVersion
    name: str
    starts: Sequence[str]
    health: Health


def health(world: World, workflow: str, *, window_ms: int) -> Health:
    """Raises `NotFound` (unknown_workflow)."""
    if world.store.get_version(workflow) is None:
        raise unknown_workflow(world.store, workflow)
    until_ms = world.clock.now_ms()
    since_ms = max(0, until_ms - window_ms)
    return _measured(read_heads(world, RunFilter(workflow, since_ms=since_ms)), since_ms, until_ms)


def each_health(world: World, *, window_ms: int, limit: int, cursor: str | None = None) -> Page[WorkflowHealth]:
    """Returns the published workflows, by id, each with the health of its newest MAX_STATS_RUNS runs in the window. Raises
    `InvalidRequest` (invalid_cursor)."""
    until_ms = world.clock.now_ms()
    since_ms = max(0, until_ms - window_ms)
    page = world.store.list_workflows(limit=limit, cursor=cursor)

    def read(version: StoredVersion) -> WorkflowHealth:
        try:
            document = document_of(version)
        except DamagedVersion:  # listed without its name and its entries
            document = {}
        runs = world.store.list_runs(RunFilter(version.workflow_id, since_ms=since_ms), limit=MAX_STATS_RUNS)
        found = _measured(Heads(runs.items, runs.cursor is not None), since_ms, until_ms)
        return WorkflowHealth(version, str(document.get("name") or version.workflow_id), _starts(world, document), found)

    return Page(tuple(side_by_side(world, read, page.items)), page.cursor)


def side_by_side(world: World, read: Callable[[A], B], each: Sequence[A]) -> Sequence[B]:
    """Returns the result of `read` for each, in order; where the store is beyond a network, several at a time."""
    if world.near or len(each) < 2:
        return [read(one) for one in each]
    with ThreadPoolExecutor(min(STATS_THREADS, len(each))) as threads:
        return list(threads.map(read, each))


def percentile(ordered: Sequence[int], percent: int) -> int | None:
    """Returns the smallest value that at least `percent` of the values do not exceed (nearest rank); None of none."""
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)] if ordered else None


def _measured(found: Heads, since_ms: int, until_ms: int) -> Health:
    if found.more and found.items:
        since_ms = found.items[-1].created_ms
    statuses = Counter(status_of(head, until_ms) for head in found.items)
    evaluated = sum(statuses[status] for status in _EVALUATED)
    lasted = sorted(duration_of(head, until_ms) for head in found.items if head.status in _EVALUATED)
    spent = [usd(bill(decode_tally(head.spent))) for head in found.items if head.spent]
    bars, failed_bars = [0] * ERROR_BARS, [0] * ERROR_BARS
    for head in found.items:
        bar = bar_of(head.created_ms, since_ms, until_ms)
        bars[bar] += 1
        failed_bars[bar] += head.status in _BAD
    return Health(
        len(found.items), statuses, sum(statuses[status] for status in _BAD) / evaluated if evaluated else None,
        percentile(lasted, 50), percentile(lasted, 95), round(sum(spent), 12) if spent else None,
        since_ms, until_ms, found.more, bars, failed_bars,
    )  # fmt: skip


def _starts(world: World, document: Mapping[str, JSON]) -> Sequence[str]:
    nodes = document.get("nodes")
    kinds = set[str]()
    for node in nodes.values() if isinstance(nodes, dict) else ():
        if isinstance(node, dict) and node.get("enabled", True) is True:
            kind = world.kinds.get(str(node.get("type")))
            if kind is not None and kind.nature is Nature.ENTRY:
                kinds.add(kind.name)
    return sorted(kinds)
