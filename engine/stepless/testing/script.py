"""Scripts the outcomes of nodes in a simulation, in place of their real work (docs/understand/semantics.md#simulation)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from stepless.core.facts import Completed, Failed, Failure, Suspended
from stepless.errors import InvalidRequest
from stepless.model.graph import Body, Graph, Node
from stepless.model.json import JSON
from stepless.model.kind import SOURCE, Kind, Nature, Outcome, Pause, Work

Entry = Mapping[str, Mapping[str, Any]]
_WAITING = frozenset({"human", "wait"})
_OPTIONS: Mapping[str, frozenset[str]] = {
    "ok": frozenset({"ms", "value", "handle", "set", "usage"}),
    "fail": frozenset({"ms", "cause", "code", "message", "retry_after_ms"}),
    "human": frozenset({"resume_at", "handle", "expires_at", "answer"}),
    "wait": frozenset({"resume_at", "handle"}),
}


@dataclass(frozen=True, slots=True)
class Step:
    """The end of one attempt: the fact, and how long after the start of the attempt it arrives."""

    after_ms: int
    fact: Completed | Failed | Suspended


class Script:
    """Entries by instance id or node id; the entry of the instance takes precedence. A list has one entry per attempt; the last
    one applies to all later attempts."""

    def __init__(self, entries: Mapping[str, Entry | Sequence[Entry]] | None) -> None:
        self._entries: dict[str, tuple[Entry, ...]] = {}
        for key, entry in (entries or {}).items():
            steps = (entry,) if isinstance(entry, Mapping) else tuple(entry)
            for step in steps:
                _check(key, step)
            self._entries[key] = steps
        self.nodes = frozenset(key.partition("@")[0] for key in self._entries)

    def entry(self, instance: str, attempt: int) -> Entry | None:
        steps = self._entries.get(instance) or self._entries.get(instance.partition("@")[0])
        return steps[min(attempt, len(steps)) - 1] if steps else None

    def only_waits(self, node: str) -> bool:
        """Returns whether the script keeps the node's own pause and only sets when it ends."""
        steps = [step for key, entries in self._entries.items() if key.partition("@")[0] == node for step in entries]
        return bool(steps) and all(_WAITING.issuperset(step) for step in steps)

    def step(self, instance: str, node: Node, attempt: int, chance: float) -> Step:
        """Returns the end of an attempt of an effectful (or scripted) node."""
        entry = self.entry(instance, attempt) or {"ok": {}}
        ((what, given),) = entry.items()
        options = given or {}
        after_ms = int(options.get("ms", 1))
        match what:
            case "ok":
                value = options.get("value", node.id)
                outcome = Outcome(value, options.get("handle", SOURCE), options.get("set") or {})
                return Step(after_ms, Completed(instance, attempt, outcome, options.get("usage") or {}))
            case "fail":
                return Step(after_ms, Failed(instance, attempt, _failure(options), chance))
            case "human":
                pause = Pause("human_input", deadline_ms=options.get("expires_at"), exits=node.exits or (SOURCE,))
                return Step(0, Suspended(instance, attempt, pause))
            case _:
                pause = Pause("timer", resume_at_ms=options.get("resume_at"), handle=options.get("handle", SOURCE))
                return Step(0, Suspended(instance, attempt, pause))

    def answer(self, instance: str) -> tuple[int, str | None, JSON] | None:
        """Returns when and how the script answers a pause of this instance."""
        entry = self.entry(instance, 1)
        options = (entry.get("human") or {}) if entry and "human" in entry else {}
        if options.get("resume_at") is None:
            return None
        return int(options["resume_at"]), options.get("handle"), options.get("answer")


def _check(key: str, step: Entry) -> None:
    known = ", ".join(_OPTIONS)
    if len(step) != 1 or next(iter(step)) not in _OPTIONS:
        raise InvalidRequest("a script entry has exactly one key", code="invalid_script", place=f"script of {key}", mend=known)
    ((what, options),) = step.items()
    unknown = set(options or {}) - _OPTIONS[what]
    if unknown:
        mend = f"its options are {', '.join(sorted(_OPTIONS[what]))}"
        raise InvalidRequest(f"{what} has no option {min(unknown)!r}", code="invalid_script", place=f"script of {key}", mend=mend)


def _failure(options: Mapping[str, Any]) -> Failure:
    cause = str(options.get("cause") or "provider_error")
    family = {"timeout": "timeout", "config": "processing", "moderation": "policy"}.get(cause, "execution")
    return Failure(cause, options.get("code") or cause, options.get("message") or "", family, options.get("retry_after_ms"))


def scripted(graph: Graph, script: Script) -> Graph:
    """Returns the graph in which every scripted node follows the script. Nothing else of a node changes."""
    return replace(graph, root=_scripted_body(graph.root, script)) if script.nodes else graph


def _scripted_body(body: Body, script: Script) -> Body:
    return replace(body, nodes=tuple(_scripted_node(node, script) for node in body.nodes))


def _scripted_node(node: Node, script: Script) -> Node:
    if node.id not in script.nodes:
        container = node.container
        return node._replace(container=container._replace(body=_scripted_body(container.body, script))) if container else node
    if node.kind.nature is Nature.PAUSE and script.only_waits(node.id):
        return node._replace(kind=_with_other_times(node, script))
    kind = replace(node.kind, nature=Nature.EFFECT, evaluate=None, suspend=None)
    return node._replace(kind=kind, container=None)


def _with_other_times(node: Node, script: Script) -> Kind:
    """The node's own pause, with the times of the script."""
    original = node.kind.suspend

    def suspend(work: Work) -> Pause | Outcome:
        pause = original(work) if original is not None else Pause("human_input", exits=node.exits)
        if isinstance(pause, Outcome):
            return pause
        ((what, options),) = (script.entry(node.id, 1) or {"human": {}}).items()
        if what == "wait":
            return replace(pause, resume_at_ms=options.get("resume_at"), deadline_ms=None)
        expires_at = (options or {}).get("expires_at")
        return replace(pause, deadline_ms=expires_at) if expires_at is not None else pause

    return replace(node.kind, suspend=suspend)
