"""Lists the versions of a workflow: when each was published, by whom, with what message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from stepless.model.stored.damage import Damage
from stepless.model.stored.version_metadata import attached_damage, decode_attached
from stepless.ports import PublishedVersion
from stepless.runtime.id_suggestions import unknown_workflow
from stepless.runtime.world import World


class ListedVersion(NamedTuple):
    """`by` and `message` are empty unless the version was published from a draft."""

    version: PublishedVersion
    by: str
    message: str
    damage: Damage | None = None


class ListedVersions(NamedTuple):
    """The newest first. `next_before` continues the list; None at its end."""

    items: Sequence[ListedVersion]
    next_before: int | None


def versions(world: World, workflow: str, *, before: int | None = None, limit: int) -> ListedVersions:
    """Returns the newest versions, at most `limit`; with `before`, of those with a smaller number. Raises `NotFound`
    (unknown_workflow)."""
    found = world.store.list_versions(workflow, before=before, limit=limit)
    if not found and world.store.newest_version(workflow) is None:
        raise unknown_workflow(world.store, workflow)
    items = [_listed(one) for one in found]
    return ListedVersions(items, found[-1].number if len(found) == limit and found[-1].number > 1 else None)


def _listed(version: PublishedVersion) -> ListedVersion:
    attached = decode_attached(version.attached)
    damage = attached_damage(version.attached, f"version.attached of {version.workflow_id}/{version.number}")
    return ListedVersion(version, attached.by, attached.message, damage)
