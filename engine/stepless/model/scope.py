"""Defines the interfaces between expressions and a run.

`expressions` implements `Expression` and `Template`; `core` implements `Scope`. The compiled graph contains expressions, and a
run evaluates them against a scope, so neither package depends on the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from stepless.model.json import JSON, Path


@dataclass(frozen=True, slots=True)
class Reference:
    """`<root.path>` or `${root}`.

    `root` is the first name (`loop`, `parallel`, `workflow`, `inputs`, `input`, `run`, a node id or the id of an
    enclosing container); `path` holds the names and indexes after it, in order; `env` is true for `${NAME}`.
    `text` is the reference as written, `offset` its position in the source in characters. `strict` is true for `<root.path!>`.
    """

    root: str
    path: Path
    text: str
    offset: int = 0
    env: bool = False
    strict: bool = False


class Payer(Protocol):
    """Counts the steps of an evaluation against a limit; see `model.steps.Steps`."""

    def spend(self, steps: int) -> None:
        """Subtracts steps from those left to the node. Raises `ExpressionError` (too_large) when too few are left."""
        ...


class Scope(Payer, Protocol):
    """Resolves references while one node is decided, and counts the steps of its evaluation."""

    def read(self, reference: Reference) -> JSON:
        """Returns the value; None for a path that does not exist and for an upstream node that was skipped. Raises
        `ExpressionError` (missing_value) instead for a strict reference; a null that exists is its value."""
        ...

    @property
    def now_ms(self) -> int:
        """The instant of the decision, in milliseconds since 1970 UTC: the value of `now()`."""
        ...


class Expression(Protocol):
    """A compiled expression."""

    @property
    def source(self) -> str: ...

    @property
    def references(self) -> tuple[Reference, ...]:
        """Every reference in it, in order of appearance."""
        ...

    def evaluate(self, scope: Scope) -> JSON:
        """Returns its value. Raises `ExpressionError` with the position. Has no side effects."""
        ...


class Template(Protocol):
    """A JSON value with references and `{{ … }}` in its texts, compiled."""

    @property
    def value(self) -> JSON:
        """The value as written."""
        ...

    @property
    def references(self) -> tuple[Reference, ...]: ...

    @property
    def constant(self) -> bool:
        """True when there are no references to resolve: `render` then returns the same object every time."""
        ...

    def render(self, scope: Scope) -> JSON:
        """Returns the value with every reference resolved. A text that is exactly one reference keeps the type of its value."""
        ...


class Contract(Protocol):
    """A compiled JSON Schema (2020-12)."""

    @property
    def schema(self) -> Mapping[str, JSON]: ...

    def violations(self, value: JSON) -> tuple[str, ...]:
        """Returns one sentence per violation, each with its path; empty when the value is valid. At most MAX_VIOLATIONS."""
        ...
