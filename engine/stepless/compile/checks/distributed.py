"""Checks the bodies of `distributed` nodes: what an item may run, and what it may write."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stepless.compile.parsed import Parsed, ParsedBody, ParsedNode
from stepless.limits import MAX_ITEM_BACKOFF_MS
from stepless.model.findings import Finding
from stepless.model.kind import Nature

_LIMITS: Final = ("concurrency", "rate")
_OUTER: Final = "Use `concurrency` of the outer node."
_OUTSIDE: Final = "Move it out of the body, or use a `parallel`."


def distributed_bodies(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    """An item runs in one invocation, and its steps are not in the log: nothing in it may wait long, end the run, or write what
    others read."""
    for node in body.order:
        if node.kind is None:
            continue
        if node.kind.distributes and body.owner is not None:
            yield _refused(node, "", "a `distributed` node stands at the top level of a document", "Move it there.")
        if (around := _around(body)) is not None and not node.kind.distributes:
            yield from _inside(parsed, node, around)


def _around(body: ParsedBody | None) -> ParsedNode | None:
    """The `distributed` node whose body this is, directly or not."""
    while body is not None and body.owner is not None:
        if body.owner.kind is not None and body.owner.kind.distributes:
            return body.owner
        body = body.owner.body
    return None


def _inside(parsed: Parsed, node: ParsedNode, around: ParsedNode) -> Iterator[Finding]:
    kind, given = node.kind, node.document.with_
    assert kind is not None
    if kind.nature is Nature.PAUSE or kind.calls_runs or kind.is_answered(given):
        yield _refused(node, "", f"a node of the kind {kind.name} waits, and an item does not wait", _OUTSIDE)
    elif kind.name == "respond" or (kind.name == "end" and given.get("halt")):
        yield _refused(node, "", "an item cannot end or answer its run", _OUTSIDE)
    elif kind.name == "set":
        yield from _writes(parsed, node, around)
    for limit in _LIMITS:
        if node.raw.get(limit) is not None:
            yield _refused(node, f".{limit}", f"`{limit}` of a node inside is not supported", _OUTER)
    retry = node.document.retry
    longest_ms = min(retry.max_backoff_ms, retry.backoff_ms << min(max(retry.attempts - 2, 0), 40))
    if retry.attempts > 1 and longest_ms > MAX_ITEM_BACKOFF_MS:
        message = f"a back-off may take {longest_ms:,} ms, and in an item at most {MAX_ITEM_BACKOFF_MS:,} ms"
        mend = f"Set `max_backoff_ms: {MAX_ITEM_BACKOFF_MS}` or less."
        yield Finding("not_in_distributed", f"{node.path}.retry", message, mend, node.id)


def _writes(parsed: Parsed, node: ParsedNode, around: ParsedNode) -> Iterator[Finding]:
    """`set` of a variable that a node outside of the body reads."""
    written = node.document.with_.get("variables")
    read_outside = {
        str(reference.path[0])
        for other in parsed.nodes if _around(other.body) is not around
        for _, references in other.fields.mentions for reference in references
        if reference.root == "workflow" and reference.path
    }
    for name in written if isinstance(written, dict) else ():
        if name in read_outside:
            message = f"the variable `{name}` is read outside, where the writes of items do not arrive"
            yield _refused(node, f".with.variables.{name}", message, "Return the value as the result of the item.")


def _refused(node: ParsedNode, place: str, message: str, mend: str) -> Finding:
    return Finding("not_in_distributed", f"{node.path}{place}", message, mend, node.id)
