"""The document between reading and linking: nodes with their kinds, nested bodies, and edges by name.

A faulty document has a draft too, with gaps where something could not be read. Only a draft without errors is linked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from stepless.compile.order import Links
from stepless.expressions.references import STRICT
from stepless.limits import MAX_NESTED_CONTAINERS
from stepless.model.declaration.document import AfterView, BodyView, DocumentView, EdgeView, NodeView
from stepless.model.findings import Finding
from stepless.model.graph import Config, Limits
from stepless.model.json import JSON
from stepless.model.kind import ERROR, SOURCE, Kind, Kinds, Nature, nothing
from stepless.model.scope import Contract, Expression, Reference, Template

if TYPE_CHECKING:
    from pydantic import BaseModel

    from stepless.model.signature import Callables

HANDLE_ALIASES: Mapping[str, str] = {"onError": ERROR}
SCOPES = ("loop", "parallel", "workflow", "inputs", "input", "run")
_FEW = 8  # neighbours: up to this number, a tuple is smaller than a dictionary and as fast to search


@dataclass(frozen=True, slots=True)
class Shape:
    """The readable part of a document or body. `edge_places` are the indexes in `edges` of the readable edges. `unreadable` are
    the ids of unreadable nodes, `untyped` those of nodes with an unreadable type. `incomplete` is true if a node or an edge was
    left out."""

    document: BodyView
    findings: tuple[Finding, ...] = ()
    edge_places: Sequence[int] = ()
    unreadable: frozenset[str] = frozenset()
    untyped: frozenset[str] = frozenset()
    incomplete: bool = False


Read: TypeAlias = Callable[[Mapping[str, JSON], str, type[BodyView]], Shape]
"""Reads a document, or the body at a path, through a view: `shape.validated`, or `as_written`."""


def as_written(raw: Mapping[str, JSON], path: str, view: type[BodyView]) -> Shape:
    """`raw` without validation, for a document that was validated before."""
    document = view(raw)
    return Shape(document, edge_places=range(len(document.edges)))


@dataclass(frozen=True, slots=True)
class Fields:
    """The compiled parts of a node. `values` are the EXPRESSION fields of a container that are not texts. `mentions` are the
    references, by their dotted place in the node."""

    config: Config
    values: Mapping[str, Template] = field(default_factory=dict)
    custom: Expression | None = None
    input_contract: Contract | None = None
    output_contract: Contract | None = None
    answer_contract: Contract | None = None
    mentions: tuple[tuple[str, tuple[Reference, ...]], ...] = ()
    limits: Limits | None = None


@dataclass(slots=True, eq=False)
class DraftNode:
    """A node of a draft. `kind` is None if it is unknown, `params` if they do not fit or were not needed, and `exits` (without
    `error`) if they are not known."""

    id: str
    place: int
    document: NodeView
    body: DraftBody
    kind: Kind | None
    inner: DraftBody | None = None
    params: BaseModel | None = None
    exits: tuple[str, ...] | None = None
    fields: Fields | None = None

    @property
    def path(self) -> str:
        return self.body.at(f"nodes.{self.id}")

    @property
    def all_exits(self) -> tuple[str, ...]:
        """The exits including `error`, which every kind has."""
        return (*(self.exits or ()), ERROR)


@dataclass(frozen=True, slots=True)
class DraftEdge:
    """An edge of a draft. `home` and `place` locate it in the document: in the `after` of a node, or in the `edges` of a body."""

    source: str
    handle: str
    target: str
    written: AfterView | EdgeView | None
    home: DraftNode | DraftBody
    place: int | None

    @property
    def path(self) -> str:
        origin = f"{self.home.path}.after" if isinstance(self.home, DraftNode) else self.home.at("edges")
        return origin if self.place is None else f"{origin}.{self.place}"

    @property
    def name(self) -> str:
        return f"{self.source}.{self.handle}->{self.target}"

    @property
    def param(self) -> str:
        return self.written.param if self.written is not None else "input"

    @property
    def condition(self) -> Mapping[str, JSON] | None:
        condition = self.written.condition if self.written is not None else None
        return condition.raw if condition is not None else None


@dataclass(slots=True, eq=False)
class DraftBody:
    """One level of the document. `successors` and `predecessors` are by place, without duplicates, self edges and unknown ends.
    `incomplete` means that a node or an edge could not be read, so that checks must not draw conclusions from missing parts."""

    path: str
    owner: DraftNode | None
    depth: int
    nodes: dict[str, DraftNode] = field(default_factory=dict)
    edges: tuple[DraftEdge, ...] = ()
    unreadable: frozenset[str] = frozenset()
    untyped: frozenset[str] = frozenset()
    incomplete: bool = False
    successors: Links = ()
    predecessors: Links = ()
    _fed: Mapping[str, set[str]] | None = None
    _tools: Mapping[str, list[DraftNode]] | None = None

    def at(self, rest: str) -> str:
        return f"{self.path}.{rest}" if self.path else rest

    @property
    def order(self) -> Collection[DraftNode]:
        """The nodes in the order of their places."""
        return self.nodes.values()

    @property
    def fed(self) -> Mapping[str, set[str]]:
        """The params of each node that an edge feeds."""
        if self._fed is None:
            fed: dict[str, set[str]] = {}
            for edge in self.edges:
                fed.setdefault(edge.target, set()).add(edge.param)
            self._fed = fed
        return self._fed


    @property
    def tools(self) -> Mapping[str, list[DraftNode]]:
        """The nodes that are tools, each with the nodes that run it. Tools are not part of the graph."""
        if self._tools is None:
            tools: dict[str, list[DraftNode]] = {}
            for user in self.order:
                if user.kind is not None and user.kind.tools is not nothing:
                    for name in dict.fromkeys(user.kind.tools(user.document.with_).values()):
                        if name in self.nodes:
                            tools.setdefault(name, []).append(user)
            self._tools = tools
        return self._tools


@dataclass(slots=True, eq=False)
class Draft:
    """A document between reading and linking. `bodies` are ordered from the outside in, then by document order. `functions` are
    the registered callables, None if they are unknown."""

    document: DocumentView
    bodies: list[DraftBody]
    findings: list[Finding]
    kinds: Kinds
    functions: Callables | None = None

    @property
    def nodes(self) -> Iterator[DraftNode]:
        return (node for body in self.bodies for node in body.order)

    def named(self, name: str) -> Iterator[DraftNode]:
        """The nodes with an id, in all bodies."""
        return (body.nodes[name] for body in self.bodies if name in body.nodes)

    def names(self) -> Collection[str]:
        """The ids of all nodes."""
        if len(self.bodies) == 1:
            return self.bodies[0].nodes.keys()
        return {name for body in self.bodies for name in body.nodes}


def draft_of(raw: Mapping[str, JSON], kinds: Kinds, read: Read, functions: Callables | None = None) -> Draft:
    """The draft of a document, with the findings from reading it."""
    shape = read(raw, "", DocumentView)
    assert isinstance(shape.document, DocumentView)
    draft = Draft(shape.document, [], list(shape.findings), kinds, functions)
    _add_body(draft, _body_of(shape, "", None), shape, read)
    return draft


def readable(draft: Draft, *, strict: bool = True) -> Callable[[str], bool]:
    """Whether a reference may start with a name: that of a scope or of any node, including unreadable ones. `strict`: whether
    strict references are read."""
    names = draft.names()
    others = {*((STRICT,) if strict else ()), *SCOPES, *(name for body in draft.bodies for name in body.unreadable)}
    return lambda name: name in names or name in others


def _add_body(draft: Draft, body: DraftBody, shape: Shape, read: Read) -> None:
    draft.bodies.append(body)
    kinds = {}
    for place, (name, raw) in enumerate(shape.document.nodes.items()):
        document = NodeView(raw)
        word = document.type
        if word not in kinds:
            kinds[word] = draft.kinds.get(word)
        body.nodes[name] = DraftNode(name, place, document, body, kinds[word] if name not in shape.untyped else None)
    body.edges = tuple(edges_of(body, shape))
    _wire(body)
    for node in body.order:
        if node.kind is not None and node.kind.nature is Nature.CONTAINER:
            _add_inner(draft, node, read)


def _body_of(shape: Shape, path: str, owner: DraftNode | None) -> DraftBody:
    depth = owner.body.depth + 1 if owner is not None else 0
    return DraftBody(path, owner, depth, unreadable=shape.unreadable, untyped=shape.untyped, incomplete=shape.incomplete)


def _add_inner(draft: Draft, node: DraftNode, read: Read) -> None:
    raw = node.document.with_.get("body")
    if not isinstance(raw, dict):
        return  # the check of the kind's parameters reports a missing body
    path = f"{node.path}.with.body"
    if node.body.depth == MAX_NESTED_CONTAINERS:
        message = f"containers are nested deeper than {MAX_NESTED_CONTAINERS} levels"
        draft.findings.append(Finding("nested_too_deep", path, message, "Call another workflow from here.", node.id))
        return
    shape = read(raw, path, BodyView)
    draft.findings.extend(shape.findings)
    node.inner = _body_of(shape, path, node)
    _add_body(draft, node.inner, shape, read)


def edges_of(body: DraftBody, shape: Shape) -> Iterator[DraftEdge]:
    """Every edge of a body in edge order (docs/semantics.md#edge-order): the `after` entries in node order, then `edges`."""
    for node in body.order:
        after = node.document.after
        if isinstance(after, list):
            for place, entry in enumerate(after):
                yield _incoming(node, entry, place)
        elif after is not None:
            yield _incoming(node, after, None)
    for raw, place in zip(shape.document.edges, shape.edge_places, strict=True):
        edge = EdgeView(raw)
        yield DraftEdge(edge.source, HANDLE_ALIASES.get(edge.handle, edge.handle), edge.target, edge, body, place)


def _incoming(node: DraftNode, entry: JSON, place: int | None) -> DraftEdge:
    written = None if isinstance(entry, str) else AfterView(entry)
    source, dot, handle = (entry if written is None else written.from_).partition(".")
    handle = HANDLE_ALIASES.get(handle, handle) if dot else SOURCE
    return DraftEdge(source, handle, node.id, written, node, place)


def _wire(body: DraftBody) -> None:
    successors: list[Collection[int]] = [()] * len(body.nodes)
    predecessors: list[Collection[int]] = [()] * len(body.nodes)
    for edge in body.edges:
        source, target = body.nodes.get(edge.source), body.nodes.get(edge.target)
        if source is not None and target is not None and source is not target:
            successors[source.place] = _joined_by(successors[source.place], target.place)
            predecessors[target.place] = _joined_by(predecessors[target.place], source.place)
    body.successors, body.predecessors = successors, predecessors


def _joined_by(places: Collection[int], place: int) -> Collection[int]:
    """The neighbours with another one, in insertion order and without duplicates."""
    if isinstance(places, dict):
        places[place] = None
    elif place not in places:
        return (*places, place) if len(places) < _FEW else dict.fromkeys((*places, place))
    return places
