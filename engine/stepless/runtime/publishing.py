"""Publish: a document becomes a version, or every reason why not."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from stepless.compile import check_document, compile_document, content_hash
from stepless.errors import Conflict, DocumentRefused
from stepless.model.findings import Finding, Severity
from stepless.model.graph import Body, Graph, Node
from stepless.model.json import JSON
from stepless.model.kind import Nature
from stepless.nodes import KINDS
from stepless.ports import StoredVersion
from stepless.runtime.world import World

_MODEL: Final = "Set STEPLESS_OPENAI_KEY or STEPLESS_OPENAI_URL, STEPLESS_BEDROCK_REGION, or STEPLESS_MODEL_SCRIPT for a trial."
_NEEDS: Final[Mapping[str, str]] = {
    "llm": _MODEL,
    "router": _MODEL,
    "code": "Set STEPLESS_SANDBOX_FUNCTION: this machine cannot lock code up (STEPLESS_CODE_UNSAFE=1 runs it all the same).",
}


@dataclass(frozen=True, slots=True)
class Published:
    version: StoredVersion
    warnings: tuple[Finding, ...]


def publish(world: World, document: Mapping[str, JSON], *, functions: Collection[str] | None = None) -> Published:
    """Stores a document as the newest version of its workflow; the same content again changes nothing.

    Raises `DocumentRefused` with every finding; `Conflict` when one of its webhook paths belongs to another workflow.
    Nothing is stored then.
    """
    graph = compile_document(document, world.kinds, functions=functions)
    missing = [finding for node in all_nodes(graph.root) if (finding := _without_code(world, node)) is not None]
    if missing:
        raise DocumentRefused(missing)
    now_ms = world.clock.now_ms()
    _claim_paths(world, graph, now_ms)
    former = world.store.get_version(graph.workflow_id)
    data = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    version = world.store.put_version(graph.workflow_id, content_hash(document), data, now_ms)
    if former is not None and former.hash != version.hash:
        _release_paths(world, former, webhook_paths(graph))
    warnings = tuple(f for f in check_document(document, world.kinds) if f.severity is Severity.WARNING)
    return Published(version, warnings)


def _claim_paths(world: World, graph: Graph, now_ms: int) -> None:
    """All webhook paths or none. Raises `Conflict`."""
    mine = graph.workflow_id.encode()
    new: list[str] = []
    for path in webhook_paths(graph):
        if world.store.get_claim(hook_key(path), now_ms) is None:
            new.append(path)
        owner = world.store.claim(hook_key(path), mine, now_ms)
        if owner != mine:
            for claimed in new:
                world.store.release_claim(hook_key(claimed), mine)
            message = f"the webhook path {path} belongs to the workflow {owner.decode()}"
            raise Conflict(message, code="webhook_path_taken", place=path, mend="choose another path", owner=owner.decode())


def _without_code(world: World, node: Node) -> Finding | None:
    if node.kind.nature is not Nature.EFFECT or node.kind.name in world.runs:
        return None
    message = f"the kind {node.kind.name} can be simulated but not run by this installation"
    mend = _NEEDS.get(node.kind.name, "Use another kind.")
    return Finding("kind_without_code", f"nodes.{node.id}.type", message, mend, node=node.id)


def _release_paths(world: World, former: StoredVersion, kept: Collection[str]) -> None:
    """Gives back the webhook paths that the new version has dropped."""
    before = webhook_paths(compile_document(json.loads(former.document), world.kinds))
    for path in before:
        if path not in kept:
            world.store.release_claim(hook_key(path), former.workflow_id.encode())


def all_nodes(body: Body) -> Iterable[Node]:
    """Every node of a body and of the bodies inside it."""
    for node in body.nodes:
        yield node
        if node.container is not None:
            yield from all_nodes(node.container.body)


def webhook_paths(graph: Graph) -> tuple[str, ...]:
    literals = (node.config.literals for node in graph.root.nodes if node.kind is KINDS["webhook"])
    return tuple(str(literal["path"]) for literal in literals)


def hook_key(path: str) -> str:
    return f"hook:{path}"
