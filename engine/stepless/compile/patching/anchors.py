"""Keeps every alias of a changed text behind its anchor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from stepless.compile.patching.edits import Edit, applied
from stepless.compile.patching.rendering import Rendering
from stepless.compile.patching.tree import Node
from stepless.model.json import JSON


def orphans(tree: Node, old: JSON, edits: Sequence[Edit], rendering: Rendering) -> Iterator[Edit]:
    """An anchor whose node goes moves to its first alias that stays."""
    gone = [(edit.start, edit.end) for edit in edits if edit.end > edit.start]
    if not gone:
        return
    found = list(_anchored(tree, old))
    lost = {
        node.anchor for node, _ in found
        if node.shape != "alias" and any(start <= node.start and node.end <= end for start, end in gone)
    }
    for node, value in found:
        stays = not any(start <= node.start and node.end <= end for start, end in gone)
        if node.shape == "alias" and node.anchor in lost and stays:
            lost.discard(node.anchor)
            yield Edit(node.start, node.end, f"&{node.anchor} {rendering.flow(value)}")


def values_of(tree: Node, old: JSON) -> dict[str, JSON]:
    """Returns the value of each anchor of a text."""
    return {node.anchor: value for node, value in _anchored(tree, old) if node.shape != "alias"}


def with_anchors_first(text: str, tree: Node | None, values: Mapping[str, JSON], rendering: Rendering) -> str:
    """Returns the text whose parts have moved: an alias that now stands before its anchor becomes the anchor, and what had it
    keeps its value without it."""
    edits: list[Edit] = []
    seen: set[str] = set()
    early: set[str] = set()
    for node, _ in _anchored(tree, None) if tree is not None else ():
        name = node.anchor
        if node.shape == "alias" and name not in seen and name in values:
            edits.append(Edit(node.start, node.end, f"&{name} {rendering.flow(values[name])}"))
            early.add(name)
        elif node.shape != "alias" and name in early and text.startswith(f"&{name}", node.start):
            end = node.start + len(name) + 1
            while text[end:end + 1] == " ":
                end += 1
            edits.append(Edit(node.start, end, ""))
        seen.add(name)
    return applied(text, edits) or text


def _anchored(node: Node, value: JSON) -> Iterator[tuple[Node, JSON]]:
    """The nodes with an anchor and the aliases, in the order of the text, with the parts of the value that belong to them."""
    waiting = [(node, value)]
    while waiting:
        one, held = waiting.pop()
        if one.anchor:
            yield one, held
        parts = list(held.values()) if isinstance(held, dict) else held if isinstance(held, list) else []
        values = parts if len(parts) == len(one.items) and one.shape in ("mapping", "sequence") else [None] * len(one.items)
        waiting.extend(reversed(list(zip(one.items, values, strict=True))))
