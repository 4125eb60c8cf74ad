"""Checks that attempts fit into an invocation. A Lambda process is killed at the runner's timeout, also during an attempt."""

from __future__ import annotations

from stepless.limits import BUDGET_MARGIN_MS, LOADING_MARGIN_MS
from stepless.model.findings import Finding, Severity
from stepless.model.graph import Graph, placed_nodes
from stepless.model.kind import Nature


def attempt_spare_ms(runner_timeout_s: int) -> int:
    """Returns the longest `timeout_ms` of a node for which an invocation of `runner_timeout_s` has room. The rest is reserved for
    loading the run, the last commit and the snapshot."""
    return max(0, runner_timeout_s * 1_000 - BUDGET_MARGIN_MS - LOADING_MARGIN_MS)


def too_long(graph: Graph, runner_timeout_s: int, severity: Severity = Severity.ERROR) -> list[Finding]:
    """Returns a finding for each enabled effectful node whose timeout is longer than an invocation has room for: an attempt of it
    would never start. In document order."""
    spare_ms = attempt_spare_ms(runner_timeout_s)
    return [
        Finding(
            "timeout_too_long", f"{path}.timeout_ms",
            f"an attempt may take {node.timeout_ms} ms, and an invocation of {runner_timeout_s} s has room for {spare_ms} ms",
            "Lower `timeout_ms`, or deploy with a longer `RunnerTimeout` and `QueueVisibility`.", node.id, severity=severity,
        )
        for path, node in placed_nodes(graph.root)
        if node.enabled and node.kind.nature is Nature.EFFECT and node.timeout_ms > spare_ms
    ]  # fmt: skip
