"""The document between reading and linking: nodes with their kinds, bodies inside bodies, edges by name.

A draft exists for faulty documents too, with gaps where something could not be read; only a draft without errors is linked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from pydantic import BaseModel

from stepless.compile.shape import Shape, shape_of
from stepless.limits import MAX_NESTED_CONTAINERS
from stepless.model.document import AfterDocument, BodyDocument, ConditionDocument, Document, EdgeDocument, NodeDocument
from stepless.model.findings import Finding
from stepless.model.graph import Config
from stepless.model.json import JSON
from stepless.model.kind import ERROR, SOURCE, Kind, Kinds, Nature
from stepless.model.scope import Contract, Expression, Reference, Template

HANDLE_ALIASES: Mapping[str, str] = {"onError": ERROR}


@dataclass(frozen=True, slots=True)
class Fields:
    """What the parts of a node that hold references were compiled to. `values` are a container's EXPRESSION fields that are
    no texts; `mentions` the references, by the dotted place in the node where they stand."""

    config: Config
    values: Mapping[str, Template] = field(default_factory=dict)
    custom: Expression | None = None
    input_contract: Contract | None = None
    output_contract: Contract | None = None
    answer_contract: Contract | None = None
    mentions: tuple[tuple[str, tuple[Reference, ...]], ...] = ()


@dataclass(slots=True, eq=False)
class DraftNode:
    """`kind` is None when it is unknown, `params` when they do not fit, `exits` (without `error`) when either is."""

    id: str
    place: int
    path: str
    document: NodeDocument
    body: DraftBody
    kind: Kind | None
    inner: DraftBody | None = None
    params: BaseModel | None = None
    exits: tuple[str, ...] | None = None
    fields: Fields | None = None

    @property
    def all_exits(self) -> tuple[str, ...]:
        """With `error`, which every kind has."""
        return (*(self.exits or ()), ERROR)


@dataclass(frozen=True, slots=True)
class DraftEdge:
    """`origin` and `place` say where it is written: in an `after`, or in `edges`."""

    source: str
    handle: str
    target: str
    written: AfterDocument | EdgeDocument | None
    origin: str
    place: int | None

    @property
    def path(self) -> str:
        return self.origin if self.place is None else f"{self.origin}.{self.place}"

    @property
    def name(self) -> str:
        return f"{self.source}.{self.handle}->{self.target}"

    @property
    def param(self) -> str:
        return self.written.param if self.written is not None else "input"

    @property
    def condition(self) -> ConditionDocument | None:
        return self.written.condition if self.written is not None else None


@dataclass(slots=True, eq=False)
class DraftBody:
    """One level of the document. `successors` and `predecessors` are by place, without doubles, self edges and unknown ends.
    `fed` are the params of each node into which an edge leads. `incomplete`: some node or edge could not be read, so what is
    missing proves nothing."""

    path: str
    owner: DraftNode | None
    depth: int
    nodes: dict[str, DraftNode] = field(default_factory=dict)
    order: list[DraftNode] = field(default_factory=list)
    edges: tuple[DraftEdge, ...] = ()
    unreadable: frozenset[str] = frozenset()
    untyped: frozenset[str] = frozenset()
    incomplete: bool = False
    fed: dict[str, set[str]] = field(default_factory=dict)
    successors: list[dict[int, None]] = field(default_factory=list)
    predecessors: list[dict[int, None]] = field(default_factory=list)

    def at(self, rest: str) -> str:
        return f"{self.path}.{rest}" if self.path else rest


@dataclass(slots=True, eq=False)
class Draft:
    """`bodies` from the outside in, in document order; `named` the nodes of each id, wherever they are; `functions` the
    callables that are registered, None when nobody knows."""

    document: Document
    bodies: list[DraftBody]
    named: dict[str, list[DraftNode]]
    findings: list[Finding]
    kinds: Kinds
    functions: Collection[str] | None = None

    @property
    def nodes(self) -> Iterator[DraftNode]:
        return (node for body in self.bodies for node in body.order)


def draft_of(raw: Mapping[str, JSON], kinds: Kinds, functions: Collection[str] | None = None) -> Draft:
    """The draft of a document, with the findings of reading it."""
    shape = shape_of(Document, raw)
    assert isinstance(shape.document, Document)
    draft = Draft(shape.document, [], {}, list(shape.findings), kinds, functions)
    _add_body(draft, _body_of(shape, "", None), shape)
    return draft


def _add_body(draft: Draft, body: DraftBody, shape: Shape) -> None:
    draft.bodies.append(body)
    for place, (name, document) in enumerate(shape.document.nodes.items()):
        kind = draft.kinds.get(document.type) if name not in shape.untyped else None
        node = DraftNode(name, place, body.at(f"nodes.{name}"), document, body, kind)
        body.nodes[name] = node
        body.order.append(node)
        draft.named.setdefault(name, []).append(node)
    body.edges = tuple(edges_of(body, shape))
    _wire(body)
    for node in body.order:
        if node.kind is not None and node.kind.nature is Nature.CONTAINER:
            _add_inner(draft, node)


def _body_of(shape: Shape, path: str, owner: DraftNode | None) -> DraftBody:
    depth = owner.body.depth + 1 if owner is not None else 0
    return DraftBody(path, owner, depth, unreadable=shape.unreadable, untyped=shape.untyped, incomplete=shape.incomplete)


def _add_inner(draft: Draft, node: DraftNode) -> None:
    raw = node.document.with_.get("body")
    if not isinstance(raw, dict):
        return  # the kind's own parameters demand a body
    path = f"{node.path}.with.body"
    if node.body.depth == MAX_NESTED_CONTAINERS:
        told = f"containers are nested deeper than {MAX_NESTED_CONTAINERS} levels"
        draft.findings.append(Finding("nested_too_deep", path, told, "Call another workflow from here.", node.id))
        return
    shape = shape_of(BodyDocument, raw, path)
    draft.findings.extend(shape.findings)
    node.inner = _body_of(shape, path, node)
    _add_body(draft, node.inner, shape)


def edges_of(body: DraftBody, shape: Shape) -> Iterator[DraftEdge]:
    """Every edge of a body in edge order (1.4): the `after` entries in node order, then `edges`."""
    for node in body.order:
        after = node.document.after
        if isinstance(after, list):
            for place, entry in enumerate(after):
                yield _incoming(node, entry, place)
        elif after is not None:
            yield _incoming(node, after, None)
    origin = body.at("edges")
    for edge, place in zip(shape.document.edges, shape.edge_places, strict=True):
        yield DraftEdge(edge.source, HANDLE_ALIASES.get(edge.handle, edge.handle), edge.target, edge, origin, place)


def _incoming(node: DraftNode, entry: str | AfterDocument, place: int | None) -> DraftEdge:
    written = None if isinstance(entry, str) else entry
    source, dot, handle = (entry if isinstance(entry, str) else entry.from_).partition(".")
    handle = HANDLE_ALIASES.get(handle, handle) if dot else SOURCE
    return DraftEdge(source, handle, node.id, written, f"{node.path}.after", place)


def _wire(body: DraftBody) -> None:
    body.successors = [{} for _ in body.order]
    body.predecessors = [{} for _ in body.order]
    for edge in body.edges:
        body.fed.setdefault(edge.target, set()).add(edge.param)
        source, target = body.nodes.get(edge.source), body.nodes.get(edge.target)
        if source is not None and target is not None and source is not target:
            body.successors[source.place][target.place] = None
            body.predecessors[target.place][source.place] = None
