"""What a draft may be opened from: a published version, a document, or nothing. The origin in a head only names it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stepless.errors import StoreUnusable
from stepless.model.json import JSON
from stepless.model.kind import Kinds, Nature
from stepless.model.packing import dump, pack, unpack
from stepless.ports import Blobs, StoredVersion
from stepless.runtime.drafts.records import BLOB_OWNER
from stepless.runtime.drafts.rules import Origin
from stepless.runtime.versions import Versions

EMPTY: Mapping[str, JSON] = {}


class Origins:
    """Reads and keeps origins. Versions and blobs never change, so an origin always means the same."""

    def __init__(self, versions: Versions, blobs: Blobs, kinds: Kinds) -> None:
        self._versions = versions
        self._blobs = blobs
        self._kinds = kinds

    def of_version(self, version: StoredVersion) -> JSON:
        return {"version": version.number, "hash": version.hash}

    def of_document(self, workflow_id: str, document: Mapping[str, JSON], text: str | None) -> JSON:
        data = pack(dump({"document": document, "text": text}))
        return {"blob": self._blobs.put(data, f"{BLOB_OWNER}/{workflow_id}/origins")}

    def read(self, workflow_id: str, origin: JSON) -> Origin:
        """Raises `StoreUnusable` (draft_damaged) where a blob is missing."""
        if "hash" in origin:
            return Origin(self._versions.document(workflow_id, origin["hash"]))
        if "blob" not in origin:
            return Origin({"id": workflow_id, "nodes": {}})
        data = self._blobs.get(origin["blob"])
        if data is None:
            message = f"what the draft was opened from is missing: the blob {origin['blob']}"
            mend = "restore the store from a backup, or replace the draft by the published version"
            raise StoreUnusable(message, code="draft_damaged", place=f"draft of {workflow_id}", mend=mend)
        kept: Any = unpack(data)
        return Origin(kept["document"], kept["text"])

    def is_container(self, type_: str) -> bool | None:
        kind = self._kinds.get(type_)
        return None if kind is None else kind.nature is Nature.CONTAINER
