"""Represents a document between reading and linking: nodes with their kinds, nested bodies, and edges by name.

A faulty document can be parsed too, with gaps where something could not be read. Only one without errors is linked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from stepless.compile.order import Links
from stepless.expressions.references import STRICT
from stepless.limits import MAX_NESTED_CONTAINERS
from stepless.model.declaration.document import AfterView, BodyView, DocumentView, EdgeView, NodeView
from stepless.model.declaration.views import NOTHING
from stepless.model.findings import Finding
from stepless.model.graph import Config, Limits
from stepless.model.json import JSON
from stepless.model.kind import ERROR, SOURCE, Kind, Kinds, nothing
from stepless.model.scope import Contract, Expression, Reference, Template

if TYPE_CHECKING:
    from pydantic import BaseModel

    from stepless.model.signature import Callables

HANDLE_ALIASES: Mapping[str, str] = {"onError": ERROR}
SCOPES = ("loop", "parallel", "workflow", "inputs", "input", "run")
_PLAIN: Final = frozenset({"after", "at", "label", "type", "with"})  # fields of a node that are neither compiled nor policies
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
    """Returns `raw` without validation, for a document that was validated before."""
    document = view(raw)
    return Shape(document, edge_places=range(len(document.edges)))


class Fields(NamedTuple):
    """The compiled parts of a node other than its `config`. `values` are the EXPRESSION fields of a container that are not texts.
    `mentions` are the references, by their dotted place in the node."""

    values: Mapping[str, Template] = NOTHING
    custom: Expression | None = None
    input_contract: Contract | None = None
    output_contract: Contract | None = None
    answer_contract: Contract | None = None
    entry_contract: Contract | None = None
    mentions: tuple[tuple[str, tuple[Reference, ...]], ...] = ()
    limits: Limits | None = None


NO_FIELDS: Final = Fields()  # shared by the nodes in which nothing but `with` is compiled


@dataclass(slots=True, eq=False)
class ParsedNode:
    """A node of a parsed document. `kind` is None if it is unknown, `params` if they do not fit or were not needed, `exits`
    (without `error`) if they are not known, and `config` until the node is compiled. `plain`: the author wrote none of the fields
    that are compiled or set a policy. `idle`: the document was published when `retry` and `timeout_ms` had no effect on work that
    a node encloses."""

    id: str
    place: int
    raw: Mapping[str, JSON]
    plain: bool
    body: ParsedBody
    kind: Kind | None
    inner: ParsedBody | None = None
    params: BaseModel | None = None
    exits: tuple[str, ...] | None = None
    config: Config | None = None
    fields: Fields = NO_FIELDS
    idle: bool = False

    @property
    def document(self) -> NodeView:
        """The node as the author wrote it. Made at each use: kept views of a hundred thousand nodes would take memory."""
        return NodeView(self.raw)

    @property
    def path(self) -> str:
        return self.body.at(f"nodes.{self.id}")

    @property
    def all_exits(self) -> tuple[str, ...]:
        """The exits including `error`, which every kind has."""
        return (*(self.exits or ()), ERROR)


class ParsedEdge(NamedTuple):
    """An edge of a parsed document. `home` and `place` locate it: in the `after` of a node, or in the `edges` of a body."""

    source: str
    handle: str
    target: str
    written: AfterView | EdgeView | None
    home: ParsedNode | ParsedBody
    place: int | None

    @property
    def path(self) -> str:
        origin = f"{self.home.path}.after" if isinstance(self.home, ParsedNode) else self.home.at("edges")
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


Wire: TypeAlias = "tuple[int, int, str, AfterView | EdgeView | None]"
"""An edge between two known nodes: the places of its source and its target, the exit, and what was written unless a text."""


@dataclass(slots=True, eq=False)
class ParsedBody:
    """One level of the document. `wires` are the edges between known nodes, in edge order. `successors` and `predecessors` are by
    place, without duplicates, self edges and unknown ends. `incomplete` means that a node or an edge could not be read, so that
    checks must not draw conclusions from missing parts."""

    path: str
    owner: ParsedNode | None
    depth: int
    nodes: dict[str, ParsedNode] = field(default_factory=dict)
    written_edges: Sequence[tuple[int, Mapping[str, JSON]]] = ()  # those in `edges`, each with its index there
    wires: Sequence[Wire] = ()
    unreadable: frozenset[str] = frozenset()
    untyped: frozenset[str] = frozenset()
    incomplete: bool = False
    successors: Links = ()
    predecessors: Links = ()
    _edges: tuple[ParsedEdge, ...] | None = None
    _fed: Mapping[str, set[str]] | None = None
    _tools: Mapping[str, list[ParsedNode]] | None = None

    def at(self, rest: str) -> str:
        return f"{self.path}.{rest}" if self.path else rest

    @property
    def order(self) -> Collection[ParsedNode]:
        """The nodes in the order of their places."""
        return self.nodes.values()

    @property
    def edges(self) -> tuple[ParsedEdge, ...]:
        """Every edge in edge order (docs/understand/semantics.md#edge-order): the `after` entries in node order, then `edges`.
        Only checks need them, so they are made at their first use."""
        if self._edges is None:
            self._edges = tuple(_edges_of(self))
        return self._edges

    def release(self) -> None:
        """Lets go of nodes and edges, which refer back to the body: else only the garbage collector would free them."""
        self.nodes, self.wires, self.successors, self.predecessors = {}, (), (), ()
        self.written_edges, self._edges, self._fed, self._tools = (), None, None, None

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
    def tools(self) -> Mapping[str, list[ParsedNode]]:
        """The nodes that are tools, each with the nodes that run it. Tools are not part of the graph."""
        if self._tools is None:
            tools: dict[str, list[ParsedNode]] = {}
            for user in self.order:
                if user.kind is not None and user.kind.tools is not nothing:
                    for name in dict.fromkeys(user.kind.tools(user.document.with_).values()):
                        if name in self.nodes:
                            tools.setdefault(name, []).append(user)
            self._tools = tools
        return self._tools


@dataclass(slots=True, eq=False)
class Parsed:
    """A document between reading and linking. `bodies` are ordered from the outside in, then by document order. `functions` are
    the registered callables, None if they are unknown."""

    document: DocumentView
    bodies: list[ParsedBody]
    findings: list[Finding]
    kinds: Kinds
    functions: Callables | None = None

    @property
    def nodes(self) -> Iterator[ParsedNode]:
        return (node for body in self.bodies for node in body.order)

    def named(self, name: str) -> Iterator[ParsedNode]:
        """Returns the nodes with an id, in all bodies."""
        return (body.nodes[name] for body in self.bodies if name in body.nodes)

    def names(self) -> Collection[str]:
        """Returns the ids of all nodes."""
        if len(self.bodies) == 1:
            return self.bodies[0].nodes.keys()
        return {name for body in self.bodies for name in body.nodes}


def parsed_of(raw: Mapping[str, JSON], kinds: Kinds, read: Read, functions: Callables | None = None) -> Parsed:
    """Returns the parsed form of a document, with the findings from reading it."""
    shape = read(raw, "", DocumentView)
    assert isinstance(shape.document, DocumentView)
    parsed = Parsed(shape.document, [], list(shape.findings), kinds, functions)
    _add_body(parsed, _body_of(shape, "", None), shape, read)
    return parsed


def readable(parsed: Parsed, *, strict: bool = True) -> Callable[[str], bool]:
    """Returns whether a reference may start with a name: that of a scope or of any node, including unreadable ones. `strict`:
    whether strict references are read."""
    names = parsed.names()
    items = ("item",) if any(body.owner is not None and _distributes(body.owner) for body in parsed.bodies) else ()
    others = {*items, *((STRICT,) if strict else ()), *SCOPES, *(name for body in parsed.bodies for name in body.unreadable)}
    return lambda name: name in names or name in others


def _distributes(node: ParsedNode) -> bool:
    return node.kind is not None and node.kind.distributes


def _add_body(parsed: Parsed, body: ParsedBody, shape: Shape, read: Read) -> None:
    parsed.bodies.append(body)
    kinds: dict[Any, Kind | None] = {}  # by the type as it was written
    nodes, untyped = body.nodes, shape.untyped
    containers = []
    for place, (name, raw) in enumerate(shape.document.nodes.items()):
        word: Any = raw.get("type")
        kind = kinds[word] if word in kinds else kinds.setdefault(word, parsed.kinds.get(word))
        if name in untyped:
            kind = None
        nodes[name] = node = ParsedNode(name, place, raw, raw.keys() <= _PLAIN, body, kind)
        if kind is not None and kind.container is not None:
            containers.append(node)
    body.written_edges = tuple(zip(shape.edge_places, shape.document.edges, strict=True))
    _wire(body)
    for node in containers:
        _add_inner(parsed, node, read)


def _body_of(shape: Shape, path: str, owner: ParsedNode | None) -> ParsedBody:
    depth = owner.body.depth + 1 if owner is not None else 0
    return ParsedBody(path, owner, depth, unreadable=shape.unreadable, untyped=shape.untyped, incomplete=shape.incomplete)


def _add_inner(parsed: Parsed, node: ParsedNode, read: Read) -> None:
    raw = node.document.with_.get("body")
    if not isinstance(raw, dict):
        return  # the check of the kind's parameters reports a missing body
    path = f"{node.path}.with.body"
    if node.body.depth == MAX_NESTED_CONTAINERS:
        message = f"containers are nested deeper than {MAX_NESTED_CONTAINERS} levels"
        parsed.findings.append(Finding("nested_too_deep", path, message, "Call another workflow from here.", node.id))
        return
    shape = read(raw, path, BodyView)
    parsed.findings.extend(shape.findings)
    node.inner = _body_of(shape, path, node)
    _add_body(parsed, node.inner, shape, read)


def _edges_of(body: ParsedBody) -> Iterator[ParsedEdge]:
    for node in body.order:
        after = node.raw.get("after")
        if isinstance(after, list):
            for place, entry in enumerate(after):
                yield _incoming(node, entry, place)
        elif after is not None:
            yield _incoming(node, after, None)
    for place, raw in body.written_edges:
        edge = EdgeView(raw)
        yield ParsedEdge(edge.source, HANDLE_ALIASES.get(edge.handle, edge.handle), edge.target, edge, body, place)


def _incoming(node: ParsedNode, entry: JSON, place: int | None) -> ParsedEdge:
    written = None if isinstance(entry, str) else AfterView(entry)
    source, handle = _origin(entry if written is None else written.from_)
    return ParsedEdge(source, handle, node.id, written, node, place)


def _origin(text: str) -> tuple[str, str]:
    """The node and its exit, from `node` or `node.exit`."""
    source, dot, handle = text.partition(".")
    return source, HANDLE_ALIASES.get(handle, handle) if dot else SOURCE


def _wire(body: ParsedBody) -> None:
    """Sets the wires and the neighbours of a body."""
    nodes = body.nodes
    successors: list[Collection[int]] = [()] * len(nodes)
    predecessors: list[Collection[int]] = [()] * len(nodes)
    wires: list[Wire] = []

    def add(source: ParsedNode | None, target: ParsedNode | None, handle: str, written: AfterView | EdgeView | None) -> None:
        if source is None or target is None:
            return
        start, end = source.place, target.place
        wires.append((start, end, handle, written))
        if start != end:
            held = successors[start]
            successors[start] = _joined_by(held, end) if held else (end,)
            held = predecessors[end]
            predecessors[end] = _joined_by(held, start) if held else (start,)

    for node in nodes.values():
        after = node.raw.get("after")
        if after is None:
            continue
        for entry in after if isinstance(after, list) else (after,):
            written = None if isinstance(entry, str) else AfterView(entry)
            text = entry if written is None else written.from_
            source, handle = (text, SOURCE) if text in nodes else _origin(text)  # no id contains a dot
            add(nodes.get(source), node, handle, written)
    for _, raw in body.written_edges:
        edge = EdgeView(raw)
        add(nodes.get(edge.source), nodes.get(edge.target), HANDLE_ALIASES.get(edge.handle, edge.handle), edge)
    body.wires, body.successors, body.predecessors = wires, successors, predecessors


def _joined_by(places: Collection[int], place: int) -> Collection[int]:
    """The neighbours with another one, in insertion order and without duplicates."""
    if isinstance(places, dict):
        places[place] = None
    elif place not in places:
        return (*places, place) if len(places) < _FEW else dict.fromkeys((*places, place))
    return places
