"""Links a parsed document to a graph: names become positions, and everything that a run would otherwise search for is computed.

It is consumed during linking: each linked node is released, so that a large document and its graph are never both complete
in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from stepless.compile.dominators import Tree, dominator_tree, fork_depths
from stepless.compile.order import Links, longest_paths, reachable, topological_order
from stepless.compile.parsed import Fields, Parsed, ParsedBody, ParsedNode
from stepless.compile.values.admission import rate_limit, slots
from stepless.compile.values.sources import KeysAndMessages, keys_and_messages
from stepless.errors import EngineBug, InvalidRequest
from stepless.limits import MAX_CHILD_START_MS
from stepless.model.declaration.document import AfterView, ConcurrencyView, EdgeView, NodeView
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
    Config,
    Container,
    Edge,
    Graph,
    Join,
    Node,
    OnError,
    Param,
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


def link(
    parsed: Parsed, version: str, entries: Sequence[str] | None, warnings: tuple[Finding, ...], stop_after: str | None = None
) -> Graph:
    """Returns the graph of the nodes that `entries` reach, with `stop_after` only of it and what leads to it, for a document
    without errors. Consumes `parsed`. Near-linear. Raises `InvalidRequest` for an entry that is not a node at the top level."""
    document, root = parsed.document, parsed.bodies[0]
    chosen = _places(root)
    if entries is not None:
        chosen = reachable([_entry(root, entry).place for entry in entries], root.successors)
    if stop_after is not None:
        chosen = chosen & reachable([root.nodes[stop_after].place], root.predecessors)
    keyed = document.given & KeysAndMessages.__annotations__.keys()
    kinds, limited = _used(body := _link_body(root, chosen, wave=0, depth=0))
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
        kinds=kinds,
        warnings=warnings,
        concurrency=document.concurrency if isinstance(document.concurrency, int) else None,
        rate_limit=rate_limit(document) if document.given & {"rate", "rate_limit"} else None,
        numbered=document.numbered,
        retention_ms=document.retention_ms,
        on_failure_notify=None if document.on_failure_notify is None else tuple(document.on_failure_notify),
        slots=slots(document.concurrency) if isinstance(document.concurrency, ConcurrencyView) else None,
        limited=limited or isinstance(document.concurrency, ConcurrencyView),
        **(keys_and_messages(document, parsed.kinds, lambda alone: link(alone, "", None, ()).root.nodes) if keyed else {}),
    )


def _used(body: Body) -> tuple[frozenset[str], bool]:
    """The names of the kinds of all nodes, and whether any node has a limit."""
    kinds, limited = {}, False
    for node in all_nodes(body):
        kinds[id(node.kind)] = node.kind
        limited = limited or node.limits is not None
    return frozenset([kind.name for kind in kinds.values()]), limited


def _entry(root: ParsedBody, name: str) -> ParsedNode:
    """The node to start at. Raises `InvalidRequest` if the top level has no such node, or if the node is only a tool."""
    node = root.nodes.get(name)
    if node is not None and name not in root.tools:
        return node
    from stepless.compile.suggest import did_you_mean

    mend = did_you_mean(name, [node for node in root.nodes if node not in root.tools], what="nodes")
    raise InvalidRequest(f"there is no node `{name}` to start at", code="unknown_entry", place="entry", mend=mend, status=422)


def _places(body: ParsedBody) -> Set[int]:
    """The places of all nodes except those that are only tools."""
    return set(range(len(body.nodes))) - {body.nodes[name].place for name in body.tools}


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
_new: Final = tuple.__new__  # makes a named tuple without a call of Python code
_NO_TOOLS: Final[Mapping[str, Node]] = {}


def _link_body(body: ParsedBody, chosen: Set[int], wave: int, depth: int) -> Body:
    """Links one body. `chosen` are places in the parsed document; `wave` and `depth` are those of an entry."""
    layout = _lay_out(body, chosen, wave, depth)
    body.release()
    nodes = tuple([_link_node(layout, node, position) for position, node in enumerate(_taken(layout.nodes))])
    return Body(
        nodes=nodes,
        positions={node.id: node.position for node in nodes},
        entries=tuple([node.position for node in nodes if not node.incoming]),
        leaves=tuple([node.position for node in nodes if not node.outgoing]),
        root_clocks=tuple(layout.clocks.get(None, ())),
        owner=body.owner.id if body.owner is not None else None,
    )


def _lay_out(body: ParsedBody, chosen: Set[int], wave: int, depth: int) -> _Layout:
    nodes = list(body.order) if len(chosen) == len(body.nodes) else [node for node in body.order if node.place in chosen]
    branches, targets = _links(nodes, body.predecessors), _links(nodes, body.successors)
    order = topological_order(targets, branches)
    if len(order) < len(nodes) or any(source == target for source, target, *_ in body.wires):
        raise EngineBug(f"{body.path or 'the document'} is linked with a cycle")
    above = dominator_tree(order, branches)
    joins = [place for place, node in enumerate(nodes) if "join" in node.raw and branches[place]]
    losing = [place for place in joins if nodes[place].document.join.losers == "cancel"]
    depths, losers = _behind(order, targets, above, losing)
    dominators = [parent if parent != above.root else None for parent in above.parents[: len(nodes)]]
    incoming, outgoing, merges = _edges(body, nodes)
    return _Layout(
        nodes, incoming, outgoing, merges, branches, targets, dominators,
        longest_paths(order, targets, wave),
        [depth + forks for forks in depths] if depth else depths,
        losers,
        _clocks(nodes, joins, dominators),
        _tools_of(body),
    )


def _behind(
    order: list[int], targets: Links, above: Tree, losing: Sequence[int],
) -> tuple[list[int], Mapping[int, tuple[int, ...]]]:
    """What the post-dominators say: the fork depth of each node, and what leads only to each of `losing`. Without a fork and
    without `losing`, as in a chain, they are not needed."""
    if not losing and not any(len(ends) > 1 for ends in targets):
        return [0] * len(order), {}
    behind = dominator_tree(order[::-1], targets)
    return fork_depths(order, targets, above, behind), behind.below(losing) if losing else {}


def _taken(nodes: list[ParsedNode]) -> Iterator[ParsedNode]:
    """The nodes in order. Each is removed from the list before the next, so that its memory can be freed."""
    nodes.reverse()
    while nodes:
        yield nodes.pop()


def _links(nodes: list[ParsedNode], places: Links) -> list[tuple[int, ...]]:
    """Converts links by place in the parsed document to links by position in the graph."""
    if len(nodes) == len(places):
        return [held if type(held) is tuple else tuple(held) for held in places]
    position = {node.place: place for place, node in enumerate(nodes)}
    return [tuple([position[place] for place in places[node.place] if place in position]) for node in nodes]


def _clocks(nodes: list[ParsedNode], joins: Sequence[int], dominators: list[int | None]) -> dict[int | None, list[int]]:
    """The joins with a timeout, by the node whose settlement starts their clock."""
    clocks: dict[int | None, list[int]] = {}
    for place in joins:
        if nodes[place].document.join.timeout_ms is not None:
            clocks.setdefault(dominators[place], []).append(place)
    return clocks


def _edges(
    body: ParsedBody, nodes: list[ParsedNode],
) -> tuple[list[tuple[Edge, ...]], list[tuple[Edge, ...]], dict[tuple[int, str], Merge]]:
    """Edges of the chosen nodes: incoming and outgoing by node, and the merges that they specify, by node and param."""
    wires = body.wires
    if len(nodes) < len(body.nodes):
        position = {node.place: place for place, node in enumerate(nodes)}
        wires = [
            (position[source], position[target], handle, written)
            for source, target, handle, written in wires if source in position and target in position
        ]
    incoming: list[tuple[Edge, ...] | list[Edge]] = [()] * len(nodes)  # a list only where there is more than one
    outgoing: list[tuple[Edge, ...] | list[Edge]] = [()] * len(nodes)
    merges: dict[tuple[int, str], Merge] = {}
    for order, (source, target, handle, written) in enumerate(wires):
        if written is None:
            edge = _new(Edge, (order, source, target, handle, "input", (), None))
        else:
            edge = _link_edge(written, order, source, target, handle)
            if written.merge is not None:
                merges.setdefault((target, edge.param), written.merge)
        only = (edge,)  # shared by both ends, where it is the only edge of both
        incoming[target] = _joined_by(held, edge) if (held := incoming[target]) else only
        outgoing[source] = _joined_by(held, edge) if (held := outgoing[source]) else only
    return list(map(tuple, incoming)), list(map(tuple, outgoing)), merges


def _joined_by(held: tuple[Edge, ...] | list[Edge], edge: Edge) -> list[Edge]:
    if isinstance(held, list):
        held.append(edge)
        return held
    return [*held, edge]


def _link_edge(written: AfterView | EdgeView, order: int, source: int, target: int, handle: str) -> Edge:
    condition = None
    if written.condition is not None:
        ((test, operand),) = written.condition.raw.items()
        condition = Condition(test, operand)
    return Edge(order, source, target, handle, written.param, parse_path(written.key), condition)


# -- a node -----------------------------------------------------------------------------------------------------------


class _Policies(NamedTuple):
    """What a node's policies say, read once."""

    works: bool
    merge: Merge
    join: JoinRule
    retry: Retry
    timeout_ms: int
    delivery: Delivery
    on_parent_failure: OnParentFailure
    default: JSON
    moderation: Moderation
    moderation_on_error: OnModerationError
    leaves_by: str | None


def _read(document: NodeView) -> _Policies:
    return _Policies(*(getattr(document, name) for name in _Policies._fields))


_DEFAULTS: Final = _read(NodeView({}))


def _link_node(layout: _Layout, parsed: ParsedNode, position: int) -> Node:
    fields, kind, config = parsed.fields, parsed.kind, parsed.config
    if config is None or kind is None:
        raise EngineBug(f"{parsed.path} is linked without being compiled")
    incoming, outgoing = layout.incoming[position], layout.outgoing[position]
    branches = layout.branches[position]
    policies = _DEFAULTS if parsed.plain else _read(parsed.document)  # most nodes have none of their own
    label, wave, depth = parsed.raw.get("label"), layout.waves[position], layout.depths[position]
    timeout_ms, whole, limit_ms = policies.timeout_ms, False, None
    if not parsed.plain and kind.encloses and not parsed.idle:
        timeout_ms, whole, limit_ms = _enclosing(parsed, policies)
    return _new(Node, (  # in the order of its fields: with their names it would take five times as long
        parsed.id, position, kind,
        parsed.id if label is None else label,
        policies.works, config, incoming, outgoing,
        _link_params(layout, policies.merge, position, incoming),
        branches, layout.targets[position],
        _handles(outgoing),
        parsed.exits or (),
        _link_join(policies.join, fields, len(branches)),
        policies.retry, timeout_ms, policies.delivery, policies.on_parent_failure, policies.default,
        fields.input_contract, fields.output_contract, fields.answer_contract,
        policies.moderation, policies.moderation_on_error,
        _link_container(parsed, config, wave, depth) if parsed.inner else None,
        wave, depth,
        layout.dominators[position],
        tuple(layout.clocks.get(position, ())),
        layout.losers.get(position, ()),
        _link_tools(layout, parsed) if layout.tools else _NO_TOOLS,
        fields.limits,
        fields.entry_contract,
        False,
        whole,
        limit_ms,
        policies.leaves_by,
    ))


def _enclosing(parsed: ParsedNode, policies: _Policies) -> tuple[int, bool, int | None]:
    """Of an attempt that encloses other work: the time limit of its own work, which starts a child run; whether its policies
    apply to all that it encloses; and the time limit of that, none without a `timeout_ms` of the author."""
    limit_ms = policies.timeout_ms if "timeout_ms" in parsed.raw else None
    whole = limit_ms is not None or policies.retry.attempts > 1
    return min(policies.timeout_ms, MAX_CHILD_START_MS) if whole else policies.timeout_ms, whole, limit_ms


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
    names = [incoming[0].param] if len(incoming) == 1 else dict.fromkeys([edge.param for edge in incoming])
    if len(names) == 1:
        return tuple([_new(Param, (name, layout.merges.get((position, name), merge), incoming)) for name in names])
    fed = {name: tuple([edge for edge in incoming if edge.param == name]) for name in names}
    return tuple([Param(name, layout.merges.get((position, name), merge), edges) for name, edges in fed.items()])


def _handles(outgoing: tuple[Edge, ...]) -> frozenset[str]:
    """The exits of the edges. One shared set for all nodes with these, since most nodes have the same ones."""
    return _shared(outgoing[0].handle) if len(outgoing) == 1 else _shared(*sorted({edge.handle for edge in outgoing}))


@lru_cache(maxsize=256)
def _shared(*handles: str) -> frozenset[str]:
    return frozenset(handles)


def _link_join(rule: JoinRule, fields: Fields, branches: int) -> Join:
    need = _NEEDS[rule.mode](branches, rule.count or 1)
    if rule is DEFAULT_JOIN:
        return _default_join(need)
    return Join(need, rule._replace(min_success=min(rule.min_success, max(1, branches))), fields.custom)


@lru_cache(maxsize=64)
def _default_join(need: int) -> Join:
    return Join(need)


def _link_container(parsed: ParsedNode, config: Config, wave: int, depth: int) -> Container | None:
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
        expression=config.expressions.get(mode),
        value=parsed.fields.values.get(mode),
        keeps_results=bounds.keeps_results,
        keeps_writes=bounds.keeps_writes,
    )
