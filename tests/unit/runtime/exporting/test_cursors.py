"""The text of a header that holds the cursors."""

from __future__ import annotations

import pytest

from stepless.runtime.exporting.cursors import Cursor, decode, encode, is_behind


@pytest.mark.parametrize(
    ("text", "cursors"),
    [
        ("", {}),
        ("bus12", {"bus": Cursor(12)}),
        ("bus12 otel9/2", {"bus": Cursor(12), "otel": Cursor(9, 2)}),
        ("otel9/30 bus0", {"otel": Cursor(9, 30), "bus": Cursor(0)}),
    ],
)
def test_a_text_is_read_and_written(text: str, cursors: dict[str, Cursor]) -> None:
    assert decode(text) == cursors
    assert decode(encode(cursors)) == cursors
    assert encode(cursors).split() == sorted(text.split())


@pytest.mark.parametrize("text", ["12", "bus", "bus-1", "bus1.5", "BUS1", "toolongname1", "bus" + "9" * 16, "bus1/x", "[]"])
def test_a_word_of_another_form_is_left_out(text: str) -> None:
    assert decode(f"ok1 {text}") == {"ok": Cursor(1)}


def test_a_run_is_behind_if_any_exporter_is() -> None:
    assert not is_behind("", 5)
    assert not is_behind("bus5 otel5", 5)
    assert is_behind("bus5 otel4", 5)
