"""Starts a new run of the newest version with the request that started a former run. The former run is not changed.

Useful to test a changed workflow with a real request. (A rerun repeats a run with its own version.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stepless.errors import NotFound
from stepless.model.graph import Graph, Node
from stepless.model.json import JSON
from stepless.model.runs.traceparent import stored_former
from stepless.runtime.header_notes import inputs_of, meta_of
from stepless.runtime.triggers.webhooks import check_schema
from stepless.runtime.verbs.reads.inspecting import head_of
from stepless.runtime.verbs.starts.starting import Started, latest, start
from stepless.runtime.world import World


def redeliver(world: World, run_id: str) -> Started:
    """Starts a run of the newest version with the inputs of `run_id`, at the entries of that run. A webhook's request goes to the
    node that listens on its path now, and must fit that node's schema. Signatures are not checked again, and the start nodes need
    not be entries, so the caller must be allowed to start anywhere.

    Raises `NotFound` (unknown_run; unknown_hook if no node listens on the path any more), `InvalidRequest` (schema_violated), and
    as `start` does.
    """
    head = head_of(world, run_id)
    meta = meta_of(head)
    inputs: JSON = inputs_of(head)
    entry: Sequence[str] | None = meta.get("entry")
    trigger: Mapping[str, JSON] = meta.get("trigger") or {}
    if trigger.get("kind") == "webhook":
        graph = world.versions.graph(head.workflow_id, latest(world, head.workflow_id).hash)
        node = _listener(graph, str(trigger["path"]), entry or ())
        check_schema(node, inputs["body"])
        entry = [node.id]
    kept = {name: value for name, value in meta.items() if name in ("trigger", "tags")}
    kept["rerun"] = {"of": run_id, "from": None}
    kept |= stored_former(run_id, meta)
    return start(world, head.workflow_id, inputs, entry=entry, anywhere=True, meta=kept)


def _listener(graph: Graph, path: str, former: Sequence[str]) -> Node:
    """The node that listens on a path. Nodes with different methods may share a path: prefers the node that received the former
    request."""
    found = [node for node in graph.root.nodes if node.kind.name == "webhook" and node.config.literals["path"] == path]
    if not found:
        message = f"the newest version of {graph.workflow_id} has no webhook on {path}"
        raise NotFound(message, code="unknown_hook", mend="publish it with one, or send a new request")
    return next((node for node in found if node.id in former), found[0])
