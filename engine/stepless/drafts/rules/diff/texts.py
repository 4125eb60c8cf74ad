"""Computes the splices that turn one text into another. Offsets are code points, each in the text that the splices before it have
made."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import NamedTuple


class Hunk(NamedTuple):
    """`removed` characters from `start` on become `text`."""

    start: int
    removed: int
    text: str


def middle(old: str, new: str, at: int = 0) -> Hunk:
    """Returns the one hunk without the beginning and the end that both texts have."""
    most = min(len(old), len(new))
    start = 0
    while start < most and old[start] == new[start]:
        start += 1
    end = 0
    while end < most - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return Hunk(at + start, len(old) - start - end, new[start:len(new) - end])


def hunks(old: str, new: str) -> list[Hunk]:
    """Returns a hunk for each run of lines that differs, as small as it can be; each in the text that those before it have
    made."""
    if old == new:
        return []
    made: list[Hunk] = []
    shift = 0
    for start, end, text in _changed_lines(old, new):
        hunk = middle(old[start:end], text, start + shift)
        made.append(hunk)
        shift += len(hunk.text) - hunk.removed
    return made


def transplanted(base: str, shown: str, typed: str) -> str | None:
    """Applies the change from `shown` to `typed` to `base`, where everything that it touches is in both; else None."""
    alike = _alike_spans(base, shown)
    made, place, shift = "", 0, 0
    for hunk in hunks(shown, typed):
        start = hunk.start - shift
        shift += len(hunk.text) - hunk.removed
        found = next(
            (span for span in alike if span[1] <= start and start + hunk.removed <= span[1] + span[2]), None
        )
        if found is None:
            return None
        at = found[0] + start - found[1]
        if at < place:
            return None
        made += base[place:at] + hunk.text
        place = at + hunk.removed
    return made + base[place:]


def _lines(text: str) -> list[str]:
    """The lines with their ends; only line feeds end one."""
    return [line + "\n" for line in text.split("\n")[:-1]] + [text.rpartition("\n")[2]]


def _offsets(lines: list[str]) -> list[int]:
    made = [0]
    for line in lines:
        made.append(made[-1] + len(line))
    return made


def _changed_lines(old: str, new: str) -> list[tuple[int, int, str]]:
    """Runs of lines that differ: where they begin and end in the old text, and the new lines."""
    before, after = _lines(old), _lines(new)
    starts = _offsets(before)
    return [
        (starts[a], starts[b], "".join(after[c:d]))
        for word, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes() if word != "equal"
    ]


def _alike_spans(old: str, new: str) -> list[tuple[int, int, int]]:
    """Runs of lines that two texts have in common: where each begins in both, and its length."""
    before, after = _lines(old), _lines(new)
    starts, others = _offsets(before), _offsets(after)
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    return [(starts[one.a], others[one.b], starts[one.a + one.size] - starts[one.a]) for one in blocks if one.size]
