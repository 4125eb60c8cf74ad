"""Draws a run as bars over time: when each node ran and when it waited."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stepless.cli.terminal.progress import Progress, Row, duration
from stepless.model.runs.statuses import NODE_STATUSES

MAX_ROWS = 30
NAME, NOTE, TOOK = 24, 23, 9  # columns at most


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The characters to draw with: Unicode, or plain ASCII."""

    work: str = "█"
    edge: str = "▏"  # an interval shorter than a column
    wait: str = "░"
    ellipsis: str = "…"
    marks: tuple[tuple[str, str], ...] = tuple((name, row.mark) for name, row in NODE_STATUSES.items())

    def mark(self, status: str) -> str:
        return dict(self.marks).get(status, "?")


ASCII = Glyphs("#", "|", ".", "~", tuple((name, row.plain_mark) for name, row in NODE_STATUSES.items()))


def glyphs_for(encoding: str | None) -> Glyphs:
    """Returns Unicode characters if the encoding can write them, else ASCII."""
    drawn = Glyphs()
    try:
        (drawn.work + drawn.edge + drawn.wait + "→" + "".join(mark for _, mark in drawn.marks)).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return drawn


def timeline(progress: Progress, width: int, glyphs: Glyphs | None = None) -> Iterator[str]:
    """Lines of at most `width` characters, one per instance in document order, at most MAX_ROWS of them."""
    glyphs = glyphs or Glyphs()
    listed = list(progress.rows())
    shown = _shown([(depth, row) for depth, row in listed if row.status != "pending"])
    if not shown:
        return
    names = [_name(depth, row) for depth, row in shown]
    notes = [row.summary or row.status for _, row in shown]
    name_width = min(NAME, max(map(len, names)))
    note_width = min(NOTE, max(map(len, notes)))
    bars_width = max(10, width - name_width - note_width - TOOK - 7)
    start_ms, end_ms = progress.started_ms, max(progress.now_ms, progress.started_ms + 1)
    for (_, row), name, note in zip(shown, names, notes, strict=True):
        left = f"{_fit(name, name_width, glyphs)}  {glyphs.mark(row.status)} {_fit(note, note_width, glyphs)}"
        if not row.spans:
            yield f"{left}".rstrip()
            continue
        bar = _bar(row, start_ms, end_ms, bars_width, glyphs)
        yield f"{left}  {bar} {duration(row.elapsed_ms(progress.now_ms)):>{TOOK}}".rstrip()
    hidden = sum(row.status != "pending" for _, row in listed) - len(shown)
    if hidden:
        yield f"{glyphs.ellipsis} and {hidden:,} more"


def _shown(rows: list[tuple[int, Row]]) -> list[tuple[int, Row]]:
    """At most MAX_ROWS rows, in order. Outer rows are preferred to inner ones, and failed rows to others."""
    rank = sorted(range(len(rows)), key=lambda place: (rows[place][0] > 0, rows[place][1].status != "failed", place))
    return [rows[place] for place in sorted(rank[:MAX_ROWS])]


def _name(depth: int, row: Row) -> str:
    return "  " * depth + row.node + (f" [{row.iteration}]" if row.iteration is not None else "")


def _fit(text: str, width: int, glyphs: Glyphs) -> str:
    if glyphs is ASCII:
        text = text.replace("→", "->").encode("ascii", "replace").decode()
    return f"{text:<{width}}" if len(text) <= width else text[: width - 1] + glyphs.ellipsis


def _bar(row: Row, start_ms: int, end_ms: int, width: int, glyphs: Glyphs) -> str:
    cells = [" "] * width
    scale = width / (end_ms - start_ms)
    for span in row.spans:
        first = min(width - 1, int((span.start_ms - start_ms) * scale))
        last_ms = span.end_ms if span.end_ms is not None else end_ms
        last = min(width, int((last_ms - start_ms) * scale))
        if last <= first:
            cells[first] = glyphs.edge if cells[first] == " " else cells[first]
        else:
            cells[first:last] = (glyphs.wait if span.waiting else glyphs.work) * (last - first)
    return "".join(cells)
