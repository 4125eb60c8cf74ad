"""Encodes and decodes a published document as JSON.

A release ignores fields that it does not know, so an earlier one would run a document with limits per key without them. Such a
document is stored inside another one, whose nodes have kinds that no earlier release knows, one for each feature: there its runs
rest, as with any unknown kind, until a release that knows all of them.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

from stepless.model.json import JSON
from stepless.model.stored.draft_run import DraftRun, read_draft_run

LIMITS: Final = "limits"  # limits per key
FUNCTIONS: Final = "functions"  # functions of expressions since `need`, in a limit of the workflow
EVERY: Final = "every"  # a join with `mode: every`
STRICT_REFERENCES: Final = "strict-references"  # `<node.path!>`
INPUTS: Final = "inputs"  # `inputs` of an entry
CONTAINER_POLICIES: Final = "container-policies"  # `retry` or `timeout_ms` of a container, or of a caller of child runs
DISABLED_EXIT: Final = "disabled-exit"  # `enabled: {exit: …}`
DRAFT_RUN: Final = "draft-run"  # a document of a draft, for one run
FEATURES: Final = frozenset({
    LIMITS, FUNCTIONS, EVERY, STRICT_REFERENCES, INPUTS, CONTAINER_POLICIES, DISABLED_EXIT, DRAFT_RUN,
})
"""What this release knows. A name is stored, so it is never changed."""

_KIND: Final = "stepless:{}"
_WITH_LIMITS: Final = "stepless:limits"
_INSIDE: Final = "stepless:document"
"""The names of the fields with the document: the first one where limits are its only feature. No document that was checked has a
field of these names."""
_OF_THE_RUN: Final = "stepless:draft-run"  # stored with the document: what a test run changes


class Stored(NamedTuple):
    """A document as it was published, and the features that its stored form names. `draft_run` for a version of a test run."""

    document: dict[str, JSON]
    features: frozenset[str]
    draft_run: DraftRun | None = None


def encode_document(document: Mapping[str, JSON], features: Collection[str], draft_run: DraftRun | None = None) -> bytes:
    """Returns the stored form of a document with these features, all of them in FEATURES; with `draft_run`, of a version that is
    made for a test run."""
    stored: Mapping[str, JSON] = document
    if draft_run is not None:
        features = {*features, DRAFT_RUN}
    if features:
        shown = {field: document[field] for field in ("id", "name") if field in document}
        nodes = {feature: {"type": _KIND.format(feature)} for feature in sorted(features)}
        stored = {**shown, "nodes": nodes, _WITH_LIMITS if set(features) == {LIMITS} else _INSIDE: dict(document)}
        if draft_run is not None:
            stored[_OF_THE_RUN] = draft_run.written()
    return json.dumps(stored, ensure_ascii=False, separators=(",", ":")).encode()


def read_stored(data: bytes) -> Stored:
    """Returns the document and its features. One with a feature that this release does not know stays in its stored form, which
    has nodes of unknown kinds."""
    stored: dict[str, JSON] = json.loads(data)
    for field in (_WITH_LIMITS, _INSIDE):
        inside = stored.get(field)
        if isinstance(inside, dict) and stored["nodes"].keys() <= FEATURES:
            changed: Any = stored.get(_OF_THE_RUN) if DRAFT_RUN in stored["nodes"] else None
            return Stored(inside, frozenset(stored["nodes"]), None if changed is None else read_draft_run(changed))
    return Stored(stored, frozenset())


def decode_document(data: bytes) -> dict[str, JSON]:
    """Returns the document as it was published."""
    return read_stored(data).document
