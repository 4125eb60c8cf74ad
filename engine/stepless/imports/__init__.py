"""Converts workflows of other tools to documents. Pure: takes an export, returns a document and findings for what was not
converted.

    sim    the exports of Sim (`stepless import sim`)
    n8n    the exports of n8n (`stepless import n8n`)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from stepless.imports import n8n, sim
from stepless.imports.import_result import Imported
from stepless.model.json import JSON


@dataclass(frozen=True, slots=True)
class Tool:
    """`convert` raises `InvalidRequest` for what is not an export of the tool, or too large."""

    name: str
    convert: Callable[[Mapping[str, JSON]], Imported]


TOOLS: Final[Mapping[str, Tool]] = MappingProxyType({"sim": Tool("Sim", sim.convert), "n8n": Tool("n8n", n8n.convert)})
"""By the name that a person gives."""
