"""Limits per key in a seeded world, with any fault: no limit is exceeded at any moment, no slot is lost, every run ends, keys with
equal work begin equally many attempts, and no run under a key has to wait for the end of another."""

from __future__ import annotations

from collections import Counter

import pytest
from episode import Parts
from grounds import OnCloud
from limited import Limited, LimitedEpisode
from weathers import calm, deadly, draw_cloud_weather, frozen, lossy, slow, storm

pytestmark = pytest.mark.long

SEEDS = 60
CHUNK = 10
UNDISTURBED = 4  # a world without operators, who would hold a run
QUIET = Parts(weather=calm, cancels=0)


@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_no_limit_is_exceeded_in_any_weather(first: int) -> None:
    for number in range(first, first + CHUNK):
        LimitedEpisode(number, Parts()).go()


@pytest.mark.parametrize("weather", [deadly, frozen, lossy, slow, storm], ids=lambda weather: weather.__name__)
def test_no_limit_is_exceeded_when_processes_die_and_freeze(weather: object) -> None:
    for number in range(12):
        LimitedEpisode(number, Parts(weather=weather)).go()  # type: ignore[arg-type]


def test_no_limit_is_exceeded_on_the_adapters_of_aws() -> None:
    for number in range(8):
        LimitedEpisode(number, Parts(OnCloud, weather=draw_cloud_weather)).go()


FOUND = {
    15: "an instance that was queued again lost the instant that was reserved for it",
    78: "hints that were delivered again counted as hand-overs without progress",
    215: "instances reserved instants that lapsed while they waited for slots",
    255: "the same, with hand-overs",
}


@pytest.mark.parametrize("number", FOUND)
def test_what_a_seed_once_found_is_mended(number: int) -> None:
    LimitedEpisode(number, Parts()).go()


def undisturbed(limited: Limited) -> LimitedEpisode:
    episode = LimitedEpisode(UNDISTURBED, QUIET, limited)
    episode.hard_budget, episode.budget_ms, episode.ballast = False, 60_000, ""
    episode.go()
    return episode


def middle(begun: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The starts while every key still has work."""
    return begun[: len(begun) * 6 // 10]


@pytest.mark.parametrize("limited", [
    Limited(groups=4, run_slots=2, width=1, runs=24, ms=(300,)),
    Limited(groups=3, slots=2, width=10, runs=6, ms=(300,)),
    Limited(groups=3, rate=5, width=10, runs=6, ms=(30,)),
], ids=["runs", "slots", "rate"])  # fmt: skip
def test_of_k_keys_with_equal_work_each_begins_one_kth(limited: Limited) -> None:
    begun = middle(undisturbed(limited).under.runs_begun)
    shares = Counter(key for key, _ in begun)
    assert len(shares) == limited.groups
    for number in shares.values():
        assert number == pytest.approx(len(begun) / limited.groups, rel=0.1)


@pytest.mark.parametrize("limited", [
    Limited(slots=3, width=150, runs=3, ms=(500,)), Limited(rate=10, width=40, runs=3, ms=(30,)),
], ids=["slots", "rate"])  # fmt: skip
def test_of_k_runs_with_equal_work_under_one_key_each_begins_a_quarter_of_one_kth(limited: Limited) -> None:
    begun = middle(undisturbed(limited).under.runs_begun)
    shares = Counter(run_id for _, run_id in begun)
    assert len(shares) == limited.runs
    assert min(shares.values()) >= len(begun) / limited.runs / 4


def test_all_slots_are_used_while_there_is_work() -> None:
    """Five attempts of 300 ms at a time: 200 take 12 s, and the turns of four runs up to a third more."""
    episode = undisturbed(Limited(slots=5, width=50, runs=4, ms=(300,)))
    assert episode.under.most["slots"] == 5
    times = episode.under.begun["0"]
    assert times[-1] - times[0] < 1.35 * 12_000


def test_a_rate_is_used_while_there_is_work() -> None:
    """The attempts are a little more than 110 ms apart: a tenth of the period is kept for late ones."""
    episode = undisturbed(Limited(rate=10, width=50, runs=4, ms=(30,)))
    times = episode.under.begun["0"]
    assert 199 * 110 <= times[-1] - times[0] < 1.15 * 199 * 110


def test_attempts_take_as_many_slots_as_they_weigh() -> None:
    """Weights of 1, 2 and 3, with 4 slots: the world checks their sum at every start."""
    episode = undisturbed(Limited(slots=4, weights=3, width=12, runs=2, ms=(200,)))
    assert episode.under.most["slots"] == 4
