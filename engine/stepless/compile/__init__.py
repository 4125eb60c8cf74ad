"""Document to graph, or to every finding about it: parse, judge, link. Pure: the same document gives the same graph.

`parse` reads YAML or JSON; `compile_document` answers the graph that runs walk, or raises with all that is wrong at once;
`check_document` only judges; `content_hash` names a version; `json_schema` is what editors complete from.
"""

from __future__ import annotations

from stepless.compile.canonical import content_hash
from stepless.compile.compiler import check_document, compile_document
from stepless.compile.parse import parse
from stepless.compile.schema import json_schema

__all__ = ["parse", "compile_document", "check_document", "content_hash", "json_schema"]
