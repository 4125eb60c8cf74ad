"""The join rule against a direct transcription of the specification (docs/understand/semantics.md#joins), for every small
case."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from stepless.compile import compile_document
from stepless.core.branches import Verdict, verdict
from stepless.core.state import Instance, State
from stepless.nodes import KINDS

ERRORS = ("fail-fast", "collect-all", "best-effort")
ON_PARENT_FAILURE = ("skip", "propagate", "substitute_default")
UNSATISFIED = {"skip": Verdict.SKIP_FAILED, "propagate": Verdict.FAIL}


def joins(n: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """How many branches are wanted, and the join that says so."""
    yield n, {"mode": "all"}
    yield n, {"mode": "every"}
    yield 1, {"mode": "any"}
    yield from ((k, {"mode": "count", "count": k}) for k in range(1, n + 1))


def counters(n: int) -> Iterator[tuple[int, int, int]]:
    """Every way in which at most n branches can have been taken, pruned or dead."""
    return ((t, p, d) for t, p, d in product(range(n + 1), repeat=3) if t + p + d <= n)


def transcribed(n: int, t: int, p: int, d: int, mode: str, need: int, errors: str, min_success: int, policy: str) -> Verdict:
    """2.3 as it is written, clause by clause."""
    o = n - t - p - d
    required = min(need, n - p)
    if p == n:
        return Verdict.SKIP_NOT_TAKEN
    if mode == "every" and p and (not d or policy == "substitute_default"):
        return Verdict.WAIT if o else Verdict.SKIP_NOT_TAKEN
    if t >= required and t >= 1:
        return Verdict.RUN
    if errors == "best-effort" and o == 0 and t >= max(1, min(min_success, n - p)):
        return Verdict.RUN
    certain = t + o < required if errors == "fail-fast" else o == 0
    if not certain:
        return Verdict.WAIT
    if policy == "substitute_default":
        return Verdict.RUN_SUBSTITUTED if o == 0 else Verdict.WAIT
    return UNSATISFIED[policy]


def joined(n: int, join: dict[str, Any], policy: str) -> Instance:
    nodes: dict[str, Any] = {f"s{i}": {"type": "function", "with": {"call": "test.echo"}} for i in range(n)}
    nodes["j"] = {"type": "join", "after": list(nodes), "join": join, "on_parent_failure": policy}
    state = State(compile_document({"id": "joined", "nodes": nodes}, KINDS), "run")
    return state.get("j")


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_the_verdict_is_the_rule_of_the_specification(n: int) -> None:
    for (need, mode), errors, policy in product(joins(n), ERRORS, ON_PARENT_FAILURE):
        if mode["mode"] == "every" and errors == "best-effort":
            continue  # refused at publication
        for min_success in range(1, n + 1) if errors == "best-effort" else (1,):
            instance = joined(n, {**mode, "errors": errors, "min_success": min_success}, policy)
            for t, p, d in counters(n):
                instance.taken, instance.pruned, instance.dead = t, p, d
                expected = transcribed(n, t, p, d, mode["mode"], need, errors, min_success, policy)
                assert verdict(instance) is expected, (mode, errors, min_success, policy, t, p, d)


def test_a_node_with_everything_settled_is_always_decided() -> None:
    for n in (1, 2, 3):
        for (_, mode), errors, policy in product(joins(n), ERRORS, ON_PARENT_FAILURE):
            if mode["mode"] == "every" and errors == "best-effort":
                continue
            instance = joined(n, {**mode, "errors": errors}, policy)
            for t, p, d in counters(n):
                instance.taken, instance.pruned, instance.dead = t, p, d
                assert instance.open or verdict(instance) is not Verdict.WAIT


def test_what_was_decided_is_not_undone_by_what_comes_later() -> None:
    """Once it may run it may run for good, whichever of the open branches resolves, and how."""
    for n, (_, mode) in ((size, join) for size in (2, 3) for join in joins(size)):
        instance = joined(n, mode, "skip")
        for t, p, d in counters(n):
            instance.taken, instance.pruned, instance.dead = t, p, d
            if verdict(instance) is Verdict.RUN and instance.open:
                for counter in ("taken", "pruned", "dead"):
                    setattr(instance, counter, getattr(instance, counter) + 1)
                    assert verdict(instance) is Verdict.RUN, (mode, t, p, d, counter)
                    setattr(instance, counter, getattr(instance, counter) - 1)


def test_an_entry_runs() -> None:
    state = State(compile_document({"id": "one", "nodes": {"a": {"type": "manual"}}}, KINDS), "run")
    assert verdict(state.get("a")) is Verdict.RUN
