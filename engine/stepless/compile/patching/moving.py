"""Puts the parts of a text into another order. Each goes with its lines and the comments right above it; what is between two of
them, blank lines and other comments, stays where it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from yaml import YAMLError

from stepless.compile.patching.anchors import values_of, with_anchors_first
from stepless.compile.patching.comments import behind_comments, comments_above
from stepless.compile.patching.edits import Wider, canonical, dash_of, renames
from stepless.compile.patching.rendering import Rendering
from stepless.compile.patching.tree import Node, column, line_start, tree_of
from stepless.compile.reading.read_yaml import read_yaml
from stepless.compile.reading.syntax import SyntaxFault
from stepless.model.json import JSON

_TRIES: Final = 20
"""Collections that are put into order one by one, where all at once do not read back."""


class _Move(NamedTuple):
    """`order`: which part of the collection stands at each place afterwards."""

    node: Node
    order: list[int]


def moved(text: str, tree: Node, old: JSON, goal: JSON, rendering: Rendering) -> tuple[str, JSON, Node]:
    """Returns the text with what it keeps in the order that it has in the goal, what it reads as then, and its tree. What cannot
    be moved stays."""
    moves = list(_moves(tree, old, goal))
    if not moves:
        return text, old, tree
    values, parts = values_of(tree, old), _parts(old)
    for some in (moves, *([one] for one in moves[:_TRIES] if len(moves) > 1)):
        try:
            made = _arranged(text, tree, {id(one.node): one.order for one in some})
        except Wider:
            continue
        for tried in (made, with_anchors_first(made, _tree(made), values, rendering)):
            read = _read(tried)
            if read is not None and _parts(read) == parts:
                return tried, read, _tree(tried) or tree
    return text, old, tree


def _tree(text: str) -> Node | None:
    try:
        return tree_of(text)
    except YAMLError:
        return None


def _read(text: str) -> JSON:
    try:
        return read_yaml(text)
    except SyntaxFault:
        return None


def _parts(value: JSON) -> str:
    """A value whatever the order of its parts: what moves behind an anchor moves behind its aliases too."""
    if isinstance(value, dict):
        return f"{{{','.join(sorted(f'{canonical(key)}:{_parts(held)}' for key, held in value.items()))}}}"
    return f"[{','.join(sorted(map(_parts, value)))}]" if isinstance(value, list) else canonical(value)


# -- what moves --------------------------------------------------------------------------------------------------------


def _moves(tree: Node, old: JSON, goal: JSON) -> Iterator[_Move]:
    """Every collection whose parts have another order in the goal. An alias owns no content."""
    waiting: list[tuple[Node, JSON, JSON]] = [(tree, old, goal)]
    while waiting:
        node, held, wanted = waiting.pop()
        if node.shape == "mapping" and isinstance(held, dict) and isinstance(wanted, dict):
            named = renames(held, wanted)
            names = [str(named.get(key, key)) for key in held]
            order = _order(names, list(wanted))
            waiting.extend(
                (item, value, wanted[name])
                for item, name, value in zip(node.items, names, held.values(), strict=True) if name in wanted
            )
        elif node.shape == "sequence" and isinstance(held, list) and isinstance(wanted, list):
            order = _order(list(map(canonical, held)), list(map(canonical, wanted)))
            if len(held) == len(wanted):
                waiting.extend(zip(node.items, held, wanted, strict=True))
        else:
            continue
        if order != sorted(order):
            yield _Move(node, order)


def _order(names: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Which part stands at each place afterwards. What goes keeps its place until then."""
    left = Counter(wanted)
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        if left[name] > 0:
            left[name] -= 1
            places.setdefault(name, []).append(place)
    coming = [places[name].pop(0) for name in wanted if places.get(name)]
    order = list(range(len(names)))
    for index, place in zip(sorted(coming), coming, strict=True):
        order[index] = place
    return order


# -- the text ----------------------------------------------------------------------------------------------------------


def _arranged(text: str, node: Node, orders: Mapping[int, list[int]], start: int = 0, end: int | None = None) -> str:
    """The text from `start` to `end`, in which the node stands, with the parts of its collections in these orders."""
    end = len(text) if end is None else end
    if node.shape not in ("mapping", "sequence"):
        return text[start:end]
    spans = [_span(text, node, place) for place in range(len(node.items))]
    parts = [_arranged(text, item, orders, *span) for item, span in zip(node.items, spans, strict=True)]
    made, at = [], start
    for (begin, behind), place in zip(spans, orders.get(id(node), range(len(parts))), strict=True):
        made += [text[at:begin], parts[place]]
        at = behind
    return "".join([*made, text[at:end]])


def _span(text: str, node: Node, place: int) -> tuple[int, int]:
    """A part of a collection with the comments right above it, without the indent of its first line."""
    item = node.items[place]
    first = node.keys[place].start if node.shape == "mapping" else item.start
    end = max(item.end, node.keys[place].end if node.shape == "mapping" else 0)
    if node.flow:
        return first, end
    start = first if node.shape == "mapping" else dash_of(text, item)
    indent = column(text, start)
    begin = line_start(text, start)
    if not text[begin:start].strip():
        start = comments_above(text, begin, start) + indent
    behind = behind_comments(text, end, indent)
    return start, behind - (text[behind - 1:behind] == "\n")
