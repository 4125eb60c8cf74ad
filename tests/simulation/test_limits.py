"""Limits per key in a seeded world, with any fault: no limit is exceeded at any moment, no slot is lost, every run ends, keys
with equal work begin equally many attempts, runs under one key about equally many, and no slot is idle while work waits."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from embedded import OnFile
from episode import Failed, Parts
from faults import draw_weather
from grounds import OnCloud
from limited import Limited, LimitedEpisode, Span
from mutants_lingering import FREES_SLOTS_AT_THE_END
from sweeps import at_most
from weathers import calm, deadly, draw_cloud_weather, frozen, lingering, lossy, slow, storm

pytestmark = pytest.mark.long

SEEDS = at_most(30, 60)
CHUNK = 10
QUIET = Parts(weather=calm, cancels=0, operators=False)


@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_no_limit_is_exceeded_in_any_weather(first: int) -> None:
    for number in range(first, first + CHUNK):
        LimitedEpisode(number, Parts()).go()


@pytest.mark.parametrize("weather", [deadly, frozen, lossy, slow, storm], ids=lambda weather: weather.__name__)
def test_no_limit_is_exceeded_when_processes_die_and_freeze(weather: object) -> None:
    for number in range(at_most(6, 12)):
        LimitedEpisode(number, Parts(weather=weather)).go()  # type: ignore[arg-type]


def test_no_limit_is_exceeded_on_the_adapters_of_aws() -> None:
    for number in range(at_most(4, 8)):
        LimitedEpisode(number, Parts(OnCloud, weather=draw_cloud_weather)).go()


@pytest.mark.parametrize("weather", [draw_weather, deadly], ids=lambda weather: weather.__name__)
def test_no_limit_is_exceeded_in_files(weather: object) -> None:
    for number in range(4):
        LimitedEpisode(number, Parts(OnFile, weather=weather)).go()  # type: ignore[arg-type]


@pytest.mark.parametrize(("ground", "seeds"), [(Parts(), 30), (Parts(OnCloud), 4), (Parts(OnFile), 4)])
def test_no_limit_is_exceeded_by_code_that_goes_on_after_the_end_of_its_attempt(ground: Parts, seeds: int) -> None:
    for number in range(seeds):
        LimitedEpisode(number, replace(ground, weather=lingering)).go()


def test_a_slot_that_is_given_back_before_its_code_has_returned_is_found() -> None:
    with pytest.raises(Failed, match="at most"):
        for number in range(60):
            LimitedEpisode(number, FREES_SLOTS_AT_THE_END).go()


FOUND = {
    15: "an instance that was queued again lost the instant that was reserved for it",
    78: "hints that were delivered again counted as hand-overs without progress",
    215: "instances reserved instants that lapsed while they waited for slots",
    255: "the same, with hand-overs",
}


@pytest.mark.parametrize("number", FOUND)
def test_what_a_seed_once_found_is_mended(number: int) -> None:
    LimitedEpisode(number, Parts()).go()


FOUND_IN_DOUBT = {
    40: (deadly, "an instance in doubt that lacked an instant of a rate asked for none"),
    97: (lingering, "the same"),
    100: (lingering, "a second death took an instance in the line of a limit for one that waits for the process"),
    300: (lingering, "the same"),
    393: (lingering, "a session came between the touch of a run and the signal that released it, and the hint was lost"),
    125: (lingering, "a run that did not know the weight of its instance in doubt gave back a part of the slots kept for it"),
}


@pytest.mark.parametrize("number", FOUND_IN_DOUBT)
def test_what_a_seed_once_found_of_instances_in_doubt_is_mended(number: int) -> None:
    weather, _ = FOUND_IN_DOUBT[number]
    LimitedEpisode(number, Parts(weather=weather)).go()


def undisturbed(limited: Limited, seed: int = 4) -> LimitedEpisode:
    """A world in which nothing fails, and no operator holds a run. Many runs start at once."""
    episode = LimitedEpisode(seed, QUIET, replace(limited, failing=0))
    episode.hard_budget, episode.budget_ms, episode.ballast, episode.window = False, 60_000, "", 4
    episode.most_in_flight = 1_000
    episode.go()
    return episode


def middle(begun: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The starts while every key still has work."""
    return begun[: len(begun) * 6 // 10]


@pytest.mark.parametrize("seed", [4, 7, 11][: at_most(1, 3)])
@pytest.mark.parametrize("groups", [2, 3, 5, 10])
@pytest.mark.parametrize("limited", [
    Limited(run_slots=1, width=2, runs=10, ms=(300,)),
    Limited(slots=2, width=20, runs=2, ms=(300,)),
    Limited(rate=5, width=20, runs=2, ms=(30,)),
], ids=["runs", "slots", "rate"])  # fmt: skip
def test_of_k_keys_with_equal_work_each_begins_one_kth(limited: Limited, groups: int, seed: int) -> None:
    """`limited.runs` are those of each key."""
    begun = middle(undisturbed(replace(limited, groups=groups, runs=limited.runs * groups), seed).under.runs_begun)
    shares = Counter(key for key, _ in begun)
    assert len(shares) == groups
    for number in shares.values():
        assert number == pytest.approx(len(begun) / groups, rel=0.1)


@pytest.mark.parametrize("seed", [4, 11][: at_most(1, 2)])
@pytest.mark.parametrize("limited", [
    Limited(slots=3, width=150, runs=3, ms=(500,)),
    Limited(slots=1, width=60, runs=3, ms=(500,)),
    Limited(slots=1, width=60, runs=10, ms=(500,)),
    Limited(slots=2, width=120, runs=5, ms=(300,)),
    Limited(slots=10, width=100, runs=5, ms=(1_000,)),
    Limited(slots=5, width=150, runs=2, ms=(200,)),
    Limited(rate=10, width=60, runs=3, ms=(30,)),
    Limited(rate=5, width=40, runs=5, ms=(30,)),
], ids=lambda limited: f"{limited.slots or 0} slots, rate {limited.rate or 0}, {limited.runs} runs")  # fmt: skip
def test_of_k_runs_with_equal_work_under_one_key_each_begins_about_one_kth(
    limited: Limited, seed: int
) -> None:
    begun = middle(undisturbed(limited, seed).under.runs_begun)
    shares = Counter(run_id for _, run_id in begun)
    assert len(shares) == limited.runs
    for number in shares.values():
        assert number == pytest.approx(len(begun) / limited.runs, rel=0.25)


@pytest.mark.parametrize("seed", range(4, at_most(7, 12)))
@pytest.mark.parametrize("limited", [
    Limited(slots=3, width=40, runs=3, ms=(500,)),
    Limited(slots=1, width=10, runs=8, ms=(300,)),
    Limited(slots=7, width=30, runs=4, ms=(900,)),
], ids=lambda limited: f"{limited.slots} slots")  # fmt: skip
def test_no_slot_is_idle_for_long_while_work_waits(limited: Limited, seed: int) -> None:
    episode = undisturbed(limited, seed)
    # A run looks at the line once a second, and gives a slot up between two attempts: a second, and up to two attempts of 900 ms.
    assert longest_idle_ms(episode.under.spans, limited.slots or 0) < 3_000


def longest_idle_ms(spans: list[Span], slots: int) -> float:
    """How long some slot was free without a break, until the last attempt began."""
    last_ms = max(span.from_ms for span in spans)
    changes = sorted([(span.from_ms, 1) for span in spans] + [(span.to_ms, 0) for span in spans])
    used, since_ms, longest_ms = 0, changes[0][0], 0.0
    for at_ms, begins in changes:
        if used < slots:
            longest_ms = max(longest_ms, min(at_ms, last_ms) - since_ms)
        was_full = used >= slots
        used += 1 if begins else -1
        if was_full and used < slots:
            since_ms = at_ms
        if at_ms >= last_ms:
            break
    return longest_ms


def test_runs_that_need_slots_of_their_workflow_and_of_a_node_do_not_wake_each_other_for_ever() -> None:
    """A run that waited for a node gave the slot of its workflow to another, and lost what the node's line had granted to it."""
    undisturbed(Limited(run_slots=3, slots=7, weights=3, width=40, runs=10, ms=(100,)), 11)


def test_all_slots_are_used_while_there_is_work() -> None:
    """Five attempts of 300 ms at a time: 200 take 12 s, and the turns of four runs a little more."""
    episode = undisturbed(Limited(slots=5, width=50, runs=4, ms=(300,)))
    assert episode.under.most["slots"] == 5
    times = episode.under.begun["0"]
    assert times[-1] - times[0] < 1.15 * 12_000


def test_a_rate_is_used_while_there_is_work() -> None:
    """The attempts are a little more than 110 ms apart: a tenth of the period is kept for late ones."""
    episode = undisturbed(Limited(rate=10, width=50, runs=4, ms=(30,)))
    times = episode.under.begun["0"]
    assert 199 * 110 <= times[-1] - times[0] < 1.15 * 199 * 110


def test_attempts_take_as_many_slots_as_they_weigh() -> None:
    """Weights of 1, 2 and 3, with 4 slots: the world checks their sum at every start."""
    episode = undisturbed(Limited(slots=4, weights=3, width=12, runs=2, ms=(200,)))
    assert episode.under.most["slots"] == 4
