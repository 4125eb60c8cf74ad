"""Reads headers for statistics of many runs, up to a bound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from stepless.limits import MAX_PAGE_ITEMS, MAX_SEARCHED_RUNS
from stepless.ports import RunFilter, RunHead
from stepless.runtime.headers import draft_of
from stepless.runtime.world import World


class Heads(NamedTuple):
    """Headers, newest first. `more`: the bound was reached before all were read."""

    items: Sequence[RunHead]
    more: bool


def read_heads(world: World, filter: RunFilter, *, published: bool = True) -> Heads:
    """Returns the newest headers that match; at most MAX_SEARCHED_RUNS are read. `published` leaves out test runs."""
    found, cursor = list[RunHead](), None
    while True:
        page = world.store.list_runs(filter, limit=min(MAX_PAGE_ITEMS, MAX_SEARCHED_RUNS - len(found)), cursor=cursor)
        found += page.items
        cursor = page.cursor
        if cursor is None or len(found) >= MAX_SEARCHED_RUNS:
            return Heads([head for head in found if not published or draft_of(head) is None], cursor is not None)
