"""Describes which objects the names of a function may show at one place of it: the object that a name stands for, and those that
are reached from it.

An object is known by the expression that makes it. In a loop such an expression makes many: `made` is the last of them, and
`older` stands for those before it, so that a list that each iteration makes anew is not taken for that of the iteration before.
What cannot be changed in place, such as a number or a date, is no object here."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

Label: TypeAlias = int | str
Labels: TypeAlias = frozenset[Label]
_NONE: Final[Labels] = frozenset()


class Value(NamedTuple):
    """The objects that a value may be, and those that it may contain, however deep."""

    top: Labels = _NONE
    deep: Labels = _NONE

    def all(self) -> Labels:
        return self.top | self.deep

    def item(self) -> Value:
        """Something that the value contains."""
        return Value(self.deep, self.deep)


NOTHING: Final = Value()


def either(values: Iterable[Value]) -> Value:
    """Returns what may be any of some values."""
    found = [*values]
    return Value(_NONE.union(*(one.top for one in found)), _NONE.union(*(one.deep for one in found)))


def made(node: ast.AST) -> int:
    return 2 * id(node)


def content(node: ast.AST) -> int:
    """Returns the label of all objects in what a node returns."""
    return 2 * id(node) + 1


def older(label: Label) -> Label:
    return -abs(label) if isinstance(label, int) else label


@dataclass(slots=True)
class State:
    """The values of the names at one place. `twice` are the objects that may be held twice by one value."""

    names: dict[str, Value] = field(default_factory=dict)
    twice: set[Label] = field(default_factory=set)
    known: set[Label] = field(default_factory=set)
    """The labels that were given before, of which there may be older ones."""

    def copy(self) -> State:
        return State(dict(self.names), set(self.twice), set(self.known))

    def join(self, other: State | None) -> State:
        """Takes in the state of another way that leads here."""
        if other is None or other is self:
            return self
        for name, value in other.names.items():
            own = self.names.get(name)
            if own is None:
                self.names[name] = value
            elif own != value:
                self.names[name] = Value(own.top | value.top, own.deep | value.deep)
        self.twice |= other.twice
        self.known |= other.known
        return self

    def make(self, *labels: Label) -> None:
        """Makes objects: those that were made by the same expression are the older ones now."""
        self.age({*labels})
        self.known |= {*labels}

    def age(self, labels: set[Label]) -> None:
        again = self.known & labels
        self.known -= again
        if again:
            self.names = {name: _aged(value, again) for name, value in self.names.items()}
            self.twice = {older(one) if one in again else one for one in self.twice}

    def showing(self, labels: Labels) -> list[str]:
        """Returns the names that may show a change of some objects."""
        return [
            name for name, (top, deep) in self.names.items() if not (labels.isdisjoint(top) and labels.isdisjoint(deep))
        ]

    def put(self, into: Labels, value: Value) -> None:
        """Puts a value into some objects."""
        added = value.all()
        if not added:
            return
        for name in self.showing(into):
            top, deep = self.names[name]
            self.twice |= deep & added
            self.names[name] = Value(top, deep | added)


def _aged(value: Value, again: set[Label]) -> Value:
    if again.isdisjoint(value.top) and again.isdisjoint(value.deep):
        return value
    top, deep = (frozenset(older(one) if one in again else one for one in labels) for labels in value)
    return Value(top, deep)


def joined(*states: State | None) -> State | None:
    """Returns the state where some ways meet; None where none leads."""
    found = [one for one in states if one is not None]
    if not found:
        return None
    whole = found[0].copy()
    for one in found[1:]:
        whole.join(one)
    return whole
