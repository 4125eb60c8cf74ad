"""The expressions of DynamoDB that the store writes, read strictly: conditions, key conditions, filters and updates.

Expressions that the store does not use are refused. When the store needs a new expression, add it to this module first; the
contract suite compares the results with the emulators.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Final, TypeAlias

Typed: TypeAlias = Mapping[str, Any]  # {"S": text}, {"N": decimal text} or {"B": bytes}
Item: TypeAlias = Mapping[str, Typed]
Values: TypeAlias = Mapping[str, Typed]
Test: TypeAlias = Callable[[Item, Values], bool]
Operand: TypeAlias = Callable[[Item, Values], Typed | None]

_TOKEN: Final = re.compile(r"\s*(<=|>=|<>|[=<>(),+]|:?[A-Za-z][A-Za-z0-9_]*)")
_COMPARED: Final[Mapping[str, Callable[[Any, Any], bool]]] = {"=": eq, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


class NotUnderstood(Exception):
    """An expression that is invalid, or not supported here."""


def comparable(typed: Typed) -> Any:
    """A value as DynamoDB orders it: numbers by value, texts and bytes by their bytes."""
    ((kind, value),) = typed.items()
    return Decimal(value) if kind == "N" else value.encode() if kind == "S" else bytes(value)


@cache
def values_in(*expressions: str) -> frozenset[str]:
    """The placeholders that expressions use."""
    return frozenset(token for text in expressions for token in _tokens(text) if token.startswith(":"))


@cache
def condition(text: str) -> Test:
    """A condition, as a function of the stored item (empty: none) and the values."""
    parser = _Parser(text)
    test = parser.either()
    parser.end()
    return test


@dataclass(frozen=True)
class Update:
    """A change of an item: the attributes to set, in order, and those to remove."""

    sets: tuple[tuple[str, Operand], ...]
    removed: frozenset[str]

    def given(self, item: Item, values: Values) -> dict[str, Typed]:
        """The attributes that are set. Everything is read before anything is written."""
        given = {name: operand(item, values) for name, operand in self.sets}
        if None in given.values():
            raise NotUnderstood("an operand of the update names an attribute that does not exist")
        return {name: typed for name, typed in given.items() if typed is not None}


@cache
def update(text: str) -> Update:
    return _Parser(text).changes()


def _tokens(text: str) -> list[str]:
    tokens, position = list[str](), 0
    while position < len(text.rstrip()):
        found = _TOKEN.match(text, position)
        if found is None:
            raise NotUnderstood(f"at {position} of {text!r}")
        tokens.append(found[1])
        position = found.end()
    return tokens


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self._position = 0

    def _peek(self) -> str:
        return self._tokens[self._position] if self._position < len(self._tokens) else ""

    def _next(self, wanted: str | None = None) -> str:
        token = self._peek()
        if not token or (wanted is not None and token != wanted):
            raise NotUnderstood(f"{wanted or 'more'} is missing in {self._text!r}")
        self._position += 1
        return token

    def _takes(self, token: str) -> bool:
        self._position += (there := self._peek() == token)
        return there

    def end(self) -> None:
        if self._peek():
            raise NotUnderstood(f"{self._peek()!r} is unexpected in {self._text!r}")

    # -- conditions ---------------------------------------------------------------------------------------------------

    def either(self) -> Test:
        tests = [self._both()]
        while self._takes("OR"):
            tests.append(self._both())
        return tests[0] if len(tests) == 1 else lambda item, values: any(test(item, values) for test in tests)

    def _both(self) -> Test:
        tests = [self._test()]
        while self._takes("AND"):
            tests.append(self._test())
        return tests[0] if len(tests) == 1 else lambda item, values: all(test(item, values) for test in tests)

    def _test(self) -> Test:
        if self._takes("("):
            inner = self.either()
            self._next(")")
            return inner
        if self._peek() in ("attribute_exists", "attribute_not_exists"):
            exists = self._next() == "attribute_exists"
            (name,) = self._arguments()
            return lambda item, values: (name in item) is exists
        if self._takes("begins_with"):
            name, start = self._arguments()
            return lambda item, values: name in item and comparable(item[name]).startswith(comparable(values[start]))
        left = self._operand()
        if self._takes("BETWEEN"):
            low = self._operand()
            self._next("AND")
            return _all(_comparison(ge, left, low), _comparison(le, left, self._operand()))
        compare = _COMPARED.get(self._next())
        if compare is None:
            raise NotUnderstood(f"no comparison in {self._text!r}")
        return _comparison(compare, left, self._operand())

    def _arguments(self) -> list[str]:
        self._next("(")
        given = [self._next()]
        while self._takes(","):
            given.append(self._next())
        self._next(")")
        return given

    def _operand(self) -> Operand:
        name = self._next()
        if name.startswith(":"):
            return lambda item, values: values[name]
        return lambda item, values: item.get(name)

    # -- updates ------------------------------------------------------------------------------------------------------

    def changes(self) -> Update:
        sets, removed = list[tuple[str, Operand]](), set[str]()
        if self._takes("SET"):
            sets = [*self._listed(self._set)]
        if self._takes("REMOVE"):
            removed = {*self._listed(self._next)}
        self.end()
        names = [name for name, _ in sets]
        if len({*names}) != len(names) or removed & {*names}:
            raise NotUnderstood(f"two changes of one attribute in {self._text!r}")
        return Update(tuple(sets), frozenset(removed))

    def _listed(self, one: Callable[[], Any]) -> Iterator[Any]:
        yield one()
        while self._takes(","):
            yield one()

    def _set(self) -> tuple[str, Operand]:
        name = self._next()
        self._next("=")
        if self._takes("if_not_exists"):
            kept, given = self._arguments()
            return name, lambda item, values: item.get(kept, values[given])
        operand = self._operand()
        return name, _sum(operand, self._operand()) if self._takes("+") else operand


def _all(*tests: Test) -> Test:
    return lambda item, values: all(test(item, values) for test in tests)


def _comparison(compare: Callable[[Any, Any], bool], left: Operand, right: Operand) -> Test:
    def test(item: Item, values: Values) -> bool:
        one, other = left(item, values), right(item, values)
        if one is None or other is None or one.keys() != other.keys():
            return False
        return compare(comparable(one), comparable(other))

    return test


def _sum(left: Operand, right: Operand) -> Operand:
    def added(item: Item, values: Values) -> Typed | None:
        one, other = left(item, values), right(item, values)
        return None if one is None or other is None else {"N": str(int(one["N"]) + int(other["N"]))}

    return added
