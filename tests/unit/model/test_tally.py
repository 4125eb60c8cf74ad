"""What a run has used, stored in few bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepless.model.runs.tally import Tally, decode_tally, encode_tally

halves = st.integers(0, 10**9).map(lambda count: count / 2)
counts = st.integers(0, 10**9)
tallies = st.builds(Tally, halves, halves, halves, *(counts,) * 8)


@given(tallies)
def test_a_tally_comes_back_as_it_was_written(tally: Tally) -> None:
    assert decode_tally(encode_tally(tally)) == tally


@given(tallies, tallies)
def test_a_sum_holds_both(one: Tally, other: Tally) -> None:
    both = one + other
    assert (both.write_units, both.lambda_mb_ms) == (one.write_units + other.write_units, one.lambda_mb_ms + other.lambda_mb_ms)
    assert both == other + one
    assert one + Tally() == one


def test_a_tally_takes_few_bytes_of_a_header() -> None:
    assert encode_tally(Tally()) == b"[]"
    assert encode_tally(Tally(write_units=18.0, queue_requests=3)) == b"[18,0,0,3]"
    assert len(encode_tally(Tally(25, 11, 23.5, 9, 1, 2, 2, 2, 5, 90_000, 46_080_000))) < 50


@pytest.mark.parametrize("damaged", [b"", b"{}", b"[1", b'["1"]', b"[true]", b"[null]", b"[1,1,1,1,1,1,1,1,1,1,1,1]", b"\xff"])
def test_what_cannot_be_read_is_an_empty_tally(damaged: bytes) -> None:
    assert decode_tally(damaged) == Tally()
