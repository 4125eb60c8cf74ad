"""Starts test runs: a draft as it was after exactly one entry, run by the engine itself.

The version that is made for a run has no number. It is a blob of the run, so that it goes with it, and its name contains the key
of the blob: no list has it, it claims no webhook path, and no schedule is kept for it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from stepless.compile.canonical import json_findings
from stepless.drafts.operations.publishing import refused
from stepless.drafts.operations.run_permissions import Reuse, check_effects
from stepless.drafts.operations.verbs import At, DraftVerbs
from stepless.drafts.rules.document import to_document
from stepless.drafts.rules.document.values import decoded
from stepless.drafts.rules.state import Entities, prefix_of, tail_of
from stepless.errors import DocumentRefused, InvalidRequest, LimitExceeded, NotFound
from stepless.limits import MAX_PIN_BYTES, MAX_PINS, MAX_PINS_BYTES
from stepless.model.graph import Body, Graph, Node
from stepless.model.json import JSON
from stepless.model.kind import SOURCE
from stepless.model.stored.draft_run import DRAFT, DraftRun, Pin
from stepless.ports import Version
from stepless.runtime.draft_runs import StartedRun, note_run
from stepless.runtime.header_notes import DRAFT_RUN
from stepless.runtime.headers import NO_NUMBER
from stepless.runtime.verbs.publication import publishing
from stepless.runtime.verbs.reads.inspecting import head_of
from stepless.runtime.verbs.starts.reruns import check_node
from stepless.runtime.verbs.starts.starting import encoded_inputs, new_run_id, start_version
from stepless.runtime.versions import put_version_of_draft


class Asked(NamedTuple):
    """What a test run is asked for. `pins` by the path of the node (`price@each`); None: those of the draft. With `from_run`, the
    nodes that do not come after `from_node` have the outputs that they had in that run, and its inputs count if none are
    `given`. `entries`: the nodes at which it starts; None: all entries."""

    seq: int | None = None
    inputs: JSON = None
    given: bool = True
    pins: Mapping[str, Pin] | None = None
    stop_after: str | None = None
    from_run: str | None = None
    from_node: str | None = None
    entries: Sequence[str] | None = None


def run_draft(verbs: DraftVerbs, workflow_id: str, asked: Asked, by: str, *, anything: bool) -> StartedRun:
    """Starts a test run. `anything`: the caller may cause effects that a run of the published version cannot.

    Raises `DraftRefused` with every finding, `NotFound` (unknown_draft, unknown_item, unknown_node, unknown_run), `Gone`
    (run_erased), `InvalidRequest` (unknown_exit, inside_container, unknown_entry, other_workflow), `LimitExceeded`
    (pins_too_large, inputs_too_large), and as `effects.check_effects` and `starting.start_version` do."""
    at = verbs.at(workflow_id, asked.seq)
    document = to_document(at.state)
    try:
        checked = publishing.checked(verbs.world, document)
    except DocumentRefused as error:
        raise refused(at, error.findings) from error
    draft_run = DraftRun(pins_of(at.state) if asked.pins is None else asked.pins, asked.stop_after)
    _check_pins(checked, draft_run.pins)
    if asked.stop_after is not None:
        check_node(checked, asked.stop_after)
    data = publishing.encoded(document, checked, draft_run)
    graph = _compiled(verbs, data, asked)
    inputs = _inputs(verbs, workflow_id, asked)
    if not anything:
        check_effects(verbs.world, graph, document, draft_run, _reuse(asked), inputs)
    run_id = new_run_id()
    facts = _facts(at, draft_run, asked, by)
    version = Version(workflow_id, NO_NUMBER, put_version_of_draft(verbs.world.blobs, run_id, data))
    tags: list[JSON] = [f"draft:{workflow_id}@{at.seq}"]
    meta: dict[str, JSON] = {"tags": tags, DRAFT_RUN: facts}
    if asked.entries is not None:
        meta["entry"] = list(asked.entries)
    start_version(verbs.world, run_id, version, inputs, meta, numbered=False)
    started = StartedRun(run_id, at.head.epoch, at.seq, by, verbs.now_ms())
    note_run(verbs.world, workflow_id, started)
    return started


def _facts(at: At, draft_run: DraftRun, asked: Asked, by: str) -> dict[str, JSON]:
    """What the run records of itself."""
    facts: dict[str, JSON] = {"epoch": at.head.epoch, "seq": at.seq, "by": by, "pins": list(draft_run.pins)}
    others = {"stop_after": draft_run.stop_after, "of": asked.from_run, "from": asked.from_node}
    return facts | {name: value for name, value in others.items() if value is not None}


def _compiled(verbs: DraftVerbs, data: bytes, asked: Asked) -> Graph:
    """The graph that will run."""
    from stepless.compile.stored import compile_stored  # imported late, like the checks

    graph = compile_stored(data, DRAFT, verbs.world.kinds, asked.entries)
    if asked.stop_after is not None and asked.stop_after not in graph.root.positions:
        message, mend = f"the run does not come to {asked.stop_after}", "start it at another entry"
        raise InvalidRequest(message, code="unknown_entry", status=422, place="entry", mend=mend)
    if asked.from_node is not None:
        check_node(graph, asked.from_node)
    return graph


def _inputs(verbs: DraftVerbs, workflow_id: str, asked: Asked) -> bytes:
    if (asked.from_run is None) != (asked.from_node is None):
        raise InvalidRequest("`from_run` and `from` belong together", place="from", mend="give both, or neither")
    if asked.from_run is None:
        return encoded_inputs(asked.inputs)
    former = head_of(verbs.world, asked.from_run)
    if former.workflow_id != workflow_id:
        message, mend = f"{asked.from_run} is a run of {former.workflow_id}", "give a run of this workflow"
        raise InvalidRequest(message, code="other_workflow", status=422, place="from_run", mend=mend)
    return encoded_inputs(asked.inputs) if asked.given else former.inputs


def _reuse(asked: Asked) -> Reuse | None:
    return Reuse(asked.from_run, asked.from_node) if asked.from_run is not None and asked.from_node is not None else None


# -- pins --------------------------------------------------------------------------------------------------------------


def pins_of(state: Entities) -> dict[str, Pin]:
    """Returns the pins that a draft has, by the path of the node."""
    found: dict[str, Pin] = {}
    for key in sorted(key for key in state if prefix_of(key) == "pin"):
        entity: Any = state.get(key)
        handle = entity.get("handle")
        found[_path_of(state, tail_of(key))] = Pin(decoded(entity["output"]), handle if isinstance(handle, str) else None)
    return found


def _path_of(state: Entities, tail: JSON) -> str:
    ids: list[str] = []
    while isinstance(tail, str) and (block := state.get(f"block/{tail}")) is not None:
        ids.append(str(block["id"]))
        tail = block.get("parent")
    return "@".join(ids)


def _check_pins(graph: Graph, pins: Mapping[str, Pin]) -> None:
    sizes = {
        path: len(json.dumps(pin.output, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))
        for path, pin in pins.items()
    }
    largest = max(sizes, key=sizes.__getitem__, default="")
    if sizes.get(largest, 0) > MAX_PIN_BYTES:
        message = f"the pinned output of {largest} takes {sizes[largest]:,} bytes; {MAX_PIN_BYTES:,} is the limit"
        raise LimitExceeded(message, code="pins_too_large", place=f"pins.{largest}", mend="pin less")
    if sum(sizes.values()) > MAX_PINS_BYTES or len(pins) > MAX_PINS:
        message = f"the pinned outputs are more than {MAX_PINS:,}, or take more than {MAX_PINS_BYTES:,} bytes"
        raise LimitExceeded(message, code="pins_too_large", place="pins", mend="pin less")
    for path, pin in pins.items():
        for finding in json_findings(pin.output):
            message = f"the pinned output is not JSON: {finding.message}"
            raise InvalidRequest(message, code="invalid_json", place=f"pins.{path}", mend=finding.mend)
        node = _node_at(graph.root, path)
        if node is None:
            message, mend = f"the draft has no node {path} that runs", "give the path of a node, such as `price@each`"
            raise NotFound(message, code="unknown_node", place=f"pins.{path}", mend=mend)
        if pin.handle is not None and pin.handle != SOURCE and pin.handle not in node.exits:
            message, mend = f"{node.id} has no exit {pin.handle}", f"use one of {', '.join(node.exits)}"
            raise InvalidRequest(message, code="unknown_exit", status=422, place=f"pins.{path}.handle", mend=mend)


def _node_at(body: Body, path: str) -> Node | None:
    """The node at a path; None for one that does not exist, and for a model's tool, which is called by its user."""
    node: Node | None = None
    for name in reversed(path.split("@")):
        if node is not None:
            if node.container is None:
                return None
            body = node.container.body
        place = body.positions.get(name)
        if place is None:
            return None
        node = body.nodes[place]
    return node
