"""Finds the source of a node of a compiled document: the file, the line, and the text of the statement."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from stepless.limits import MAX_SOURCE_LINE_CHARACTERS
from stepless.model.json import JSON

Statements = dict[tuple[int, int], str]
"""The text of each statement, by its first and its last line in the file."""

_TIGHT: Final = (("( ", "("), ("[ ", "["), ("{ ", "{"), (", )", ")"), (" )", ")"), (" ]", "]"), (" }", "}"))


class Sources:
    """The source that a document holds (`made_by`): of its function, and of the parts that the function awaits. It is read once,
    when the first line is asked for."""

    def __init__(self, document: Mapping[str, JSON]) -> None:
        made_by = document.get("made_by")
        self._document: Mapping[str, Any] = document
        self._made_by: Mapping[str, Any] | None = made_by if isinstance(made_by, Mapping) else None

    def line(self, node: str) -> str | None:
        """Returns a text such as `refund.py:27: receipt = await pay(order.id)` for a node at any level. A statement of several
        lines is one line here, and a compound one its first line. Of a part in another file it is the line of the part, with the
        place of its call: `shop.py:9: return await ship(line) (called at refund.py:27)`. Without the text if the document does
        not hold it. None for a node that was not compiled from source."""
        at = _at(self._document, node)
        if self._made_by is None or at is None:
            return None
        file = self._made_by.get("file") or self._made_by.get("function") or "source"
        for part in self._parts:
            if node in part.get("nodes", ()):
                return f"{_said(self._foreign[id(part)], part['file'], part['nodes'][node])} (called at {file}:{at[0]})"
        return _said(self._own, file, at)

    @cached_property
    def _parts(self) -> Sequence[Mapping[str, Any]]:
        return (self._made_by or {}).get("parts") or ()

    @cached_property
    def _own(self) -> Statements:
        """The statements of the function, and of the parts in its file."""
        tree, source = _read((self._made_by or {}).get("source"))
        found = dict(_statements(tree, source, _first_line(self._document, tree)))
        for part in self._parts:
            if "nodes" not in part:
                found |= _statements(*_read(part.get("source")), part["first"])
        return found

    @cached_property
    def _foreign(self) -> Mapping[int, Statements]:
        """The statements of each part in another file."""
        return {id(part): dict(_statements(*_read(part.get("source")), part["first"])) for part in self._parts if "nodes" in part}


def _said(statements: Statements, file: str, at: Sequence[int]) -> str:
    text = statements.get((at[0], at[1]))
    return f"{file}:{at[0]}: {text}" if text else f"{file}:{at[0]}"


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


def _read(source: Any) -> tuple[ast.Module, str]:
    """The tree of a source and its text; an empty one for what this Python cannot read, as the source of a newer one."""
    if not isinstance(source, str):
        return ast.Module([], []), ""
    try:
        return ast.parse(source), source
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module([], []), ""


def _statements(tree: ast.Module, source: str, first: int) -> Iterator[tuple[tuple[int, int], str]]:
    """The statements of a source that begins at line `first` of its file. Of several with the same lines the innermost is first,
    so that the outermost stands in a table of them."""
    lines = source.splitlines()
    for node in reversed([node for node in ast.walk(tree) if isinstance(node, ast.stmt)]):
        start, end = node.lineno, node.end_lineno or node.lineno
        body = getattr(node, "body", None)
        last = body[0].lineno - 1 if body and body[0].lineno > start else start if body else end
        yield (start + first - 1, end + first - 1), _joined(lines[start - 1 : last])


def _first_line(document: Mapping[str, Any], tree: ast.Module) -> int:
    """The line of the file at which the source begins: with the first decorator, while the entries name the line of the `def`."""
    functions = [node for node in tree.body if isinstance(node, ast.AsyncFunctionDef | ast.FunctionDef)]
    entries = [node["at"][0] for node in document["nodes"].values() if "at" in node and "after" not in node]
    return min(entries) - functions[0].lineno + 1 if entries and functions else 1


def _joined(lines: Sequence[str]) -> str:
    text = " ".join(line.strip() for line in lines)
    if len(lines) > 1:
        for apart, tight in _TIGHT:
            text = text.replace(apart, tight)
    return text if len(text) <= MAX_SOURCE_LINE_CHARACTERS else f"{text[: MAX_SOURCE_LINE_CHARACTERS - 1]}…"
