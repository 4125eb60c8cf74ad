"""Checks limits per key: `concurrency` and `rate` of the workflow and of its nodes."""

from __future__ import annotations

from collections.abc import Iterator

from stepless.compile.parsed import Parsed, ParsedBody
from stepless.compile.values.input_expressions import unreadable
from stepless.model.declaration.document import ConcurrencyView
from stepless.model.findings import Finding, remove
from stepless.model.kind_settings import obeys

_LIMITS = ("concurrency", "rate")


def misplaced_limits(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    """A limit counts attempts, so a node without attempts of its own cannot have one."""
    for node in body.order:
        given = [limit for limit in _LIMITS if node.raw.get(limit) is not None]
        if not given or node.kind is None:
            continue
        if node.id in body.tools:
            reason = f"`{node.id}` is a tool, which runs inside the attempts of `{body.tools[node.id][0].id}`"
        elif not obeys(node.kind, "concurrency"):
            reason = f"a node of the kind {node.kind.name} has no attempts"
        else:
            continue
        for limit in given:
            mend = "Set it on a node that calls something, or on the workflow."
            yield Finding("misplaced_limit", f"{node.path}.{limit}", f"`{limit}` limits attempts, and {reason}", mend, node.id)


def heavy_weights(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    """A weight above `max` could only mean that `max` is wrong."""
    for node in body.order:
        if (limit := node.document.concurrency) is not None:
            yield from _heavy(limit, f"{node.path}.concurrency", node.id)


def workflow_limits(parsed: Parsed) -> Iterator[Finding]:
    """The limits at the top level: their expressions read the inputs, and there is one rate."""
    document = parsed.document
    limit, rate = document.concurrency, document.rate
    if isinstance(limit, ConcurrencyView):
        yield from unreadable("concurrency.by", limit.by)
        yield from unreadable("concurrency.weight", limit.weight)
        yield from _heavy(limit, "concurrency", None)
    if rate is not None:
        yield from unreadable("rate.by", rate.by)
        if document.rate_limit is not None:
            yield Finding("contradiction", "rate_limit", "`rate` and `rate_limit` are the same limit", "Remove `rate_limit`.",
                          fix=remove("rate_limit"))


def _heavy(limit: ConcurrencyView, path: str, node: str | None) -> Iterator[Finding]:
    if isinstance(limit.weight, int) and limit.weight > limit.max:
        message = f"`weight` is {limit.weight}, more than the {limit.max} slots that there are"
        yield Finding("out_of_range", f"{path}.weight", message, "Raise `max`, or lower `weight`.", node)
