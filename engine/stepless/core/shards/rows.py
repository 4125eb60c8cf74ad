"""Cuts the bytes of a source into rows, with the place at which each begins, so that another process can go on from any row.

Rows of `jsonl` are lines that are not blank. Rows of `csv` are those of Python's csv module: quoted fields may contain
delimiters and ends of lines, and blank lines are no rows. Where a row begins does not depend on what is before it, so a source
that is cut at the beginnings of rows has the same rows as the whole.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from io import BytesIO
from typing import Any, Final, NamedTuple

from stepless.limits import MAX_OPEN_ROW_BYTES, MAX_ROW_BYTES

BOM: Final = b"\xef\xbb\xbf"


class Row(NamedTuple):
    """A row that begins at the byte `first`, in the line `number`, counted from 1, and ends before the byte `end` and the line
    `following`. `content` is the line of `jsonl` or the fields of `csv`. `text` says whether it is UTF-8."""

    first: int
    number: int
    end: int
    following: int
    content: Any
    text: bool = True


class Lines:
    """The lines of a source from the byte `end` on, with their ends. `number` is that of the line which comes next. A line of
    more than `most` bytes is given without the rest."""

    def __init__(self, pieces: Iterable[bytes], end: int, number: int, most: int, split: Callable[[bytes], list[bytes]]) -> None:
        self.end, self.number = end, number
        self._pieces, self._most, self._split = pieces, most, split

    def __iter__(self) -> Iterator[bytes]:
        rest, left_out = b"", 0
        for piece in self._pieces:
            lines = self._split(rest + piece)
            rest = lines.pop() if lines and not lines[-1].endswith(b"\n") else b""
            for line in lines:
                self.end += len(line) + left_out
                self.number += 1
                left_out = 0
                yield line
            if len(rest) > self._most + 1:  # one more than allowed shows that it is too long
                left_out += len(rest) - self._most - 1
                rest = rest[: self._most] + rest[-1:]  # the last byte may be half of an end of line
        if rest:
            self.end += len(rest) + left_out
            self.number += 1
            yield rest


def json_rows(pieces: Iterable[bytes], first: int = 0, number: int = 1, *, most: int = MAX_ROW_BYTES) -> Iterator[Row]:
    """Yields the lines that are not blank; of a line of more than `most` bytes the beginning."""
    lines = Lines(pieces, first, number, most, lambda data: BytesIO(data).readlines())
    for line in lines:
        if not line.isspace():
            yield Row(first, number, lines.end, lines.number, line)
        first, number = lines.end, lines.number


class RowOpen(ValueError):
    """A row goes on beyond what can be read. `number` is its first line."""

    def __init__(self, number: int, most: int) -> None:
        message = f"the row that begins in line {number:,} takes more than {most:,} bytes"
        super().__init__(f"{message}: a quote may be open")


def csv_rows(
    pieces: Iterable[bytes], delimiter: str = ",", first: int = 0, number: int = 1, *, most: int = MAX_OPEN_ROW_BYTES
) -> Iterator[Row]:
    """Yields the rows that are not blank. Raises `RowOpen` for one of more than `most` bytes."""
    lines = Lines(pieces, first, number, most, lambda data: data.splitlines(keepends=True))
    texts = _Texts(lines, most)
    for fields in _csv().reader(texts, delimiter=delimiter):
        if fields:
            yield Row(first, number, lines.end, lines.number, fields, texts.are_text)
        texts.row, texts.bytes, texts.are_text = lines.number, 0, True
        first, number = lines.end, lines.number


class _Texts:
    """The lines as text, for one row after another. Bytes that are not UTF-8 are replaced by characters that no text has."""

    def __init__(self, lines: Lines, most: int) -> None:
        self._lines, self._most = iter(lines), most
        self.row, self.bytes, self.are_text = lines.number, 0, True

    def __iter__(self) -> _Texts:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.bytes += len(line)
        if self.bytes > self._most:
            raise RowOpen(self.row, self._most)
        try:
            return line.decode()
        except UnicodeDecodeError:
            self.are_text = False
            return line.decode("utf-8", "surrogateescape")


@cache
def _csv() -> Any:
    """The csv module once more, whose limit for a field the code of authors does not change: all processes must cut alike."""
    spec = importlib.util.find_spec("_csv")
    assert spec is not None and spec.loader is not None
    own = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(own)
    own.field_size_limit(MAX_OPEN_ROW_BYTES)
    return own


def keyed(fields: Sequence[str], columns: Sequence[str]) -> dict[str, str] | None:
    """Returns the fields of a row by column; None if it does not have one for each."""
    return dict(zip(columns, fields, strict=True)) if len(fields) == len(columns) else None
