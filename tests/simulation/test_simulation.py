"""The whole engine in a seeded world: whatever goes wrong, every invariant of the specification (3.7) holds. A seed that fails
prints its faults in order, its logs, and how to replay it: `make simulate SEEDS=1 FROM=<seed>`."""

from __future__ import annotations

import pytest
from episode import Episode, Parts
from weathers import calm, deadly, frozen, lossy, slow, storm
from workflows import SHAPES

from stepless.core.events import RUN_ENDS

FAULTS = (
    "refused: append", "answer lost: append", "crash before: append", "crash after: append", "frozen before: append",
    "crash after: put", "crash after: update_run", "answer lost: take_lease", "loses signal", "forget",
    "is killed: its time is up", "died and starts again",
)  # fmt: skip
SEEDS = 300
CHUNK = 20


@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_every_invariant_holds_in_any_weather(first: int) -> None:
    for number in range(first, first + CHUNK):
        Episode(number).go()


@pytest.mark.parametrize("weather", [deadly, frozen, lossy, slow, storm], ids=lambda weather: weather.__name__)
def test_every_invariant_holds_in_the_weathers_that_planted_bugs_are_looked_for_in(weather: object) -> None:
    for number in range(40):
        Episode(number, Parts(weather=weather)).go()  # type: ignore[arg-type]


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_workflow_ends_in_calm_weather(shape: str) -> None:
    for number in range(2):
        episode = Episode(number, Parts(shape=shape, weather=calm)).go()
        assert episode.chance.story == []
        assert all(story.events[-1].type in RUN_ENDS for story in episode.journal.runs.values())


@pytest.mark.parametrize("number", range(0, 60, 7))
def test_a_seed_replays_exactly(number: int) -> None:
    assert _told(Episode(number).go()) == _told(Episode(number).go())


def _told(episode: Episode) -> object:
    """What happened, in an order and at instants that no chance outside the seed may change."""
    logs = [
        [(event.type, event.instance, event.at_ms) for event in episode.journal.runs[run_id].events] for run_id in episode.names
    ]
    return episode.chance.story, episode.chance.calls, episode.schedule.steps, logs


def test_chance_deals_every_fault() -> None:
    worlds = [Parts(weather=storm), Parts(weather=frozen), Parts(weather=deadly)]
    stories = "\n".join(line for number in range(60) for world in worlds for line in Episode(number, world).go().chance.story)
    assert [fault for fault in FAULTS if fault not in stories] == []
