"""Matches the items of two sequences, and keeps the orders of those that were there."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from stepless.drafts.rules.fractional_index import between, is_order, spread
from stepless.limits import MAX_ORDER_CHARACTERS


def rising(places: Sequence[int]) -> list[int]:
    """Returns the indices of a longest part of the sequence that rises strictly."""
    ends: list[int] = []  # of the best part of each length, its last index
    heads: list[int] = []  # and the value there
    before: list[int] = []
    for index, place in enumerate(places):
        length = bisect_left(heads, place)
        before.append(ends[length - 1] if length else -1)
        if length == len(heads):
            ends.append(index)
            heads.append(place)
        else:
            ends[length], heads[length] = index, place
    made: list[int] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        made.append(index)
        index = before[index]
    return made[::-1]


def orders(present: Sequence[object]) -> list[str]:
    """Returns an order for each item of a sequence, each above the one before. `present` are the orders that the items have,
    anything else for those that have none: as many as can stay do."""
    known = sorted({order for order in present if is_order(order) and isinstance(order, str)})
    rank = {order: place for place, order in enumerate(known)}
    held = [index for index, order in enumerate(present) if isinstance(order, str) and order in rank]
    stay = [held[index] for index in rising([rank[str(present[index])] for index in held])]
    made: dict[int, str] = {index: str(present[index]) for index in stay}
    edges = [-1, *stay, len(present)]
    for low, high in pairwise(edges):
        _fill(made, low, high, made.get(low), made.get(high))
    if any(len(order) > MAX_ORDER_CHARACTERS for order in made.values()):
        return spread(len(present))
    return [made[index] for index in range(len(present))]


def _fill(made: dict[int, str], low: int, high: int, floor: str | None, ceiling: str | None) -> None:
    """Orders for the items between two, halving the space each time: their length grows with the logarithm of their number."""
    if high - low < 2:
        return
    middle = (low + high) // 2
    made[middle] = between(floor, ceiling)
    _fill(made, low, middle, floor, made[middle])
    _fill(made, middle, high, made[middle], ceiling)


def same_items(old: Sequence[Hashable], new: Sequence[Hashable]) -> dict[int, int]:
    """Returns, for items of the new sequence, by index, the index of the same item in the old one: as many as possible in their
    order, then those that stand elsewhere. Each has at most one partner."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    made = {index: index for index in range(start)}
    made |= {len(new) - 1 - index: len(old) - 1 - index for index in range(end)}
    inner = SequenceMatcher(None, old[start:len(old) - end], new[start:len(new) - end], autojunk=False)
    for block in inner.get_matching_blocks():
        made |= {start + block.b + index: start + block.a + index for index in range(block.size)}
    taken = set(made.values())
    elsewhere: dict[Hashable, list[int]] = {}
    for index in reversed(range(len(old))):
        if index not in taken:
            elsewhere.setdefault(old[index], []).append(index)
    for index, item in enumerate(new):
        if index not in made and elsewhere.get(item):
            made[index] = elsewhere[item].pop()
    return made


def gaps(partners: Mapping[int, int], old: int, new: int) -> list[tuple[list[int], list[int]]]:
    """Returns the items without a partner of two sequences of these lengths, by the run in which they stand: indices of the old
    ones, and of the new ones. Partners that stand elsewhere end no run."""
    kept = sorted(partners)
    in_order = [kept[index] for index in rising([partners[index] for index in kept])]
    taken = set(partners.values())
    found: list[tuple[list[int], list[int]]] = []
    last_old = last_new = -1
    for here, there in [*((index, partners[index]) for index in in_order), (new, old)]:
        olds = [index for index in range(last_old + 1, there) if index not in taken]
        news = [index for index in range(last_new + 1, here) if index not in partners]
        if olds and news:
            found.append((olds, news))
        last_old, last_new = there, here
    return found
