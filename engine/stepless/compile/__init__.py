"""Compiles a document to a graph, or reports every finding about it. Pure: the same document always gives the same graph.

`parse` reads YAML or JSON. `compile_document` returns the graph that runs execute, or raises with all findings at once.
`compile_stored` compiles a published version without checking it again. `check_document` only checks. `content_hash` identifies a
version, and `features_of` names what its stored form must name. `json_schema` is for editors. Each is imported on first use, so
that a runner never loads the checks.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from stepless.compile.canonical import content_hash
    from stepless.compile.compiler import check_document, compile_document
    from stepless.compile.features import features_of
    from stepless.compile.reading.read import parse
    from stepless.compile.schema import json_schema
    from stepless.compile.stored import compile_stored

__all__ = ["parse", "compile_document", "compile_stored", "check_document", "content_hash", "features_of", "json_schema"]

_HOMES: Final = {
    "check_document": "compiler", "compile_document": "compiler", "compile_stored": "stored", "content_hash": "canonical",
    "features_of": "features", "json_schema": "schema", "parse": "reading.read",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
