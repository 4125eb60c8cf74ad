"""Reports about a source: refusals, which leave no document, and warnings. Each names a line and a fix."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from stepless.errors import AuthorError


@dataclass(frozen=True, slots=True, order=True)
class Remark:
    """One refusal or warning. `line` counts in the file, from 1; `code` is stable."""

    file: str
    line: int
    code: str
    message: str
    mend: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.code}: {self.message}. {self.mend}"


class FlowRefused(AuthorError):
    """A source that does not become a document. `findings` holds all of its faults, in the order of the lines."""

    code = "flow_refused"

    def __init__(self, findings: Sequence[Remark]) -> None:
        self.findings = tuple(_causes(findings))
        super().__init__("\n".join(map(str, self.findings)))


_OF_A_NAME: Final = frozenset({"unknown_name", "unbound", "no_value", "not_a_step", "recursion", "global"})
"""The codes of refusals whose mend is at one place, wherever the name is read."""


def _causes(findings: Sequence[Remark]) -> Iterator[Remark]:
    """The findings without those that repeat the cause of one before."""
    seen = set()
    for one in findings:
        cause = (one.file, 0 if one.code in _OF_A_NAME else one.line, one.code, one.message)
        if cause not in seen:
            yield one
        seen.add(cause)


class Refusal(Exception):
    """Ends the reading of one statement; the compiler notes it and reads on."""

    def __init__(self, node: ast.AST, code: str, message: str, mend: str, name: str = "") -> None:
        super().__init__(message)
        self.node = node
        self.code = code
        self.message = message
        self.mend = mend
        self.name = name  # of the source, that it is about
        self.is_final = False  # of a block: it cannot be lifted in another way


class Ended(Exception):
    """Control never comes back from a part that always raises: the rest of the statement is not reached."""


class Lift(Exception):
    """The closed language cannot say an expression exactly: it becomes a node of its own. `part` is the smallest part of it that
    has no counterpart."""

    part: ast.expr | None = None
