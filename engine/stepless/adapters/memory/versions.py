"""Keeps published versions in memory."""

from __future__ import annotations

import dataclasses
from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from threading import Lock

from stepless.adapters.bounds import check_text, page_size
from stepless.errors import VersionMoved
from stepless.model.stored.cursors import decode_cursor, encode_cursor
from stepless.ports import Page, PublishedVersion, StoredVersion, Version


class MemoryVersions:
    """The part of the store that has versions. `_lock` is that of the whole store."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._versions: dict[str, list[StoredVersion]] = {}
        self._attached: dict[tuple[str, int], bytes] = {}
        self._entries: dict[str, set[str]] = {}

    def put_version(
        self, workflow_id: str, hash: str, document: bytes, now_ms: int, entries: Collection[str] = (),
        *, attached: bytes | None = None, expected: int | None = None, replace: bool = False,
    ) -> StoredVersion:
        check_text(workflow_id, hash)
        with self._lock:
            for kind in entries:
                self._entries.setdefault(kind, set()).add(workflow_id)
            versions = self._versions.get(workflow_id, [])
            if not versions or versions[-1].hash != hash:
                if expected not in (None, len(versions)):
                    raise VersionMoved(workflow_id, expected, len(versions))
                self._versions[workflow_id] = versions
                versions.append(StoredVersion(workflow_id, len(versions) + 1, hash, document, now_ms))
            elif replace:
                versions[-1] = dataclasses.replace(versions[-1], document=document)
            if attached is not None:
                self._attached[workflow_id, len(versions)] = attached
            return versions[-1]

    def get_attached(self, workflow_id: str, number: int) -> bytes | None:
        with self._lock:
            return self._attached.get((workflow_id, number))

    def get_version(self, workflow_id: str, number: int | None = None, *, hash: str | None = None) -> StoredVersion | None:
        with self._lock:
            for version in reversed(self._versions.get(workflow_id, ())):
                if number in (None, version.number) and hash in (None, version.hash):
                    return version
            return None

    def list_versions(self, workflow_id: str, *, before: int | None = None, limit: int = 100) -> Sequence[PublishedVersion]:
        with self._lock:
            kept = [one for one in reversed(self._versions.get(workflow_id, ())) if before is None or one.number < before]
            return [
                PublishedVersion(workflow_id, one.number, one.hash, one.created_ms, self._attached.get((workflow_id, one.number)))
                for one in kept[: page_size(limit)]
            ]

    def newest_version(self, workflow_id: str) -> Version | None:
        newest = self.get_version(workflow_id)
        return Version(workflow_id, newest.number, newest.hash) if newest is not None else None

    def list_workflows(self, *, limit: int = 100, cursor: str | None = None) -> Page[StoredVersion]:
        with self._lock:
            names, following = _page_of(self._versions, limit, cursor)
            return Page(tuple(self._versions[name][-1] for name in names), following)

    def list_entries(self, kind: str, *, limit: int = 100, cursor: str | None = None) -> Page[Version]:
        with self._lock:
            names, following = _page_of(self._entries.get(kind, ()), limit, cursor)
            found = [self._versions[name][-1] for name in names]
            return Page(tuple(Version(newest.workflow_id, newest.number, newest.hash) for newest in found), following)


def _page_of(names: Iterable[str], limit: int, cursor: str | None) -> tuple[Sequence[str], str | None]:
    """The names after a cursor, in order, and the cursor of the next page."""
    limit, known = page_size(limit), sorted(names)
    start = bisect_right(known, decode_cursor(cursor, str)[0]) if cursor is not None else 0
    some = known[start : start + limit]
    return some, encode_cursor(some[-1]) if start + limit < len(known) else None
