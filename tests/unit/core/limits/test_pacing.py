"""The instants of a rate: never more than `max` starts in any window, however late they may be within their slack."""

from __future__ import annotations

from random import Random

import pytest

from stepless.core.limits import pacing
from stepless.model.graph import Pace

PACES = [Pace(1, 1_000), Pace(3, 1_000), Pace(10, 1_000), Pace(1_000, 1_000), Pace(10_000, 1_000), Pace(7, 60_000),
         Pace(1, 86_400_000), Pace(10_000, 3_600_000)]  # fmt: skip


@pytest.mark.parametrize("pace", PACES, ids=str)
def test_no_window_has_more_starts_than_allowed(pace: Pace) -> None:
    random, next_us, now_ms, starts = Random(1), 0, 1_700_000_000_000, list[int]()
    while len(starts) < 3 * pace.max + 3 and len(starts) < 5_000:
        times, next_us = pacing.reserve(next_us, now_ms, pace, random.randint(1, pacing.at_once(pace)))
        starts += [at_ms + random.choice([0, 0, pacing.slack_ms(pace)]) for at_ms in times]
        now_ms += random.choice([0, 0, 1, pace.per_ms // 3, 2 * pace.per_ms])
    starts.sort()
    for first, one_more in zip(starts, starts[pace.max :], strict=False):
        assert one_more - first >= pace.per_ms


@pytest.mark.parametrize("pace", PACES, ids=str)
def test_at_least_nine_tenths_of_the_rate_are_used(pace: Pace) -> None:
    assert pacing.spacing_us(pace) * pace.max <= 1.11 * pace.per_ms * 1_000 + pace.max + 1_000


@pytest.mark.parametrize(("next_us", "now_ms", "number", "times", "new"), [
    (0, 100, 1, [100], 100_000 + 110_100),
    (0, 100, 3, [100, 211, 321], 100_000 + 3 * 110_100),  # rounded up to milliseconds
    (500_000, 100, 2, [500, 611], 500_000 + 2 * 110_100),  # behind those that were reserved before
    (99_999, 100, 1, [100], 100_000 + 110_100),  # what lies in the past is not used later
])  # fmt: skip
def test_instants_are_reserved_one_after_another(next_us: int, now_ms: int, number: int, times: list[int], new: int) -> None:
    assert pacing.reserve(next_us, now_ms, Pace(10, 1_000), number) == (times, new)


@pytest.mark.parametrize(("late_ms", "late"), [(-50, False), (0, False), (100, False), (101, True), (10_000, True)])
def test_an_attempt_may_begin_within_the_slack(late_ms: int, late: bool) -> None:
    assert pacing.is_late(1_000, 1_000 + late_ms, Pace(10, 1_000)) is late


@pytest.mark.parametrize(("pace", "number"), [(Pace(10, 1_000), 9), (Pace(1, 60_000), 1), (Pace(10_000, 1_000), 9_009)])
def test_a_run_reserves_the_instants_of_about_a_second(pace: Pace, number: int) -> None:
    assert pacing.at_once(pace) == number
