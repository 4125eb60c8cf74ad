"""Represents expressions of a document while they are built: syntax trees with holes for references and quoted texts."""

from __future__ import annotations

import ast
import re
from typing import Final

from stepless.limits import MAX_REFERENCE_STEPS
from stepless.model.json import JSON

_HOLE: Final = re.compile(r"__hole_(\d+)__")
_STEP: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MARKS: Final = re.compile(r"[<$]|\{\{")
_ESCAPES: Final = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


class Texts:
    """Makes holes, and the texts in which they are filled."""

    def __init__(self) -> None:
        self._holes: list[tuple[str, str, bool]] = []  # path or quoted text; whether it is a reference that is strict

    def reference(self, path: str, *, strict: bool = False) -> ast.Name:
        """Returns the reference to a path such as `order.lines[0].sku`; a strict one fails where there is nothing."""
        return self._hole("reference", path, strict=strict)

    def quoted(self, text: str) -> ast.Name:
        """Returns a literal text, in which nothing can be read as a reference."""
        return self._hole("text", f"'{''.join(map(_escaped, text))}'", strict=False)

    def _hole(self, kind: str, text: str, *, strict: bool) -> ast.Name:
        self._holes.append((kind, text, strict))
        return ast.Name(f"__hole_{len(self._holes) - 1}__", ast.Load())

    def path(self, expression: ast.expr) -> str | None:
        """Returns the path that an expression is a reference to, else None."""
        hole = self._of(expression)
        return hole[1] if hole is not None and hole[0] == "reference" else None

    def is_strict(self, expression: ast.expr) -> bool:
        """Returns whether an expression is a reference that fails where there is nothing."""
        hole = self._of(expression)
        return hole is not None and hole[2]

    def is_settled(self, expression: ast.expr) -> bool:
        """Returns whether an expression is the output of a node that is there, and so means the same later on."""
        path = self.path(expression)
        return path is not None and not path.startswith("workflow.") and not self.is_strict(expression)

    def _of(self, expression: ast.expr) -> tuple[str, str, bool] | None:
        match = _HOLE.fullmatch(expression.id) if isinstance(expression, ast.Name) else None
        return self._holes[int(match[1])] if match is not None else None

    def step(self, base: ast.expr, key: str | int, *, strict: bool) -> ast.expr | None:
        """Returns the reference one step below another; None where a path cannot say it. Below a strict one it is strict."""
        path, strict = self.path(base), strict or self.is_strict(base)
        if path is None or path.count(".") + path.count("[") >= MAX_REFERENCE_STEPS - 1:
            return None
        if isinstance(key, str):
            return self.reference(f"{path}.{key}", strict=strict) if _STEP.fullmatch(key) else None
        return self.reference(f"{path}[{key}]", strict=strict) if len(str(abs(key))) <= 9 else None

    def source(self, expression: ast.expr) -> str:
        """Returns the text of an expression, with its holes filled."""
        written = expression.id if isinstance(expression, ast.Name) else ast.unparse(expression)
        return _HOLE.sub(lambda match: self._filled(int(match[1])), written)

    def _filled(self, number: int) -> str:
        kind, text, strict = self._holes[number]
        return f"<{text}{'!' if strict else ''}>" if kind == "reference" else text

    def template(self, expression: ast.expr) -> JSON:
        """Returns the value of a field that an expression fills: a reference, a literal, or `{{ … }}`."""
        if isinstance(expression, ast.Name) and expression.id in ("true", "false", "null"):
            return {"true": True, "false": False, "null": None}[expression.id]
        if isinstance(expression, ast.Constant):
            return expression.value
        source = self.source(expression)
        return source if self.path(expression) is not None else f"{{{{ {source} }}}}"

    def is_simple(self, expression: ast.expr) -> bool:
        """Returns whether an expression may be written twice."""
        return self._of(expression) is not None or isinstance(expression, ast.Constant)


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character in "<${}" or ord(character) < 32 or ord(character) == 127:
        return f"\\x{ord(character):02x}"
    return character


def is_inert(text: str) -> bool:
    """Returns whether a text has nothing that a template reads."""
    return _MARKS.search(text) is None
