"""Rows of sources, and the cuts between them (core/shards/rows.py)."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepless.core.shards.rows import Row, RowOpen, csv_rows, json_rows, keyed

TEXTS = st.text(st.sampled_from('ab,;"\r\n é\0\x85\u2028'), max_size=60)
SIZES = st.integers(1, 12)


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    for at in range(0, len(data), size):
        yield data[at : at + size]


def of_python(text: str, delimiter: str) -> list[list[str]]:
    return [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]


@settings(max_examples=400)
@given(TEXTS, SIZES, st.sampled_from(",;"))
def test_rows_are_those_of_the_csv_module(text: str, size: int, delimiter: str) -> None:
    assert [row.content for row in csv_rows(pieces(text.encode(), size), delimiter)] == of_python(text, delimiter)


@settings(max_examples=400)
@given(TEXTS, SIZES)
def test_a_source_that_is_cut_between_rows_has_the_rows_of_the_whole(text: str, size: int) -> None:
    data = text.encode()
    for cut in (csv_rows, json_rows):
        whole = list(cut(pieces(data, size)))
        for at, row in enumerate(whole):
            assert list(cut(pieces(data[row.first :], size + 1), first=row.first, number=row.number)) == whole[at:]
            assert list(cut(iter([data[: row.first]]))) == whole[:at]
        for before, after in pairwise(whole):
            assert before.end <= after.first and before.following <= after.number


@settings(max_examples=200)
@given(st.lists(st.lists(st.text(st.characters(codec="utf-8"), max_size=8), min_size=1, max_size=4), max_size=12), SIZES)
def test_what_the_csv_module_writes_is_read(table: list[list[str]], size: int) -> None:
    written = io.StringIO(newline="")
    csv.writer(written, quoting=csv.QUOTE_ALL).writerows(table)
    data = written.getvalue().encode()
    found = list(csv_rows(pieces(data, size)))
    assert [row.content for row in found] == table and all(row.text for row in found)
    assert not found or (found[0].first, found[-1].end) == (0, len(data))


@settings(max_examples=200)
@given(st.lists(st.recursive(st.none() | st.text(st.characters(codec="utf-8")) | st.integers(), st.lists, max_leaves=4)), SIZES)
def test_lines_of_json_are_rows(values: list[object], size: int) -> None:
    data = "".join(json.dumps(value, ensure_ascii=False) + "\r\n\n" for value in values).encode()
    found = list(json_rows(pieces(data, size)))
    assert [json.loads(row.content) for row in found] == values
    assert [row.number for row in found] == [1 + 2 * number for number in range(len(values))]


def test_lines_are_counted_through_quoted_ones() -> None:
    data = b'a,b\n\n"x\ny\r\nz",1\r\nlast,2'
    found = [(row.number, row.first, row.end, row.following) for row in csv_rows(iter([data]))]
    assert found == [(1, 0, 4, 2), (3, 5, 17, 6), (6, 17, 23, 7)]


def test_bytes_that_are_no_text_are_told() -> None:
    assert [row.text for row in csv_rows(iter([b"a,b\n\xff,\xe9\nc,d\n"]))] == [True, False, True]


def test_a_long_line_is_read_without_its_end() -> None:
    data = b"1\n" + b"2" * 1_000 + b"\n3\n" + b"4" * 50
    found = list(json_rows(pieces(data, 7), most=10))
    assert [(row.first, row.end) for row in found] == [(0, 2), (2, 1_003), (1_003, 1_005), (1_005, 1_055)]
    assert max(len(row.content) for row in found) <= 10 + 7 + 1


def test_a_quote_that_is_never_closed_does_not_take_the_rest() -> None:
    with pytest.raises(RowOpen, match="begins in line 2 "):
        list(csv_rows(iter([b'a,b\n"open,1\n' + b"c,d\n" * 1_000]), most=100))


def test_the_code_of_authors_does_not_change_how_rows_are_cut() -> None:
    before = csv.field_size_limit(5)
    try:
        assert [row.content for row in csv_rows(iter([b"123456789,1\n"]))] == [["123456789", "1"]]
    finally:
        csv.field_size_limit(before)
    assert csv.field_size_limit() == before


def test_fields_have_the_names_of_their_columns() -> None:
    assert keyed(["1", "2"], ["a", "b"]) == {"a": "1", "b": "2"}
    assert keyed(["1"], ["a", "b"]) is None and keyed(["1", "2", "3"], ["a", "b"]) is None
    assert Row(0, 1, 2, 2, b"x").text
