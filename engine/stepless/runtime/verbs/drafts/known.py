"""Which effectful nodes a test run would call that no published version has (docs/decisions/0015-runs-of-drafts.md)."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from threading import Lock
from typing import Any, Final, NamedTuple

from stepless.errors import DamagedVersion
from stepless.limits import MAX_KNOWN_VERSIONS, MAX_WARM_DRAFTS
from stepless.model.graph import Body, Graph, Node
from stepless.model.json import JSON
from stepless.model.kind import Nature
from stepless.ports import Store
from stepless.runtime.versions import document_of

_QUIET: Final = frozenset({"approval", "callback", "wait"})  # pausing kinds that reach no one unless they have `notify`


class Effect(NamedTuple):
    """A node that a run may call: its path (`price@each`), and a digest of what it does."""

    path: str
    digest: bytes


def effects_of(graph: Graph, document: Mapping[str, Any]) -> Iterator[Effect]:
    """What a run of this graph of the document may call. Pinned nodes, disabled ones, what is inside them, and what comes after
    the last node are never called."""
    env = _names(document)
    for path, written in _called(graph.root, document, ""):
        yield Effect(path, _digest(written, env))


def _called(body: Body, written: Mapping[str, Any], around: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for node in body.nodes:
        if node.pinned or not node.enabled:
            continue
        own, path = written["nodes"][node.id], f"{node.id}{around}"
        if _acts(node, own):
            yield path, own
        for tool in node.tools.values():
            yield f"{tool.id}{around}", written["nodes"][tool.id]
        if node.container is not None:
            yield from _called(node.container.body, own["with"]["body"], f"@{path}")


def _acts(node: Node, written: Mapping[str, Any]) -> bool:
    """Whether a node does something outside of the run: by an attempt, or by a notice."""
    if node.kind.nature is Nature.PAUSE:
        return node.kind.name not in _QUIET or (written.get("with") or {}).get("notify") is not None
    return node.kind.nature is Nature.EFFECT


def _names(document: Mapping[str, Any]) -> Sequence[str]:
    return [name for name in document.get("env") or () if isinstance(name, str)]


def _digest(written: Mapping[str, Any], env: Sequence[str]) -> bytes:
    """Of the kind and the parameters, and of the names of `env` that these mention. The order of keys does not count."""
    params = json.dumps(written.get("with") or {}, sort_keys=True, separators=(",", ":"))
    mentioned = sorted(name for name in env if f"${{{name}}}" in params)
    return sha256(json.dumps([written.get("type"), params, mentioned]).encode()).digest()


# -- what is known -----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Seen:
    """The digests of the nodes of the versions `first` to `last` of a workflow."""

    first: int = 0
    last: int = 0
    digests: set[bytes] = field(default_factory=set)


class Known:
    """The nodes of the published versions of workflows, each version read once. Thread-safe. At most the newest
    MAX_KNOWN_VERSIONS of a workflow count."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._seen: OrderedDict[str, _Seen] = OrderedDict()
        self._lock = Lock()

    def unpublished(self, workflow_id: str, effects: Sequence[Effect]) -> Sequence[str]:
        """The paths of the effects that no version has. May raise `StoreUnavailable`."""
        if not effects:
            return ()
        with self._lock:
            seen = self._seen.setdefault(workflow_id, _Seen())
            self._seen.move_to_end(workflow_id)
            while len(self._seen) > MAX_WARM_DRAFTS:
                self._seen.popitem(last=False)
            for number in self._unread(workflow_id, seen):
                if all(effect.digest in seen.digests for effect in effects):
                    return ()
                self._read(workflow_id, number, seen)
            return [effect.path for effect in effects if effect.digest not in seen.digests]

    def _unread(self, workflow_id: str, seen: _Seen) -> Iterator[int]:
        """The numbers of the versions that are to be read: those since the last one first, then older ones."""
        newest = self._store.newest_version(workflow_id)
        if newest is None:
            return
        if not seen.last:
            seen.first, seen.last = newest.number + 1, newest.number
        for number in range(seen.last + 1, newest.number + 1):
            yield number
            seen.last = number
        for number in range(seen.first - 1, max(0, newest.number - MAX_KNOWN_VERSIONS), -1):
            yield number
            seen.first = number

    def _read(self, workflow_id: str, number: int, seen: _Seen) -> None:
        found = self._store.get_version(workflow_id, number)
        if found is not None:
            try:
                document = document_of(found)
            except DamagedVersion:  # what it called is not known any more: its nodes count as unpublished
                return
            seen.digests.update(_digest(node, _names(document)) for node in _nodes(document))


def _nodes(body: Mapping[str, JSON]) -> Iterator[Mapping[str, JSON]]:
    """The nodes of a document, also those in the bodies of containers."""
    nodes = body.get("nodes")
    for node in nodes.values() if isinstance(nodes, Mapping) else ():
        if isinstance(node, Mapping):
            yield node
            params = node.get("with")
            inner = params.get("body") if isinstance(params, Mapping) else None
            if isinstance(inner, Mapping):
                yield from _nodes(inner)
