"""Tells which limits per key the attempts of a run wait for, and how many runs are before it in line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stepless.core.limits.slots import run_in_line
from stepless.core.state import Instance, State, Wait
from stepless.limits import MAX_LINE_READ, MAX_SHOWN_LIMITS
from stepless.model.json import JSON
from stepless.runtime.world import World


@dataclass(frozen=True, slots=True)
class LimitWait:
    """One limit, for one key (empty: it has no `by`). `of` is its place in the document, `instances` how many instances of the
    run wait for it, `since_ms` when the first began to. `until_ms` is the next instant that a rate has reserved for the run.
    `ahead` is the number of runs before it in line for slots; None if that is not known, or if it is not in line."""

    of: str
    key: str
    instances: int
    since_ms: int
    until_ms: int | None
    ahead: int | None


def limit_waits(world: World, state: State) -> tuple[LimitWait, ...]:
    """Returns the limits that a run waits for, at most MAX_SHOWN_LIMITS. Reads the lines."""
    waiting: dict[str, list[tuple[Instance, Wait]]] = {}
    for instance in (*state.paced.values(), *(one for line in state.limited.values() for one in line.values())):
        if instance.wait is not None:
            waiting.setdefault(str(instance.wait.details["cell"]), []).append((instance, instance.wait))
    return tuple(_of(world, state, cell, waiting[cell]) for cell in [*waiting][:MAX_SHOWN_LIMITS])


def _of(world: World, state: State, cell: str, waiting: list[tuple[Instance, Wait]]) -> LimitWait:
    shown = waiting[0][1].details.get("limit")
    limit: Mapping[str, JSON] = shown if isinstance(shown, dict) else {}
    reserved = [wait.resume_at_ms for _, wait in waiting if wait.resume_at_ms is not None]
    line = [run_in_line(place) for place in world.store.read_line(cell, limit=MAX_LINE_READ)] if cell in state.limited else []
    return LimitWait(
        of=str(limit.get("of", "")),
        key=str(limit.get("key", "")),
        instances=len(waiting),
        since_ms=min(wait.since_ms for _, wait in waiting),
        until_ms=min(reserved, default=None),
        ahead=line.index(state.run_id) if state.run_id in line else None,
    )
