from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from stepless.expressions.language import compile_expression
from stepless.expressions.templates import compile_template
from stepless.model.json import JSON, read_path
from stepless.model.scope import Reference
from stepless.model.steps import Steps


@dataclass
class Values:
    """A scope over a mapping; `${NAME}` reads `env`; every read is remembered. Each of them has the steps of one node."""

    roots: dict[str, JSON]
    env: dict[str, str] = field(default_factory=lambda: {"KEY": "k-123"})
    now_ms: int = 86_400_000
    reads: list[str] = field(default_factory=list)
    steps: Steps = field(default_factory=Steps)

    def spend(self, steps: int) -> None:
        self.steps.spend(steps)

    def read(self, reference: Reference) -> JSON:
        self.reads.append(reference.text)
        return self.env.get(reference.root) if reference.env else read_path(self.roots.get(reference.root), reference.path)


@pytest.fixture(scope="session")
def values() -> Callable[..., Values]:
    """`values(s=1)`: a scope in which `<s>` is 1."""
    return lambda **roots: Values(roots)


@pytest.fixture(scope="session")
def evaluate(values: Callable[..., Values]) -> Callable[..., Any]:
    """`evaluate("<s> + 1", s=1)`: compiled with the names given, then evaluated."""
    return lambda source, **roots: compile_expression(source, roots.__contains__).evaluate(values(**roots))


@pytest.fixture(scope="session")
def render(values: Callable[..., Values]) -> Callable[..., Any]:
    """`render("n is <s>", s=1)`: compiled with the names given, then rendered."""
    return lambda value, **roots: compile_template(value, roots.__contains__).render(values(**roots))
