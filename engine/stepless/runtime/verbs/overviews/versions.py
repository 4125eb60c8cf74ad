"""The versions of a workflow as a list: when each was published, by whom, with what message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from stepless.model.attached import decode_attached
from stepless.ports import StoredVersion
from stepless.runtime.nearest import unknown_workflow
from stepless.runtime.verbs.overviews.health import side_by_side
from stepless.runtime.world import World


class ListedVersion(NamedTuple):
    """`by` and `message` are empty unless the version was published from a draft."""

    version: StoredVersion
    by: str
    message: str


class ListedVersions(NamedTuple):
    """The newest first. `next_before` continues the list; None at its end."""

    items: Sequence[ListedVersion]
    next_before: int | None


def versions(world: World, workflow: str, *, before: int | None = None, limit: int) -> ListedVersions:
    """The newest versions, at most `limit`; with `before`, of those with a smaller number. Raises `NotFound`
    (unknown_workflow)."""
    newest = world.store.newest_version(workflow)
    if newest is None:
        raise unknown_workflow(world.store, workflow)
    last = newest.number if before is None else min(newest.number, before - 1)
    numbers = range(last, max(0, last - limit), -1)

    def read(number: int) -> ListedVersion | None:
        version = world.store.get_version(workflow, number)
        if version is None:  # numbers have no gap, unless a store was restored in part
            return None
        attached = decode_attached(world.store.get_attached(workflow, number))
        return ListedVersion(version, attached.by, attached.message)

    found = [one for one in side_by_side(world, read, numbers) if one is not None]
    return ListedVersions(found, numbers[-1] if numbers and numbers[-1] > 1 else None)
