"""Finds the nodes of a test run that do something outside of it, and walks the nodes inside a node."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from stepless.model.graph import Graph, Node
from stepless.model.kind import Nature
from stepless.model.stored.draft_run import Pin

_QUIET: Final = frozenset({"approval", "callback", "receive", "wait"})  # they reach no one unless they have `notify`
_NO_PINS: Final[Mapping[str, Pin]] = MappingProxyType({})


class DraftedRun(NamedTuple):
    """A test run before it starts. `graph` is the one that will run, `document` what it was compiled from, `pins` are by path.
    `reused` are the top-level nodes whose outputs are taken from a former run, `fresh` those whose outputs are not, whatever that
    run does meanwhile (None: all)."""

    graph: Graph
    document: Mapping[str, Any]
    pins: Mapping[str, Pin] = _NO_PINS
    reused: Collection[str] = frozenset()
    fresh: Collection[str] | None = None


def calling_nodes(draft: DraftedRun) -> Iterator[tuple[Node, list[str]]]:
    """Yields the top-level nodes that call something, themselves or inside, each with the paths of what is called (`price@each`).
    A pinned or a disabled node, and what is inside of it, is not called; nor is one whose output is reused."""
    written = draft.document["nodes"]
    for node in draft.graph.root.nodes:
        if node.id not in draft.reused:
            paths = [path for path, one, own in nodes_within(node, written) if acts(one, own)]
            if paths:
                yield node, paths


def nodes_within(node: Node, siblings: Mapping[str, Any], around: str = "") -> Iterator[tuple[str, Node, Mapping[str, Any]]]:
    """Yields the nodes that run if this one does, each with its path and as it was written: itself, its tools and those of its
    body. Without pinned and disabled nodes. `siblings` are the nodes of the same graph as they were written."""
    if node.pinned or not node.enabled:
        return
    written, path = siblings[node.id], f"{node.id}{around}"
    yield path, node, written
    for tool in node.tools.values():
        yield f"{tool.id}{around}", tool, siblings[tool.id]
    if node.container is not None:
        for inner in node.container.body.nodes:
            yield from nodes_within(inner, written["with"]["body"]["nodes"], f"@{path}")


def acts(node: Node, written: Mapping[str, Any]) -> bool:
    """Returns whether a node does something outside of the run: by an attempt, or by a notice."""
    if node.kind.nature is Nature.PAUSE:
        return node.kind.name not in _QUIET or (written.get("with") or {}).get("notify") is not None
    return node.kind.nature is Nature.EFFECT


def pauses(node: Node) -> bool:
    """Returns whether a person or another system may be asked by this node."""
    return node.kind.nature is Nature.PAUSE


def starts_child_runs(node: Node) -> bool:
    """Returns whether a node may wait for another run, during which the deadline of its own run goes on."""
    return node.kind.name == "workflow" or (node.kind.nature is Nature.PAUSE and node.kind.name not in _QUIET)
