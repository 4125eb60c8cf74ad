"""Rerun: starts a new run with the version of a former one, from the start or from a node. The former run is not changed.

A rerun from a node reuses every node that completed in the former run and is not downstream of that node, with its output and the
variables it wrote. All other nodes run. With other inputs the entries run, too: what they put out are the inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from stepless.core.events import Event, EventType
from stepless.core.facts import CancelRequested, Fact
from stepless.core.history.trace import Trace
from stepless.core.state import Cells, Instance, Status
from stepless.errors import Conflict, Gone, InvalidRequest, NotFound
from stepless.model.graph import Body, Graph
from stepless.model.json import JSON
from stepless.model.kind import Nature
from stepless.model.traceparent import stored_former
from stepless.ports import RunHead, Version
from stepless.runtime.header_notes import meta_of
from stepless.runtime.headers import draft_of, version_of
from stepless.runtime.relatives import note_rerun
from stepless.runtime.runlog import RunLog
from stepless.runtime.verbs.inspecting import graph_of, head_of, whole_or_gone
from stepless.runtime.verbs.repeating import is_repeated
from stepless.runtime.verbs.starting import Started, checked_entries, encoded_inputs, new_run_id, start_version
from stepless.runtime.world import World

_KEPT = ("handle", "halt", "break", "response", "usage")


def rerun(
    world: World,
    run_id: str,
    *,
    node: str | None = None,
    inputs: JSON = None,
    edited: bool = False,
    anywhere: bool = False,
    again: bool = True,
    by: str | None = None,
    reason: str | None = None,
) -> Started:
    """Starts a run like `run_id`, with other inputs if `edited`. Who asked for it and why is kept in the header of the new run.

    Other inputs are allowed at entries only, since nodes before `node`, like an approval, have decided about the former inputs.
    At other nodes, and for a run that started at such nodes, the caller must be one who may start `anywhere`: entries then take
    the other inputs, and all else before `node` is reused.
    A test run is repeated from its draft: `Conflict` (test_run). Without `again`, a run that is repeated already, in the sense
    of `runtime/verbs/repeating.py`, is left alone: `Conflict` (rerun_already).
    Raises what `encoded_inputs` raises, `NotFound` (unknown_run, unknown_node), `InvalidRequest` (inside_container,
    unknown_entry), and `Conflict` (predecessor_never_ran) if a predecessor of the node never completed.
    """
    head = head_of(world, run_id)
    if draft_of(head) is not None:
        message, mend = f"{run_id} is a run of a draft", "start a test run of the draft, which can reuse the outputs of this one"
        raise Conflict(message, code="test_run", mend=mend)
    if not again and is_repeated(world, run_id):
        raise Conflict(f"{run_id} was rerun already", code="rerun_already", mend="rerun it with `again`, or rerun its rerun")
    graph = graph_of(world, head)
    if node is not None:
        check_node(graph, node)
        _check_upstream(_traced(world, graph, head), node)
    meta = {name: value for name, value in meta_of(head).items() if name in ("entry", "tags")}
    asked = {"by": by, "reason": reason}
    meta["rerun"] = {"of": run_id, "from": node, **{name: text for name, text in asked.items() if text is not None}}
    if edited:
        meta["rerun"]["edited"] = True
    meta |= stored_former(run_id, meta_of(head))
    data = encoded_inputs(inputs) if edited else head.inputs
    version = _version(world, head)
    begins_at = [*(meta.get("entry") or ()), *([node] if edited and node is not None else [])]
    meta |= checked_entries(world, version, begins_at, anywhere=anywhere, place="from" if node is not None else "")
    new = new_run_id()
    note_rerun(world, run_id, new)
    return start_version(world, new, version, data, meta, numbered=graph.numbered)


def _version(world: World, head: RunHead) -> Version:
    """The version that a run started with, under the number that it had then."""
    number = version_of(head)
    if number is not None:
        return Version(head.workflow_id, number, head.version)
    version = world.store.get_version(head.workflow_id, hash=head.version)
    if version is None:
        raise NotFound(f"the version of {head.run_id} does not exist any more", code="unknown_version")
    return version


def reused_outputs(world: World, origin: JSON, graph: Graph | None = None) -> Mapping[str, Mapping[str, JSON]]:
    """The recorded results of the nodes that are not run again, by node id. Empty for a run that does not begin at a node of a
    former one. `graph` is that of the new run, where it may be another one: nodes are the same if their ids are, and pinned ones
    take no result."""
    if not isinstance(origin, dict) or origin.get("from") is None:
        return {}
    run_id, node = str(origin["of"]), str(origin["from"])
    head = head_of(world, run_id)
    former = graph_of(world, head)
    root = former.root if graph is None else graph.root
    again = _downstream(root, root.positions[node])
    kept = frozenset(
        one.id for one in root.nodes
        if one.position not in again and not one.pinned and not (origin.get("edited") and one.kind.nature is Nature.ENTRY)
    )
    return _completed(world, former, head, kept)


def reused_or_cancelled(
    world: World, origin: JSON, graph: Graph | None = None
) -> tuple[Mapping[str, Mapping[str, JSON]], list[Fact]]:
    """What `reused_outputs` returns. If the former run was erased before the rerun began, a fact that cancels the rerun."""
    try:
        return reused_outputs(world, origin, graph), []
    except (Gone, NotFound) as error:
        return {}, [CancelRequested(None, f"its outputs cannot be reused: {error.message}")]


def _traced(world: World, graph: Graph, head: RunHead) -> Trace:
    trace = Trace(graph, head.run_id)
    _replay(world, head, trace, trace.add)
    return trace


def _replay(world: World, head: RunHead, trace: Trace, take: Callable[[Event], None]) -> None:
    """Reads the whole log of a run, or raises, as `head_of` does if it is erased meanwhile. By a part of the log, nodes would not
    have completed, and a rerun would run them again."""
    log = RunLog(world.store, world.blobs, head.run_id)
    with whole_or_gone(world, head.run_id):
        log.replay(take)
        log.check_end(trace.state.sequence, head.sequence)


def check_node(graph: Graph, node: str) -> None:
    """Raises `NotFound` (unknown_node) and `InvalidRequest` (inside_container) unless the node is at the top level."""
    if node in graph.root.positions:
        return
    if "@" in node or any(_inside(n.container.body, node) for n in graph.root.nodes if n.container is not None):
        message = f"{node} is inside a container, and single turns cannot be repeated"
        raise InvalidRequest(message, code="inside_container", status=422, mend="rerun from the container itself")
    from stepless.compile.suggest import did_you_mean  # imported late: only needed for an unknown name

    mend = did_you_mean(node, graph.root.positions, what="nodes")
    raise NotFound(f"the workflow has no node {node}", code="unknown_node", mend=mend)


def _inside(body: Body, node: str) -> bool:
    return node in body.positions or any(_inside(n.container.body, node) for n in body.nodes if n.container is not None)


def _check_upstream(trace: Trace, node: str) -> None:
    """Raises `Conflict` unless the node ran before, or all its direct predecessors completed."""
    root = trace.state.root
    target = root.instances[root.body.positions[node]]
    if target is not None and target.index:
        return
    never = [
        root.body.nodes[branch].id
        for branch in root.body.nodes[root.body.positions[node]].branches
        if (source := root.instances[branch]) is None or source.status is not Status.COMPLETED
    ]
    if never or target is None:
        message = f"{node} needs {', '.join(never) or 'a predecessor'}, which never completed in that run"
        raise Conflict(message, code="predecessor_never_ran", mend="rerun from an earlier node")


def _downstream(body: Body, start: int) -> frozenset[int]:
    """A node and all nodes downstream of it."""
    seen, stack = {start}, [start]
    while stack:
        for target in body.nodes[stack.pop()].targets:
            if target not in seen:
                seen.add(target)
                stack.append(target)
    return frozenset(seen)


def _completed(world: World, graph: Graph, head: RunHead, kept: Collection[str]) -> Mapping[str, Mapping[str, JSON]]:
    """The results of the nodes `kept` that completed in a run."""
    reused: dict[str, Mapping[str, JSON]] = {}
    trace = Trace(graph, head.run_id)

    def keep(event: Event) -> None:
        trace.add(event)
        position = graph.root.positions.get(event.instance)
        if event.type is not EventType.NODE_COMPLETED or position is None or event.instance not in kept:
            return
        instance = trace.state.root.at(position)
        payload = {name: event.data[name] for name in _KEPT if name in event.data}
        payload["output"] = instance.value
        variables = event.data.get("variables") or _written(instance)
        if variables:
            payload["variables"] = variables
        reused[event.instance] = payload

    _replay(world, head, trace, keep)
    return reused


def _written(instance: Instance) -> dict[str, JSON]:
    """The variables that a container wrote."""
    cells: Cells = instance.cells
    return {name: cell.value for name, cell in cells.items() if cell.writer == instance.node.position}
