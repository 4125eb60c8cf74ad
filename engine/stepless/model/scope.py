"""What an expression reads from, and what reads it: the seam between the language and the run.

`expressions` implements `Expression` and `Template`; `core` implements `Scope`; the compiled graph carries the former and
is evaluated against the latter, so that neither room knows the other.
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
    enclosing container); `path` what follows it, names and indexes in order; `env` is true for `${NAME}`.
    `text` is the reference as written, `offset` its position in the source in characters.
    """

    root: str
    path: Path
    text: str
    offset: int = 0
    env: bool = False


class Payer(Protocol):
    """Pays for work with values: `model.steps.Steps`."""

    def spend(self, steps: int) -> None:
        """Takes steps away from what the node may cost. Raises `ExpressionError` (too_large) when there are not so many left."""
        ...


class Scope(Payer, Protocol):
    """Answers references while one node is decided, and pays for what is done with the values."""

    def read(self, reference: Reference) -> JSON:
        """The value; None for a path that does not exist and for an upstream node that was skipped."""
        ...

    @property
    def now_ms(self) -> int:
        """The instant of the decision, milliseconds since 1970 UTC: what `now()` answers from."""
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
        """Its value. Raises `ExpressionError` with the position; never changes anything."""
        ...


class Template(Protocol):
    """A JSON value with references and `{{ … }}` in its texts, compiled."""

    @property
    def value(self) -> JSON:
        """As it is written."""
        ...

    @property
    def references(self) -> tuple[Reference, ...]: ...

    @property
    def constant(self) -> bool:
        """True when nothing has to be filled in: `render` then answers the same object every time."""
        ...

    def render(self, scope: Scope) -> JSON:
        """The value with every reference filled in; types are kept where a text is exactly one reference."""
        ...


class Contract(Protocol):
    """A compiled JSON Schema (2020-12)."""

    @property
    def schema(self) -> Mapping[str, JSON]: ...

    def violations(self, value: JSON) -> tuple[str, ...]:
        """One sentence per violation, each with the path; empty when the value keeps the contract. At most 20."""
        ...
