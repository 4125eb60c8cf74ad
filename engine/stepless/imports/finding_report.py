"""Collects the findings of an importer: a table has the message and the fix of each code. All are warnings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stepless.limits import PREVIEW_CHARACTERS
from stepless.model.findings import Finding, Severity


class Reporting:
    """Collects findings in the order in which they are reported, without duplicates."""

    def __init__(self, table: Mapping[str, tuple[str, str]]) -> None:
        self._table = table
        self._findings: dict[tuple[str, str, str], Finding] = {}

    def add(self, code: str, path: str, /, *, at: str | None = None, edge: str | None = None, **facts: Any) -> None:
        """Adds the finding `code` about `path` of the export. `at` is the node that it concerns; `facts` fill the message."""
        message, mend = (text.format(**{name: shown(fact) for name, fact in facts.items()}) for text in self._table[code])
        self._findings.setdefault((code, path, message), Finding(code, path, message, mend, at, edge, Severity.WARNING))

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(self._findings.values())


def shown(fact: object) -> str:
    """Returns the fact on one line, cut to PREVIEW_CHARACTERS."""
    text = " ".join(str(fact).split())
    return text if len(text) <= PREVIEW_CHARACTERS else f"{text[: PREVIEW_CHARACTERS - 1]}…"
