"""Bulk: one verb over many runs, a bounded number at a time; what is over already is passed over, what fails is told."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from stepless.errors import CallerError, SteplessError, TransientError
from stepless.ports import RunFilter, RunHead
from stepless.runtime.verbs.searching import search
from stepless.runtime.world import World


@dataclass(frozen=True, slots=True)
class Refusal:
    """A run that the verb did not change, and why."""

    run_id: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Swept:
    """What became of one lot: `matched` runs fitted, `done` holds what the verb answered for each that it changed. `cursor`
    goes on with the older ones; None when there are none."""

    matched: int
    done: tuple[str, ...]
    refused: tuple[Refusal, ...]
    cursor: str | None


def each_run(
    world: World,
    verb: Callable[[RunHead], str],
    filter: RunFilter,
    *,
    keywords: Collection[str] = (),
    limit: int = 100,
    cursor: str | None = None,
) -> Swept:
    """Applies `verb` to the runs of one page, one by one, newest first. A run that refuses does not stop the others."""
    page = search(world, filter, keywords=keywords, limit=limit, cursor=cursor)
    done: list[str] = []
    refused: list[Refusal] = []
    for head in page.items:
        try:
            done.append(verb(head))
        except (CallerError, TransientError) as error:
            refused.append(_refusal(head, error))
    return Swept(len(page.items), tuple(done), tuple(refused), page.cursor)


def _refusal(head: RunHead, error: SteplessError) -> Refusal:
    return Refusal(head.run_id, error.code, error.message)
