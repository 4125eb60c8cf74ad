"""Formats the output of verbs: tables that fit the terminal, labelled lines, local times, and JSON for programs."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from stepless.cli.terminal.timeline import glyphs_for
from stepless.model.json import JSON
from stepless.model.runs.statuses import NODE_STATUSES, RUN_STATUSES, Tone, tone_of

MAX_WIDTH: Final = 120
_GAP: Final = 2
_COLOURS: Final[Mapping[Tone, str]] = {
    Tone.COMPLETED: "32", Tone.FAILED: "31", Tone.RUNNING: "36", Tone.NEW: "36", Tone.WAITING: "33", Tone.HELD: "33",
    Tone.QUIET: "2",
}  # fmt: skip
_FIRST_WORDS: Final = {name.partition("_")[0]: name for name in (*RUN_STATUSES, *NODE_STATUSES)}  # of `timed out`: timed_out


@dataclass(frozen=True, slots=True)
class Column:
    """A column. `least` is its minimum width; 0 means that it is never cut. `spare` columns are left out, the last one first, if
    the table does not fit otherwise."""

    title: str
    least: int = 0
    spare: bool = False
    right: bool = False


def width() -> int:
    return min(MAX_WIDTH, shutil.get_terminal_size((80, 24)).columns)


def table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> list[str]:
    """Returns the lines of a table, titles first. They fit the terminal unless the uncut columns are too wide."""
    columns, cells = list(columns), [[_flat(cell) for cell in row] for row in rows]
    shown = list(range(len(columns)))
    widths = {at: max([len(columns[at].title), *(len(row[at]) for row in cells)]) for at in shown}
    while (over := sum(widths[at] for at in shown) + _GAP * (len(shown) - 1) - width()) > 0:
        if loose := [at for at in shown if 0 < columns[at].least < widths[at]]:
            widest = max(loose, key=lambda at: widths[at])
            widths[widest] = max(columns[widest].least, widths[widest] - over)
        elif spare := [at for at in shown if columns[at].spare]:
            shown.remove(spare[-1])
        else:
            break
    lines = [_line(columns, widths, shown, [column.title for column in columns], paint=False)]
    return lines + [_line(columns, widths, shown, row, paint=True) for row in cells]


def _line(
    columns: Sequence[Column], widths: Mapping[int, int], shown: Sequence[int], cells: Sequence[str], *, paint: bool
) -> str:
    parts = []
    for at in shown:
        text = cut(cells[at], widths[at])
        padded = f"{text:>{widths[at]}}" if columns[at].right else f"{text:<{widths[at]}}"
        parts.append(coloured(padded) if paint and columns[at].title == "STATUS" else padded)
    return (" " * _GAP).join(parts).rstrip()


def fields(facts: Iterable[tuple[str, str]]) -> list[str]:
    """Lines of `label  text`, with the text wrapped next to its label. Empty texts are left out."""
    facts = [(label, text) for label, text in facts if text]
    indent = max((len(label) for label, _ in facts), default=0) + 4
    lines: list[str] = []
    for label, text in facts:
        first = f"  {label:<{indent - 4}}  "
        for part in text.split("\n"):
            wrapped = textwrap.wrap(part, max(20, width() - indent), break_on_hyphens=False) or [""]
            for line in wrapped:
                lines.append((first + _flat(line)).rstrip())
                first = " " * indent
    return lines


def cut(text: str, size: int) -> str:
    if len(text) <= size:
        return text
    ellipsis = glyphs_for(sys.stdout.encoding).ellipsis
    return text[: max(0, size - len(ellipsis))] + ellipsis


def coloured(text: str) -> str:
    """Returns a status or a run's summary in the colour of its first word, if the terminal may have colours."""
    status = _FIRST_WORDS.get(text.strip().partition(" ")[0].rstrip(",").partition("_")[0])
    if status is None or not in_colour():
        return text
    return f"\x1b[{_COLOURS[tone_of(status)]}m{text}\x1b[0m"


def in_colour() -> bool:
    """Returns whether standard output is a terminal and colours are not turned off: https://no-color.org."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def when(timestamp: str | None) -> str:
    """Formats an instant as `2026-01-31 12:00:00`, in the local time zone."""
    return datetime.fromisoformat(timestamp).astimezone().strftime("%Y-%m-%d %H:%M:%S") if timestamp else ""


def brief(value: JSON, size: int = 2_000) -> str:
    """Returns a value as one line of JSON, truncated to `size` characters."""
    return cut(json.dumps(value, ensure_ascii=_ascii_only()), size)


def say(lines: Iterable[str]) -> None:
    sys.stdout.writelines(f"{line}\n" for line in lines)


def put_json(value: Any) -> None:
    """Prints one JSON document on one line."""
    text = json.dumps(value, ensure_ascii=_ascii_only())
    sys.stdout.write(text.encode("utf-8", "backslashreplace").decode() + "\n")  # an unpaired surrogate is written as its escape
    sys.stdout.flush()


def _ascii_only() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"


def _flat(text: str) -> str:
    """The text with control characters as spaces: it must not move the cursor."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
