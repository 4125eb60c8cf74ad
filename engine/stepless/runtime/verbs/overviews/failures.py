"""Groups the failures of many runs by what failed. A run that timed out has failed, too.

The failure of a run that was run again is left out, as `runtime/verbs/starts/repeated_runs.py` says: nothing is done twice by
running a group again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from stepless.core.history.fingerprint import blanked, fingerprint
from stepless.core.state import RunStatus
from stepless.limits import ERROR_BARS, MAX_LISTED_ERRORS
from stepless.ports import RunFilter, RunHead
from stepless.runtime.header_notes import error_of
from stepless.runtime.headers import version_of
from stepless.runtime.verbs.reads.header_reads import read_heads
from stepless.runtime.verbs.reads.searching import failed_node_of
from stepless.runtime.verbs.starts.repeated_runs import repeated_of
from stepless.runtime.world import World


class Group(NamedTuple):
    """Failures of one fingerprint, whose runs have one `status`. `runs` are their ids, the last failure first. `bars` counts them
    in ERROR_BARS equal spans of the time that was asked for. `message` is blanked, `example` is that of the last failure.
    Instants are those of the ends."""

    fingerprint: str
    workflow: str
    status: str
    node: str
    code: str
    message: str
    example: str
    runs: Sequence[str]
    versions: Sequence[int]
    first_ms: int
    last_ms: int
    bars: Sequence[int]


class Failures(NamedTuple):
    """`groups` by their last failure, the newest first, and at most MAX_LISTED_ERRORS. `total` is the number of failures in all
    groups, `group_count` the number of groups, listed or not. `more`: not all runs were searched, so there may be other failures.
    `unsure`: for some failures it is not known whether they were run again, so there may be fewer."""

    groups: Sequence[Group]
    group_count: int
    total: int
    since_ms: int
    until_ms: int
    more: bool
    unsure: bool


def failures(world: World, *, workflow: str | None = None, since_ms: int) -> Failures:
    """Returns the failures of the runs that were created since `since_ms`."""
    until_ms = world.clock.now_ms()
    found = [read_heads(world, RunFilter(workflow, status.value, since_ms)) for status in (RunStatus.FAILED, RunStatus.TIMED_OUT)]
    failed = sorted((head for heads in found for head in heads.items), key=lambda head: -head.created_ms)
    repeated, unsure = repeated_of(world, failed, workflow)
    open_heads = [head for head in failed if head.run_id not in repeated]
    by_fingerprint: dict[str, list[RunHead]] = {}
    for head in open_heads:
        by_fingerprint.setdefault(fingerprint(*_parts(head)), []).append(head)
    groups = [_group(name, heads, since_ms, until_ms) for name, heads in by_fingerprint.items()]
    groups.sort(key=lambda group: (-group.last_ms, group.fingerprint))
    shown = groups[:MAX_LISTED_ERRORS]
    return Failures(shown, len(groups), len(open_heads), since_ms, until_ms, any(heads.more for heads in found), unsure)


def _parts(head: RunHead) -> tuple[str, str, str, str]:
    error = error_of(head) or {}
    node = error.get("node") or failed_node_of(head) or ""
    code = error.get("code") or (head.status if head.status == RunStatus.TIMED_OUT else "unknown")
    return head.workflow_id, str(node), str(code), str(error.get("message") or "")


def _group(name: str, heads: Sequence[RunHead], since_ms: int, until_ms: int) -> Group:
    heads = sorted(heads, key=lambda head: (-head.updated_ms, head.run_id))
    workflow, node, code, example = _parts(heads[0])  # only a run that timed out has no node and the code timed_out
    bars = [0] * ERROR_BARS
    for head in heads:
        bars[bar_of(head.updated_ms, since_ms, until_ms)] += 1
    versions = sorted({number for head in heads if (number := version_of(head)) is not None})
    return Group(
        name, workflow, heads[0].status, node, code, blanked(example), example, [head.run_id for head in heads], versions,
        heads[-1].updated_ms, heads[0].updated_ms, bars,
    )  # fmt: skip


def bar_of(at_ms: int, since_ms: int, until_ms: int) -> int:
    """Returns the number of the bar that an instant belongs to; one outside belongs to the nearest."""
    place = (at_ms - since_ms) * ERROR_BARS // max(1, until_ms - since_ms)
    return min(max(place, 0), ERROR_BARS - 1)
