"""Defines what a draft may be opened from: a published version, a document, or nothing. The origin in a head only names it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stepless.drafts.log.heads import NAMES
from stepless.drafts.log.records import BLOB_OWNER, damaged
from stepless.drafts.log.rules_adapter import Origin
from stepless.model.json import JSON
from stepless.model.kind import Kinds
from stepless.model.stored.damage import FAULTS, why_of
from stepless.model.stored.packing import dump, pack, unpack
from stepless.model.stored.version_metadata import Attached
from stepless.ports import Blobs, StoredVersion
from stepless.runtime.versions import Versions

EMPTY: Mapping[str, JSON] = {}


class Origins:
    """Reads and keeps origins. Versions and blobs never change, so an origin always means the same."""

    def __init__(self, versions: Versions, blobs: Blobs, kinds: Kinds) -> None:
        self._versions = versions
        self._blobs = blobs
        self._kinds = kinds

    def of_version(self, version: StoredVersion, attached: Attached) -> JSON:
        """Returns the origin of a draft of this version. Stores what is attached to the version, since that may be replaced
        later."""
        made: dict[str, JSON] = {"version": version.number, "hash": version.hash}
        if attached.text is None and attached.layout is None:
            return made
        return {**made, "blob": self.keep(version.workflow_id, {"text": attached.text, "layout": attached.layout})}

    def of_document(
        self, workflow_id: str, document: Mapping[str, JSON], text: str | None, layout: Mapping[str, JSON] | None = None
    ) -> JSON:
        return {"blob": self.keep(workflow_id, {"document": document, "text": text, "layout": layout})}

    def keep(self, workflow_id: str, content: Mapping[str, JSON]) -> str:
        """Keeps what an origin or a base names; returns the key."""
        return self._blobs.put(pack(dump(dict(content))), f"{BLOB_OWNER}/{workflow_id}/origins")

    def read(self, workflow_id: str, origin: JSON) -> Origin:
        """Raises `StoreUnusable` (draft_damaged) where a blob is missing."""
        if not isinstance(origin, dict):
            raise damaged(f"draft.origin of {workflow_id}", f"an object was stored, and there is a {type(origin).__name__}")
        if origin and not origin.keys() & NAMES:
            raise damaged(f"draft.origin of {workflow_id}", "it names nothing that a draft is opened from")
        kept = self.kept(workflow_id, origin)
        if "hash" in origin:
            document: Mapping[str, JSON] = self._versions.document(workflow_id, origin["hash"])
        else:
            document = kept.get("document") or {"id": workflow_id, "nodes": {}}
        return Origin(document, kept.get("text"), kept.get("layout"))

    def kept(self, workflow_id: str, origin: JSON) -> Mapping[str, Any]:
        """Returns the texts that `keep` stored for an origin or a base; empty if it names nothing. Raises as `read` does."""
        if "blob" not in origin:
            return {}
        data = self._blobs.get(origin["blob"])
        if data is None:
            raise damaged(f"draft of {workflow_id}", f"the blob {origin['blob']} of what it was opened from is missing")
        try:
            kept = unpack(data)
            if not isinstance(kept, dict):
                raise ValueError("it is no object")
        except FAULTS as error:
            raise damaged(f"draft of {workflow_id}", f"the blob {origin['blob']} cannot be read: {why_of(error)}") from error
        return kept

    def is_container(self, type_: str) -> bool | None:
        kind = self._kinds.get(type_)
        return None if kind is None else kind.container is not None
