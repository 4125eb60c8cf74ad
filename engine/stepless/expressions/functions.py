"""Defines the functions of the expression language in one table. No other function can be called.

Every function takes and returns JSON, checks its arguments and raises `Misfit`. None changes an argument.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from stepless.expressions.dates import instant
from stepless.expressions.faults import MISSING, Misfit
from stepless.expressions.lists import merge, numbers, pair, put, python_text, repeat, sort
from stepless.expressions.patterns import matches, pattern
from stepless.expressions.queries import queried, query
from stepless.expressions.texts import to_json, to_text
from stepless.expressions.values import (
    ORDER,
    add,
    contains,
    kind,
    number,
    pay_for_search,
    pay_for_text,
    space_for_items,
    space_for_text,
    weigh,
)
from stepless.limits import MAX_LIST_ITEMS, MAX_NUMBER_CHARACTERS, MAX_ROUND_DIGITS, MAX_TEXT_CHARACTERS
from stepless.model.json import JSON
from stepless.model.scope import Payer

_INTEGER: Final = re.compile(r"\s*[+-]?[0-9]+\s*", re.ASCII)
_DECIMAL: Final = re.compile(r"\s*[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*", re.ASCII)

# Steps for each item or character, as measured by `benchmarks/evaluation.py`.
_ORDERING: Final = 40
_ADDING: Final = 35
_CASING: Final = 8  # a quarter of it for each character: others than ASCII change case slowly, and may become several
_PIECE: Final = 15
_WRITTEN_PIECE: Final = 160
_PARSING: Final = 20


@dataclass(frozen=True, slots=True)
class Function:
    """`call` takes `least` to `most` values. A `paid` function also takes the payer, last: its cost grows with its values. A
    function with `prepare` takes two values. If the second is a literal, `prepare` compiles it at publication to a function of
    the first. A `clocked` function takes the instant of the decision instead."""

    least: int
    most: int
    call: Callable[..., JSON]
    prepare: Callable[[JSON], Callable[[JSON, Payer], JSON]] | None = None
    clocked: bool = False
    paid: bool = False


def _length(value: JSON) -> JSON:
    if type(value) not in (str, list, dict):
        raise Misfit(f"{kind(value)} has no length")
    return len(value)


def _extreme(symbol: str) -> Callable[..., JSON]:
    """min or max of several arguments, or of the items of one list: all numbers or all texts. Of equal ones, the first."""
    better = ORDER[symbol]

    def extreme(*given: Any) -> JSON:
        *values, payer = given
        items = _items_of(values[0]) if len(values) == 1 else values
        payer.spend(_ORDERING * len(items))
        if not items:
            raise Misfit("an empty list has neither least nor greatest", "give it another argument")
        best = items[0]
        better(best, best, payer)  # a single item must be of an ordered type, too
        for item in items[1:]:
            best = item if better(item, best, payer) else best
        return best

    return extreme


def _items_of(value: JSON) -> list[JSON]:
    if type(value) is not list:
        raise Misfit(f"a list is needed, not {kind(value)}")
    return value


def _text_of(value: JSON) -> str:
    if type(value) is not str:
        raise Misfit(f"a text is needed, not {kind(value)}", "write str(…) around it")
    return value


def _object_of(value: JSON) -> dict[str, JSON]:
    if type(value) is not dict:
        raise Misfit(f"an object is needed, not {kind(value)}")
    space_for_items(len(value))
    return value


def _sum(value: JSON, payer: Payer) -> JSON:
    payer.spend(_ADDING * len(_items_of(value)))
    total: JSON = 0
    for item in value:
        total = add(total, number(item), payer)
    return total


def _round(value: JSON, digits: JSON = None) -> JSON:
    """Rounds like Python: halves to the even neighbour, and to an integer without `digits`."""
    if digits is not None and (type(digits) is not int or abs(digits) > MAX_ROUND_DIGITS):
        raise Misfit(f"digits are an integer from -{MAX_ROUND_DIGITS} to {MAX_ROUND_DIGITS}")
    return number(round(number(value)) if digits is None else round(number(value), digits))


def _cased(change: Callable[[str], str]) -> Callable[[JSON, Payer], JSON]:
    def cased(value: JSON, payer: Payer) -> JSON:
        space_for_text(len(_text_of(value)))
        pay_for_text(len(value) if value.isascii() else _CASING * len(value), payer)
        changed = change(value)
        space_for_text(len(changed))
        return changed

    return cased


def _trim(value: JSON, payer: Payer) -> JSON:
    pay_for_text(len(_text_of(value)), payer)
    return value.strip()


def _at_the(end: Callable[[str, str], bool]) -> Callable[[JSON, JSON, Payer], JSON]:
    def has_end(value: JSON, sought: JSON, payer: Payer) -> JSON:
        pay_for_text(min(len(_text_of(value)), len(_text_of(sought))), payer)
        return end(value, sought)

    return has_end


def _split(value: JSON, *more: Any) -> JSON:
    """Splits a text at a separator; without one, into words."""
    separator, payer = more if len(more) == 2 else (None, *more)
    if separator is not None and not _text_of(separator):
        raise Misfit("an empty text separates nothing")
    pay_for_search(len(separator or " "), len(_text_of(value)), payer)
    payer.spend(_PIECE * min(len(value), MAX_LIST_ITEMS))
    pieces = _text_of(value).split(separator, MAX_LIST_ITEMS)
    space_for_items(len(pieces))
    return pieces


def _join(value: JSON, *more: Any) -> JSON:
    """Joins the items of a list to one text. Items that are not texts are formatted as in a template."""
    separator, payer = more if len(more) == 2 else ("", *more)
    space_for_items(len(_items_of(value)))
    payer.spend(sum(_PIECE if type(item) is str else _WRITTEN_PIECE for item in value))
    between = len(_text_of(separator)) * max(0, len(value) - 1)
    space_for_text(between)
    pieces: list[str] = []
    for item in value:
        pieces.append(to_text(item, payer))
        between += len(pieces[-1])
        space_for_text(between)
    pay_for_text(between, payer)
    return separator.join(pieces)


def _int(value: JSON) -> JSON:
    """Converts a number (truncated towards zero), a text of digits, or a boolean (1 or 0) to an integer."""
    if type(value) is str:
        if len(value) > MAX_NUMBER_CHARACTERS or not _INTEGER.fullmatch(value):
            raise Misfit("the text is not an integer", "float(…) reads decimals")
        return number(int(value))
    if type(value) is bool:
        return int(value)
    return number(int(number(value)))


def _float(value: JSON) -> JSON:
    if type(value) is str:
        if len(value) > MAX_NUMBER_CHARACTERS or not _DECIMAL.fullmatch(value):
            raise Misfit("the text is not a number")
        return number(float(value))
    try:
        return float(value if type(value) is bool else number(value))
    except OverflowError:
        raise Misfit("the number is too large for a float") from None


def _str(value: JSON, payer: Payer) -> JSON:
    """A text unchanged; any other value, including null, as compact JSON."""
    return value if type(value) is str else to_json(value, payer)


def _json(value: JSON, payer: Payer) -> JSON:
    """Parses a JSON text. (`str` is the inverse.)"""
    if len(_text_of(value)) > MAX_TEXT_CHARACTERS:
        raise Misfit(f"a JSON text has at most {MAX_TEXT_CHARACTERS} characters")
    payer.spend(len(value) + _PARSING * sum(map(value.count, ",[{")))  # the text has at most one value more than these
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        raise Misfit("the text is not JSON") from None
    weigh(parsed, 2 * MAX_TEXT_CHARACTERS, payer)
    return parsed


def _of(take: Callable[[dict[str, JSON]], list[JSON]], steps: int) -> Callable[[JSON, Payer], JSON]:
    """Wraps `take`, a function of an object, and charges `steps` for each of its keys."""

    def taken(value: JSON, payer: Payer) -> JSON:
        payer.spend(steps * len(_object_of(value)))
        return take(value)

    return taken


def _truth(decide: Callable[[list[JSON]], bool]) -> Callable[[JSON, Payer], JSON]:
    def decided(value: JSON, payer: Payer) -> JSON:
        payer.spend(len(_items_of(value)))
        return decide(value)

    return decided


def _default(value: JSON, fallback: JSON) -> JSON:
    return fallback if value is None else value


def _need(value: JSON) -> JSON:
    if value is None:
        raise Misfit("the value is null", "make sure that there is one, or say default(…) instead", MISSING)
    return value


FUNCTIONS: Final[dict[str, Function]] = {
    "len": Function(1, 1, _length),
    "min": Function(1, 100, _extreme("<"), paid=True),
    "max": Function(1, 100, _extreme(">"), paid=True),
    "sum": Function(1, 1, _sum, paid=True),
    "round": Function(1, 2, _round),
    "abs": Function(1, 1, lambda value: abs(number(value))),
    "lower": Function(1, 1, _cased(str.lower), paid=True),
    "upper": Function(1, 1, _cased(str.upper), paid=True),
    "trim": Function(1, 1, _trim, paid=True),
    "split": Function(1, 2, _split, paid=True),
    "join": Function(1, 2, _join, paid=True),
    "contains": Function(2, 2, lambda whole, sought, payer: contains(sought, whole, payer), paid=True),
    "startswith": Function(2, 2, _at_the(str.startswith), paid=True),
    "endswith": Function(2, 2, _at_the(str.endswith), paid=True),
    "matches": Function(2, 2, matches, prepare=pattern, paid=True),
    "int": Function(1, 1, _int),
    "float": Function(1, 1, _float),
    "str": Function(1, 1, _str, paid=True),
    "bool": Function(1, 1, bool),
    "keys": Function(1, 1, _of(list, 3), paid=True),
    "values": Function(1, 1, _of(lambda value: list(value.values()), 3), paid=True),
    "items": Function(1, 1, _of(lambda value: [[key, item] for key, item in value.items()], 40), paid=True),
    "any": Function(1, 1, _truth(any), paid=True),
    "all": Function(1, 1, _truth(all), paid=True),
    "default": Function(2, 2, _default),
    "now": Function(0, 0, instant, clocked=True),
    "date": Function(1, 1, instant),
    "json": Function(1, 1, _json, paid=True),
    "query": Function(2, 2, queried, prepare=query, paid=True),
    "need": Function(1, 1, _need),
    "merge": Function(1, 100, merge, paid=True),
    "put": Function(3, 3, put, paid=True),
    "sort": Function(1, 2, sort, paid=True),
    "range": Function(1, 3, numbers, paid=True),
    "zip": Function(1, 100, pair, paid=True),
    "repeat": Function(2, 2, repeat, paid=True),
    "text": Function(1, 1, python_text, paid=True),
}
