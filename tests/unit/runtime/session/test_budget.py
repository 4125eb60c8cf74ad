"""The time of an invocation: a hard budget keeps a margin for the last commit, a soft one does not."""

from __future__ import annotations

import pytest

from stepless.limits import BUDGET_MARGIN_MS
from stepless.runtime.session.budget import Budget

TOTAL_MS = 60_000


class Seconds:
    """A monotonic clock that the test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


def test_a_hard_budget_is_over_when_only_its_margin_is_left(seconds: Seconds) -> None:
    budget = Budget(TOTAL_MS, hard=True, clock=seconds).start()
    seconds.now += (TOTAL_MS - BUDGET_MARGIN_MS) / 1000 - 1
    assert not budget.over
    seconds.now += 1
    assert budget.over
    assert budget.remaining_ms == BUDGET_MARGIN_MS


def test_a_soft_budget_is_over_when_its_time_is(seconds: Seconds) -> None:
    budget = Budget(TOTAL_MS, clock=seconds).start()
    seconds.now += TOTAL_MS / 1000 - 1
    assert not budget.over
    seconds.now += 1
    assert budget.over


def test_an_attempt_fits_a_hard_budget_if_it_ends_before_the_margin(seconds: Seconds) -> None:
    budget = Budget(TOTAL_MS, hard=True, clock=seconds).start()
    seconds.now += 10
    spare_ms = TOTAL_MS - 10_000 - BUDGET_MARGIN_MS
    assert budget.spare_ms == spare_ms
    assert budget.fits(spare_ms) and not budget.fits(spare_ms + 1)
    seconds.now += TOTAL_MS / 1000
    assert budget.spare_ms == 0


def test_a_soft_budget_has_room_for_every_attempt(seconds: Seconds) -> None:
    budget = Budget(1, clock=seconds).start()
    assert budget.spare_ms is None and budget.fits(TOTAL_MS)


def test_a_session_leaves_a_hard_budget_in_the_middle_of_its_margin(seconds: Seconds) -> None:
    budget = Budget(TOTAL_MS, hard=True, clock=seconds).start()
    assert budget.leaving_ms == TOTAL_MS - BUDGET_MARGIN_MS / 2
    seconds.now += TOTAL_MS / 1000
    assert budget.leaving_ms == 0
    assert Budget(TOTAL_MS, clock=seconds).start().leaving_ms == BUDGET_MARGIN_MS
