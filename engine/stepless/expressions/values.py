"""Implements the operators on JSON values. They never convert types silently: unsuitable operands raise `Misfit`.

Numbers are int and float; a boolean is not a number. Integers have at most MAX_INTEGER_BITS, results are finite, and texts and
lists stay within their limits.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from stepless.expressions.faults import Misfit
from stepless.limits import MAX_DOCUMENT_DEPTH, MAX_INTEGER_BITS, MAX_LIST_ITEMS, MAX_TEXT_CHARACTERS
from stepless.model.json import JSON, equal
from stepless.model.scope import Payer

Operator: TypeAlias = Callable[[JSON, JSON, Payer], JSON]

FREE: Final = 64  # characters that the base cost of each part of an expression covers

NUMBERS: Final = frozenset({int, float})
_NUMERIC: Final = frozenset({(int, int), (int, float), (float, int), (float, float)})
_ORDERED: Final = _NUMERIC | {(str, str)}
_CONTAINERS: Final = frozenset({list, dict})
_WEIGHING: Final = 30  # steps for each value examined
_KEY: Final = 50  # additional steps for each value under a key
COPYING: Final = 3  # for each item copied into another list
_COMPARING: Final = 70  # for each pair compared
_BITS_OF_A_DIGIT: Final = 3
_KINDS: Final[dict[type, str]] = {
    type(None): "null", bool: "a boolean", int: "a number", float: "a number", str: "a text", list: "a list", dict: "an object",
}  # fmt: skip


def kind(value: JSON) -> str:
    """Returns the type of a JSON value with its article, for messages, which never show the value itself."""
    return _KINDS.get(type(value), "something that is not JSON")


def number(value: JSON) -> JSON:
    """Returns `value` if it is a number within the limits; raises `Misfit` otherwise."""
    if type(value) is int:
        if value.bit_length() > MAX_INTEGER_BITS:
            raise Misfit(f"an integer has at most {MAX_INTEGER_BITS} bits")
    elif type(value) is not float:
        raise Misfit(f"a number is needed, not {kind(value)}")
    elif not math.isfinite(value):
        raise Misfit("the result is not a finite number")
    return value


def space_for_text(characters: int) -> None:
    """Raises `Misfit` if a text of this length is too long. Called before the text is built."""
    if characters > MAX_TEXT_CHARACTERS:
        raise Misfit(f"a text has at most {MAX_TEXT_CHARACTERS} characters")


def space_for_items(items: int) -> None:
    """Raises `Misfit` if a list of this length is too long. Called before the list is built."""
    if items > MAX_LIST_ITEMS:
        raise Misfit(f"a list has at most {MAX_LIST_ITEMS} items")


def weigh(value: JSON, limit: int, payer: Payer, steps: int = _WEIGHING) -> int:
    """Returns the number of values and characters in `value`; shared parts count at each occurrence. Each value costs `steps`.

    Raises `Misfit` above `limit` (after examining little more than that), for more than MAX_DOCUMENT_DEPTH levels, and for values
    that are not JSON: other types, keys that are not texts, numbers out of bounds.
    """
    weight, depth, level = 0, 0, [value]
    while level:
        payer.spend(steps * len(level))
        depth += 1
        if depth > MAX_DOCUMENT_DEPTH + 1:
            raise Misfit(f"a value has at most {MAX_DOCUMENT_DEPTH} levels")
        below: list[JSON] = []
        for piece in level:
            weight += 1
            if type(piece) is str:
                weight += len(piece)
            elif type(piece) is list:
                below += piece
            elif type(piece) is dict:
                if not all(type(key) is str for key in piece):
                    raise Misfit("the keys of an object are texts")
                payer.spend(_KEY * len(piece))
                weight += sum(map(len, piece))
                below += piece.values()
            elif piece is not None and type(piece) is not bool:
                number(piece)
                if type(piece) is int:
                    weight += piece.bit_length() // _BITS_OF_A_DIGIT
            if weight + len(below) > limit:
                raise Misfit("the value holds too many items and characters")
        level = below
    return weight


def nests_deeper(value: JSON, levels: int) -> bool:
    """Returns whether lists and objects nest more than `levels` deep in `value`. Examines containers only."""
    containers = [value] if type(value) in _CONTAINERS else []
    for _ in range(levels):
        if not containers:
            return False
        containers = [
            inner
            for outer in containers
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) in _CONTAINERS
        ]
    return bool(containers)


def pay_for_text(characters: int, payer: Payer) -> None:
    """Charges for copying or comparing a text of this length."""
    if characters > FREE:
        payer.spend(characters >> 2)


def pay_for_search(sought: int, whole: int, payer: Payer) -> None:
    """Charges for searching a text of one length in a text of another. Python's search is quadratic for short texts only."""
    if whole > FREE:
        payer.spend(2 * whole + (min(whole, 30_000) * min(sought, 500) >> 5))


def add(left: JSON, right: JSON, payer: Payer) -> JSON:
    kinds = type(left), type(right)
    if kinds in _NUMERIC:
        return number(left + right)
    if kinds == (str, str):
        size = len(left) + len(right)
        space_for_text(size)
        pay_for_text(size, payer)
        return left + right
    if kinds == (list, list):
        space_for_items(len(left) + len(right))
        payer.spend(COPYING * (len(left) + len(right)))
        return left + right
    mend = "write str(…) around the other one" if str in kinds else ""
    raise Misfit(f"+ cannot add {kind(left)} and {kind(right)}", mend)


def same(left: JSON, right: JSON, payer: Payer) -> bool:
    """Compares like `equal`, and charges the cost."""
    if type(left) is not type(right):
        return equal(left, right)
    if type(left) is str:
        if len(left) == len(right):
            pay_for_text(len(left), payer)
        return bool(left == right)
    if type(left) not in _CONTAINERS:
        return equal(left, right)
    if len(left) != len(right):
        return False
    payer.spend(_COMPARING * len(left))
    if type(left) is list:
        return all(same(one, other, payer) for one, other in zip(left, right, strict=True))
    pay_for_text(sum(map(len, left)), payer)
    return left.keys() == right.keys() and all(same(value, right[key], payer) for key, value in left.items())


def contains(sought: JSON, whole: JSON, payer: Payer) -> bool:
    """Evaluates `sought in whole`: an equal item of a list, a part of a text, a key of an object."""
    if type(whole) is list:
        if type(sought) is str:  # only a text is equal to a text, so Python's own search gives the answer
            payer.spend(len(whole) * (2 + (len(sought) >> 4)))
            return sought in whole
        payer.spend(_COMPARING * len(whole))
        return any(same(sought, item, payer) for item in whole)
    if type(whole) is str or type(whole) is dict:
        if type(sought) is not str:
            raise Misfit(f"{kind(sought)} cannot be in {kind(whole)}, only a text can")
        pay_for_text(len(sought), payer) if type(whole) is dict else pay_for_search(len(sought), len(whole), payer)
        return sought in whole
    raise Misfit(f"in searches a list, a text or an object, not {kind(whole)}")


def negative(value: JSON) -> JSON:
    return -number(value)


def item(whole: JSON, index: JSON, payer: Payer) -> JSON:
    """Evaluates `whole[index]`: an item of a list or text by number, or of an object by key. A missing item is null, as in a
    reference, and so is any item of null."""
    if type(whole) is dict and type(index) is str:
        pay_for_text(len(index), payer)
        return whole.get(index)
    if type(whole) in (list, str) and type(index) is int:
        return whole[index] if -len(whole) <= index < len(whole) else None
    if whole is None:
        return None
    raise Misfit(f"{kind(whole)} has no item under {kind(index)}", "write int(…) around it" if type(index) is float else "")


def part(whole: JSON, start: JSON, stop: JSON, payer: Payer) -> JSON:
    """Evaluates `whole[start:stop]` of a list or text; null for an omitted end."""
    if type(whole) not in (list, str):
        raise Misfit(f"only a list or a text can be cut, not {kind(whole)}")
    for end in (start, stop):
        if end is not None and type(end) is not int:
            raise Misfit(f"the ends of a cut are integers, not {kind(end)}")
    cut = range(len(whole))[start:stop]
    (space_for_text if type(whole) is str else space_for_items)(len(cut))
    payer.spend(len(cut) if type(whole) is str else COPYING * len(cut))
    return whole[start:stop]


def _ordering(symbol: str, compare: Callable[[Any, Any], bool]) -> Operator:
    def ordered(left: JSON, right: JSON, payer: Payer) -> JSON:
        if (type(left), type(right)) in _ORDERED:
            if type(left) is str:
                pay_for_text(min(len(left), len(right)), payer)
            return compare(left, right)
        raise Misfit(f"{symbol} cannot order {kind(left)} and {kind(right)}", "compare two numbers or two texts")

    return ordered


def _arithmetic(symbol: str, compute: Callable[[Any, Any], Any]) -> Operator:
    def computed(left: JSON, right: JSON, payer: Payer) -> JSON:
        if (type(left), type(right)) not in _NUMERIC:
            raise Misfit(f"{symbol} takes two numbers, not {kind(left)} and {kind(right)}")
        try:
            return number(compute(left, right))
        except ZeroDivisionError:
            raise Misfit(f"{symbol} divides by zero") from None
        except OverflowError:
            raise Misfit(f"{symbol} gives a number that is too large") from None

    return computed


ORDER: Final[dict[str, Operator]] = {
    symbol: _ordering(symbol, compare)
    for symbol, compare in (("<", operator.lt), ("<=", operator.le), (">", operator.gt), (">=", operator.ge))
}
ARITHMETIC: Final[dict[str, Operator]] = {
    "+": add,
    **{
        symbol: _arithmetic(symbol, compute)
        for symbol, compute in (
            ("-", operator.sub), ("*", operator.mul), ("/", operator.truediv), ("//", operator.floordiv), ("%", operator.mod),
        )
    },
}  # fmt: skip
