"""A bill in the terminal."""

from __future__ import annotations

from stepless.cli.verbs.cost import lines
from stepless.model.runs.prices import Work
from stepless.model.runs.tally import Tally
from stepless.ports import RunHead
from stepless.runtime.verbs.reads.costing import COUNTED, ESTIMATED, report

HEAD = RunHead("run_0123456789abcdef0123", "refund-approval", "h", "completed", 1, 1, b"{}")
SMALL = Tally(18, 4, 4, 3, 0, 0, 0, 1, 2, 39, 19_968)
LARGE = Tally(12_345, 5_432, 98_765.5, 43_210, 1_234, 5_678, 8_765, 4_321, 9_876, 123_456_789, 63_209_875_968)


def test_every_line_shows_its_arithmetic() -> None:
    told = lines(report(HEAD, COUNTED, SMALL, Work(10, 10, 0, 5_047)))
    assert told[0] == "run_0123456789abcdef0123  completed  counted"
    assert "us-east-1, 2026-11" in told[1]
    words = [" ".join(line.split()) for line in told]
    assert "DynamoDB write units 18 × $0.625/M 11.25 4 of them for indexes" in words
    assert "state transitions 11 × $25/M 275.00 the start, 10 nodes" in words
    assert any(line.startswith("Step Functions Standard, 18.8 times as much") and line.endswith("275.00") for line in told)


def test_a_bill_fits_into_eighty_columns() -> None:
    for basis in (COUNTED, ESTIMATED):
        for tally in (SMALL, LARGE, Tally()):
            told = lines(report(HEAD, basis, tally, Work(123_456, 98_765, 1_234, 10**9)))
            assert max(map(len, told)) <= 80, max(told, key=len)
            assert all(line == line.rstrip() for line in told)


def test_a_run_that_cost_nothing_is_compared_with_nobody() -> None:
    told = lines(report(HEAD, COUNTED, Tally(), Work(0, 0, 0, 2)))
    assert any(line.split() == ["Stepless", "0.00"] for line in told)
    assert not any("times as much" in line for line in told)
