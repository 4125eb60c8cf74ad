"""The stored form of a published document: its JSON.

A release ignores fields that it does not know, so an earlier one would run a document with limits per key without them. Such a
document is stored inside another one, whose only node has a kind that no earlier release knows: there its runs rest, as with any
unknown kind, until a release that knows limits.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from stepless.model.json import JSON

_INSIDE: Final = "stepless:limits"
"""The name of the kind, and of the field with the document. No document that was checked has a field of this name."""


def encode_document(document: Mapping[str, JSON], *, limited: bool) -> bytes:
    """The stored form of a document. `limited`: it has limits per key."""
    stored: Mapping[str, JSON] = document
    if limited:
        shown = {field: document[field] for field in ("id", "name") if field in document}
        stored = {**shown, "nodes": {"limits": {"type": _INSIDE}}, _INSIDE: dict(document)}
    return json.dumps(stored, ensure_ascii=False, separators=(",", ":")).encode()


def decode_document(data: bytes) -> dict[str, JSON]:
    """The document as it was published."""
    stored: dict[str, JSON] = json.loads(data)
    inside = stored.get(_INSIDE)
    return inside if isinstance(inside, dict) else stored
