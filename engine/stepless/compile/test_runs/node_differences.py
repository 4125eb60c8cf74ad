"""Compares each top-level node of a test run with the one of the published version: its definition, its edges, its position, and
whether it works at all. `published_effects` says what follows from a difference."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from stepless.compile.test_runs.called_nodes import DraftedRun, nodes_within, pauses
from stepless.model.declaration.policies import OnFailure
from stepless.model.graph import Body, Edge, Graph, Node
from stepless.model.json import JSON
from stepless.model.kind import ERROR, SOURCE

_INPUT_KINDS: Final = frozenset({"event", "manual", "schedule", "webhook"})  # they return the run's inputs
_NOT_COMPARED: Final = frozenset({"after", "at"})  # edges are compared as the graph has them
_NOTICED_EXITS: Final = frozenset({ERROR, "timeout"})  # an edge from one of these changes how the node settles
_MAX_NAMED_FIELDS: Final = 3
_ROOT: Final = re.compile(r"<([A-Za-z_][A-Za-z0-9_-]*)")  # of what may be a reference
_RUN_VERSION: Final = re.compile(r"<run\.version\b")


@dataclass(slots=True)
class Differences:
    """Why nodes of the published version are not the same in the test run, by id. `own`: the node itself may settle otherwise, or
    do something else. `beyond`: only what comes after it may be decided otherwise."""

    own: dict[str, str] = field(default_factory=dict)
    beyond: dict[str, str] = field(default_factory=dict)


class _Context(NamedTuple):
    """What decides the meaning of the text of a node: the initial values of variables, the names of `env`, and the ids of all
    nodes, since `<word>` is a reference only if there is such a node."""

    variables: Mapping[str, str]
    env: Collection[str]
    ids: frozenset[str]


def differences(
    draft: DraftedRun, document: Mapping[str, Any], graph: Graph, *, strict: bool, sole_entry: str | None
) -> Differences:
    """Returns the differences of the published version, whose `graph` is compiled from `document`, to the test run. `strict`:
    whether the published version reads `<node.path!>` as a reference. `sole_entry`: the entry at which both begin, if it is the
    only one."""
    found = Differences()
    drafted, body = draft.graph.root, graph.root
    before, now = _context(document), _context(draft.document)
    renamed = document.get("name") != draft.document.get("name")
    moved = _moved(body, drafted)
    for node in body.nodes:
        place = drafted.positions.get(node.id)
        if place is None:
            found.own[node.id] = "is not a part of this test run"
            continue
        other = drafted.nodes[place]
        why = _given(draft, node, other, is_sole=node.id == sole_entry) or _redefined(node, other, document, draft.document)
        if why is None:
            why = _rewired(body, node, drafted, other)
        if why is None and node.id in moved:
            why = "has another position among the nodes"
        if why is None:
            why = _reads_otherwise(node, document["nodes"], before, now, strict=strict)
        if why is None and renamed and any(pauses(one) for _, one, _ in nodes_within(node, document["nodes"])):
            why = "asks people in the name of the workflow, which was changed"
        if why is None:
            why = _receives_otherwise(node, document, draft.document)
        if why is not None:
            found.own[node.id] = why
        elif (beyond := _settles_otherwise(graph, node, drafted, other)) is not None:
            found.beyond[node.id] = beyond
    _add_losers(body, drafted, found)
    return found


# -- a node ------------------------------------------------------------------------------------------------------------


def _given(draft: DraftedRun, node: Node, other: Node, *, is_sole: bool) -> str | None:
    """Why the output of a node, or of one inside of it, is given instead of worked out. What an only entry is given could be the
    inputs of a run as well."""
    if other.pinned:
        pin = draft.pins.get(node.id)
        as_inputs = (
            is_sole and node.kind.name in _INPUT_KINDS and node.entry_contract is None and node.input_contract is None
            and pin is not None and pin.handle in (None, SOURCE)
        )  # fmt: skip
        return None if as_inputs else "is pinned"
    if draft.fresh is not None and node.id not in draft.fresh:
        return "takes its output from another run"
    inside = next((path for path in draft.pins if path.endswith(f"@{node.id}")), None)
    return f"has the pinned node `{inside}` inside" if inside is not None else None


def _redefined(node: Node, other: Node, document: Mapping[str, Any], drafted: Mapping[str, Any]) -> str | None:
    one, two = _definition(node, document), _definition(other, drafted)
    if _text(one) == _text(two):
        return None
    fields = list(_differing(one, two))
    named = " and ".join(f"`{name}`" for name in fields[:_MAX_NAMED_FIELDS])
    return f"differs in {named}" if fields else "has its fields in another order"


def _definition(node: Node, document: Mapping[str, Any]) -> dict[str, Any]:
    """A node as it was written, without its edges and its position in a source, and with its tools."""
    written = document["nodes"]
    own = {name: value for name, value in written[node.id].items() if name not in _NOT_COMPARED}
    return {**own, "tools": {tool: written[tool] for tool in node.tools}} if node.tools else own


def _differing(one: Mapping[str, Any], two: Mapping[str, Any], around: str = "") -> Iterator[str]:
    """The fields in which two definitions differ, in `with` and in `tools` one level deeper."""
    for name in dict.fromkeys((*one, *two)):
        held, other = one.get(name), two.get(name)
        if (name in one) is (name in two) and _text(held) == _text(other):
            continue
        if not around and name in ("tools", "with") and isinstance(held, Mapping) and isinstance(other, Mapping):
            inner = list(_differing(held, other, f"{name}."))
            yield from inner or [name]
        else:
            yield f"{around}{name}"


def _text(value: JSON | Mapping[str, Any]) -> str:
    """JSON in the order of its keys, which is significant: for cases, for nodes, and for an object that a loop iterates over."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _reads_otherwise(node: Node, siblings: Mapping[str, Any], before: _Context, now: _Context, *, strict: bool) -> str | None:
    """Why the same text of a node means something else in the test run."""
    text = _text(siblings[node.id]) + "".join(_text(siblings[tool]) for tool in node.tools)
    for name in dict.fromkeys((*before.variables, *now.variables)):
        if before.variables.get(name) != now.variables.get(name) and _mentions(text, name):
            return f"mentions the variable `{name}`, whose initial value differs"
    for name in now.env:
        if name not in before.env and f"${{{name}}}" in text:
            return f"would read `${{{name}}}`, which the published version does not list in `env`"
    for name in _ROOT.findall(text):
        if (name in before.ids) is not (name in now.ids):
            return f"mentions `<{name}>`, and only one of them has a node of this name"
    if _RUN_VERSION.search(text) is not None:
        return "reads `<run.version>`, which is another one in a test run"
    if not strict and "!>" in text:
        return "has a reference with `!`, which the published version takes for text"
    return None


def _receives_otherwise(node: Node, document: Mapping[str, Any], drafted: Mapping[str, Any]) -> str | None:
    """Why a node may take a message that no run of the published version would be sent: its declaration has another contract."""
    for _, one, written in nodes_within(node, document["nodes"]):
        if one.kind.receives:
            name = written["with"]["message"]
            if _text(_contract(document, name)) != _text(_contract(drafted, name)):
                return f"takes the message `{name}`, whose `data` differs"
    return None


def _contract(document: Mapping[str, Any], name: str) -> JSON:
    declared = (document.get("messages") or {}).get(name) or {}
    return declared.get("data")


def _mentions(text: str, variable: str) -> bool:
    """Whether a text of JSON may read or write a variable: by a reference, or by its name as a text."""
    return f"<workflow.{variable}" in text or "<workflow[" in text or f'"{variable}"' in text


def _context(document: Mapping[str, Any]) -> _Context:
    variables = {str(name): _text(value) for name, value in (document.get("variables") or {}).items()}
    names = [name for name in document.get("env") or () if isinstance(name, str)]
    return _Context(variables, names, frozenset(_ids(document)))


def _ids(body: Mapping[str, Any]) -> Iterator[str]:
    """The ids of all nodes, also of those in bodies."""
    for name, written in body["nodes"].items():
        yield name
        inner = (written.get("with") or {}).get("body")
        if isinstance(inner, Mapping) and isinstance(inner.get("nodes"), Mapping):
            yield from _ids(inner)


# -- its edges ---------------------------------------------------------------------------------------------------------


def _rewired(body: Body, node: Node, drafted: Body, other: Node) -> str | None:
    """How the incoming edges differ, in edge order, or how they are merged."""
    held, now = [_edge(body, edge) for edge in node.incoming], [_edge(drafted, edge) for edge in other.incoming]
    if held == now:
        merges = [[(param.name, param.merge) for param in one.params] for one in (node, other)]
        return None if merges[0] == merges[1] else "merges what its edges bring otherwise"
    lost, new = [edge for edge in held if edge not in now], [edge for edge in now if edge not in held]
    said = [f"{word} {', '.join(f'`{edge[0]}.{edge[1]}`' for edge in edges[:_MAX_NAMED_FIELDS])}"
            for word, edges in (("without one from", lost), ("with one from", new)) if edges]  # fmt: skip
    return f"has other incoming edges: {', '.join(said)}" if said else "has its incoming edges in another order"


def _edge(body: Body, edge: Edge) -> tuple[str, ...]:
    """An edge as comparable texts; the first two are the id of its source and the exit."""
    condition = "" if edge.condition is None else _text([edge.condition.test, edge.condition.operand])
    return body.nodes[edge.source].id, edge.handle, edge.param, _text(list(edge.key)), condition


def _settles_otherwise(graph: Graph, node: Node, drafted: Body, other: Node) -> str | None:
    """Why the edges that leave a node let others be decided otherwise: a failure with an `error` edge is handled, a deadline with
    a `timeout` edge is no failure, only a leaf can fail the run, and targets are decided in the order of the edges."""
    if node.handles & _NOTICED_EXITS != other.handles & _NOTICED_EXITS:
        return "has an edge from `error` or `timeout` more or less"
    if graph.on_failure is not OnFailure.ISOLATE and node.is_leaf is not other.is_leaf:
        return "is the last node of its path in one of them only, so that its failure ends the run in one of them only"
    held = [graph.root.nodes[target].id for target in node.targets]
    now = [drafted.nodes[target].id for target in other.targets]
    if [one for one in held if one in now] != [one for one in now if one in held]:
        return "has its outgoing edges in another order"
    return None


def _moved(body: Body, drafted: Body) -> frozenset[str]:
    """The fewest nodes without which both have the same order: all but a longest increasing subsequence."""
    common = [node.id for node in drafted.nodes if node.id in body.positions]
    places = [body.positions[name] for name in common]
    ends: list[int] = []  # by length: the smallest last place of a subsequence of this length
    at: list[int] = []  # the index of that place
    former: list[int] = []  # by index: the index before it in its subsequence, or -1
    for index, place in enumerate(places):
        length = bisect_left(ends, place)
        former.append(at[length - 1] if length else -1)
        ends[length : length + 1] = [place]
        at[length : length + 1] = [index]
    kept, index = set[str](), at[-1] if at else -1
    while index >= 0:
        kept.add(common[index])
        index = former[index]
    return frozenset(common) - kept


def _add_losers(body: Body, drafted: Body, found: Differences) -> None:
    """Adds the nodes that a join ends in one of them only. To end a node may let another one start: that which it would stop."""
    before, now = _losers(body), _losers(drafted)
    for loser, join in before:
        if (loser, join) not in now:
            found.own.setdefault(loser, f"is no longer ended by `{join}`")
    for loser, join in now:
        if (loser, join) not in before and loser in body.positions:
            found.own.setdefault(loser, f"is ended by `{join}`, as it is not in the published version")


def _losers(body: Body) -> Mapping[tuple[str, str], None]:
    """The pairs of a node and a join that may end it, in document order."""
    return {(body.nodes[loser].id, node.id): None for node in body.nodes for loser in node.losers}


def entry_names(graph: Graph) -> Sequence[str]:
    """Returns the nodes at which a run of this graph begins, in document order."""
    return [graph.root.nodes[position].id for position in graph.root.entries]
