"""Refuses changes in place that would show elsewhere: a value of a document never changes."""

from __future__ import annotations

import ast

from stepless.flow.compiler.facts.aliases import INNER
from stepless.flow.compiler.unit import Unit


def check_change(unit: Unit, node: ast.AST, name: str, fix: str = "") -> None:
    """Refuses a change in place of what a name stands for, if it would show elsewhere in Python."""
    others = sorted(other for other in unit.shared(name) if INNER not in other)
    shown = unit.shown.get(name, name)
    if others:
        other = unit.shown.get(others[0], others[0])
        other = f"`{other}` may show it too" if other.strip() == other else "the caller's value would change too"
        mend = fix or f"Change a copy, such as list({shown}) or dict({shown})"
        unit.refuse(node, "shared_mutation", f"`{shown}` changes in place, and {other}", mend)
    if name in unit.returned:
        message = f"`finally` may change `{shown}`, which an earlier `return` has returned"
        unit.refuse(node, "shared_mutation", message, f"Return a copy, such as list({shown})")
    if name in unit.iterated:
        message = f"`{shown}` changes while a loop runs over it"
        unit.refuse(node, "shared_mutation", message, f"Run over a copy: list({shown})")
