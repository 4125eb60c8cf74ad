"""Stores a document as a version, or refuses it with every finding."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from stepless.errors import Conflict, Damaged, DamagedVersion, DocumentRefused, StoreUnavailable, StoreUnusable
from stepless.limits import MAX_SCHEDULES, PUBLISHING_TRIES
from stepless.model.findings import Finding, Severity
from stepless.model.graph import Graph, Node, all_nodes, placed_nodes
from stepless.model.json import JSON
from stepless.model.kind import Nature
from stepless.model.stored.damage import decoding
from stepless.model.stored.document import CONTAINER_POLICIES, encode_document, read_stored
from stepless.model.stored.draft_run import DraftRun
from stepless.model.stored.version_metadata import Attached, decode_attached, encode_attached
from stepless.model.texts.ids import is_slug
from stepless.ports import StoredVersion, Version
from stepless.runtime.origin import command
from stepless.runtime.verbs.publication.attempt_fit import too_long
from stepless.runtime.verbs.publication.calendar_registration import keep_schedules, rhythms_of
from stepless.runtime.verbs.publication.clock_warnings import clock_warnings
from stepless.runtime.verbs.publication.environment import unset_names
from stepless.runtime.versions import document_of
from stepless.runtime.world import World

if TYPE_CHECKING:  # a process that only executes runs must not import pydantic
    from stepless.model.signature import Callables

MESSAGE_EVENT: Final = "message-event"  # as an entry: a workflow with an event source of a message
_MODEL: Final = "Set STEPLESS_OPENAI_KEY or STEPLESS_OPENAI_URL, STEPLESS_BEDROCK_REGION, or STEPLESS_MODEL_SCRIPT for tests."
_AWS: Final = "Install what it needs: {command}."
_NEEDS: Final[Mapping[str, str]] = {
    "aws": _AWS,
    "lambda": _AWS,
    "llm": _MODEL,
    "router": _MODEL,
    "code": "Set STEPLESS_SANDBOX_FUNCTION: this machine cannot isolate code (STEPLESS_CODE_UNSAFE=1 runs it without isolation).",
}


@dataclass(frozen=True, slots=True)
class Published:
    """`new` is false if this was already the workflow's newest version. `graph` is that of the document."""

    version: StoredVersion
    warnings: tuple[Finding, ...]
    new: bool
    graph: Graph


def publish(
    world: World, document: Mapping[str, JSON], *, functions: Callables | None = None, attached: Attached | None = None,
    expected: int | None = None, graph: Graph | None = None,
) -> Published:
    """Stores a document as the newest version of its workflow. The same content again changes nothing but what is `attached`.
    With `expected`, the newest version must have this number (0: there is none), or the same content. `graph` is what
    `compile_document` has returned for this document, its functions and the kinds of the world: it is not compiled again then.

    Raises `DocumentRefused` with every finding, `VersionMoved` for another newest version than was expected, or `Conflict` if a
    webhook path belongs to another workflow; nothing is stored then. After the version is stored, raises as
    `scheduling.keep_schedules` does, and `StoreUnavailable` or `Conflict` if a webhook path could not be claimed or released. To
    publish again then completes the publication.
    """
    graph = runnable(world, graph) if graph is not None else checked(world, document, functions=functions)
    now_ms = world.clock.now_ms()
    _claim_paths(world, graph, now_ms)
    former = world.store.newest_version(graph.workflow_id)
    data = encoded(document, graph)
    replaces = former is not None and former.hash == graph.version and _is_damaged(world, graph, data)
    version = _stored(world, graph, data, now_ms, attached, expected, replaces)
    _settle_paths(world, version, webhook_paths(graph))
    keep_schedules(world, graph.workflow_id, graph)
    unset = _unset_names(world, document) if graph.env else ()
    warnings = (*graph.warnings, *unset, *clock_warnings(graph, now_ms), *_idle_of_before(graph, version))
    return Published(version, warnings, former is None or former.number != version.number, graph)


def checked(world: World, document: Mapping[str, JSON], *, functions: Callables | None = None) -> Graph:
    """Returns the graph of a document that this installation can run. Raises `DocumentRefused` with every finding."""
    from stepless.compile.compiler import compile_document  # imported late: it loads all checks

    return runnable(world, compile_document(document, world.kinds, functions=functions))


def runnable(world: World, graph: Graph) -> Graph:
    """Returns the graph, if this installation can run it. Raises `DocumentRefused`."""
    placed = dict(placed_nodes(graph.root))
    missing = [finding for path, node in placed.items() if (finding := _without_code(world, path, node)) is not None]
    missing += _too_many_schedules(graph)
    if world.runner_timeout_s is not None:
        missing += too_long(graph, world.runner_timeout_s)
    if missing:
        raise DocumentRefused(missing)
    return graph


def encoded(document: Mapping[str, JSON], graph: Graph, draft_run: DraftRun | None = None) -> bytes:
    """Returns the stored form of a document with this graph, for a test run if `draft_run` is given."""
    from stepless.compile.features import features_of  # imported late, like the checks

    limited = graph.limited or document.get("rate") is not None
    enclosing = any(node.whole for node in all_nodes(graph.root))
    return encode_document(document, features_of(document, limited=limited, enclosing=enclosing), draft_run)


def _stored(
    world: World, graph: Graph, data: bytes, now_ms: int, attached: Attached | None, expected: int | None,
    replaces: bool,
) -> StoredVersion:  # fmt: skip
    """Only what is given is passed on: a store of another package that keeps nothing with its versions still publishes. What is
    known of a version stays when the same content is published again with another text."""
    given: dict[str, Any] = {} if expected is None else {"expected": expected}
    if attached is not None:
        newest = world.store.newest_version(graph.workflow_id)
        if newest is not None and newest.hash == graph.version:
            known = decode_attached(world.store.get_attached(graph.workflow_id, newest.number))
            attached = known.updated(attached)
        given["attached"] = encode_attached(attached)
    if replaces:
        given["replace"] = True
    return world.store.put_version(graph.workflow_id, graph.version, data, now_ms, _listed_entries(graph), **given)


def _idle_of_before(graph: Graph, version: StoredVersion) -> tuple[Finding, ...]:
    """A warning for each node whose policies the version does not obey, because an earlier release stored the same content."""
    whole = [(path, node.id) for path, node in placed_nodes(graph.root) if node.whole]
    if not whole or CONTAINER_POLICIES in read_stored(version.document).features:
        return ()
    message = "this content was published when `retry` and `timeout_ms` had no effect on this node; that version stays as it is"
    mend = "Change the document, its `description` for example, and publish it again."
    return tuple([Finding("idle_setting", path, message, mend, node, severity=Severity.WARNING) for path, node in whole])


def _is_damaged(world: World, graph: Graph, data: bytes) -> bool:
    """Whether the newest version has this content by its hash, and not in what is stored."""
    newest = world.store.get_version(graph.workflow_id)
    if newest is None or newest.hash != graph.version or newest.document == data:
        return False
    from stepless.compile.stored import is_intact  # imported late, like the checks

    return not is_intact(newest.document, newest.hash)


def _unset_names(world: World, document: Mapping[str, JSON]) -> tuple[Finding, ...]:
    """The warnings of unset names; none if the secrets cannot be read now."""
    try:
        return unset_names(document, world.secrets.get)
    except (StoreUnavailable, StoreUnusable):
        return ()


def _listed_entries(graph: Graph) -> list[str]:
    """The kinds of entries by which workflows are found when an event arrives or a schedule is due."""
    found = {node.kind.name for node in graph.root.nodes if node.enabled} & {"event", "schedule"}
    return sorted(found | ({MESSAGE_EVENT} if any(source.node.kind.name == "event" for source in graph.sources) else set()))


def _too_many_schedules(graph: Graph) -> list[Finding]:
    if (number := len(rhythms_of(graph))) <= MAX_SCHEDULES:
        return []
    message = f"{number} schedules; a workflow has at most {MAX_SCHEDULES}"
    return [Finding("too_many_schedules", "nodes", message, "Let one schedule fire more often, or split the workflow.")]


def _claim_paths(world: World, graph: Graph, now_ms: int) -> None:
    """Claims all webhook paths, or none. Raises `Conflict`."""
    new: list[str] = []
    for path in webhook_paths(graph):
        if world.store.get_claim(hook_key(path), now_ms) is None:
            new.append(path)
        try:
            _claim_path(world, graph.workflow_id, path, now_ms)
        except Conflict:
            for claimed in new:
                world.store.release_claim(hook_key(claimed), graph.workflow_id.encode())
            raise


def _claim_path(world: World, workflow_id: str, path: str, now_ms: int) -> None:
    stored = world.store.claim(hook_key(path), workflow_id.encode(), now_ms)
    try:
        owner = owner_of(stored, path)
    except Damaged:
        if not world.store.replace_claim(hook_key(path), stored, workflow_id.encode(), now_ms):
            raise
        owner = workflow_id
    if owner != workflow_id:
        message = f"the webhook path {path} belongs to the workflow {owner}"
        raise Conflict(message, code="webhook_path_taken", place=path, mend="choose another path", owner=owner)


def _settle_paths(world: World, version: Version, mine: Collection[str]) -> None:
    """Releases the webhook paths that the newest version no longer has, and claims those that it has. Other processes may publish
    the workflow concurrently, and the publisher of the former version may have died before this step. `mine` are the paths of
    `version`."""
    settled, now_ms = 0, world.clock.now_ms()
    for _ in range(PUBLISHING_TRIES):
        newest = world.store.newest_version(version.workflow_id)
        if newest is None or newest.number == settled:
            return
        settled = newest.number
        kept = mine if settled == version.number else _paths_of(world, version.workflow_id, settled)
        for path in {*mine, *_paths_of(world, version.workflow_id, settled - 1)} - {*kept}:
            world.store.release_claim(hook_key(path), version.workflow_id.encode())
        for path in kept:
            _claim_path(world, version.workflow_id, path, now_ms)
    place = f"workflow {version.workflow_id}"
    raise StoreUnavailable("other processes keep publishing the workflow", place=place, mend="publish it again")


def _paths_of(world: World, workflow_id: str, number: int) -> tuple[str, ...]:
    """The webhook paths of a version; none if the version does not exist. Nothing is compiled: it was checked when it was
    published."""
    stored = world.store.get_version(workflow_id, number) if number else None
    try:
        nodes = document_of(stored)["nodes"].values() if stored is not None else ()
    except DamagedVersion:  # which paths it had is not known
        return ()
    hooks = [node.get("with") for node in nodes if isinstance(node, dict) and node.get("type") == "webhook"]
    paths = [hook.get("path") for hook in hooks if isinstance(hook, dict)]
    return tuple([path for path in paths if isinstance(path, str)])


def _without_code(world: World, path: str, node: Node) -> Finding | None:
    if node.kind.nature is not Nature.EFFECT or node.kind.name in world.kind_code:
        return None
    message = f"the kind {node.kind.name} can be simulated but not run by this installation"
    mend = _NEEDS.get(node.kind.name, "Use another kind.")
    if mend is _AWS:
        mend = mend.format(command=command("aws"))
    return Finding("kind_without_code", f"{path}.type", message, mend, node=node.id)


def webhook_paths(graph: Graph) -> tuple[str, ...]:
    nodes = (*graph.root.nodes, *(source.node for source in graph.sources))
    return tuple(str(node.config.literals["path"]) for node in nodes if node.kind.name == "webhook")


def owner_of(claimed: bytes, path: str) -> str:
    """Returns the workflow that a claim of a webhook path names. Raises `Damaged`."""
    place, mend = f"claim.value of {hook_key(path)}", "publish the workflow with this path again"
    with decoding(claimed, place, mend):
        owner = claimed.decode()
        if not is_slug(owner):
            raise ValueError("it names no workflow")
    return owner


def hook_key(path: str) -> str:
    return f"hook:{path}"
