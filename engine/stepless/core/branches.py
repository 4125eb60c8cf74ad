"""Decides by branches and joins whether a node runs. No other module does.

A *branch* of a node is one distinct source with at least one edge into it. When the source settles, its branch resolves
once, in one of three ways:

    taken   the source completed (or failed, along its error edge) and an edge carries: the branch brings data
    pruned  the branch was not chosen: it brings no data, and none is expected
    dead    a node upstream failed and no error edge handled it: the expected data will not arrive

    ┌────────────────────────────────────────────┬──────────────────────────────────────────────┐
    │ the source                                 │ its branch                                   │
    ├────────────────────────────────────────────┼──────────────────────────────────────────────┤
    │ completed                                  │ taken if an edge of the fired exit carries   │
    │                                            │ and its condition holds, else pruned         │
    │ failed, with an error edge                 │ taken along error edges, else pruned         │
    │ failed, without                            │ dead                                         │
    │ skipped upstream_failure                   │ dead                                         │
    │ skipped for any other reason               │ pruned                                       │
    │ cancelled join_satisfied, join_unsatisfied │ pruned                                       │
    │ cancelled for any other reason             │ dead                                         │
    └────────────────────────────────────────────┴──────────────────────────────────────────────┘

A node with N branches, of which T are taken, P pruned, D dead and O open, needs `need` of them (N for all, 1 for any,
k for count), reduced by the pruned ones: required = min(need, N − P). The verdict depends only on these four counters, and
branches only move from O to the others. Two properties follow. The verdict does not depend on the order of arrivals, except
that `any` and `count` fire as soon as they may. And no node waits for a pruned branch, so a graph without cycles cannot
stall: the topologically first undecided node has O = 0, and every rule below decides when O = 0.

    1  P = N                                         skip, branch_not_taken
       every: P > 0, D = 0 or substitute_default     at O = 0 skip, branch_not_taken; before that, wait
    2  T ≥ required and T ≥ 1                        run, with what was taken
    3  fail-fast    T + O < required                 unsatisfied
       collect-all  O = 0                            unsatisfied
       best-effort  O = 0                            run if T ≥ max(1, min(min_success, N − P)), else unsatisfied
    4  unsatisfied: skip → skipped upstream_failure; propagate → failed upstream_failure;
       substitute_default → at O = 0 run with the default in place of the dead branches
    –  otherwise wait

`every` needs each branch taken: after a prune it cannot run any more, but waits until no failure can follow, because a failure
counts for more than a prune in whichever order they arrive.

A node with one parent is the case N = 1, an entry the case N = 0 (it runs).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from enum import Enum
from typing import Final

from stepless.core.state import Instance, Status
from stepless.model.declaration.policies import OnParentFailure
from stepless.model.graph import Edge
from stepless.model.json import JSON, equal, read_path

SATISFIED: Final = "join_satisfied"
UNSATISFIED: Final = "join_unsatisfied"
LOST: Final = frozenset({SATISFIED, UNSATISFIED})
"""Why a loser of a join with `losers: cancel` has ended: the join runs, or can no longer run. Both are benign."""


class Branch(Enum):
    TAKEN = "taken"
    PRUNED = "pruned"
    DEAD = "dead"


class Verdict(Enum):
    WAIT = "wait"
    RUN = "run"
    RUN_SUBSTITUTED = "run with defaults"
    SKIP_NOT_TAKEN = "skip: branch_not_taken"
    SKIP_FAILED = "skip: upstream_failure"
    FAIL = "fail: upstream_failure"


_UNSATISFIED = {
    OnParentFailure.SKIP: Verdict.SKIP_FAILED,
    OnParentFailure.PROPAGATE: Verdict.FAIL,
    OnParentFailure.SUBSTITUTE: Verdict.RUN_SUBSTITUTED,
}


def verdict(instance: Instance) -> Verdict:
    """Applies the join rule to the present counters. Constant time."""
    node = instance.node
    n, taken, pruned = len(node.branches), instance.taken, instance.pruned
    if taken == n:  # by far the most frequent case; also a node without branches
        return Verdict.RUN
    if pruned == n:
        return Verdict.SKIP_NOT_TAKEN
    join = node.join
    substitutes = node.on_parent_failure is OnParentFailure.SUBSTITUTE
    if pruned and join.rule.mode == "every" and (substitutes or not instance.dead):
        return Verdict.SKIP_NOT_TAKEN if taken + pruned + instance.dead == n else Verdict.WAIT
    required = min(join.need, n - pruned)
    if taken >= required and taken >= 1:
        return Verdict.RUN
    left = n - taken - pruned - instance.dead
    if left == 0 and join.rule.errors == "best-effort" and taken >= max(1, min(join.rule.min_success, n - pruned)):
        return Verdict.RUN
    certain = left == 0 or (join.rule.errors == "fail-fast" and taken + left < required)
    if not certain or (left and substitutes):
        return Verdict.WAIT
    return _UNSATISFIED[node.on_parent_failure]


def carried(instance: Instance, edge: Edge) -> JSON:
    """Returns the value that an edge of a settled source brings."""
    value = _settled_as(instance)
    return read_path(value, edge.key) if edge.key else value


def carries(instance: Instance, edge: Edge) -> bool:
    """Returns whether an edge of a completed or failed source is alive: the exit fired and the condition holds."""
    fired = "error" if instance.status is Status.FAILED else instance.handle
    return edge.handle == fired and (edge.condition is None or holds(edge, _settled_as(instance)))


def holds(edge: Edge, value: JSON) -> bool:
    """Returns whether the condition of an edge holds for the output or the error of its source."""
    condition = edge.condition
    return condition is None or _TESTS[condition.test](read_path(value, edge.key) if edge.key else value, condition.operand)


def _settled_as(instance: Instance) -> JSON:
    return instance.error if instance.status is Status.FAILED else instance.value


def resolve(instance: Instance) -> tuple[Collection[int], Branch]:
    """Returns the targets whose branch from this settled source is taken, and how the branches of all other targets resolve."""
    status, node = instance.status, instance.node
    if status is Status.COMPLETED and len(node.outgoing) == 1:  # as below, at a fraction of the cost
        edge = node.outgoing[0]
        carried_on = edge.handle == instance.handle and (edge.condition is None or carries(instance, edge))
        return (node.targets if carried_on else ()), Branch.PRUNED
    if status is Status.COMPLETED or (status is Status.FAILED and "error" in node.handles):
        return {edge.target for edge in node.outgoing if carries(instance, edge)}, Branch.PRUNED
    return (), Branch.DEAD if is_dead(instance) else Branch.PRUNED


def is_dead(source: Instance) -> bool:
    """Returns whether the branch of a settled source is dead: the `dead` rows of the table."""
    if source.status is Status.FAILED:
        return "error" not in source.node.handles
    if source.status is Status.SKIPPED:
        return source.reason == "upstream_failure"
    return source.status is Status.CANCELLED and source.reason not in LOST


def _contains(value: JSON, operand: JSON) -> bool:
    if isinstance(value, str):
        return isinstance(operand, str) and operand in value
    if isinstance(value, list):
        return any(equal(item, operand) for item in value)
    return isinstance(value, dict) and isinstance(operand, str) and operand in value


def _present(value: JSON, operand: JSON) -> bool:
    return (value is not None) is bool(operand)


def _truthy(value: JSON, operand: JSON) -> bool:
    return bool(value) is bool(operand)


_TESTS: Mapping[str, Callable[[JSON, JSON], bool]] = {
    "equals": equal,
    "contains": _contains,
    "present": _present,
    "truthy": _truthy,
}
