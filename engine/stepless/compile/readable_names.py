"""Says what a node of a document may read, valid or not: the nodes before it, the iterations around it, its inputs, variables and
settings (docs/understand/semantics.md#references). For editors, which complete references and show their values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from stepless.compile.checks.reference_scope import ITERATION_FIELDS, RUN_FIELDS, findings_of
from stepless.compile.dominators import dominator_tree
from stepless.compile.order import reachable, topological_order
from stepless.compile.parsed import Parsed, ParsedBody, ParsedEdge, ParsedNode, parsed_of, readable
from stepless.compile.shape import validated
from stepless.model.declaration.policies import Merge
from stepless.model.findings import Finding
from stepless.model.json import JSON, Path, parse_path
from stepless.model.kind import Kinds
from stepless.model.scope import Reference

__all__ = ["RUN_FIELDS", "ITERATION_FIELDS", "Before", "Feed", "ReadableNames", "Iteration", "readable_names_of", "surveyed"]

_LOOP: Final = "loop"


class Before(NamedTuple):
    """A node that can be read. `path` is `x@l` for `x` in the body of `l`. `certain`: every way to the reader leads through
    it, so that it has settled by then."""

    name: str
    path: str
    kind: str
    certain: bool
    contract: Mapping[str, JSON] | None


class Iteration(NamedTuple):
    """The iteration of a container around the reader, by one of its names: `loop` or `parallel`, and the id of the container."""

    name: str
    path: str
    has_items: bool


class Feed(NamedTuple):
    """An edge into the reader: the path and label of its source, its exit, and the part of the output that it carries."""

    source: str
    label: str
    handle: str
    param: str
    key: Path
    merge: Merge


@dataclass(frozen=True)
class ReadableNames:
    """What one node may read. `before` has the nearest nodes first."""

    parsed: Parsed
    node: ParsedNode

    @property
    def path(self) -> str:
        return _path(self.node.body, self.node.id)

    @property
    def is_entry(self) -> bool:
        """Whether nothing leads to it: its input is that of the run, or the item of the iteration."""
        return not self._into

    def knows(self, name: str) -> bool:
        """Returns whether a reference may start with a name."""
        return readable(self.parsed)(name)

    def findings(self, place: str, references: Iterable[Reference]) -> list[Finding]:
        """Returns the compiler's findings about references at a place of the node, such as `with.url`."""
        return list(findings_of(self.parsed, self.node, place, references))

    @cached_property
    def before(self) -> Sequence[Before]:
        found: dict[str, Before] = {}
        for reader in _readers(self.node):
            for one in _upstream(reader):
                found.setdefault(one.name, one)
        return list(found.values())

    @cached_property
    def iterations(self) -> Sequence[Iteration]:
        found: dict[str, Iteration] = {}
        for reader in _readers(self.node):
            for owner in _around(reader):
                has_items = "items" in owner.document.with_
                path = _path(owner.body, owner.id)
                for name in (owner.kind.name if owner.kind is not None else _LOOP, owner.id):
                    found.setdefault(name, Iteration(name, path, has_items))
        return list(found.values())

    @cached_property
    def feeds(self) -> Sequence[Feed]:
        """The edges into the node, in edge order."""
        body, made = self.node.body, []
        for edge in self._into:
            source, written = body.nodes[edge.source], edge.written
            merge = written.merge if written is not None and written.merge is not None else self.node.document.merge
            label = source.document.label or source.id
            made.append(Feed(_path(body, source.id), label, edge.handle, edge.param, _key(edge), merge))
        return made

    @property
    def around(self) -> ReadableNames | None:
        """What the container around the node may read."""
        owner = self.node.body.owner
        return None if owner is None else ReadableNames(self.parsed, owner)

    @property
    def variables(self) -> Mapping[str, JSON]:
        return self.parsed.document.variables

    @property
    def env(self) -> Sequence[str]:
        return self.parsed.document.env

    @cached_property
    def _into(self) -> Sequence[ParsedEdge]:
        return [edge for edge in self.node.body.edges if edge.target == self.node.id and edge.source in self.node.body.nodes]


def surveyed(document: Mapping[str, JSON], kinds: Kinds) -> Parsed:
    """Returns a document as `readable_names_of` reads it. Its faults are left out."""
    return parsed_of(document, kinds, validated)


def readable_names_of(parsed: Parsed, names: Sequence[str]) -> ReadableNames | None:
    """Returns the sight of the node with these ids, from the outside in; None if it could not be read."""
    body: ParsedBody | None = parsed.bodies[0]
    node: ParsedNode | None = None
    for name in names:
        node = body.nodes.get(name) if body is not None else None
        if node is None:
            return None
        body = node.inner
    return None if node is None else ReadableNames(parsed, node)


def _key(edge: ParsedEdge) -> Path:
    try:
        return parse_path(edge.written.key) if edge.written is not None else ()
    except ValueError:  # a finding of its own
        return ()


def _readers(node: ParsedNode) -> Sequence[ParsedNode]:
    """The node itself, or the nodes whose tool it is: it can read what they can read."""
    return node.body.tools.get(node.id) or (node,)


def _around(node: ParsedNode) -> Iterator[ParsedNode]:
    """The containers around a node, from the inside out."""
    owner = node.body.owner
    while owner is not None:
        yield owner
        owner = owner.body.owner


def _upstream(reader: ParsedNode) -> Iterator[Before]:
    """The nodes upstream of a node and of the containers around it, the nearest first."""
    for current in (reader, *_around(reader)):
        body = current.body
        above = reachable([current.place], body.predecessors) - {current.place}
        order = topological_order(body.successors, body.predecessors)
        through = _dominators(current, order) if len(order) == len(body.nodes) else set()
        rank = {place: number for number, place in enumerate(order)}
        nodes = list(body.order)
        for place in sorted(above, key=lambda place: rank.get(place, -1), reverse=True):
            node = nodes[place]
            yield Before(
                node.id, _path(body, node.id), node.kind.name if node.kind is not None else str(node.raw.get("type", "")),
                place in through, node.document.output_contract,
            )


def _dominators(node: ParsedNode, order: Sequence[int]) -> set[int]:
    tree = dominator_tree(order, node.body.predecessors)
    found, place = set(), tree.parents[node.place]
    while place != tree.root:
        found.add(place)
        place = tree.parents[place]
    return found


def _path(body: ParsedBody, name: str) -> str:
    owner = body.owner
    return name if owner is None else f"{name}@{_path(owner.body, owner.id)}"
