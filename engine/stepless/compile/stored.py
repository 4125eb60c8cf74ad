"""A published version to its graph: without judging it again, and without what judging takes (pydantic's models, every check).

A version is immutable and was compiled when it was published, so its document has no faults; what is left to do is to read it,
to compile its expressions and templates, and to link it. The graph is the same that `compile_document` answers, without its
warnings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from stepless.compile.draft import Draft, DraftNode, as_written, draft_of, readable
from stepless.compile.fields import Known, fill
from stepless.compile.link import link
from stepless.errors import EngineBug
from stepless.model.graph import Graph
from stepless.model.json import JSON
from stepless.model.kind import SOURCE, Kind, Kinds, Nature, only_source

_ONE_EXIT: Final = (SOURCE,)


def compile_stored(data: bytes, version: str, kinds: Kinds, entries: Sequence[str] | None = None) -> Graph:
    """The graph of the document in `data`, the JSON that was published under the content hash `version`, of what `entries`
    reach (None: of all roots). Raises `EngineBug` for a document that this engine would not have published."""
    return link(_drafted(json.loads(data), version, kinds), version, entries, ())


def _drafted(document: Mapping[str, JSON], version: str, kinds: Kinds) -> Draft:
    draft = draft_of(document, kinds, as_written)
    known = readable(draft)
    for node in draft.nodes:
        if node.kind is None or fill(node, node.kind, known):
            raise EngineBug("a published document cannot be compiled", place=f"{version} {node.path}")
        _find_exits(node, node.kind, known)
    return draft


def _find_exits(node: DraftNode, kind: Kind, known: Known) -> None:
    """Most kinds have the same exits whatever their parameters are."""
    if kind.exits is only_source and kind.nature is not Nature.CONTAINER:
        node.exits = () if kind.terminal else _ONE_EXIT
        return
    from stepless.compile.params import fit

    if fit(node, kind, known) and node.exits is None:
        raise EngineBug("a published document cannot be compiled", place=node.path)
