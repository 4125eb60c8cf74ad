"""A fake of the view that a kind has of its instance, and a call as the runtime makes one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from stepless.adapters.memory.clock import SettableClock
from stepless.model.kind import Case, Kind
from stepless.nodes import KINDS
from stepless.ports import Call
from stepless.runtime.wiring.equipment import GuardedHttp


@dataclass
class FakeWork:
    """`Work` over plain values; expressions are functions without parameters."""

    params: Mapping[str, Any] = field(default_factory=dict)
    literals: Mapping[str, Any] = field(default_factory=dict)
    cases: tuple[Case, ...] = ()
    inputs: Mapping[str, Any] = field(default_factory=dict)
    run_inputs: Any = None
    now_ms: int = 1_000_000

    def evaluate(self, expression: Any) -> Any:
        return expression()


@pytest.fixture
def work() -> type[FakeWork]:
    return FakeWork


@pytest.fixture
def call() -> Callable[..., Call]:
    def make(kind: str, params: Mapping[str, Any], literals: Mapping[str, Any] | None = None, **more: Any) -> Call:
        facts = {"deadline_ms": 30_000, "started_ms": 0, "http": GuardedHttp(SettableClock(0)), **more}
        return Call("r1", "wf", "n@l[2]", "n", kind, 1, params, literals or {}, {}, "r1:n@l[2]", **facts)

    return make


@pytest.fixture
def findings() -> Callable[..., list[tuple[str, str, str]]]:
    """(code, path, severity) of what a kind finds at publish in a `with` that its model accepts."""
    def check(name: str, **params: Any) -> list[tuple[str, str, str]]:
        kind: Kind = KINDS[name]
        found = kind.check(kind.params.model_validate(params), "nodes.n.with")
        return [(finding.code, finding.path.removeprefix("nodes.n.with"), finding.severity.value) for finding in found]

    return check
