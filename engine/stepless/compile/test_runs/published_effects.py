"""Finds the effects of a test run that a run of the published version might not cause
(docs/understand/decisions/0015-runs-of-drafts.md).

The property. A person without the role `admin` may start a test run only if it causes no effect that the same person could not
cause by starting the published version. An effect is one call of an effectful node: its kind, its resolved parameters, and the
secrets in them. The person chooses the inputs and the entries of both runs, and answers only the pauses that they may answer.

The argument. Take an effectful node x of the draft, and let P be the published version, started at those entries of the test run
that are entries of P as well. Two things decide whether, when and with which parameters x is called:

* What is *upstream* of x. A node is decided from its definition, its incoming edges, and how their sources settled.
* What can *stop* x. A join with `losers: cancel` ends its losers. `end {halt: true}` ends the run. With `on_failure: halt` or
  `cancel`, any node that fails may end the run. With a `timeout`, a child run keeps the clock running. Only P is asked what can
  end a run: where the draft has more of it, less happens. A node that x dominates starts after x has settled: it cannot stop x.

The *cone* of x is the closure of these two relations. If the test run has each node of the cone as P has it, with the same
incoming edges, in the same order, ended by the same joins, and none with an output from elsewhere, then what happens in the cone
also happens in a run of P with the same inputs, answers and results of calls. So P calls x with the same parameters. Nodes
outside of the cone have no edge into it. They can end the whole run, and nothing else: a join that ends a node of the cone, which
may be one that would have stopped x, has to end it in P as well.

The rule refuses x where a node of its cone differs. It compares what is written, not what it means: it may refuse a harmless
draft, but allows nothing that it cannot show. A container is one node, with its whole body: its iterations depend on each other
by failures, breaks and variables. The cost is linear in nodes and edges, however many effects there are.

Not compared is how many steps of `max_steps` the nodes outside of the cone use up.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from stepless.compile.order import reachable
from stepless.compile.test_runs.called_nodes import DraftedRun, calling_nodes, nodes_within, starts_child_runs
from stepless.compile.test_runs.node_differences import differences, entry_names
from stepless.model.declaration.policies import OnFailure
from stepless.model.graph import Body, Graph, Node
from stepless.model.kind import Nature

_GO_ON: Final = frozenset({"condition", "fail", "join", "respond", "set", "transform"})  # pure kinds that never end a run


class PublishedVersion(NamedTuple):
    """The version that a start would run. `graph_at` compiles it for these entries (None: all). `strict`: whether it reads
    `<node.path!>` as a strict reference."""

    document: Mapping[str, Any]
    graph_at: Callable[[Sequence[str] | None], Graph]
    strict: bool = True


class RefusedEffect(NamedTuple):
    """A node that the test run may not call: its path (`price@each`), and why, as the rest of a sentence that begins with it."""

    path: str
    why: str


def refused_effects(draft: DraftedRun, published: PublishedVersion | None) -> list[RefusedEffect]:
    """Returns the nodes that the published version might not call as the test run would, in document order. `published` is None
    where there is no version."""
    calling = list(calling_nodes(draft))
    if not calling:
        return []
    comparison = _Comparison(draft, published) if published is not None else None
    found: list[RefusedEffect] = []
    for node, paths in calling:
        cause = comparison.refusal(node) if comparison is not None else "the workflow has no published version"
        if cause is not None:
            found += [RefusedEffect(path, cause if isinstance(cause, str) else cause.of(node.id, path)) for path in paths]
    return found


class _Cause(NamedTuple):
    """A node that differs, and how. `stops`: it is in the cone because it can stop something there."""

    node: str
    how: str
    stops: bool = False

    def of(self, node: str, path: str) -> str:
        """Returns the difference as the reason why what `path` names, which is the top-level `node` or belongs to it, is
        refused."""
        if self.node != node:
            return f"`{self.node}`, {'which can stop it' if self.stops else 'before it'}, {self.how}"
        if path == node:
            return f"it {self.how}"
        return f"`{node}`, {'around it' if path.endswith(f'@{node}') else 'which calls it'}, {self.how}"


class _Comparison:
    """A test run and the published version, started at the entries that both have."""

    def __init__(self, draft: DraftedRun, published: PublishedVersion) -> None:
        own, every = entry_names(draft.graph), entry_names(published.graph_at(None))
        entries = [name for name in every if name in set(own)]
        graph = published.graph_at(None if entries == every else entries) if entries else None
        self._drafted = draft.graph.root
        self._began_elsewhere = _from_elsewhere(self._drafted, frozenset(entries))
        self._body = graph.root if graph is not None else None
        self._settings: str | None = None
        self._causes: Mapping[int, _Cause] = {}
        self._stopper: _Cause | None = None
        self._before_stoppers: frozenset[int] = frozenset()
        if graph is None:
            return
        sole = entries[0] if len(entries) == len(own) == 1 else None
        found = differences(draft, published.document, graph, strict=published.strict, sole_entry=sole)
        self._settings = _settings(draft, published, graph)
        self._causes = _spread(graph.root, found.own, found.beyond)
        self._find_stoppers(graph, published.document["nodes"], found.beyond)

    def refusal(self, node: Node) -> _Cause | str | None:
        """Returns why the test run may not call this node of the draft, or what is inside of it; None if it may."""
        entry = self._began_elsewhere.get(node.position)
        if entry is not None:
            return f"the run begins at `{entry}`, and the published version cannot be started there"
        position = self._body.positions.get(node.id) if self._body is not None else None
        if position is None:
            return "the published version has no node of this name here"
        cause = self._causes.get(position)
        if cause is None and self._stopper is not None and position not in self._before_stoppers:
            cause = self._stopper
        return self._settings if cause is None else cause

    def _find_stoppers(self, graph: Graph, written: Mapping[str, Any], beyond: Mapping[str, str]) -> None:
        """Sets the first node that can end the run and is not decided as in the published version, and the nodes that dominate
        all such nodes."""
        body, before = graph.root, None
        for node in body.nodes:
            cause = self._causes.get(node.position)
            if cause is None and node.id in beyond:
                cause = _Cause(node.id, beyond[node.id])
            if cause is None or not _may_end_run(graph, node, written):
                continue
            self._stopper = self._stopper or cause._replace(stops=True)
            above = frozenset(_dominators(body, node))
            before = above if before is None else before & above
        self._before_stoppers = before or frozenset()


def _from_elsewhere(body: Body, entries: frozenset[str]) -> Mapping[int, str]:
    """The nodes after an entry that is not one of `entries`, each with such an entry."""
    found: dict[int, str] = {}
    targets = [node.targets for node in body.nodes]
    for position in body.entries:
        name = body.nodes[position].id
        if name not in entries and position not in found:
            found |= {place: name for place in reachable([position], targets) if place not in found}
    return found


def _spread(body: Body, own: Mapping[str, str], beyond: Mapping[str, str]) -> Mapping[int, _Cause]:
    """By position, the nodes in whose cone a node differs: those that differ, what comes after them, and what they can end."""
    causes = {body.positions[name]: _Cause(name, how) for name, how in own.items()}
    queue = deque(causes)

    def reach(position: int, cause: _Cause) -> None:
        if position not in causes:
            causes[position] = cause
            queue.append(position)

    for name, how in beyond.items():
        for target in body.nodes[body.positions[name]].targets:
            reach(target, _Cause(name, how))
    while queue:
        node = body.nodes[queue.popleft()]
        cause = causes[node.position]
        for target in node.targets:
            reach(target, cause)
        above = frozenset(_dominators(body, node)) if node.losers else frozenset()
        for loser in node.losers:
            if loser not in above:  # otherwise the join starts after it
                reach(loser, cause._replace(stops=True))
    return causes


def _dominators(body: Body, node: Node) -> Iterator[int]:
    """A node, and the nodes that it can only run after."""
    position: int | None = node.position
    while position is not None:
        yield position
        position = body.nodes[position].dominator


def _may_end_run(graph: Graph, node: Node, written: Mapping[str, Any]) -> bool:
    """Whether a node, or one inside of it, may end the run before other nodes have started."""
    if graph.on_failure is not OnFailure.ISOLATE:
        return True
    within = list(nodes_within(node, written))
    if graph.timeout_ms is not None and any(starts_child_runs(one) for _, one, _ in within):
        return True
    return any(one.kind.nature is Nature.PURE and _halts(one, own) for _, one, own in within)


def _halts(node: Node, written: Mapping[str, Any]) -> bool:
    if node.kind.name == "end":
        return (written.get("with") or {}).get("halt", False) is not False
    return node.kind.name not in _GO_ON


def _settings(draft: DraftedRun, published: PublishedVersion, graph: Graph) -> str | None:
    """How a setting of the document allows more than the published one."""
    own, document = draft.graph, published.document
    if graph.on_failure is not OnFailure.ISOLATE and own.on_failure is not graph.on_failure:
        return "`on_failure` of the workflow differs"
    if own.max_steps > graph.max_steps:
        return f"`max_steps` of the workflow is more than {graph.max_steps:,}"
    if graph.timeout_ms is not None and (own.timeout_ms is None or own.timeout_ms > graph.timeout_ms):
        return "`timeout` of the workflow is longer"
    if graph.slots is not None and draft.document.get("concurrency") != document.get("concurrency"):
        return "`concurrency` of the workflow differs"
    unmasked = [name for name in graph.env if name not in own.env]
    return f"`env` no longer lists `{unmasked[0]}`, whose value is masked in the published version" if unmasked else None
