"""Compiles small documents, and passes facts to the core by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from stepless.compile import compile_document
from stepless.core.decide import decide
from stepless.core.decision import Decision
from stepless.core.events import Event
from stepless.core.facts import Begin, Completed, Fact
from stepless.core.fold import fold
from stepless.core.history.trace import Trace
from stepless.core.state import State
from stepless.model.graph import Graph
from stepless.model.kind import Outcome
from stepless.nodes import KINDS

Nodes = Mapping[str, Any]


def work(after: Any = None, **more: Any) -> dict[str, Any]:
    """A node whose result the test supplies."""
    return {"type": "function", "with": {"call": "test.echo"}, **({"after": after} if after else {}), **more}


class Play:
    """A run whose facts come from the test: each call of `decide` is one decision."""

    def __init__(self, graph: Graph, env: Mapping[str, str]) -> None:
        self.graph = graph
        self.env = env
        self.state = State(graph, "run")
        self.events: list[Event] = []
        self.now_ms = 1_000

    def decide(self, *facts: Fact, at: int | None = None, **bounds: Any) -> Decision:
        self.now_ms = self.now_ms + 1 if at is None else at
        decision = decide(self.state, facts, self.now_ms, env=self.env, **bounds)
        self.events += decision.events
        return decision

    def begin(self, inputs: Any = None, **bounds: Any) -> Decision:
        return self.decide(Begin({} if inputs is None else inputs), **bounds)

    def complete(self, instance: str, value: Any = None, attempt: int = 1, **bounds: Any) -> Decision:
        return self.decide(Completed(instance, attempt, Outcome(value)), **bounds)

    def status(self, instance: str) -> str:
        return self.state.get(instance).status.value

    def folded(self) -> State:
        """The state as another process reads it from the log."""
        state = State(self.graph, "run")
        for event in self.events:
            fold(state, event)
        state.notes.clear()
        return state

    @property
    def trace(self) -> Trace:
        return Trace(self.graph, "run").extend(self.events)

    @property
    def types(self) -> list[str]:
        return [f"{event.type.value} {event.instance}".strip() for event in self.events]


@pytest.fixture
def play() -> Callable[..., Play]:
    def made(nodes: Nodes, *, env: Mapping[str, str] | None = None, **top: Any) -> Play:
        document = {"id": "small", "env": list(env or {}), **top, "nodes": nodes}
        return Play(compile_document(document, KINDS), env or {})

    return made


@pytest.fixture
def node() -> Callable[..., dict[str, Any]]:
    return work
