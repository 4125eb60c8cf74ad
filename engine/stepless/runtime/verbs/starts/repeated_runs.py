"""Finds which runs were run again.

Of a run and its reruns the last one counts: a run is *repeated* while a rerun of it, or a rerun of that, is in progress, and once
that has ended, unless it was cancelled. What is left out for this reason is not done twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from stepless.core.state import RunStatus
from stepless.limits import MAX_RERUN_CHAIN, MAX_RERUN_LOOKS
from stepless.ports import RunFilter, RunHead
from stepless.runtime.header_notes import notes_in
from stepless.runtime.related_runs import reruns_of
from stepless.runtime.verbs.reads.header_reads import read_heads
from stepless.runtime.world import World


class Repeated(NamedTuple):
    """`unsure`: others of the runs that were asked for may have been repeated, too."""

    run_ids: frozenset[str] = frozenset()
    unsure: bool = False


def repeated_of(world: World, heads: Sequence[RunHead], workflow: str | None) -> Repeated:
    """Returns those of many runs, given as headers, that are repeated; `workflow` is that of all of them, if they have one.

    Reruns are found among the headers that were given and among all runs created since the first of them. That list has no
    status in its filter, on purpose: it is ordered by creation, which never changes, so a rerun that begins, pauses, goes on or
    ends between two pages is in it exactly once. Lists by status, in whatever order, can miss a run that moves between them. If
    there are too many runs to read, reruns are looked up run by run, for the first MAX_RERUN_LOOKS that are left.
    """
    if not heads:
        return Repeated()
    later = read_heads(world, RunFilter(workflow, since_ms=min(head.created_ms for head in heads)))
    known = {head.run_id: head for head in (*heads, *later.items)}
    asked, repeated = {head.run_id for head in heads}, set[str]()
    for head in known.values():
        if head.status != RunStatus.CANCELLED:
            _follow(head, known, repeated)
    if not later.more:
        return Repeated(frozenset(repeated & asked))
    rest = [head.run_id for head in heads if head.run_id not in repeated]
    repeated |= {run_id for run_id in rest[:MAX_RERUN_LOOKS] if is_repeated(world, run_id)}
    return Repeated(frozenset(repeated & asked), len(rest) > MAX_RERUN_LOOKS)


def is_repeated(world: World, run_id: str) -> bool:
    """Returns whether one run is repeated: a few reads, and some for each of at most MAX_RERUN_CHAIN reruns that were
    cancelled."""
    waiting, seen = [run_id], 0
    while waiting and seen < MAX_RERUN_CHAIN:
        seen += 1
        again = reruns_of(world, waiting.pop())
        if any(head.status != RunStatus.CANCELLED for head in again):
            return True
        waiting += [head.run_id for head in again]
    return False


def _former(head: RunHead) -> str | None:
    """The run that this one repeats."""
    rerun = notes_in(head).get("rerun")
    return str(rerun["of"]) if isinstance(rerun, dict) and "of" in rerun else None


def _follow(head: RunHead, known: Mapping[str, RunHead], repeated: set[str]) -> None:
    """Adds what a run repeats, and what that repeats, and so on. Runs that are not known are older than those asked for, or are
    looked up afterwards."""
    former = _former(head)
    for _ in range(MAX_RERUN_CHAIN):
        if former is None or former in repeated:
            return
        repeated.add(former)
        found = known.get(former)
        former = _former(found) if found is not None else None
