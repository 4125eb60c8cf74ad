"""Finds the comments that belong to an entry of a block."""

from __future__ import annotations

import re
from typing import Final

from stepless.compile.patching.tree import column, line_start, next_line

_HEAD: Final = re.compile(r"\s*:?(?:\s+[&!]\S*)*(?:\s+[|>][-+0-9]*)?\s+(#.*)")


def comments_above(text: str, begin: int, place: int) -> int:
    """Returns where the comments begin that stand right above a line, in its column."""
    sign = " " * column(text, place) + "#"
    while begin:
        above = line_start(text, begin - 1)
        if not text[above:begin].startswith(sign):
            break
        begin = above
    return begin


def head_comment(text: str, end: int, behind: int) -> str:
    """Returns the comment in the line of a key or a hyphen that ends at `end`, where its value goes on in the lines below."""
    below = next_line(text, end)
    found = _HEAD.fullmatch(text[end:below].rstrip("\n"))
    return found[1] if found is not None and behind >= below else ""


def with_head(written: str, comment: str, indent: int) -> str:
    """Returns an entry with the comment that its first line had; below it where that line is a text that goes on."""
    if not comment:
        return written
    first, *rest = written.split("\n")
    if rest and first.endswith((":", "-")):
        return "\n".join([f"{first}   {comment}", *rest])
    return f"{written}\n{' ' * indent}{comment}"


def behind_comments(text: str, end: int, indent: int) -> int:
    """Returns the line below a place and the comments that follow it further in than `indent`: they belong to what is above."""
    place = next_line(text, end)
    while text[place:next_line(text, place)].lstrip(" ").startswith("#") and text[place:].startswith(" " * (indent + 1)):
        place = next_line(text, place)
    return place
