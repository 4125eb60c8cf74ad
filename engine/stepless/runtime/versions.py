"""Loads published versions, and caches the graphs compiled from them."""

from __future__ import annotations

import re
import zlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from threading import Lock

from stepless.errors import DamagedVersion, NewerVersion
from stepless.model.graph import Graph
from stepless.model.json import JSON
from stepless.model.kind import Kinds
from stepless.model.stored.damage import FAULTS, Damage, told_by, why_of
from stepless.model.stored.document import decode_document
from stepless.model.stored.draft_run import DRAFT
from stepless.ports import Blobs, Store, StoredVersion

_MAX_GRAPHS = 64  # in memory
_CONDITION = re.compile(rb'"condition"\s*:')
_SCHEME = ":"  # in the name of a version that is kept elsewhere, as those of drafts are; no content hash has it


class Versions:
    """Graphs by workflow, version hash and entries. A version never changes, so a process compiles each graph once (twice if two
    threads request it for the first time concurrently). Thread-safe. Each is compiled inside a context of `while_compiling`,
    which the owner of the process may set. `blobs` has the versions that were made of drafts for test runs: the name of such a
    version contains the key of its blob, which belongs to the run and goes with it."""

    def __init__(self, store: Store, kinds: Kinds, blobs: Blobs | None = None) -> None:
        self._store = store
        self._kinds = kinds
        self._blobs = blobs
        self._graphs: OrderedDict[tuple[str, str, tuple[str, ...] | None], Graph] = OrderedDict()
        self._lock = Lock()
        self.while_compiling: Callable[[], AbstractContextManager[None]] = nullcontext

    def graph(self, workflow_id: str, version: str, entries: Sequence[str] | None = None) -> Graph:
        """Returns the graph of a published version, for these entries (None: all roots)."""
        key = (workflow_id, version, tuple(entries) if entries is not None else None)
        with self._lock:
            graph = self._graphs.get(key)
            if graph is not None:
                self._graphs.move_to_end(key)
                return graph
        from stepless.compile.stored import compile_stored  # imported late: a process that runs nothing never loads it

        stored = self._stored(workflow_id, version)
        with self.while_compiling():
            graph = compile_stored(stored, version, self._kinds, entries)
        with self._lock:
            self._graphs[key] = graph
            if len(self._graphs) > _MAX_GRAPHS:
                self._graphs.popitem(last=False)
        return graph

    def document(self, workflow_id: str, version: str) -> dict[str, JSON]:
        return decoded_document(self._stored(workflow_id, version), f"{workflow_id}@{version}")

    def has_conditions(self, workflow_id: str, version: str) -> bool:
        """Returns False where no edge of a version has a condition. Costs little, because nothing is compiled."""
        return _CONDITION.search(self._stored(workflow_id, version)) is not None

    def _stored(self, workflow_id: str, version: str) -> bytes:
        if version.startswith(DRAFT):
            return self._of_draft(workflow_id, version)
        stored = self._store.get_version(workflow_id, hash=version)
        if stored is None and _SCHEME in version:
            raise NewerVersion("the name of its version has a form that is not known here", place=f"{workflow_id}@{version:.80}")
        if stored is None:
            raise DamagedVersion("the store does not have it", place=f"{workflow_id}@{version}")
        return stored.document

    def _of_draft(self, workflow_id: str, version: str) -> bytes:
        found = self._blobs.get(version.removeprefix(DRAFT)) if self._blobs is not None else None
        if found is None:
            raise DamagedVersion("the blob with the version of a test run is missing", place=f"{workflow_id}@{version}")
        try:
            return zlib.decompress(found)
        except zlib.error as error:
            raise DamagedVersion(f"its bytes cannot be unpacked ({error})", place=f"{workflow_id}@{version}") from error


def document_of(version: StoredVersion) -> dict[str, JSON]:
    """Returns the document of a version as it was published. Raises `DamagedVersion`."""
    return decoded_document(version.document, f"version.document of {version.workflow_id}/{version.number}")


def version_damage(version: StoredVersion) -> Damage | None:
    """Returns the damage to the document of a version."""
    try:
        document_of(version)
    except DamagedVersion as error:
        return Damage(error.place, error.why, error.mend)
    return None


def decoded_document(data: bytes, place: str) -> dict[str, JSON]:
    """Returns the document in what is stored of a version, which `place` names. Raises `DamagedVersion`."""
    try:
        document = decode_document(data)
        if not isinstance(document.get("nodes"), dict):
            raise ValueError("it has no nodes")
    except FAULTS as error:
        told = told_by(data) or Damage(place, why_of(error))
        raise DamagedVersion(told.why, place=told.place) from error
    return document


def put_version_of_draft(blobs: Blobs, run_id: str, data: bytes) -> str:
    """Keeps what `encode_document` made for one test run, before the run is created. Returns the name of the version."""
    return DRAFT + blobs.put(zlib.compress(data), run_id)
