"""Branches and joins: what decides whether a node runs. Nothing else does.

A *branch* of a node is one distinct source with at least one edge into it. When the source settles, its branch resolves
once, to one of three words:

    taken   the source completed (or failed, along its error edge) and some edge carries: the branch brings data
    pruned  the way was not chosen: nothing comes, nothing is owed
    dead    something above failed and nobody handled it: what was owed will not come

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

A node with N branches, of which T are taken, P pruned, D dead and O open, wants `need` of them (N for all, 1 for any,
k for count), but no more than can still matter: required = min(need, N − P). The verdict is a function of these four
counters, which only ever move from O to the others, and of nothing else. Two things follow. The verdict cannot depend on
the order of arrivals, except that `any` and `count` fire at the first moment at which they may. And no node is ever
owed a branch that was pruned, so a graph without cycles cannot stall: the node that is topologically first among those
undecided has O = 0, and every rule below decides when O = 0.

    1  P = N                                         skip, branch_not_taken
    2  T ≥ required and T ≥ 1                        run, with what was taken
    3  fail-fast    T + O < required                 unsatisfied
       collect-all  O = 0                            unsatisfied
       best-effort  O = 0                            run if T ≥ max(1, min(min_success, N − P)), else unsatisfied
    4  unsatisfied: skip → skipped upstream_failure; propagate → failed upstream_failure;
       substitute_default → at O = 0 run with the default in place of the dead branches
    –  otherwise wait

A node with one parent is the case N = 1, an entry the case N = 0 (it runs).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from enum import Enum
from typing import Final

from stepless.core.state import Instance, Status
from stepless.model.graph import Edge
from stepless.model.json import JSON, equal, read_path
from stepless.model.policies import OnParentFailure

SATISFIED: Final = "join_satisfied"
UNSATISFIED: Final = "join_unsatisfied"
LOST: Final = frozenset({SATISFIED, UNSATISFIED})
"""Why a loser of a join that cancels its losers has ended: the join runs, or it can no longer run. Both are benign."""


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
    """What the join rule says now. Constant time."""
    node = instance.node
    n, taken, pruned = len(node.branches), instance.taken, instance.pruned
    if n == 0:
        return Verdict.RUN
    if pruned == n:
        return Verdict.SKIP_NOT_TAKEN
    join = node.join
    required = min(join.need, n - pruned)
    if taken >= required and taken >= 1:
        return Verdict.RUN
    left = n - taken - pruned - instance.dead
    if left == 0 and join.rule.errors == "best-effort" and taken >= max(1, min(join.rule.min_success, n - pruned)):
        return Verdict.RUN
    certain = left == 0 or (join.rule.errors == "fail-fast" and taken + left < required)
    if not certain or (left and node.on_parent_failure is OnParentFailure.SUBSTITUTE):
        return Verdict.WAIT
    return _UNSATISFIED[node.on_parent_failure]


def carried(instance: Instance, edge: Edge) -> JSON:
    """The value that an edge of a settled source brings."""
    value: JSON = instance.error if instance.status is Status.FAILED else instance.value
    return read_path(value, edge.key) if edge.key else value


def carries(instance: Instance, edge: Edge) -> bool:
    """Whether an edge of a completed or failed source is alive: the exit fired and the condition holds."""
    fired = "error" if instance.status is Status.FAILED else instance.handle
    if edge.handle != fired:
        return False
    condition = edge.condition
    return condition is None or _TESTS[condition.test](carried(instance, edge), condition.operand)


def resolve(instance: Instance) -> tuple[Collection[int], Branch]:
    """The targets whose branch from this settled source is taken, and what the branch of every other target is."""
    status, node = instance.status, instance.node
    if status is Status.COMPLETED or (status is Status.FAILED and "error" in node.handles):
        return {edge.target for edge in node.outgoing if carries(instance, edge)}, Branch.PRUNED
    return (), Branch.DEAD if is_dead(instance) else Branch.PRUNED


def is_dead(source: Instance) -> bool:
    """Whether a settled source can no longer bring what was owed: the `dead` rows of the table."""
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
