"""Computes the smallest edits of a text that turn one value into another.

A value is edited where it stands if its place allows it: a scalar in its line, a key added or dropped with its lines, an item of
a list likewise. Where a place does not allow it, `Wider` asks for the value around it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from json import dumps
from typing import NamedTuple, TypeAlias

from stepless.compile.patching.comments import behind_comments, comments_above, head_comment, with_head
from stepless.compile.patching.rendering import MAX_FLOW_CHARACTERS, Rendering
from stepless.compile.patching.tree import Node, column, line_start, next_line
from stepless.model.json import JSON

Path: TypeAlias = tuple[str | int, ...]


class Edit(NamedTuple):
    start: int
    end: int
    text: str


def applied(text: str, edits: Sequence[Edit]) -> str | None:
    """Returns the text after the edits; None if they overlap."""
    made: list[str] = []
    place = 0
    for edit in sorted(edits, key=lambda one: (one.start, one.end)):
        if edit.start < place:
            return None
        made += [text[place:edit.start], edit.text]
        place = edit.end
    return "".join([*made, text[place:]])


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
        if node.shape == "alias" and path not in self._towards:
            return  # what it stands for may change as it does
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
        renamed = renames(old, new)
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
                self._add(node, after, name, value, (*path, name))

    def _kept(self, node: Node, place: int, key: str, name: str, old: JSON, new: JSON, path: Path) -> None:
        kept = len(self.edits)
        try:
            self._named(node.keys[place], key, name)
            self.change(node.items[place], old, new, (*path, name))
        except Wider:
            del self.edits[kept:]
            self._replace(node, place, key, name, new, (*path, name))

    def _named(self, node: Node, key: str, name: str) -> None:
        if name != key and node.explicit:
            raise Wider
        if name != key:
            self.edits.append(Edit(node.start, node.end, self._render.flow(name)))

    def _replace(self, node: Node, place: int, former: str, name: str, new: JSON, path: Path) -> None:
        """Writes the value of an entry anew."""
        key, value = node.keys[place], node.items[place]
        if node.flow and key.explicit:
            self.edits.append(Edit(key.start, max(key.end, value.end), f"{self._render.flow(name)}: {self._render.flow(new)}"))
            return
        if node.flow:
            self._named(key, former, name)
            self.edits.append(Edit(value.start, value.end, self._spaced(key, value, self._render.flow(new))))
            return
        line = self._one_line(value, new)
        head = head_comment(self._text, key.end, value.end)
        if line is not None and value.style not in ("|", ">") and not key.explicit:
            self._named(key, former, name)
            self.edits.append(Edit(*self._value_span(key, value), f" {line}   {head}" if head else f" {line}"))
            return
        end = max(key.end, value.end)
        comment = self._text[end:next_line(self._text, end)].strip()
        written = with_head(self._entry(name, new, column(self._text, key.start), path), head, column(self._text, key.start))
        if comment.startswith("#") and comment != head:
            written += "\n" + " " * column(self._text, key.start) + comment
            end = next_line(self._text, end) - (self._text[next_line(self._text, end) - 1:next_line(self._text, end)] == "\n")
        self.edits.append(Edit(key.start, end, written))

    def _entry(self, name: str, value: JSON, column: int, path: Path) -> str:
        """An entry of a block. A text that did not read back as lines of its own, for example because of a comment below that is
        further in, is quoted in one line."""
        if isinstance(value, str) and path in self._whole:
            return f"{self._render.flow(name)}: {self._render.flow(value)}"
        return self._render.entry(name, value, column)

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
            end = max(node.keys[last].end, node.items[last].end)
            if self._text[begin:node.keys[first].start].strip():  # the first key of an item of a list, behind its dash
                if last + 1 == len(kept):
                    raise Wider
                following = node.keys[last + 1].start
                below = next_line(self._text, end)
                comments = self._text[below:following].lstrip(" ")
                self.edits.append(Edit(node.keys[first].start, following, comments if "#" in comments else ""))
                continue
            self.edits.append(Edit(comments_above(self._text, begin, node.keys[first].start), next_line(self._text, end), ""))

    def _add(self, node: Node, after: int, name: str, value: JSON, path: Path) -> None:
        """`after`: the entry that stays before it, -1 at the beginning."""
        if node.flow:
            self._add_in_flow(node, *_spans(node), after, f"{self._render.flow(name)}: {self._render.flow(value)}")
            return
        at = node.keys[0].start
        written = self._entry(name, value, column(self._text, at), path)
        if after < 0:
            begin = line_start(self._text, at)
            if self._text[begin:at].strip():
                self.edits.append(Edit(at, at, f"{written}\n{' ' * column(self._text, at)}"))
                return
            place = comments_above(self._text, begin, at)  # where a dropped first entry begins, too
            self.edits.append(Edit(place, place, f"{self._text[begin:at]}{written}\n"))
            return
        self._add_line(max(node.keys[after].end, node.items[after].end), column(self._text, at), written)

    def _add_line(self, end: int, indent: int, written: str) -> None:
        place = behind_comments(self._text, end, indent)
        lead = "" if self._text[place - 1:place] == "\n" else "\n"
        self.edits.append(Edit(place, place, f"{lead}{' ' * indent}{written}\n"))

    # -- sequences ---------------------------------------------------------------------------------------------------

    def _sequence(self, node: Node, old: Sequence[JSON], new: Sequence[JSON], path: Path) -> None:
        if not old or not new:
            raise Wider
        was, now = list(map(canonical, old)), list(map(canonical, new))
        kept = [True] * len(old)
        added: list[tuple[int, int]] = []  # where, and which
        for tag, a, b, c, d in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
            if tag == "equal":
                for place in range(a, b):
                    self._item(node, place, old[place], old[place], (*path, c + place - a))
                continue
            both = min(b - a, d - c)
            for offset in range(both):
                self._item(node, a + offset, old[a + offset], new[c + offset], (*path, c + offset))
            kept[a + both:b] = [False] * (b - a - both)
            added += [(a + both - 1, place) for place in range(c + both, d)]
        if not any(kept):
            raise Wider
        self._drop_items(node, kept)
        for after, place in added:
            self._add_item(node, after, new[place], (*path, place))

    def _item(self, node: Node, place: int, old: JSON, new: JSON, path: Path) -> None:
        item = node.items[place]
        try:
            self.change(item, old, new, path)
        except Wider:
            line = self._render.flow(new) if node.flow or self._render.json else self._one_line(item, new)
            if line is not None and (node.flow or item.style not in ("|", ">")):
                self.edits.append(Edit(item.start, item.end, line))
                return
            dash = dash_of(self._text, item)
            written = self._listed(new, column(self._text, dash), path)
            head = head_comment(self._text, dash + 1, item.end)
            self.edits.append(Edit(dash, item.end, with_head(written, head, column(self._text, dash))))

    def _listed(self, value: JSON, column: int, path: Path) -> str:
        """As `_entry`, for an item of a list."""
        if isinstance(value, str) and path in self._whole:
            return f"- {self._render.flow(value)}"
        return self._render.item(value, column)

    def _drop_items(self, node: Node, kept: Sequence[bool]) -> None:
        for first, last in _runs(kept):
            if node.flow:
                self._drop_in_flow([one.start for one in node.items], [one.end for one in node.items], first, last)
                continue
            begin = line_start(self._text, dash_of(self._text, node.items[first]))
            if self._text[begin:dash_of(self._text, node.items[first])].strip():
                raise Wider
            place = comments_above(self._text, begin, dash_of(self._text, node.items[first]))
            self.edits.append(Edit(place, next_line(self._text, node.items[last].end), ""))

    def _add_item(self, node: Node, after: int, value: JSON, path: Path) -> None:
        if node.flow:
            starts, ends = [one.start for one in node.items], [one.end for one in node.items]
            self._add_in_flow(node, starts, ends, after, self._render.flow(value))
            return
        dash = dash_of(self._text, node.items[max(after, 0)])
        indent = column(self._text, dash)
        written = self._listed(value, indent, path)
        if after >= 0:
            self._add_line(node.items[after].end, indent, written)
        else:
            self.edits.append(Edit(dash, dash, f"{written}\n{' ' * indent}"))

    # -- {…} and […] -------------------------------------------------------------------------------------------------

    def _drop_in_flow(self, starts: Sequence[int], ends: Sequence[int], first: int, last: int) -> None:
        if first:
            gaps = zip(ends[first - 1:last], starts[first:last + 1], strict=True)
            self.edits.append(Edit(ends[first - 1], ends[last], self._comments_between(gaps)))
        elif last + 1 < len(starts):
            gaps = zip(ends[:last + 1], starts[1:last + 2], strict=True)
            self.edits.append(Edit(starts[0], starts[last + 1], self._comments_between(gaps)))
        else:
            raise Wider

    def _comments_between(self, gaps: Iterable[tuple[int, int]]) -> str:
        """What is between parts that go, without their commas, if it has comments."""
        between = [self._text[start:end] for start, end in gaps]
        if not any("#" in gap for gap in between):
            return ""
        lines = [line.partition("#") for line in "".join(between).split("\n")]
        return "\n".join(code.replace(",", "") + sign + comment for code, sign, comment in lines)

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


def dash_of(text: str, item: Node) -> int:
    """Returns where the hyphen of an item of a block stands. Raises `Wider` where something else is between them."""
    found = text.rfind("-", 0, item.start)
    if found < 0 or text[found + 1:item.start].strip():
        raise Wider
    return found


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


def renames(old: Mapping[str, JSON], new: Mapping[str, JSON]) -> dict[str, str]:
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
