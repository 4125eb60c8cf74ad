"""Schedules in a seeded world: whatever fails, an instant starts one run, and none in a pause (tests/simulation/scheduled.py)."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from faults import Weather, draw_weather
from journal import Violation
from mutants_schedules import SCHEDULE_MUTANTS
from scheduled import ScheduleEpisode
from weathers import calm, deadly, frozen, slow, storm

pytestmark = [pytest.mark.quick, pytest.mark.long]
WEATHERS = (calm, draw_weather, deadly, frozen, slow, storm)
# Seeds that found a fault of the engine, each with its cause.
FOUND = {
    3: "an instant before a pause that was delivered in it was lost at its end",
    7: "as 3, after another instant had fired",
    44: "a process that read the progress before the end of a pause, and the pause after it, fired an instant of the pause",
    51: "an instant that the end of a pause would have found was lost, because a later one fired in between",
}


@pytest.mark.parametrize("weather", WEATHERS, ids=lambda weather: weather.__name__)
def test_an_instant_starts_one_run_and_none_in_a_pause(weather: Callable[[Random], Weather]) -> None:
    for number in range(16):
        ScheduleEpisode(number, weather).go()


@pytest.mark.parametrize("number", FOUND)
def test_what_a_seed_once_found_is_mended(number: int) -> None:
    for weather in (draw_weather, frozen):
        ScheduleEpisode(number, weather).go()


@pytest.mark.check
@pytest.mark.parametrize("bug", SCHEDULE_MUTANTS)
def test_the_simulation_finds_a_planted_bug(bug: str) -> None:
    for number in range(200):
        try:
            ScheduleEpisode(number, WEATHERS[number % len(WEATHERS)], SCHEDULE_MUTANTS[bug]).go()
        except Violation:
            return
    pytest.fail(f"200 seeds did not find: {bug}")
