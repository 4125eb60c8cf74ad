"""Document to graph, or to every finding about it: parse, judge, link. Pure: the same document gives the same graph.

`parse` reads YAML or JSON; `compile_document` answers the graph that runs walk, or raises with all that is wrong at once;
`compile_stored` does so for a version that was judged when it was published; `check_document` only judges; `content_hash` names
a version; `json_schema` is what editors complete from. Each is imported when it is first used: a runner never judges.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from stepless.compile.canonical import content_hash
    from stepless.compile.compiler import check_document, compile_document
    from stepless.compile.reading.read import parse
    from stepless.compile.schema import json_schema
    from stepless.compile.stored import compile_stored

__all__ = ["parse", "compile_document", "compile_stored", "check_document", "content_hash", "json_schema"]

_HOMES: Final = {
    "check_document": "compiler", "compile_document": "compiler", "compile_stored": "stored", "content_hash": "canonical",
    "json_schema": "schema", "parse": "reading.read",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
