"""Links a parsed document to a graph: names become positions, and everything that a run would otherwise search for is computed.

It is consumed during linking: each linked node is released, so that a large document and its graph are never both complete
in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from stepless.compile.dominators import dominator_tree, fork_depths
from stepless.compile.order import Links, longest_paths, reachable, topological_order
from stepless.compile.parsed import Fields, Parsed, ParsedBody, ParsedEdge, ParsedNode
from stepless.errors import EngineBug, InvalidRequest
from stepless.model.declaration.document import ConcurrencyView, DocumentView, NodeView
from stepless.model.declaration.policies import (
    DEFAULT_JOIN,
    Delivery,
    JoinRule,
    Merge,
    Moderation,
    OnModerationError,
    OnParentFailure,
    Retry,
)
from stepless.model.findings import Finding
from stepless.model.graph import (
    Body,
    Condition,
    Container,
    Edge,
    Graph,
    Join,
    Node,
    OnError,
    Param,
    RateLimit,
    Slots,
    all_nodes,
)
from stepless.model.json import JSON, parse_path

_NEEDS: Final[Mapping[str, Callable[[int, int], int]]] = {  # from the number of branches, and `count`
    "all": lambda branches, count: branches,
    "every": lambda branches, count: branches,
    "timeout": lambda branches, count: branches,
    "any": lambda branches, count: 1,
    "count": lambda branches, count: min(count, branches),
}


def link(parsed: Parsed, version: str, entries: Sequence[str] | None, warnings: tuple[Finding, ...]) -> Graph:
    """The graph of the nodes that `entries` reach, for a document without errors. Consumes `parsed`. Near-linear in nodes and
    edges. Raises `InvalidRequest` for an entry that is not a node at the top level."""
    document, root = parsed.document, parsed.bodies[0]
    chosen = _places(root)
    if entries is not None:
        chosen = reachable([_entry(root, entry).place for entry in entries], root.successors)
    body = _link_body(root, chosen, wave=0, depth=0)
    return Graph(
        workflow_id=document.id,
        name=document.name or document.id,
        version=version,
        root=body,
        variables=document.variables,
        env=tuple(document.env),
        on_failure=document.on_failure,
        max_steps=document.max_steps,
        timeout_ms=document.timeout_ms,
        kinds=frozenset(node.kind.name for node in all_nodes(body)),
        warnings=warnings,
        concurrency=document.concurrency if isinstance(document.concurrency, int) else None,
        rate_limit=_rate_limit(document),
        numbered=document.numbered,
        retention_ms=document.retention_ms,
        on_failure_notify=None if document.on_failure_notify is None else tuple(document.on_failure_notify),
        slots=_slots(document.concurrency) if isinstance(document.concurrency, ConcurrencyView) else None,
        limited=isinstance(document.concurrency, ConcurrencyView) or any(node.limits is not None for node in all_nodes(body)),
    )


def _entry(root: ParsedBody, name: str) -> ParsedNode:
    """The node to start at. Raises `InvalidRequest` if the top level has no such node, or if the node is only a tool."""
    node = root.nodes.get(name)
    if node is not None and name not in root.tools:
        return node
    from stepless.compile.suggest import did_you_mean

    mend = did_you_mean(name, [node for node in root.nodes if node not in root.tools], what="nodes")
    raise InvalidRequest(f"there is no node `{name}` to start at", code="unknown_entry", place="entry", mend=mend, status=422)


def _places(body: ParsedBody) -> set[int]:
    """The places of all nodes except those that are only tools."""
    return set(range(len(body.nodes))) - {body.nodes[name].place for name in body.tools}


def _rate_limit(document: DocumentView) -> RateLimit | None:
    if (rate := document.rate) is not None:
        from stepless.compile.input_expressions import of_inputs  # imported late: few workflows have limits

        return RateLimit(rate.max, rate.per, of_inputs(rate.by) if rate.by is not None else ())
    limit = document.rate_limit
    if limit is None:
        return None
    return RateLimit(limit.max, limit.per, tuple(limit.by.split(".")) if limit.by else ())


def _slots(limit: ConcurrencyView) -> Slots:
    from stepless.compile.input_expressions import of_inputs  # imported late: few workflows have limits

    weight = limit.weight if isinstance(limit.weight, int) else of_inputs(limit.weight)
    return Slots(limit.max, of_inputs(limit.by) if limit.by is not None else None, weight)


# -- a body -----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Layout:
    """The relations between the nodes of a body, all by position. `merges` holds, for a param, the first merge that its edges
    specify. `merges`, `losers` and `clocks` have entries only for nodes that have any. `tools` are by the id of the node that
    runs them."""

    nodes: list[ParsedNode]
    incoming: list[tuple[Edge, ...]]
    outgoing: list[tuple[Edge, ...]]
    merges: Mapping[tuple[int, str], Merge]
    branches: list[tuple[int, ...]]
    targets: list[tuple[int, ...]]
    dominators: list[int | None]
    waves: list[int]
    depths: list[int]
    losers: Mapping[int, tuple[int, ...]]
    clocks: Mapping[int | None, list[int]]
    tools: Mapping[str, Sequence[ParsedNode]]


_ALONE: Final = _Layout([], [()], [()], {}, [()], [()], [None], [0], [0], {}, {}, {})  # of a node without edges
_NO_TOOLS: Final[Mapping[str, Node]] = {}


def _link_body(body: ParsedBody, chosen: set[int], wave: int, depth: int) -> Body:
    """Links one body. `chosen` are places in the parsed document; `wave` and `depth` are those of an entry."""
    layout = _lay_out(body, chosen, wave, depth)
    body.nodes, body.edges, body.successors, body.predecessors = {}, (), (), ()
    nodes = tuple([_link_node(layout, node, position) for position, node in enumerate(_taken(layout.nodes))])
    return Body(
        nodes=nodes,
        positions={node.id: node.position for node in nodes},
        entries=tuple([node.position for node in nodes if not node.incoming]),
        leaves=tuple([node.position for node in nodes if not node.outgoing]),
        root_clocks=tuple(layout.clocks.get(None, ())),
        owner=body.owner.id if body.owner is not None else None,
    )


def _lay_out(body: ParsedBody, chosen: set[int], wave: int, depth: int) -> _Layout:
    nodes = [node for node in body.order if node.place in chosen]
    branches, targets = _links(nodes, body.predecessors), _links(nodes, body.successors)
    order = topological_order(targets, branches)
    above = dominator_tree(order, branches)
    behind = dominator_tree(order[::-1], targets)
    dominators = [parent if parent != above.root else None for parent in above.parents[: len(nodes)]]
    incoming, outgoing, merges = _edges(body, nodes)
    return _Layout(
        nodes, incoming, outgoing, merges, branches, targets, dominators,
        longest_paths(order, targets, wave),
        [depth + forks for forks in fork_depths(order, targets, above, behind)],
        behind.below([place for place, node in enumerate(nodes) if branches[place] and node.document.join.losers == "cancel"]),
        _clocks(nodes, branches, dominators),
        _tools_of(body),
    )


def _taken(nodes: list[ParsedNode]) -> Iterator[ParsedNode]:
    """The nodes in order. Each is removed from the list before the next, so that its memory can be freed."""
    nodes.reverse()
    while nodes:
        yield nodes.pop()


def _links(nodes: list[ParsedNode], places: Links) -> list[tuple[int, ...]]:
    """Converts links by place in the parsed document to links by position in the graph."""
    if len(nodes) == len(places):
        return [tuple(places[node.place]) for node in nodes]
    position = {node.place: place for place, node in enumerate(nodes)}
    return [tuple([position[place] for place in places[node.place] if place in position]) for node in nodes]


def _clocks(
    nodes: list[ParsedNode], branches: list[tuple[int, ...]], dominators: list[int | None]
) -> dict[int | None, list[int]]:
    """The joins with a timeout, by the node whose settlement starts their clock."""
    clocks: dict[int | None, list[int]] = {}
    for place, node in enumerate(nodes):
        if node.document.join.timeout_ms is not None and branches[place]:
            clocks.setdefault(dominators[place], []).append(place)
    return clocks


def _edges(
    body: ParsedBody, nodes: list[ParsedNode],
) -> tuple[list[tuple[Edge, ...]], list[tuple[Edge, ...]], dict[tuple[int, str], Merge]]:
    """Edges of the chosen nodes: incoming and outgoing by node, and the merges that they specify, by node and param."""
    position = {node.id: place for place, node in enumerate(nodes)}
    incoming: list[tuple[Edge, ...] | list[Edge]] = [()] * len(nodes)  # a list only where there is more than one
    outgoing: list[tuple[Edge, ...] | list[Edge]] = [()] * len(nodes)
    merges: dict[tuple[int, str], Merge] = {}
    order = 0
    for parsed in body.edges:
        source, target = position.get(parsed.source), position.get(parsed.target)
        if source is None or target is None:
            continue
        edge = _link_edge(parsed, order, source, target)
        order += 1
        _join_to(incoming, target, edge)
        _join_to(outgoing, source, edge)
        if parsed.written is not None and parsed.written.merge is not None:
            merges.setdefault((target, edge.param), parsed.written.merge)
    return list(map(tuple, incoming)), list(map(tuple, outgoing)), merges


def _join_to(edges: list[tuple[Edge, ...] | list[Edge]], place: int, edge: Edge) -> None:
    held = edges[place]
    if not held:
        edges[place] = (edge,)
    elif isinstance(held, list):
        held.append(edge)
    else:
        edges[place] = [*held, edge]


def _link_edge(parsed: ParsedEdge, order: int, source: int, target: int) -> Edge:
    written = parsed.written
    if written is None:
        return Edge(order, source, target, parsed.handle, "input", (), None)
    condition = None
    if written.condition is not None:
        ((test, operand),) = written.condition.raw.items()
        condition = Condition(test, operand)
    return Edge(order, source, target, parsed.handle, written.param, parse_path(written.key), condition)


# -- a node -----------------------------------------------------------------------------------------------------------


class _Policies(NamedTuple):
    """What a node's policies say, read once."""

    enabled: bool
    merge: Merge
    join: JoinRule
    retry: Retry
    timeout_ms: int
    delivery: Delivery
    on_parent_failure: OnParentFailure
    default: JSON
    moderation: Moderation
    moderation_on_error: OnModerationError


def _policies(document: NodeView) -> _Policies:
    """Most nodes have none of their own: they share the defaults."""
    return _DEFAULTS if document.given.isdisjoint(_Policies._fields) else _read(document)


def _read(document: NodeView) -> _Policies:
    return _Policies(*(getattr(document, name) for name in _Policies._fields))


_DEFAULTS: Final = _read(NodeView({}))


def _link_node(layout: _Layout, parsed: ParsedNode, position: int) -> Node:
    document, fields, kind = parsed.document, parsed.fields, parsed.kind
    if fields is None or kind is None:
        raise EngineBug(f"{parsed.path} is linked without being compiled")
    incoming, outgoing = layout.incoming[position], layout.outgoing[position]
    branches, policies = layout.branches[position], _policies(document)
    label = document.label
    return Node(
        id=parsed.id,
        position=position,
        kind=kind,
        label=label if label is not None else parsed.id,
        enabled=policies.enabled,
        config=fields.config,
        incoming=incoming,
        outgoing=outgoing,
        params=_link_params(layout, policies.merge, position, incoming),
        branches=branches,
        targets=layout.targets[position],
        handles=_handles(frozenset([edge.handle for edge in outgoing])),
        exits=parsed.exits or (),
        join=_link_join(policies.join, fields, len(branches)),
        retry=policies.retry,
        timeout_ms=policies.timeout_ms,
        delivery=policies.delivery,
        on_parent_failure=policies.on_parent_failure,
        default=policies.default,
        input_contract=fields.input_contract,
        output_contract=fields.output_contract,
        answer_contract=fields.answer_contract,
        moderation=policies.moderation,
        moderation_on_error=policies.moderation_on_error,
        container=_link_container(parsed, fields, layout.waves[position], layout.depths[position]) if parsed.inner else None,
        wave=layout.waves[position],
        depth=layout.depths[position],
        dominator=layout.dominators[position],
        clocks=tuple(layout.clocks.get(position, ())),
        losers=layout.losers.get(position, ()),
        tools=_link_tools(layout, parsed) if layout.tools else _NO_TOOLS,
        limits=fields.limits,
    )


def _link_tools(layout: _Layout, parsed: ParsedNode) -> Mapping[str, Node]:
    """The nodes that this one runs as tools."""
    mine = layout.tools.get(parsed.id)
    return {tool.id: _link_node(_ALONE, tool, 0) for tool in mine} if mine else _NO_TOOLS


def _tools_of(body: ParsedBody) -> Mapping[str, Sequence[ParsedNode]]:
    tools: dict[str, list[ParsedNode]] = {}
    for name, users in body.tools.items():
        for user in users:
            tools.setdefault(user.id, []).append(body.nodes[name])
    return tools


def _link_params(layout: _Layout, merge: Merge, position: int, incoming: tuple[Edge, ...]) -> tuple[Param, ...]:
    if not incoming:
        return ()
    names = dict.fromkeys([edge.param for edge in incoming])
    fed = {name: incoming if len(names) == 1 else tuple([edge for edge in incoming if edge.param == name]) for name in names}
    return tuple([Param(name, layout.merges.get((position, name), merge), edges) for name, edges in fed.items()])


@lru_cache(maxsize=256)
def _handles(handles: frozenset[str]) -> frozenset[str]:
    """One shared set for all nodes with these handles, since most nodes have the same ones."""
    return handles


def _link_join(rule: JoinRule, fields: Fields, branches: int) -> Join:
    need = _NEEDS[rule.mode](branches, rule.count or 1)
    if rule is DEFAULT_JOIN:
        return _default_join(need)
    return Join(need, rule._replace(min_success=min(rule.min_success, max(1, branches))), fields.custom)


@lru_cache(maxsize=64)
def _default_join(need: int) -> Join:
    return Join(need)


def _link_container(parsed: ParsedNode, fields: Fields, wave: int, depth: int) -> Container | None:
    """Read from the parameters as the kind's `ContainerSpec` says."""
    body, params, spec = parsed.inner, parsed.params, parsed.kind.container if parsed.kind is not None else None
    if body is None or params is None or spec is None:
        return None
    parsed.inner = None  # the body refers to its owner: without this, neither would be freed
    given = parsed.document.with_
    mode = next(name for name in spec.modes if given.get(name) is not None)
    bounds = spec.bounds(params)
    return Container(
        parallel=spec.parallel,
        mode=mode,
        body=_link_body(body, _places(body), wave + 1, depth + 1),
        window=bounds.window,
        max_iterations=bounds.max_iterations,
        truncate=bounds.truncate,
        on_error=OnError(bounds.on_error),
        max_consecutive_errors=bounds.max_consecutive_errors,
        expression=fields.config.expressions.get(mode),
        value=fields.values.get(mode),
        keeps_results=bounds.keeps_results,
        keeps_writes=bounds.keeps_writes,
    )
