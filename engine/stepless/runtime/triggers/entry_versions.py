"""Lists the newest versions that have an entry of one kind, each with its graph."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import TypeAlias

from stepless.errors import LogUnreadable
from stepless.limits import MAX_PAGE_ITEMS
from stepless.model.graph import Graph
from stepless.ports import Version
from stepless.runtime.world import World

_log = logging.getLogger(__name__)

OnUnreadable: TypeAlias = Callable[[Version, LogUnreadable], None]


def versions_with(world: World, kind: str, on_unreadable: OnUnreadable | None = None) -> Iterator[tuple[Version, Graph]]:
    """Yields the newest version of every workflow that has an entry of this kind or had one in a former version, sorted by
    workflow id. A version that cannot be used is logged, or passed to `on_unreadable`, and the others follow."""
    cursor: str | None = None
    while True:
        page = world.store.list_entries(kind, limit=MAX_PAGE_ITEMS, cursor=cursor)
        for version in page.items:
            try:
                graph = world.versions.graph(version.workflow_id, version.hash)
            except LogUnreadable as error:
                if on_unreadable is None:
                    _log.error("the entries of %s are left out: %s", version.workflow_id, error)
                else:
                    on_unreadable(version, error)
                continue
            yield version, graph
        cursor = page.cursor
        if cursor is None:
            return
