"""Defines a finding: one fault of a document, where it is, and how to fix it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    ERROR = "error"  # the document is refused
    WARNING = "warning"  # the document is published, but should be checked


@dataclass(frozen=True, slots=True)
class Finding:
    """`code` is stable; `path` is a dotted path into the document; `node` and `edge` name the faulty node or edge, if any."""

    code: str
    path: str
    message: str
    mend: str = ""
    node: str | None = None
    edge: str | None = None
    severity: Severity = Severity.ERROR

    def __str__(self) -> str:
        mend = f" {self.mend}" if self.mend else ""
        return f"{self.path or 'document'}: {self.message}.{mend} [{self.code}]"
