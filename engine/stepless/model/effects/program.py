"""Defines a program of author code and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stepless.model.json import JSON


@dataclass(frozen=True, slots=True)
class Program:
    """Author code that defines `main(args)`, and its limits. `memory_mb` includes the interpreter."""

    language: str  # python
    code: str
    args: Mapping[str, JSON]
    timeout_ms: int
    memory_mb: int


@dataclass(frozen=True, slots=True)
class Ran:
    """The return value of `main`, and the printed text, cut to MAX_CODE_PRINT_CHARACTERS."""

    value: JSON
    printed: str = ""
