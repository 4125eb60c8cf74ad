"""Defines the result of an import."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stepless.model.findings import Finding


@dataclass(frozen=True, slots=True)
class Imported:
    """`document` compiles with KINDS. `findings`, all warnings, report everything that was not converted unchanged; their paths
    are paths in the export."""

    document: dict[str, Any]
    findings: tuple[Finding, ...]
