"""Compiles values of a node's parameters: their structure stays visible, and their leaves are literals, references or
expressions."""

from __future__ import annotations

import ast
from typing import Any

from stepless.flow.compiler.expression_trees import is_inert
from stepless.flow.compiler.expressions.carrying import is_mixed
from stepless.flow.compiler.expressions.reading import among_others
from stepless.flow.compiler.facts.types import UNKNOWN, is_plain, solid
from stepless.flow.compiler.refusals import Lift
from stepless.flow.compiler.unit import Unit
from stepless.model.json import JSON


def json_value(unit: Unit, node: ast.expr, kind: Any = UNKNOWN) -> JSON:
    """Returns the template for an expression without awaits. `kind` is what its reader takes it for."""
    match node:
        case ast.List() | ast.Tuple() | ast.Dict() if is_mixed(unit, node):
            pass  # Python makes it
        case ast.List() | ast.Tuple() if not any(isinstance(element, ast.Starred) for element in node.elts):
            return [json_value(unit, element) for element in node.elts]
        case ast.Dict() if all(isinstance(key, ast.Constant) and isinstance(key.value, str) for key in node.keys):
            return {key.value: json_value(unit, value) for key, value in zip(node.keys, node.values, strict=True)}  # type: ignore[union-attr]
        case ast.Constant(value=str() as text) if is_inert(text):
            return text
        case ast.JoinedStr():
            plain = _plain_text(unit, node)
            if plain is not None:
                return plain
    value = unit.value(node)
    return unit.texts.template(value if kind is float and unit.texts.path(value) is not None else among_others(unit, node, value))


def _plain_text(unit: Unit, node: ast.JoinedStr) -> str | None:
    """An f-string as a text with references in it, if each is a text or a whole number, which both write alike."""
    pieces: list[str] = []
    for piece in node.values:
        if isinstance(piece, ast.Constant) and isinstance(piece.value, str) and is_inert(piece.value) and "{" not in piece.value:
            pieces.append(piece.value)
            continue
        if not isinstance(piece, ast.FormattedValue) or piece.format_spec is not None or piece.conversion != -1:
            return None
        kind = unit.infer(piece.value)
        if kind not in (str, int) or not is_plain(kind) or solid(kind) != kind:
            return None
        before = unit.risks
        try:
            path = unit.texts.path(expressed := unit.express(piece.value))
        except Lift:
            return None
        if path is None or unit.risks > before:
            unit.risks = before
            return None
        pieces.append(unit.texts.source(expressed))
    return "".join(pieces) if any(piece[:1] != "<" or piece[-1:] != ">" for piece in pieces) and len(pieces) > 1 else None
