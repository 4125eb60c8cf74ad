"""Transforms two concurrent lists of writes, so that each means the same after the other (operational transformation).

Texts stand in the order of the *original* places where they were typed; at one place the text that is committed first stands
first. What both remove is removed once, and what either types is never removed. An order by the places after a removal looks
right too, and loses characters: a text that was typed behind a removed word, and one that was typed into it, would change places.

`DROPPED` says which of two writes of one entity has no effect next to the other. Only splices of one text need to meet in both
orders, and are moved: elsewhere the log has the one order that counts. Writes of different entities do not concern each other,
and a rename concerns no write: it is expanded over the state that it meets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

from stepless.drafts.rules.effects import WORDS, Set, Splice, Unset, Write
from stepless.drafts.rules.values import Path

Dropped: TypeAlias = Literal["first", "second", "replaced"]
"""Which of two writes of one entity is dropped: the first or the second, where the path of one leads to that of the other, or the
first where the path of the second leads to it. A `put` and a `del` are of the whole entity: their path is empty."""

DROPPED: Final[Mapping[str, Mapping[str, Dropped]]] = {
    "put": {"put": "first", "splice": "second"},
    "del": {"splice": "second"},
    "set": {"put": "first", "del": "first", "set": "replaced", "unset": "replaced", "splice": "second"},
    "unset": {"put": "first", "del": "first", "set": "replaced", "unset": "replaced", "splice": "second"},
    "splice": {"put": "first", "del": "first", "set": "first", "unset": "first"},
}
"""By the word of the write that is committed first, then by that of the second; both stay where nothing is said. A splice goes
with the text that its offsets are about."""


def transform(mine: Sequence[Write], theirs: Sequence[Write], *, first: bool = False) -> tuple[list[Write], list[Write]]:
    """Returns `mine` after `theirs`, and `theirs` after `mine`. `first`: mine is committed first."""
    made, others = transform_each(mine, theirs, first=first)
    return [write for moved in made for write in moved], others


def transform_each(
    mine: Sequence[Write], theirs: Sequence[Write], *, first: bool = False
) -> tuple[list[list[Write]], list[Write]]:
    """Transforms as `transform` does, with one list for each of mine, which is empty where the write means nothing any more.
    Costs the length of both lists, and for each entity the product of the writes that both have of it."""
    made = [[write] for write in mine]
    others = [[write] for write in theirs]
    places: dict[str, list[int]] = {}
    for index, write in enumerate(theirs):
        places.setdefault(write.key, []).append(index)
    for index, write in enumerate(mine):
        for place in places.get(write.key, ()):
            made[index], others[place] = _lists(made[index], others[place], first)
    return made, [write for moved in others for write in moved]


def _lists(mine: list[Write], theirs: list[Write], first: bool) -> tuple[list[Write], list[Write]]:
    if not mine or not theirs:
        return mine, theirs
    if len(mine) == 1 and len(theirs) == 1:
        return _pair(mine[0], theirs[0], first)
    if len(mine) > 1:
        head, theirs = _lists(mine[:1], theirs, first)
        tail, theirs = _lists(mine[1:], theirs, first)
        return head + tail, theirs
    mine, head = _lists(mine, theirs[:1], first)
    mine, tail = _lists(mine, theirs[1:], first)
    return mine, head + tail


def _pair(mine: Write, theirs: Write, first: bool) -> tuple[list[Write], list[Write]]:
    if isinstance(mine, Splice) and isinstance(theirs, Splice) and mine.path == theirs.path:
        return _moved(mine, theirs, first), _moved(theirs, mine, not first)
    dropped = _dropped(mine, theirs) if first else _dropped(theirs, mine)
    mine_goes = dropped == ("first" if first else "second")
    return ([] if mine_goes else [mine]), ([] if dropped is not None and not mine_goes else [theirs])


def _dropped(early: Write, late: Write) -> Literal["first", "second"] | None:
    dropped = DROPPED.get(WORDS[type(early)], {}).get(WORDS[type(late)])
    above, below = _path(late), _path(early)
    if dropped == "replaced":
        return "first" if below[:len(above)] == above else None
    return dropped if overlap(below, above) else None


def _path(write: Write) -> Path:
    return write.path if isinstance(write, Set | Unset | Splice) else ()


def overlap(left: Path, right: Path) -> bool:
    """Returns whether one path is the other, or leads to it."""
    short = min(len(left), len(right))
    return left[:short] == right[:short]


def _moved(mine: Splice, theirs: Splice, first: bool) -> list[Write]:
    """`mine` as splices that mean the same after `theirs`."""
    end = mine.start + mine.removed
    right = max(mine.start, theirs.start + theirs.removed)
    rest = max(0, end - right)  # what is left to remove behind theirs
    behind = right - theirs.removed + len(theirs.text)  # where that begins now
    if mine.start > theirs.start or (mine.start == theirs.start and not first):
        return [mine._replace(start=behind, removed=rest)]
    left = max(0, min(end, theirs.start) - mine.start)
    before = mine._replace(removed=left)
    if not rest:
        return [before]
    return [before, Splice(mine.key, mine.path, behind - left + len(mine.text), rest, "")]
