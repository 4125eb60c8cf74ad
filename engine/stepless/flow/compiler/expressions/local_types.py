"""Infers the types of a function's local names, which depend on one another: what `inference` says of all bindings, until it
holds."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any, Final

from stepless.flow.compiler.expressions.inference import infer
from stepless.flow.compiler.facts.block_nodes import Evaluated
from stepless.flow.compiler.facts.functions import holds_named
from stepless.flow.compiler.facts.names import Names
from stepless.flow.compiler.facts.types import CARRIED, UNKNOWN, UNSEEN, union
from stepless.flow.compiler.unit import Unit

_ROUNDS: Final = 6  # after which a type that still changes is not known


class _Asked(dict[str, Any]):
    """Types of names, which notes the names that it was asked for."""

    def __init__(self, kinds: Mapping[str, Any]) -> None:
        super().__init__(kinds)
        self.names: set[str] = set()

    def get(self, name: str, default: Any = None) -> Any:
        self.names.add(name)
        return super().get(name, default)


def learn(unit: Unit, names: Names, *, partly: bool = False) -> None:
    """Finds the types of a function's local names from all of their bindings. A name is looked at again when a type changed that
    its own depends on. `partly`: what has not been seen may still be seen, as the types around a block are not known yet."""
    fixed = {name for name, kind in unit.kinds.items() if kind is not UNSEEN}
    kinds = unit.kinds = _Asked(unit.kinds)
    for name in names.values:
        kinds.setdefault(name, UNSEEN)
    _settle(unit, names, kinds, fixed)
    unseen = [name for name, kind in kinds.items() if kind is UNSEEN]
    if partly or not unseen:
        return
    kinds |= dict.fromkeys(unseen, UNKNOWN)
    if any(isinstance(value, Evaluated) for values in names.values.values() for value in values):
        _settle(unit, names, kinds, {*fixed, *unseen})  # what a block puts out depends on it
    unit.kinds = dict(kinds)


def _settle(unit: Unit, names: Names, kinds: _Asked, fixed: set[str]) -> None:
    behind: dict[str, set[str]] = {name: {name} for name in fixed}  # the names whose types depend on a name's
    stale = set(names.values)
    for round in range(_ROUNDS + 1):
        for name, values in names.values.items():
            if name not in stale:
                continue
            stale.remove(name)
            kinds.names = set()
            given = [infer(unit, value) for value in values]
            for one in kinds.names:
                behind.setdefault(one, set()).add(name)
            if any(kind is not UNSEEN and holds_named(kind) for kind in given):  # of functions an annotation says nothing
                bare = [one.value if isinstance(one, ast.AnnAssign) and one.value is not None else one for one in values]
                given = [infer(unit, value) for value in bare]
            seen = [kind for kind in given if kind is not UNSEEN]
            if name in fixed:
                seen.append(kinds[name])
            found = union(*seen) if seen else UNSEEN
            if found != kinds[name]:
                kinds[name] = (CARRIED if name in unit.carried else UNKNOWN) if round == _ROUNDS else found
                unit.carry(name, kinds[name])
                stale |= behind.get(name, set())
        if not stale:
            break
