"""Applies one verb to many runs, one page at a time. Runs that refuse the verb are reported with the reason. A survey counts them
first."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from stepless.errors import CallerError, SteplessError, TransientError
from stepless.ports import RunFilter, RunHead
from stepless.runtime.verbs.reads.searching import ANY, Count, Wanted, counted, matching, search
from stepless.runtime.verbs.starts.repeated_runs import Repeated, repeated_of
from stepless.runtime.world import World


@dataclass(frozen=True, slots=True)
class Refusal:
    """A run that the verb did not change, and why."""

    run_id: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Swept:
    """The result of one page: `matched` runs matched the filter, and `done` holds the verb's result for each run in
    `changed`. `cursor` continues with older runs; None if there are none."""

    matched: int
    done: tuple[str, ...]
    changed: tuple[str, ...]
    refused: tuple[Refusal, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class Surveyed:
    """The runs that a bulk change is about. `repeated` of them are repeated already, in the sense of
    `runtime/verbs/starts/repeated_runs.py`; with `unsure`, there may be others."""

    count: Count
    repeated: int
    unsure: bool


def survey(
    world: World, filter: RunFilter, *, keywords: Collection[str] = (), wanted: Wanted = ANY, repeats: bool = False,
    cursor: str | None = None,
) -> Surveyed:  # fmt: skip
    """Counts the runs, among the next MAX_SEARCHED_RUNS headers that match the filter. Looks for those that are repeated only
    with `repeats`: that reads as many headers again, and the notes of some runs."""
    page = matching(world, filter, keywords=keywords, wanted=wanted, cursor=cursor)
    found = repeated_of(world, page.items, filter.workflow_id) if repeats else Repeated()
    return Surveyed(counted(page, world.clock.now_ms()), len(found.run_ids), found.unsure)


def each_run(
    world: World,
    verb: Callable[[RunHead], str],
    filter: RunFilter,
    *,
    keywords: Collection[str] = (),
    wanted: Wanted = ANY,
    limit: int = 100,
    cursor: str | None = None,
) -> Swept:
    """Applies `verb` to the runs of one page, one by one, newest first. A refusal of one run does not stop the others."""
    page = search(world, filter, keywords=keywords, wanted=wanted, limit=limit, cursor=cursor)
    done: list[str] = []
    changed: list[str] = []
    refused: list[Refusal] = []
    for head in page.items:
        try:
            done.append(verb(head))
            changed.append(head.run_id)
        except (CallerError, TransientError) as error:
            refused.append(_refusal(head, error))
    return Swept(len(page.items), tuple(done), tuple(changed), tuple(refused), page.cursor)


def _refusal(head: RunHead, error: SteplessError) -> Refusal:
    return Refusal(head.run_id, error.code, error.message)
