"""Implements the functions of the expression language that build lists, objects and texts from others. Like all functions, they
change no argument and raise `Misfit`."""

from __future__ import annotations

from typing import Any, Final

from stepless.expressions.faults import Misfit
from stepless.expressions.texts import WRITING
from stepless.expressions.values import COPYING, kind, number, pay_for_text, space_for_items, space_for_text, weigh
from stepless.limits import MAX_LIST_ITEMS, MAX_TEXT_CHARACTERS
from stepless.model.json import JSON
from stepless.model.scope import Payer

# Steps for each item or key, as measured by `benchmarks/evaluation.py`.
_SORTING: Final = 40
_MERGING: Final = 10
_PAIRING: Final = 25
_COUNTING: Final = 6


def merge(*given: Any) -> JSON:
    """Returns one object with the fields of all; of equal names, the last value, at the place of the first."""
    *objects, payer = given
    merged: dict[str, JSON] = {}
    for one in objects:
        if type(one) is not dict:
            raise Misfit(f"an object is needed, not {kind(one)}")
        space_for_items(len(one))
        payer.spend(_MERGING * len(one))
        merged |= one
        space_for_items(len(merged))
    return merged


def put(whole: JSON, place: JSON, value: JSON, payer: Payer) -> JSON:
    """Returns an object with another value under a name, or a list with another item at a number that it has."""
    if type(whole) not in (dict, list):
        raise Misfit(f"only a list or an object can be given a value, not {kind(whole)}")
    payer.spend((_MERGING if type(whole) is dict else COPYING) * len(whole))
    if type(place) is not (str if type(whole) is dict else int):
        raise Misfit(f"{kind(whole)} has no place under {kind(place)}")
    if type(whole) is list and not -len(whole) <= int(place) < len(whole):
        raise Misfit("the list has no item at this number", "a longer list is written <list> + [item]")
    copy: JSON = whole.copy()
    copy[place] = value
    space_for_items(len(copy))
    return copy


def sort(value: JSON, *more: Any) -> JSON:
    """Returns the items in ascending order, or descending if the second value is true: all numbers or all texts. Equal items keep
    their order."""
    backwards, payer = more if len(more) == 2 else (False, *more)
    if type(value) is not list:
        raise Misfit(f"a list is needed, not {kind(value)}")
    if type(backwards) is not bool:
        raise Misfit(f"whether the order is descending is true or false, not {kind(backwards)}")
    space_for_items(len(value))
    payer.spend(_SORTING * len(value))
    texts = [item for item in value if type(item) is str]
    if not texts:
        for item in value:
            number(item)
    elif len(texts) < len(value):
        raise Misfit("only texts or only numbers can be sorted, not both")
    payer.spend(sum(map(len, texts)) * len(value).bit_length() >> 5)
    return sorted(value, reverse=backwards)


def numbers(*given: Any) -> JSON:
    """Returns whole numbers like Python's `range`: to a stop, from a start to a stop, in steps."""
    *ends, payer = given
    for end in ends:
        if type(end) is not int:
            raise Misfit(f"a range has whole numbers, not {kind(end)}")
        number(end)
    if len(ends) == 3 and ends[2] == 0:
        raise Misfit("a range has no steps of 0")
    counted = range(*ends)
    space_for_items(MAX_LIST_ITEMS + 1 if counted[MAX_LIST_ITEMS:] else len(counted))  # a long range has no `len`
    payer.spend(_COUNTING * len(counted))
    return list(counted)


def pair(*given: Any) -> JSON:
    """Lists of the first items, the second items and so on, as many as the shortest list has."""
    *lists, payer = given
    for one in lists:
        if type(one) is not list:
            raise Misfit(f"a list is needed, not {kind(one)}")
    shortest = min(map(len, lists))
    space_for_items(shortest)
    payer.spend((_PAIRING + COPYING * len(lists)) * shortest)
    return [list(items) for items in zip(*lists, strict=False)]


def repeat(value: JSON, times: JSON, payer: Payer) -> JSON:
    """Returns a text or a list, as often as a whole number says; below 1, none of it."""
    if type(value) not in (str, list):
        raise Misfit(f"only a list or a text can be repeated, not {kind(value)}")
    if type(times) is not int:
        raise Misfit(f"the number of times is a whole number, not {kind(times)}")
    size = len(value) * max(0, times)
    if type(value) is str:
        space_for_text(size)
        pay_for_text(size, payer)
    else:
        space_for_items(size)
        payer.spend(COPYING * size)
    return value * times if size else value[:0]


def python_text(value: JSON, payer: Payer) -> JSON:
    """Returns a value as Python's `str` and f-strings write it: a text unchanged, `None`, `True`, `1.0`, `['a', 1]`."""
    if type(value) is str:
        return value
    if type(value) in (list, dict):
        payer.spend(weigh(value, MAX_TEXT_CHARACTERS, payer, WRITING) >> 1)
    elif value is not None and type(value) is not bool:
        number(value)
    written = str(value)
    space_for_text(len(written))
    return written
