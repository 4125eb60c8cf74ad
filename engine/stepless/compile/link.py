"""Draft to graph: names become positions, and everything is worked out that a run would otherwise search for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from stepless.compile.dominators import dominator_tree, fork_depths
from stepless.compile.draft import Draft, DraftBody, DraftEdge, DraftNode, Fields
from stepless.compile.order import longest_paths, reachable, topological_order
from stepless.errors import EngineBug
from stepless.limits import DEFAULT_MAX_ITERATIONS
from stepless.model.document import DEFAULT_JOIN, DEFAULT_RETRY, JoinDocument, RateLimitDocument, RetryDocument, parse_key
from stepless.model.findings import Finding
from stepless.model.graph import (
    Body,
    Condition,
    Container,
    Edge,
    Errors,
    Graph,
    Join,
    Merge,
    Node,
    OnError,
    OnParentFailure,
    Param,
    RateLimit,
    Retry,
)
from stepless.model.kind import Part

_SHARED_RETRY: Final = Retry()
_NEEDS: Final[Mapping[str, Callable[[int, int], int]]] = {  # of the branches there are, and `count`
    "all": lambda branches, count: branches,
    "timeout": lambda branches, count: branches,
    "any": lambda branches, count: 1,
    "count": lambda branches, count: min(count, branches),
}


def link(draft: Draft, version: str, entries: Sequence[str] | None, warnings: tuple[Finding, ...]) -> Graph:
    """The graph of a draft without errors, of what `entries` reach. Near-linear in nodes and edges."""
    document, root = draft.document, draft.bodies[0]
    chosen = set(range(len(root.order)))
    if entries is not None:
        chosen = reachable([root.nodes[entry].place for entry in entries], root.successors)
    return Graph(
        workflow_id=document.id,
        name=document.name or document.id,
        version=version,
        root=_link_body(root, chosen, wave=0, depth=0),
        variables=document.variables,
        env=tuple(document.env),
        halt_on_failure=document.on_failure == "halt",
        max_steps=document.max_steps,
        timeout_ms=document.timeout_ms,
        warnings=warnings,
        concurrency=document.concurrency,
        rate_limit=_rate_limit(document.rate_limit),
    )


def _rate_limit(limit: RateLimitDocument | None) -> RateLimit | None:
    if limit is None:
        return None
    return RateLimit(limit.max, limit.per, tuple(limit.by.split(".")) if limit.by else ())


# -- a body -----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Layout:
    """What the nodes of a body need to know of each other, all by position. `params` are the edges of each param with the
    first merge that one of them states; `losers` and `clocks` have entries only for those that have any."""

    nodes: list[DraftNode]
    incoming: list[list[Edge]]
    outgoing: list[list[Edge]]
    params: list[dict[str, tuple[list[Edge], str | None]]]
    branches: list[tuple[int, ...]]
    targets: list[tuple[int, ...]]
    dominators: list[int | None]
    waves: list[int]
    depths: list[int]
    losers: Mapping[int, tuple[int, ...]]
    clocks: Mapping[int | None, list[int]]


def _link_body(body: DraftBody, chosen: set[int], wave: int, depth: int) -> Body:
    """`chosen` are places in the draft; `wave` and `depth` those of an entry."""
    layout = _lay_out(body, chosen, wave, depth)
    nodes = tuple([_link_node(layout, position) for position in range(len(layout.nodes))])
    return Body(
        nodes=nodes,
        positions={node.id: node.position for node in nodes},
        entries=tuple([node.position for node in nodes if not node.incoming]),
        leaves=tuple([node.position for node in nodes if not node.outgoing]),
        root_clocks=tuple(layout.clocks.get(None, ())),
        owner=body.owner.id if body.owner is not None else None,
    )


def _lay_out(body: DraftBody, chosen: set[int], wave: int, depth: int) -> _Layout:
    nodes = [node for node in body.order if node.place in chosen]
    position = {node.place: place for place, node in enumerate(nodes)}
    branches = [tuple([position[p] for p in body.predecessors[node.place] if p in position]) for node in nodes]
    targets = [tuple([position[p] for p in body.successors[node.place] if p in position]) for node in nodes]
    order = topological_order(targets, branches)
    above = dominator_tree(order, branches)
    behind = dominator_tree(order[::-1], targets)
    dominators = [parent if parent != above.root else None for parent in above.parents[: len(nodes)]]
    incoming, outgoing, params = _edges(body, nodes)
    return _Layout(
        nodes, incoming, outgoing, params, branches, targets, dominators,
        longest_paths(order, targets, wave),
        [depth + forks for forks in fork_depths(order, targets, above, behind)],
        behind.below([place for place, node in enumerate(nodes) if branches[place] and node.document.join.losers == "cancel"]),
        _clocks(nodes, branches, dominators),
    )


def _clocks(nodes: list[DraftNode], branches: list[tuple[int, ...]], dominators: list[int | None]) -> dict[int | None, list[int]]:
    """The joins with a timeout, by the node whose settlement starts their clock."""
    clocks: dict[int | None, list[int]] = {}
    for place, node in enumerate(nodes):
        if node.document.join.timeout_ms is not None and branches[place]:
            clocks.setdefault(dominators[place], []).append(place)
    return clocks


def _edges(
    body: DraftBody, nodes: list[DraftNode],
) -> tuple[list[list[Edge]], list[list[Edge]], list[dict[str, tuple[list[Edge], str | None]]]]:
    """Edges of the chosen nodes: incoming and outgoing by node, and by node and param with the merge that they override."""
    position = {node.id: place for place, node in enumerate(nodes)}
    incoming: list[list[Edge]] = [[] for _ in nodes]
    outgoing: list[list[Edge]] = [[] for _ in nodes]
    params: list[dict[str, tuple[list[Edge], str | None]]] = [{} for _ in nodes]
    order = 0
    for draft in body.edges:
        source, target = position.get(draft.source), position.get(draft.target)
        if source is None or target is None:
            continue
        edge = _link_edge(draft, order, source, target)
        order += 1
        incoming[target].append(edge)
        outgoing[source].append(edge)
        merge = draft.written.merge if draft.written is not None else None
        edges, override = params[target].get(edge.param, ([], None))
        edges.append(edge)
        params[target][edge.param] = (edges, override or merge)
    return incoming, outgoing, params


def _link_edge(draft: DraftEdge, order: int, source: int, target: int) -> Edge:
    written = draft.written
    if written is None:
        return Edge(order, source, target, draft.handle, "input", (), None)
    condition = None
    if written.condition is not None:
        (test,) = written.condition.model_fields_set
        condition = Condition(test, getattr(written.condition, test))
    return Edge(order, source, target, draft.handle, written.param, parse_key(written.key), condition)


# -- a node -----------------------------------------------------------------------------------------------------------


def _link_node(layout: _Layout, position: int) -> Node:
    draft = layout.nodes[position]
    document, fields, kind = draft.document, draft.fields, draft.kind
    if fields is None or kind is None:
        raise EngineBug(f"{draft.path} is linked without being compiled")
    incoming, outgoing = layout.incoming[position], layout.outgoing[position]
    return Node(
        id=draft.id,
        position=position,
        kind=kind,
        label=document.label if document.label is not None else draft.id,
        enabled=document.enabled,
        config=fields.config,
        incoming=tuple(incoming),
        outgoing=tuple(outgoing),
        params=tuple([
            Param(name, Merge(override or document.merge), tuple(edges))
            for name, (edges, override) in layout.params[position].items()
        ]),
        branches=layout.branches[position],
        targets=layout.targets[position],
        handles=frozenset([edge.handle for edge in outgoing]),
        exits=draft.exits or (),
        join=_link_join(document.join, fields, len(layout.branches[position])),
        retry=_link_retry(document.retry),
        timeout_ms=document.timeout_ms,
        at_most_once=document.delivery == "at_most_once",
        on_parent_failure=OnParentFailure(document.on_parent_failure),
        default=document.default,
        input_contract=fields.input_contract,
        output_contract=fields.output_contract,
        answer_contract=fields.answer_contract,
        moderation=document.moderation,
        moderation_blocks_on_error=document.moderation_on_error == "block",
        container=_link_container(draft, fields, layout.waves[position], layout.depths[position]),
        wave=layout.waves[position],
        depth=layout.depths[position],
        dominator=layout.dominators[position],
        clocks=tuple(layout.clocks.get(position, ())),
        losers=layout.losers.get(position, ()),
    )


def _link_join(join: JoinDocument, fields: Fields, branches: int) -> Join:
    need = _NEEDS[join.mode](branches, join.count or 1)
    if join is DEFAULT_JOIN:
        return _default_join(need)
    return Join(
        need=need,
        errors=Errors(join.errors),
        min_success=min(join.min_success, max(1, branches)),
        timeout_ms=join.timeout_ms,
        proceed_on_timeout=join.mode == "timeout" or join.on_timeout == "proceed",
        cancel_losers=join.losers == "cancel",
        vars=join.vars if isinstance(join.vars, str) else "custom",
        on_conflict=join.on_conflict,
        custom=fields.custom,
    )


@lru_cache(maxsize=64)
def _default_join(need: int) -> Join:
    return Join(need)


def _link_retry(retry: RetryDocument) -> Retry:
    if retry is DEFAULT_RETRY:
        return _SHARED_RETRY
    return Retry(retry.attempts, retry.backoff_ms, retry.max_backoff_ms, frozenset(retry.retry_on))


def _link_container(draft: DraftNode, fields: Fields, wave: int, depth: int) -> Container | None:
    """Read from the kind's parameters; a container kind has the field names of `loop` and `parallel`."""
    body, params, kind = draft.inner, draft.params, draft.kind
    if body is None or params is None or kind is None:
        return None
    given = draft.document.with_
    mode = next(name for name in given if kind.parts.get(name) is Part.EXPRESSION and given[name] is not None)
    return Container(
        parallel=hasattr(params, "window"),
        mode=mode,
        body=_link_body(body, set(range(len(body.order))), wave + 1, depth + 1),
        window=getattr(params, "window", 1),
        max_iterations=getattr(params, "max_iterations", DEFAULT_MAX_ITERATIONS),
        truncate=getattr(params, "truncate", False),
        on_error=OnError(getattr(params, "on_error", "stop")),
        max_consecutive_errors=getattr(params, "max_consecutive_errors", None),
        expression=fields.config.expressions.get(mode),
        value=fields.values.get(mode),
    )
