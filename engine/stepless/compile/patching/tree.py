"""Parses a YAML or JSON text to a tree of spans: the position of each key, value and item.

Built from the parser's events, as `read_yaml` is, because an alias must stay an alias: a composed tree has the anchored value in
its place.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import yaml

Shape = Literal["scalar", "mapping", "sequence", "alias"]


@dataclass(eq=False, slots=True)
class Node:
    """`start` and `end` are offsets into the text; the end of a block is behind its last character, without the blanks that
    follow. `keys` belongs to a mapping, in step with `items`. `flow` is true of `{…}` and `[…]`. `style` is the quote or the
    block sign of a scalar, empty for a plain one. `anchor` is the name behind `&`, or behind `*` for an alias.
    An anchor or tag in front of a value belongs to its span. `explicit` is true of a key behind a question mark, which belongs to
    its span, too; then its value stands behind a colon in a line below."""

    shape: Shape
    start: int
    end: int
    flow: bool = False
    style: str = ""
    anchor: str = ""
    keys: list[Node] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)
    value: str = ""
    explicit: bool = False


def tree_of(text: str) -> Node | None:
    """Returns the tree of a text that `read_yaml` reads; None for an empty one."""
    root: Node | None = None
    opened: list[Node] = []
    for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        made = _node(event, text)
        if made is not None:
            if not opened:
                root = made
            elif opened[-1].shape == "mapping" and len(opened[-1].keys) == len(opened[-1].items):
                _mark(made, text)
                opened[-1].keys.append(made)
            else:
                opened[-1].items.append(made)
            if made.shape in ("mapping", "sequence"):
                opened.append(made)
        elif isinstance(event, yaml.CollectionEndEvent):
            done = opened.pop()
            done.end = _span(event)[1] if done.flow else _last(done)
    return root


def _node(event: Any, text: str) -> Node | None:
    """The node that an event begins; None for other events."""
    if not isinstance(event, yaml.NodeEvent):
        return None
    start, end = _span(event)
    match event:
        case yaml.ScalarEvent():
            style = event.style or ""
            if style in ("|", ">"):
                while end > start and text[end - 1] in " \n":
                    end -= 1
            return Node("scalar", start, end, style=style, anchor=event.anchor or "", value=event.value)
        case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
            shape: Shape = "mapping" if isinstance(event, yaml.MappingStartEvent) else "sequence"
            return Node(shape, start, end, bool(event.flow_style), anchor=event.anchor or "")
    return Node("alias", start, end, anchor=str(event.anchor))


def _mark(key: Node, text: str) -> None:
    before = text[line_start(text, key.start):key.start].rstrip(" ")
    if before.endswith("?") and before[-2:-1] in ("", " ", "{", "[", ","):
        key.start = line_start(text, key.start) + len(before) - 1
        key.explicit = True


def _span(event: Any) -> tuple[int, int]:
    return event.start_mark.index, event.end_mark.index


def _last(block: Node) -> int:
    """Where a block mapping or sequence ends: with its last part."""
    parts = block.items or block.keys
    return max((part.end for part in (*parts[-1:], *block.keys[-1:])), default=block.end)


def line_start(text: str, place: int) -> int:
    return text.rfind("\n", 0, place) + 1


def next_line(text: str, place: int) -> int:
    """Returns the beginning of the line behind the one that `place` is in, or the end of the text."""
    found = text.find("\n", place)
    return len(text) if found < 0 else found + 1


def column(text: str, place: int) -> int:
    return place - line_start(text, place)
