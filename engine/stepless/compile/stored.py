"""Compiles a published version to its graph, without checking it again and without importing the checks and pydantic.

A version is immutable and was checked when it was published, so its document has no errors. It only needs to be read, its
expressions and templates compiled, and linked. The graph is equal to that of `compile_document`, without warnings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stepless.compile.link import link
from stepless.compile.parsed import Parsed, ParsedNode, as_written, parsed_of, readable
from stepless.compile.values.fields import Known, fill
from stepless.errors import DamagedVersion, EngineBug, NewerVersion, SteplessError
from stepless.model.graph import Graph
from stepless.model.kind import SOURCE, Kind, Kinds, only_source
from stepless.model.stored.damage import Damage, told_by
from stepless.model.stored.document import CONTAINER_POLICIES, STRICT_REFERENCES, Stored, read_stored
from stepless.model.stored.draft_run import DRAFT

_ONE_EXIT: Final = (SOURCE,)


def compile_stored(data: bytes, version: str, kinds: Kinds, entries: Sequence[str] | None = None) -> Graph:
    """Returns the graph of the nodes that `entries` reach (None: all roots). `data` is what was stored (`encode_document`) under
    the content hash `version`, or for a test run. Raises `NewerVersion` for a document that this release would not have
    published, and `DamagedVersion` for bytes that are no document, or not the one with this hash."""
    try:
        stored = read_stored(data)
        draft_run = stored.draft_run
        if draft_run is None:
            return link(_parsed(stored, version, kinds), version, entries, ())
        from stepless.compile.test_runs.pinning import graph_of_draft_run  # imported late: few runs are of drafts

        return graph_of_draft_run(link(_parsed(stored, version, kinds), version, entries, (), draft_run.stop_after), draft_run)
    except SteplessError as error:
        if not isinstance(error, EngineBug):
            raise
        failure: Exception = error
    except Exception as error:  # of any type: the document is read without checks
        failure = error
    if is_intact(data, version):
        raise failure
    told = told_by(data) or Damage(version, f"its document cannot be read ({type(failure).__name__}: {failure!s:.80})")
    raise DamagedVersion(told.why, place=told.place) from failure


def is_intact(data: bytes, version: str) -> bool:
    """Returns whether this is the document that was published. It is not asked of a document that can be read, since that takes
    long."""
    from stepless.compile.canonical import content_hash

    if version.startswith(DRAFT):
        return True  # its bytes were unpacked, with their checksum
    try:
        return content_hash(read_stored(data).document) == version
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return False


def _parsed(stored: Stored, version: str, kinds: Kinds) -> Parsed:
    parsed = parsed_of(stored.document, kinds, as_written)
    known = readable(parsed, strict=STRICT_REFERENCES in stored.features)
    enclosing = CONTAINER_POLICIES in stored.features
    for node in parsed.nodes:
        node.idle = not enclosing
        if node.kind is None or fill(node, node.kind, known):
            raise _unknown(version, node)
        if not _find_exits(node, node.kind, known):
            raise _unknown(version, node)
    return parsed


def _unknown(version: str, node: ParsedNode) -> NewerVersion:
    why = f"there is no kind {node.document.type!r:.80}" if node.kind is None else f"its {node.path} is not known here"
    return NewerVersion(why, place=f"{version} {node.path}")


def _find_exits(node: ParsedNode, kind: Kind, known: Known) -> bool:
    """Sets the exits of a node. For most kinds they do not depend on the parameters. Returns False if they are not known."""
    if kind.exits is only_source and kind.container is None:
        node.exits = () if kind.terminal else _ONE_EXIT
        return True
    from stepless.compile.values.params import fit

    return not fit(node, kind, known) or node.exits is not None
