"""Finds where a change in place shows under two names. In Python one object may have several names, and a change shows under
each of them; in a document each name has a value of its own. So a change is exact only where no other name that is read later can
show it.

The analysis follows the statements in their order, with the objects that each name may show (`alias_state`). At each statement
that changes something, the names are compared that are live there: read behind it before they are bound again. A block is one
such place: inside of it Python does as it does, and what it leaves is compared where it is changed next."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from stepless.flow.compiler.facts.alias_flow import ITERATED, RETURNED, Change, Following, Guard
from stepless.flow.compiler.facts.alias_state import NOTHING, Label, Labels, State, Value, content, joined, made
from stepless.flow.compiler.facts.alias_values import Facts
from stepless.flow.compiler.facts.block_nodes import RAISE, Block, Evaluated
from stepless.flow.compiler.facts.liveness import Liveness
from stepless.flow.compiler.facts.uses import uses_of

CALLER: Final = "\ncaller"
"""The label of what the caller of a part may show too."""
_INSIDE: Final = "\ninside "


class Sharing(Following):
    """Compares the names at each statement of a function that changes something."""

    def __init__(self, facts: Facts, body: Sequence[ast.stmt]) -> None:
        super().__init__(facts)
        self._live = Liveness().of(body)
        self.found: dict[int, dict[str, set[str]]] = {}
        self.under: dict[int, set[str]] = {}  # names that a block changes under other names, by its `id`
        self._places: dict[int, tuple[int, int]] = {}

    def at(self, statement: ast.AST, name: str) -> set[str]:
        """Returns the other names that may show what a statement changes under a name. Of a statement that stands for a part of
        one: what that one changes."""
        place = id(statement)
        if place in self._places:
            return self.found.get(place, {}).get(name, set())
        line = getattr(statement, "lineno", 0)
        around = [one for one, (first, last) in self._places.items() if first <= line <= last]
        return set[str]().union(*(self.found.get(one, {}).get(name, set()) for one in around))

    def _alone(self, statement: ast.stmt, state: State, evaluate: Callable[[], object], head: ast.AST | None = None) -> None:
        self._places[id(statement)] = statement.lineno, statement.end_lineno or statement.lineno
        self._changes = []
        before = state.copy() if uses_of(head or statement).changed else state
        evaluate()
        for change in self._changes:
            self._compare(statement, before, change, self._read_behind(statement))

    def _read_behind(self, statement: ast.stmt) -> set[str]:
        around = self._live.around.get(id(statement))
        return {*uses_of(statement).read, *self._live.after.get(id(statement), ()), *(around.all() if around else ())}

    def _compare(self, statement: ast.stmt, before: State, change: Change, live: set[str]) -> None:
        kept = self.found.setdefault(id(statement), {}).setdefault(change.name, set())
        for name in before.showing(change.labels):
            if name in live | {RETURNED} and name != change.name:
                kept.add(name)
            elif name.startswith(ITERATED) and not self._is_safe(name, change):
                kept.add(ITERATED)
        kept.update(_outside(change.labels))
        if before.twice & change.labels and change.name in live:
            kept.add(change.name)

    def _is_safe(self, hidden: str, change: Change) -> bool:
        """Whether a loop over an object changes the value of the key that it is at, which it has read."""
        match change.at:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Name(id=key)):
                return self._safe.get(hidden) == (name, key)
            case ast.AugAssign(target=ast.Subscript(value=ast.Name(id=name), slice=ast.Name(id=key))):
                return self._safe.get(hidden) == (name, key)
        return False

    def _block(self, statement: ast.stmt, state: State, node: Evaluated, name: str) -> None:
        block = node.block
        state.age({label for part in _parts(block.statements) for label in (made(part), content(part))})
        before = state.copy()
        inner = _Inside(self._facts.inside(node))
        names = dict(zip(block.inputs, node.arguments, strict=True))
        inside = State(
            {f"{_INSIDE}{one}": value for one, value in state.names.items()}, state.twice, state.known,
        )  # fmt: skip
        for one, argument in names.items():
            if isinstance(argument, ast.Name) and argument.id in state.names:
                inside.names[one] = state.names[argument.id]
        end = inner.run(block, inside)
        if end is None:
            return
        outer = {one.removeprefix(_INSIDE): value for one, value in end.names.items() if one.startswith(_INSIDE)}
        state.names.update({one: value for one, value in outer.items() if one in state.names})
        state.twice, state.known = end.twice, end.known
        for one in block.outputs:
            self._values.outputs[name, f"name.{one}"] = end.names.get(one, NOTHING)
        self._values.outputs[name, "value"] = end.names.get(RETURNED, NOTHING)
        if block.is_plain:
            found = block.outputs[0] if block.outputs and block.exits != ["return"] else RETURNED
            state.names[name] = end.names.get(found, NOTHING)
        self._compare_block(statement, before, node, inner.changed)

    def _compare_block(self, statement: ast.stmt, before: State, node: Evaluated, changed: Labels) -> None:
        given = {one.id: name for name, one in zip(node.block.inputs, node.arguments, strict=True) if isinstance(one, ast.Name)}
        live = self._read_behind(statement) - uses_of(statement).bound | given.keys()
        kept = self.found.setdefault(id(statement), {})
        for label in changed:
            showing = before.showing(frozenset({label}))
            names = [name for name in showing if name in live]
            others = {*names[1:], *_outside(frozenset({label})), *({RETURNED} & {*showing})}
            others |= {ITERATED} if any(name.startswith(ITERATED) for name in showing) else set()
            others |= {*names[:1]} if label in before.twice else set()
            if names and others:
                kept.setdefault(names[0], set()).update(others)
            elif names and given.get(names[0]) not in node.block.changed:
                self.under.setdefault(id(node), set()).add(given.get(names[0], names[0]))


def _parts(statements: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    for statement in statements:
        yield from ast.walk(statement)


def _outside(labels: Labels) -> set[str]:
    """The labels of what does not belong to the run, or not to a part alone."""
    return {one for one in labels if isinstance(one, str)}


def parameters_of(names: Sequence[str]) -> Mapping[str, Value]:
    """Returns the values of the parameters of a workflow, which nothing else names."""
    return {name: Value(frozenset({-2 * place - 1}), frozenset({-2 * place - 2})) for place, name in enumerate(names)}


def sharing_of(body: list[ast.stmt], facts: Facts, given: Mapping[str, Value]) -> Callable[[], Sharing]:
    """Returns the analysis of a body, which is made when it is first asked for: few functions change a value in place. `given`
    has the objects of the parameters."""
    found: list[Sharing] = []

    def analysis() -> Sharing:
        if not found:
            found.append(Sharing(facts, body))
            found[0].suite(body, State(dict(given)))
        return found[0]

    return analysis


class _Inside(Following):
    """Follows the statements of a block, and notes what they change."""

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self._ends: list[State] = []

    def _alone(self, statement: ast.stmt, state: State, evaluate: Callable[[], object], head: ast.AST | None = None) -> None:
        evaluate()

    def _ended(self, state: State) -> None:
        self._ends.append(state.copy())

    @property
    def changed(self) -> Labels:
        return frozenset[Label]().union(*(one.labels for one in self._changes))

    def run(self, block: Block, state: State) -> State | None:
        """Returns what is known behind a block, whichever way it is left."""
        guard = Guard(state.copy())
        self._frames.append(guard)
        end = self.suite(block.statements, state)
        return joined(end, *self._ends, *([guard.any] if RAISE in block.exits else []))
