"""Keys and messages in a seeded world, with any fault: no message is lost or doubled, at most one run of a key is at work, and
every run ends (tests/simulation/talked.py). `make simulate MESSAGES=1` goes on; a seed that fails prints how to replay it."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from embedded import OnFile
from episode import Failed, Parts
from faults import Weather, draw_weather
from grounds import OnCloud
from mutants_messages import CONTROLS, MESSAGE_MUTANTS, Bug
from sweeps import at_most
from talking import SHAPES, MessagesEpisode, Talk
from weathers import calm, deadly, draw_cloud_weather, frozen, lossy, slow, storm

pytestmark = [pytest.mark.quick, pytest.mark.long]

SEEDS = 150  # of a planted bug
GROUNDS = {
    "memory": (Parts(), 20, 200),
    "cloud": (Parts(OnCloud, weather=draw_cloud_weather), 3, 20),
    "file": (Parts(OnFile), 4, 20),
}


@pytest.mark.parametrize("ground", GROUNDS)
def test_no_message_is_lost_or_doubled_in_any_weather(ground: str) -> None:
    parts, few, many = GROUNDS[ground]
    for number in range(at_most(few, many)):
        MessagesEpisode(number, parts).go()


@pytest.mark.parametrize("weather", [deadly, frozen, lossy, slow, storm], ids=lambda weather: weather.__name__)
def test_no_message_is_lost_or_doubled_when_processes_die_and_freeze(weather: Callable[[Random], Weather]) -> None:
    for number in range(at_most(4, 40)):
        MessagesEpisode(number, Parts(weather=weather)).go()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rule", ["join", "refuse", "replace"])
def test_every_shape_and_rule_ends_in_calm_weather(rule: str, shape: str) -> None:
    episode = MessagesEpisode(1, Parts(weather=calm), Talk(rule, shape)).go()
    assert episode.chance.story == []


# Seeds that found a fault of the engine, each with its cause.
FOUND = {
    18: "a run that began late did not get what was kept when it was created, and had expired since",
    33: "a number of a key without a run hid the live run before it, and a second run of the key began",
    112: "a repeated start created the run of one that died, without a look at the live run before it",
    113: "a message that came after the end of a run was marked as taken, and was nowhere",
    155: "as 33: a kept message did not reach the live run",
    175: "a repeated start was told the run of another start, which had created the run of its number first",
    193: "a repeated start that had joined a run started another one after the end of that run",
    525: "a message that was sent again was said to be kept for longer than it was",
    2500: "a repeated start was told that its run was removed, which another process had just created",
    2747: "as 175, with two repetitions at once",
    50094: "a sender that had been frozen for longer than its message was to be kept went in circles",
}


FOUND_IN_FILES = {
    259: "attempts whose task had not begun began after their end, which was part of another run's commit",
}


@pytest.mark.parametrize("number", FOUND)
def test_what_a_seed_once_found_is_mended(number: int) -> None:
    MessagesEpisode(number).go()


@pytest.mark.parametrize("number", FOUND_IN_FILES)
def test_what_a_seed_once_found_in_a_file_is_mended(number: int) -> None:
    MessagesEpisode(number, Parts(OnFile)).go()


@pytest.mark.nightly
@pytest.mark.parametrize("name", MESSAGE_MUTANTS)
def test_the_simulation_finds_a_planted_bug(name: str) -> None:
    with pytest.raises(Failed, match=r"Violation"):
        _search(MESSAGE_MUTANTS[name], SEEDS)


@pytest.mark.nightly
@pytest.mark.parametrize("name", CONTROLS)
def test_the_worlds_of_the_planted_bugs_hold_without_them(name: str) -> None:
    _search(CONTROLS[name], 40)


def _search(bug: Bug, seeds: int) -> None:
    with bug.planted() as parts:
        for number in range(seeds):
            MessagesEpisode(number, parts, bug.talk).go()


def test_a_world_with_messages_replays_exactly() -> None:
    def outcome(episode: MessagesEpisode) -> object:
        runs = episode.journal.runs.values()
        logs = [[(event.type, event.instance, event.at_ms) for event in story.events] for story in runs]
        return episode.chance.story, episode.schedule.steps, logs

    parts = Parts(weather=draw_weather)
    assert outcome(MessagesEpisode(3, parts).go()) == outcome(MessagesEpisode(3, parts).go())
