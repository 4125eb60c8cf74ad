"""Where a node of a compiled document comes from: the file, the line, and the text of the statement."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from stepless.limits import MAX_SOURCE_LINE_CHARACTERS
from stepless.model.json import JSON


def source_of(document: Mapping[str, JSON], node: str) -> str | None:
    """`refund.py:27: receipt = await pay(order.id)` for a node of a document that was compiled from source (`made_by`), at any
    level. A statement of several lines is one line here, and a compound one its first line. Without the text if the document does
    not hold it. None for other documents and nodes."""
    made_by = document.get("made_by")
    at = _at(document, node)
    if not isinstance(made_by, Mapping) or at is None:
        return None
    text = _text(document, made_by, at)
    place = f"{made_by.get('file') or made_by.get('function') or 'source'}:{at[0]}"
    return f"{place}: {text}" if text else place


def _at(level: Mapping[str, Any], id: str) -> Sequence[int] | None:
    """The lines of a node at this level or below."""
    nodes: Mapping[str, Mapping[str, Any]] = level.get("nodes") or {}
    if id in nodes:
        return nodes[id].get("at")
    for node in nodes.values():
        body = (node.get("with") or {}).get("body")
        if isinstance(body, Mapping) and (found := _at(body, id)) is not None:
            return found
    return None


def _text(document: Mapping[str, Any], made_by: Mapping[str, Any], at: Sequence[int]) -> str:
    """The statement at these lines of the file, on one line; empty if the document does not hold it."""
    source = made_by.get("source")
    try:
        tree = ast.parse(source) if isinstance(source, str) else ast.Module([], [])
    except (SyntaxError, ValueError, RecursionError):  # as of a newer version of Python
        return ""
    first = _first_line(document, tree)
    start, end = at[0] - first + 1, at[1] - first + 1
    found = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and (node.lineno, node.end_lineno) == (start, end)]
    if not found or not isinstance(source, str):
        return ""
    body = getattr(found[0], "body", None)
    last = body[0].lineno - 1 if body and body[0].lineno > start else start if body else end
    return _joined(source.splitlines()[start - 1 : last])


def _first_line(document: Mapping[str, Any], tree: ast.Module) -> int:
    """The line of the file at which the source begins: with the first decorator, while the entries name the line of the `def`."""
    functions = [node for node in tree.body if isinstance(node, ast.AsyncFunctionDef | ast.FunctionDef)]
    entries = [node["at"][0] for node in document["nodes"].values() if "at" in node and "after" not in node]
    return min(entries) - functions[0].lineno + 1 if entries and functions else 1


def _joined(lines: Sequence[str]) -> str:
    text = " ".join(line.strip() for line in lines)
    if len(lines) > 1:
        for apart, tight in (("( ", "("), ("[ ", "["), ("{ ", "{"), (", )", ")"), (" )", ")"), (" ]", "]"), (" }", "}")):
            text = text.replace(apart, tight)
    return text if len(text) <= MAX_SOURCE_LINE_CHARACTERS else f"{text[: MAX_SOURCE_LINE_CHARACTERS - 1]}…"
