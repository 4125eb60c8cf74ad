"""Starts a new run with the version of a former one: from the start, from what failed, or from a node or an instance. The former
run is not changed.

From what failed (`from: failed`), the new run takes over every outcome that stays (`core/outcomes.py`), also inside iterations,
and runs what failed, was cancelled in flight or was never reached. From a node or an instance, that one and all nodes downstream
of it run in addition. With other inputs the entries run, too: what they return are the inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from stepless.core.events import Event, EventType
from stepless.core.facts import CancelRequested, Fact
from stepless.core.history.trace import Trace
from stepless.core.outcomes import Former, downstream
from stepless.core.rerun_targets import Target, target_of
from stepless.core.state import Cells, Instance, RunStatus
from stepless.errors import Conflict, Gone, InvalidRequest, LimitExceeded, NotFound
from stepless.limits import MAX_TAKEN_OVER
from stepless.model.graph import Body, Graph
from stepless.model.json import JSON
from stepless.model.kind import Nature
from stepless.model.runs.statuses import ENDED
from stepless.model.runs.traceparent import stored_former
from stepless.ports import RunHead, Version
from stepless.runtime.header_notes import meta_of
from stepless.runtime.headers import draft_of, version_of
from stepless.runtime.messages.keys import run_key_of
from stepless.runtime.messages.starts import NewRun
from stepless.runtime.related_runs import note_rerun
from stepless.runtime.runlog import RunLog
from stepless.runtime.verbs.reads.inspecting import graph_of, head_of, whole_or_gone
from stepless.runtime.verbs.starts.repeated_runs import is_repeated
from stepless.runtime.verbs.starts.starting import (
    Started,
    checked_entries,
    encoded_inputs,
    new_run_id,
    start_under_former_key,
    start_version,
)
from stepless.runtime.world import World

FAILED: Final = "failed"
"""As the beginning of a rerun: whatever failed. A node with this id is named `node:failed`."""
NODE: Final = "node:"
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
    items: str | list[int] | None = None,
) -> Started:
    """Starts a run like `run_id`, with other inputs if `edited`. Who asked for it and why is kept in the header of the new run.

    `node` is where it begins: `failed`, a node (`node:failed` for one with that id) or an instance, like `pay@each[3]`.
    Where it is a `distributed` node, `items` are those that run again, by their numbers, or `failed`.
    Other inputs are allowed at entries only, since nodes before `node`, like an approval, have decided about the former inputs.
    Elsewhere, and for a run that started elsewhere, the caller must be one who may start `anywhere`: entries then take the other
    inputs, and all else that stays is taken over.
    A test run is repeated from its draft: `Conflict` (test_run). Without `again`, a run that is repeated already, in the sense
    of `runtime/verbs/starts/repeated_runs.py`, is left alone: `Conflict` (rerun_already).
    Raises what `encoded_inputs` raises, `NotFound` (unknown_run, unknown_node), `InvalidRequest` (inside_container,
    unknown_entry, not_distributed, out_of_range), and `Conflict`: key_taken if another live run has the key of the run;
    predecessor_never_ran if a predecessor of the node never completed; from what failed, or with `items`, run_not_ended, and
    nothing_failed for a run that completed.
    """
    head = head_of(world, run_id)
    if draft_of(head) is not None:
        message, mend = f"{run_id} is a run of a draft", "start a test run of the draft, which can reuse the outputs of this one"
        raise Conflict(message, code="test_run", mend=mend)
    if not again and is_repeated(world, run_id):
        raise Conflict(f"{run_id} was rerun already", code="rerun_already", mend="rerun it with `again`, or rerun its rerun")
    graph = graph_of(world, head)
    begins_at: list[str] = []
    if node == FAILED:
        _check_failed(head, edited=edited, anywhere=anywhere)
    elif node is not None:
        target = checked_target(graph, node)
        _check_upstream(read_former(world, head, graph, target), target)
        begins_at = [target.id] if edited else []
    chosen: Mapping[str, JSON] = {}
    if items is not None:
        from stepless.runtime.verbs.starts.item_reruns import checked_items  # imported late: few runs have `distributed` nodes

        chosen = checked_items(world, head, graph, node, items)
    asked = {"by": by, "reason": reason, **({"edited": True} if edited else {})}
    data = encoded_inputs(inputs) if edited else head.inputs
    version = former_version(world, head)
    meta = former_meta(head, node, {**asked, **chosen})
    entries = [*(meta.get("entry") or ()), *begins_at]
    meta |= checked_entries(world, version, entries, anywhere=anywhere, place="from" if node is not None else "")

    def note(new: str) -> str:
        note_rerun(world, run_id, new)
        return new

    if (run_key := run_key_of(head)) is not None:
        return start_under_former_key(world, run_key[0], NewRun(version, graph, data, meta), note)
    return start_version(world, note(new_run_id()), version, data, meta, numbered=graph.numbered)


def former_meta(head: RunHead, origin: str | None, asked: Mapping[str, JSON]) -> dict[str, Any]:
    """Returns the fields of the header of a rerun that are about the former run. `asked` says who asked for it, and why."""
    former = meta_of(head)
    meta = {name: value for name, value in former.items() if name in ("entry", "tags")}
    meta["rerun"] = {"of": head.run_id, "from": origin, **{name: text for name, text in asked.items() if text is not None}}
    return {**meta, **stored_former(head.run_id, former)}


def former_version(world: World, head: RunHead) -> Version:
    """Returns the version that a run started with, under the number that it had then."""
    number = version_of(head)
    if number is not None:
        return Version(head.workflow_id, number, head.version)
    version = world.store.get_version(head.workflow_id, hash=head.version)
    if version is None:
        raise NotFound(f"the version of {head.run_id} does not exist any more", code="unknown_version")
    return version


def _check_failed(head: RunHead, *, edited: bool, anywhere: bool) -> None:
    """Raises unless the run may be rerun from what failed."""
    if head.status not in ENDED:
        message = f"the run {head.run_id} has not ended"
        raise Conflict(message, code="run_not_ended", mend="wait for its end, or rerun it from a node", run_status=head.status)
    if head.status == RunStatus.COMPLETED:
        mend = "rerun it without `from`, or from a node or an instance, like `pay@each[3]`"
        raise Conflict(f"the run {head.run_id} completed", code="nothing_failed", mend=mend)
    if edited and not anywhere:
        message = "what is taken over, like an approval, has decided about the former inputs"
        mend = "leave out `inputs` or `from`, or use a key with the role admin"
        raise InvalidRequest(message, code="unknown_entry", status=422, place="inputs", mend=mend)


def taken_over(world: World, origin: JSON) -> tuple[Mapping[str, Mapping[str, JSON]], Mapping[str, JSON]]:
    """Returns the outcomes that a rerun takes over, as `Begin` has them: `reused` and `kept`. Empty for one that begins at the
    start. Raises `NotFound` and `Gone` if the former run is not there any more."""
    if not isinstance(origin, dict) or origin.get("from") is None:
        return {}, {}
    head = head_of(world, str(origin["of"]))
    graph = graph_of(world, head)
    node = str(origin["from"])
    target = None if node == FAILED else checked_target(graph, node)
    reused, kept = read_former(world, head, graph, target, edited=bool(origin.get("edited"))).outcomes()
    others = kept.get("outcomes")
    count = len(reused) + (len(others) if isinstance(others, list) else 0)
    if count > MAX_TAKEN_OVER:
        message = f"{count:,} outcomes would be taken over; {MAX_TAKEN_OVER:,} is the limit"
        raise LimitExceeded(message)
    return reused, kept


def read_former(world: World, head: RunHead, graph: Graph, target: Target | None, *, edited: bool = False) -> Former:
    """Reads the log of the former run. Raises as `head_of` does if it is erased meanwhile."""
    former = Former(graph, head.run_id, target, edited=edited)
    log = RunLog(world.store, world.blobs, head.run_id)
    with whole_or_gone(world, head.run_id):
        log.replay(former.add)
        log.check_end(former.state.sequence, head.sequence)
    return former


def reused_outputs(world: World, origin: JSON, graph: Graph | None = None) -> Mapping[str, Mapping[str, JSON]]:
    """Returns the recorded results of the nodes that are not run again, by node id. Empty for a run that does not begin at a node
    of a former one. `graph` is that of the new run, where it may be another one: nodes are the same if their ids are, and pinned
    ones take no result."""
    if not isinstance(origin, dict) or origin.get("from") is None:
        return {}
    run_id, node = str(origin["of"]), str(origin["from"])
    head = head_of(world, run_id)
    former = graph_of(world, head)
    root = former.root if graph is None else graph.root
    again = downstream(root, root.positions[node])
    kept = frozenset(
        one.id for one in root.nodes
        if one.position not in again and not one.pinned and not (origin.get("edited") and one.kind.nature is Nature.ENTRY)
    )
    return _completed(world, former, head, kept)


def reused_or_cancelled(
    world: World, origin: JSON, graph: Graph | None = None
) -> tuple[Mapping[str, Mapping[str, JSON]], Mapping[str, JSON], list[Fact]]:
    """Returns the result of `taken_over`, or, for a test run of `graph`, `reused_outputs`. If the former run was erased before
    the rerun began, a fact that cancels the rerun."""
    try:
        reused, kept = taken_over(world, origin) if graph is None else (reused_outputs(world, origin, graph), {})
        return reused, kept, []
    except (Gone, NotFound, LimitExceeded) as error:
        return {}, {}, [CancelRequested(None, f"its outputs cannot be reused: {error.message}")]


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
    if "@" in node or (container := _around(graph.root, node)) is not None:
        message = f"{node} is inside a container"
        mend = "begin at the container itself" if "@" in node else f"name one of its instances, like {node}@{container}[0]"
        raise InvalidRequest(message, code="inside_container", status=422, mend=mend)
    from stepless.compile.suggest import did_you_mean  # imported late: only needed for an unknown name

    mend = did_you_mean(node, graph.root.positions, what="nodes")
    raise NotFound(f"the workflow has no node {node}", code="unknown_node", mend=mend)


def checked_target(graph: Graph, node: str) -> Target:
    """Returns the node or the instance that a text names. Raises as `check_node` does."""
    target = target_of(node.removeprefix(NODE))
    if target is None or not target.iterations:
        check_node(graph, node.removeprefix(NODE))
        return Target((), node.removeprefix(NODE))
    body = graph.root
    for name, _ in target.iterations:
        position = body.positions.get(name)
        container = body.nodes[position].container if position is not None else None
        if container is None:
            message = f"{node} names no instance: {name} is not a container there"
            raise NotFound(message, code="unknown_node", mend="see the instances of the run: `stepless runs show`")
        body = container.body
    if target.node not in body.positions:
        from stepless.compile.suggest import did_you_mean

        mend = did_you_mean(target.node, body.positions, what="nodes")
        raise NotFound(f"{node} names no instance: the container has no node {target.node}", code="unknown_node", mend=mend)
    return target


def _around(body: Body, node: str) -> str | None:
    """The container, at any depth, whose body has the node."""
    for owner in body.nodes:
        if owner.container is not None:
            found = owner.id if node in owner.container.body.positions else _around(owner.container.body, node)
            if found is not None:
                return found
    return None


def _check_upstream(former: Former, target: Target) -> None:
    """Raises `Conflict` unless the target ran before, or all its direct predecessors completed."""
    if not former.reached():
        message = f"{target.id} needs {', '.join(former.missing()) or 'a predecessor'}, which never completed in that run"
        raise Conflict(message, code="predecessor_never_ran", mend="rerun from an earlier node")


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
