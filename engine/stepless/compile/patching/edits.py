"""The smallest edits of a text that turn one value into another.

A value is edited where it stands if its place allows it: a scalar in its line, a key added or dropped with its lines, an item of
a list likewise. Where a place does not allow it, `Wider` asks for the value around it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from json import dumps
from typing import NamedTuple, TypeAlias

from stepless.compile.patching.rendering import MAX_FLOW_CHARACTERS, Rendering
from stepless.compile.patching.tree import Node, column, line_start, next_line
from stepless.model.json import JSON

Path: TypeAlias = tuple[str | int, ...]


class Edit(NamedTuple):
    start: int
    end: int
    text: str


class Wider(Exception):
    """The value around this place must be written anew."""


class Editor:
    """Collects edits of one text. What is at a path of `whole` is written anew."""

    def __init__(self, text: str, rendering: Rendering, whole: frozenset[Path]) -> None:
        self.edits: list[Edit] = []
        self._text = text
        self._render = rendering
        self._whole = whole
        self._towards = {path[:length] for path in whole for length in range(len(path) + 1)}

    def change(self, node: Node, old: JSON, new: JSON, path: Path = ()) -> None:
        """Adds the edits for the value of a node. Raises `Wider`; the edits that it had added by then are taken back."""
        if canonical(old) == canonical(new) and path not in self._towards:
            return
        kept = len(self.edits)
        try:
            if path in self._whole or node.shape in ("alias", "scalar"):
                raise Wider
            if node.shape == "mapping" and isinstance(old, dict) and isinstance(new, dict):
                self._mapping(node, old, new, path)
            elif node.shape == "sequence" and isinstance(old, list) and isinstance(new, list):
                self._sequence(node, old, new, path)
            else:
                raise Wider
        except Wider:
            del self.edits[kept:]
            raise

    # -- mappings ----------------------------------------------------------------------------------------------------

    def _mapping(self, node: Node, old: Mapping[str, JSON], new: Mapping[str, JSON], path: Path) -> None:
        renamed = _renames(old, new)
        names = [renamed.get(key, key) for key in old]  # what the entries are called afterwards
        kept = [name in new for name in names]
        order = [name for name, stays in zip(names, kept, strict=True) if stays]
        if not any(kept) or order != [name for name in new if name in set(order)]:
            raise Wider
        for place, (key, value) in enumerate(old.items()):
            if kept[place]:
                self._kept(node, place, key, names[place], value, new[names[place]], path)
        self._drop(node, kept)
        after = -1
        places = {name: place for place, name in enumerate(names) if kept[place]}
        for name, value in new.items():
            if name in places:
                after = places[name]
            else:
                self._add(node, kept, after, name, value)

    def _kept(self, node: Node, place: int, key: str, name: str, old: JSON, new: JSON, path: Path) -> None:
        if name != key:
            self.edits.append(Edit(node.keys[place].start, node.keys[place].end, self._render.flow(name)))
        try:
            self.change(node.items[place], old, new, (*path, key))
        except Wider:
            self._replace(node, place, name, new)

    def _replace(self, node: Node, place: int, name: str, new: JSON) -> None:
        """Writes the value of an entry anew."""
        key, value = node.keys[place], node.items[place]
        if node.flow:
            self.edits.append(Edit(value.start, value.end, self._spaced(key, value, self._render.flow(new))))
            return
        line = self._one_line(value, new)
        if line is not None and value.style not in ("|", ">"):
            self.edits.append(Edit(*self._value_span(key, value), f" {line}"))
            return
        end = max(key.end, value.end)
        comment = self._text[end:next_line(self._text, end)].strip()
        written = self._render.entry(name, new, column(self._text, key.start))
        if comment.startswith("#"):
            written += "\n" + " " * column(self._text, key.start) + comment
            end = next_line(self._text, end) - (self._text[next_line(self._text, end) - 1:next_line(self._text, end)] == "\n")
        self.edits.append(Edit(key.start, end, written))

    def _value_span(self, key: Node, value: Node) -> tuple[int, int]:
        """From behind the colon to the end of the value."""
        colon = self._text.index(":", key.end)
        return colon + 1, max(colon + 1, value.end)

    def _one_line(self, value: Node, new: JSON) -> str | None:
        if isinstance(new, dict | list) and new:
            flow = self._render.flow(new)
            fits = value.flow and bool(value.items) and len(flow) <= MAX_FLOW_CHARACTERS
            return flow if fits or self._render.json else None
        return self._render.flow(new) if self._render.json else self._render.scalar(new)

    def _spaced(self, key: Node, value: Node, text: str) -> str:
        return f" {text}" if self._text[value.start - 1:value.start] == ":" and value.start == value.end else text

    def _drop(self, node: Node, kept: Sequence[bool]) -> None:
        for first, last in _runs(kept):
            if node.flow:
                self._drop_in_flow(*_spans(node), first, last)
                continue
            begin = line_start(self._text, node.keys[first].start)
            if self._text[begin:node.keys[first].start].strip():  # the first key of an item of a list, behind its dash
                if last + 1 == len(kept):
                    raise Wider
                self.edits.append(Edit(node.keys[first].start, node.keys[last + 1].start, ""))
                continue
            end = max(node.keys[last].end, node.items[last].end)
            self.edits.append(Edit(self._comments_above(begin, node.keys[first].start), next_line(self._text, end), ""))

    def _comments_above(self, begin: int, place: int) -> int:
        """Where the comments begin that stand right above a line, in its column."""
        sign = " " * column(self._text, place) + "#"
        while begin:
            above = line_start(self._text, begin - 1)
            if not self._text[above:begin].startswith(sign):
                break
            begin = above
        return begin

    def _add(self, node: Node, kept: Sequence[bool], after: int, name: str, value: JSON) -> None:
        """`after`: the entry that stays before it, -1 at the beginning."""
        if node.flow:
            self._add_in_flow(node, *_spans(node), after, f"{self._render.flow(name)}: {self._render.flow(value)}")
            return
        at = node.keys[0].start
        written = self._render.entry(name, value, column(self._text, at))
        if after < 0:
            begin = line_start(self._text, at)
            if self._text[begin:at].strip():
                self.edits.append(Edit(at, at, f"{written}\n{' ' * column(self._text, at)}"))
                return
            place = self._comments_above(begin, at) if kept[0] else begin
            self.edits.append(Edit(place, place, f"{self._text[begin:at]}{written}\n"))
            return
        self._add_line(max(node.keys[after].end, node.items[after].end), column(self._text, at), written)

    def _add_line(self, end: int, indent: int, written: str) -> None:
        place = next_line(self._text, end)
        lead = "" if self._text[place - 1:place] == "\n" else "\n"
        self.edits.append(Edit(place, place, f"{lead}{' ' * indent}{written}\n"))

    # -- sequences ---------------------------------------------------------------------------------------------------

    def _sequence(self, node: Node, old: Sequence[JSON], new: Sequence[JSON], path: Path) -> None:
        if not old or not new:
            raise Wider
        was, now = list(map(canonical, old)), list(map(canonical, new))
        kept = [True] * len(old)
        added: list[tuple[int, JSON]] = []
        for tag, a, b, c, d in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
            if tag == "equal":
                for place in range(a, b):
                    self._item(node, place, old[place], old[place], path)
                continue
            both = min(b - a, d - c)
            for offset in range(both):
                self._item(node, a + offset, old[a + offset], new[c + offset], path)
            kept[a + both:b] = [False] * (b - a - both)
            added += [(a + both - 1, value) for value in new[c + both:d]]
        if not any(kept):
            raise Wider
        self._drop_items(node, kept)
        for after, value in added:
            self._add_item(node, after, value)

    def _item(self, node: Node, place: int, old: JSON, new: JSON, path: Path) -> None:
        item = node.items[place]
        try:
            self.change(item, old, new, (*path, place))
        except Wider:
            line = self._render.flow(new) if node.flow or self._render.json else self._one_line(item, new)
            if line is not None and (node.flow or item.style not in ("|", ">")):
                self.edits.append(Edit(item.start, item.end, line))
                return
            dash = self._dash(item)
            self.edits.append(Edit(dash, item.end, self._render.item(new, column(self._text, dash))))

    def _dash(self, item: Node) -> int:
        found = self._text.rfind("-", 0, item.start)
        if found < 0 or self._text[found + 1:item.start].strip():
            raise Wider
        return found

    def _drop_items(self, node: Node, kept: Sequence[bool]) -> None:
        for first, last in _runs(kept):
            if node.flow:
                self._drop_in_flow([one.start for one in node.items], [one.end for one in node.items], first, last)
                continue
            begin = line_start(self._text, self._dash(node.items[first]))
            if self._text[begin:self._dash(node.items[first])].strip():
                raise Wider
            place = self._comments_above(begin, self._dash(node.items[first]))
            self.edits.append(Edit(place, next_line(self._text, node.items[last].end), ""))

    def _add_item(self, node: Node, after: int, value: JSON) -> None:
        if node.flow:
            starts, ends = [one.start for one in node.items], [one.end for one in node.items]
            self._add_in_flow(node, starts, ends, after, self._render.flow(value))
            return
        dash = self._dash(node.items[max(after, 0)])
        indent = column(self._text, dash)
        written = self._render.item(value, indent)
        if after >= 0:
            self._add_line(node.items[after].end, indent, written)
        else:
            self.edits.append(Edit(dash, dash, f"{written}\n{' ' * indent}"))

    # -- {…} and […] -------------------------------------------------------------------------------------------------

    def _drop_in_flow(self, starts: Sequence[int], ends: Sequence[int], first: int, last: int) -> None:
        if first:
            self.edits.append(Edit(ends[first - 1], ends[last], ""))
        elif last + 1 < len(starts):
            self.edits.append(Edit(starts[0], starts[last + 1], ""))
        else:
            raise Wider

    def _add_in_flow(self, node: Node, starts: Sequence[int], ends: Sequence[int], after: int, written: str) -> None:
        """Behind the part `after`; on a line of its own where that is."""
        if not starts:
            raise Wider
        begin = line_start(self._text, starts[max(after, 0)])
        indent = self._text[begin:starts[max(after, 0)]]
        apart = f"\n{indent}" if not indent.strip() and begin > node.start else " "
        if after >= 0:
            self.edits.append(Edit(ends[after], ends[after], f",{apart}{written}"))
        else:
            self.edits.append(Edit(starts[0], starts[0], f"{written},{apart}"))


def _spans(mapping: Node) -> tuple[list[int], list[int]]:
    """Where the entries of a mapping begin, and where they end."""
    pairs = zip(mapping.keys, mapping.items, strict=True)
    return [key.start for key in mapping.keys], [max(key.end, value.end) for key, value in pairs]


def canonical(value: JSON) -> str:
    return dumps(value, ensure_ascii=False, separators=(",", ":"))


def _runs(kept: Sequence[bool]) -> list[tuple[int, int]]:
    """The first and the last of each run of parts that go."""
    runs: list[tuple[int, int]] = []
    for place, stays in enumerate(kept):
        if stays:
            continue
        if runs and runs[-1][1] == place - 1:
            runs[-1] = (runs[-1][0], place)
        else:
            runs.append((place, place))
    return runs


def _renames(old: Mapping[str, JSON], new: Mapping[str, JSON]) -> dict[str, str]:
    """Keys that have another name now: as many as were dropped came in their places, and each is like the one before."""
    dropped, added = [key for key in old if key not in new], [key for key in new if key not in old]
    if len(old) != len(new) or len(dropped) != len(added):
        return {}
    made = dict(zip(dropped, added, strict=True))
    in_place = all(list(old).index(was) == list(new).index(now) for was, now in made.items())
    return made if in_place and all(_alike(old[was], new[now]) for was, now in made.items()) else {}


def _alike(old: JSON, new: JSON) -> bool:
    if isinstance(old, dict) and isinstance(new, dict):
        same = sum(key in new and canonical(old[key]) == canonical(new[key]) for key in old)
        return 2 * same >= max(len(old), len(new))
    return canonical(old) == canonical(new)
