"""Defines the compiled graph, which the core walks. Built once per version and entry by `compile`, immutable, shared by runs.

Nodes are addressed by `position`, their place in document order within their body; edges know both ends by position.
Everything that the core would otherwise have to search for at run time is worked out here: dominators, waves, depths,
losers, which joins' clocks a node starts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from stepless.model.declaration.policies import (
    DEFAULT_JOIN,
    Delivery,
    JoinRule,
    Merge,
    Moderation,
    OnConflict,
    OnFailure,
    OnModerationError,
    OnParentFailure,
    Retry,
)
from stepless.model.json import JSON, Path
from stepless.model.kind import Case, Kind
from stepless.model.scope import Contract, Expression, Template

if TYPE_CHECKING:
    from stepless.model.findings import Finding


_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class OnError(StrEnum):
    STOP = "stop"
    CONTINUE = "continue"
    DROP = "drop"


class Condition(NamedTuple):
    """On the value carried: `test` is equals, contains, present or truthy; `operand` its right side."""

    test: str
    operand: JSON


class Edge(NamedTuple):
    """`order` is the edge's place in edge order (docs/understand/semantics.md#edge-order) within its body. `handle` None never
    occurs: `source` is the default."""

    order: int
    source: int
    target: int
    handle: str
    param: str
    key: Path
    condition: Condition | None


class Param(NamedTuple):
    """One input of a node: the edges declared into it, in edge order, and how several are merged."""

    name: str
    merge: Merge
    edges: tuple[Edge, ...]


class Join(NamedTuple):
    """`need` is the number of branches wanted: N for all, 1 for any, k for count. `custom` is the expression of `rule.vars`.
    `rule.min_success` is no more than the number of branches."""

    need: int
    rule: JoinRule = DEFAULT_JOIN
    custom: Expression | None = None


class Config(NamedTuple):
    """`with`, compiled field by field."""

    template: Template  # renders to a mapping of the TEMPLATE fields and the non-text EXPRESSION fields
    expressions: Mapping[str, Expression] = _NOTHING
    cases: tuple[Case, ...] = ()
    literals: Mapping[str, JSON] = _NOTHING


class Slots(NamedTuple):
    """At most `max` slots in use at once, apart for each value of `by`. One use takes `weight` of them, at most `max`."""

    max: int
    by: Expression | None = None
    weight: int | Expression = 1


class Pace(NamedTuple):
    """At most `max` attempts begin per `per_ms`, apart for each value of `by`."""

    max: int
    per_ms: int
    by: Expression | None = None


class Limits(NamedTuple):
    """What an attempt of a node may have to wait for. `node` is the place of the node in the document, such as `nodes.pay`."""

    node: str
    slots: Slots | None = None
    pace: Pace | None = None


class Container(NamedTuple):
    """`mode` is times, items, while, do_while (loop) or branches, items (parallel). One of `value` (a template's result),
    `expression` gives the number, the collection or the test."""

    parallel: bool
    mode: str
    body: Body
    window: int
    max_iterations: int
    truncate: bool
    on_error: OnError
    max_consecutive_errors: int | None
    expression: Expression | None = None
    value: Template | None = None
    keeps_results: bool = True
    keeps_writes: bool = False  # of failed iterations


class Node(NamedTuple):
    """One node of a body. Equal only to itself. A tuple, because a graph of a hundred thousand nodes is made of as many: a frozen
    dataclass of so many fields takes six times as long.

    `branches` are the distinct sources in edge order; `outgoing` and `incoming` are in edge order. `targets` are the
    distinct targets. `dominator` is the position of the immediate dominator in the body, None for an entry or when there
    is none. `clocks` are the joins with a timeout whose immediate dominator this node is. `losers` are the positions of
    the nodes all of whose paths end in this node (only worked out when the join cancels its losers). `wave` is the longest
    path from an entry (a body's entries continue from their container's wave + 1); `depth` the static nesting of forks
    and containers. `handles` are the wired exits. `tools` are the nodes that its own attempts run, by id: they are no part of
    the body, have no edges and no instances. `pinned`: in a run of a draft, the node has an output of the draft and does not
    work. `whole`: its `retry` and `limit_ms` apply to all that an attempt encloses: the iterations of a container, a child run.
    `leaves_by` is the exit of a disabled node, None for its first one."""

    id: str
    position: int
    kind: Kind
    label: str
    enabled: bool
    config: Config
    incoming: tuple[Edge, ...]
    outgoing: tuple[Edge, ...]
    params: tuple[Param, ...]
    branches: tuple[int, ...]
    targets: tuple[int, ...]
    handles: frozenset[str]
    exits: tuple[str, ...]
    join: Join
    retry: Retry
    timeout_ms: int
    delivery: Delivery
    on_parent_failure: OnParentFailure
    default: JSON
    input_contract: Contract | None
    output_contract: Contract | None
    answer_contract: Contract | None  # of an approval's or callback's answer
    moderation: Moderation
    moderation_on_error: OnModerationError
    container: Container | None
    wave: int
    depth: int
    dominator: int | None
    clocks: tuple[int, ...]
    losers: tuple[int, ...]
    tools: Mapping[str, Any] = _NOTHING  # nodes; shared: most nodes have none
    limits: Limits | None = None
    entry_contract: Contract | None = None  # of the run's inputs, with defaults
    pinned: bool = False
    whole: bool = False
    limit_ms: int | None = None
    leaves_by: str | None = None

    @property
    def is_leaf(self) -> bool:
        return not self.outgoing


for _name in ("__eq__", "__ne__", "__hash__"):  # not those of a tuple, which would compare and hash whole bodies
    setattr(Node, _name, getattr(object, _name))


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """A graph level: the document's own nodes, or those of a container's body. Filled in before it is shared."""

    nodes: tuple[Node, ...]
    positions: Mapping[str, int]  # node id → position
    entries: tuple[int, ...]  # without incoming edges, in document order
    leaves: tuple[int, ...]  # without outgoing edges, in document order
    root_clocks: tuple[int, ...]  # joins with a timeout and without a dominator: their clock starts with the scope
    owner: str | None = None  # id of the container that this is the body of


def all_nodes(body: Body) -> Iterator[Node]:
    """Yields every node of a body and of the bodies inside it, those that are only tools included."""
    for node in body.nodes:
        yield node
        yield from node.tools.values()
        if node.container is not None:
            yield from all_nodes(node.container.body)


def placed_nodes(body: Body, path: str = "nodes") -> Iterator[tuple[str, Node]]:
    """Yields the nodes of `all_nodes`, each with the dotted path to it in the document."""
    for node in body.nodes:
        yield f"{path}.{node.id}", node
        yield from ((f"{path}.{tool.id}", tool) for tool in node.tools.values())
        if node.container is not None:
            yield from placed_nodes(node.container.body, f"{path}.{node.id}.with.body.nodes")


class RateLimit(NamedTuple):
    """At most `max` starts per `per_ms`, counted apart for each value of `by`: a path into the inputs, or an expression."""

    max: int
    per_ms: int
    by: Path | Expression


class MessageSource(NamedTuple):
    """A webhook or an event pattern that delivers a message. `node` describes it as an entry of that kind, outside of the graph.
    `key` says for which run a delivery is, `map` what its data are."""

    message: str
    node: Node
    where: Expression | None = None
    key: Expression | None = None
    map: Template | None = None


class Incoming(NamedTuple):
    """A message that runs may receive: what its data must satisfy, and how long it waits for a run."""

    contract: Contract | None = None
    keep_ms: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """A compiled version, for the entries it was compiled for."""

    workflow_id: str
    name: str
    version: str  # content hash of the document
    root: Body
    variables: Mapping[str, JSON]
    env: tuple[str, ...]
    on_failure: OnFailure
    max_steps: int
    timeout_ms: int | None
    kinds: frozenset[str]  # names of the kinds that its nodes and their tools are of
    warnings: tuple[Finding, ...]
    concurrency: int | None
    rate_limit: RateLimit | None
    numbered: bool  # whether its runs are counted
    retention_ms: int | None = None  # how long its runs are kept after their end
    on_failure_notify: tuple[str, ...] | None = None  # None: the deployment's setting applies
    slots: Slots | None = None  # for runs with attempts in progress
    limited: bool = False  # whether any attempt may have to wait for a limit
    messages: Mapping[str, Incoming] = field(default_factory=dict)
    sources: tuple[MessageSource, ...] = ()
    key: Expression | None = None  # of the run, over its inputs
    on_conflict: OnConflict = OnConflict.JOIN
    cancel_on: frozenset[str] = frozenset()  # names of messages that cancel the run
