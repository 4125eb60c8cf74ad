"""Refuses settings of nodes without effect: those of attempts on nodes without attempts, those of branches on entries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stepless.compile.parsed import Parsed, ParsedBody, ParsedNode
from stepless.compile.suggest import did_you_mean, listed, nearest
from stepless.model.findings import Finding, Severity, remove, use
from stepless.model.kind import Kind, Nature
from stepless.model.kind_settings import obeys

_CHECKED: Final = ("retry", "timeout_ms", "delivery", "moderation", "moderation_on_error", "join", "merge", "on_parent_failure",
                   "default", "output_contract")  # the others have findings of their own
_OF_BRANCHES: Final = ("join", "merge", "on_parent_failure", "default")
_TIMEOUT: Final = "timeout"


def idle_policies(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    """Settings that no node of the kind obeys."""
    for node in body.order:
        kind = node.kind
        if node.plain or kind is None or node.id in body.tools:
            continue
        for name in _CHECKED:
            if name in node.raw and not obeys(kind, name):
                message = f"`{name}` has no effect: {_reason(kind, name)}"
                yield Finding("idle_setting", f"{node.path}.{name}", message, _fix_text(kind, name), node.id, fix=remove(name))
        if node.raw.get("moderation") in ("output", "both") and (whose := _output_of_another(node, kind)):
            message = f"only the output of an attempt is moderated, and `{node.id}` returns {whose}"
            mend = "Use `moderation: input` here, and moderate the output where it is made."
            yield Finding("idle_setting", f"{node.path}.moderation", message, mend, node.id)


def _output_of_another(node: ParsedNode, kind: Kind) -> str:
    """Names the output of something else that a node returns after its attempt; empty for its own."""
    if kind.calls_runs:
        return "that of a child run"
    return "the answer to a callback" if kind.is_answered(node.document.with_) else ""


def _reason(kind: Kind, name: str) -> str:
    if name in _OF_BRANCHES:
        return f"no edge leads to a node of the kind {kind.name}"
    if kind.always_fails and name == "output_contract":
        return f"a node of the kind {kind.name} has no output"
    if kind.nature is Nature.CONTAINER:
        return f"a node of the kind {kind.name} does nothing itself, the nodes of its body do"
    if kind.nature is Nature.PAUSE and name == "timeout_ms":
        return f"it limits an attempt, and a node of the kind {kind.name} waits without one"
    return f"a node of the kind {kind.name} has no attempts"


def _fix_text(kind: Kind, name: str) -> str:
    if name in _OF_BRANCHES or name == "output_contract":
        return "Leave it out."
    if kind.nature is Nature.CONTAINER:
        return f"Set `{name}` on the nodes of its body."
    has_deadline = kind.nature is Nature.PAUSE and _TIMEOUT in kind.params.model_fields
    if has_deadline and name == "timeout_ms":
        return "Leave it out; `with.timeout` limits how long it waits, as in `timeout: 2d`."
    if has_deadline and name == "retry":
        return "Leave it out; to ask again after its deadline, put the node into a `loop`."
    if kind.nature is Nature.PAUSE and name == "timeout_ms":
        return "Leave it out; its parameters say how long it waits."
    return "Leave it out, or set it on a node that calls something."


def partial_policies(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    """Fields of a policy without effect because another field of the node puts them out of force."""
    for node in body.order:
        if not node.plain:
            yield from _partial(node)


def _partial(node: ParsedNode) -> Iterator[Finding]:
    retry = node.raw.get("retry")
    if isinstance(retry, dict) and node.document.retry.attempts == 1:
        for name in ("backoff_ms", "max_backoff_ms", "retry_on"):
            if name in retry:
                yield _idle(node, f"retry.{name}", "`attempts` is 1, so nothing is retried", "Raise `attempts`, or leave it out.")
    if "moderation_on_error" in node.raw and node.document.moderation == "off":
        yield _idle(node, "moderation_on_error", "`moderation` is off", "Set `moderation`, or leave it out.")


def _idle(node: ParsedNode, place: str, reason: str, mend: str) -> Finding:
    name = place.rpartition(".")[2]
    message = f"`{name}` has no effect: {reason}"
    return Finding("idle_setting", f"{node.path}.{place}", message, mend, node.id, severity=Severity.WARNING, fix=remove(name))


def disabled_exits(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    """A disabled node with several exits leaves by one that its author names."""
    for node in body.order:
        if "enabled" not in node.raw or node.exits is None or node.document.works:
            continue
        exits, chosen, path = node.exits, node.document.leaves_by, f"{node.path}.enabled"
        if chosen is None and len(exits) > 1:
            message = f"`{node.id}` has the exits {listed(exits)}; disabled, it must leave by one of them"
            mend = f"Write `enabled: {{exit: {exits[0]}}}`, with the exit that you mean."
            yield Finding("disabled_without_exit", path, message, mend, node.id)
        elif chosen is not None and chosen not in exits:
            message = f"`{node.id}` has no exit `{chosen}`; it has {listed(exits) or 'none'}"
            mend = did_you_mean(chosen, exits, what="exits") or "Write `enabled: false`."
            yield Finding("unknown_exit", f"{path}.exit", message, mend, node.id, fix=use(nearest(chosen, exits)))
