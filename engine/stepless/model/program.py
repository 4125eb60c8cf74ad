"""Code of an author, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stepless.model.json import JSON


@dataclass(frozen=True, slots=True)
class Program:
    """Author code that defines `main(args)`, and the bounds under which it runs. `memory_mb` includes the interpreter."""

    language: str  # python
    code: str
    args: Mapping[str, JSON]
    timeout_ms: int
    memory_mb: int


@dataclass(frozen=True, slots=True)
class Ran:
    """What `main` returned, and what the code printed, cut to MAX_CODE_PRINT_CHARACTERS."""

    value: JSON
    printed: str = ""
