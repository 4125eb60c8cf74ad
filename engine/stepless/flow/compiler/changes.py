"""Refuses changes in place that would show elsewhere: a value of a document never changes."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from stepless.flow.compiler.facts.alias_flow import ITERATED, RETURNED
from stepless.flow.compiler.facts.alias_values import MODULE
from stepless.flow.compiler.facts.aliases import CALLER
from stepless.flow.compiler.unit import Unit


def check_change(unit: Unit, node: ast.AST, name: str, fix: str = "") -> None:
    """Refuses a change in place of what a name stands for, if it would show elsewhere in Python."""
    others = unit.sharing().at(unit.statement, name) if unit.sharing is not None else set()
    check_others(unit, node, name, others, fix)


def check_others(unit: Unit, node: ast.AST, name: str, others: Iterable[str], fix: str = "") -> None:
    """Refuses a change in place that `others` show too."""
    found = sorted(others)
    if not found:
        return
    shown, copy = unit.shown.get(name, name), fix or f"Change a copy, such as list({name}) or dict({name})"
    copy = copy.replace(f"({name})", f"({shown})")
    other = found[0]
    if other == ITERATED:
        message, copy = f"`{shown}` changes while a loop runs over it", f"Run over a copy: list({shown})"
    elif other == RETURNED:
        message = f"`finally` may change `{shown}`, which an earlier `return` has returned"
        copy = f"Return a copy, such as list({shown})"
    elif other == CALLER:
        message = f"`{shown}` changes in place, and the caller's value would change too"
    elif other.startswith(MODULE):
        message = f"`{shown}` changes in place, and so would `{other.removeprefix(MODULE)}`, which belongs to the module"
    elif other == name:
        message = f"`{shown}` may hold what changes here twice, and both would change"
    else:
        message = f"`{shown}` changes in place, and `{unit.shown.get(other, other)}` may show it too"
    unit.refuse(node, "shared_mutation", message, copy)
