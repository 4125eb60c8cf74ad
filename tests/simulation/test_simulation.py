"""The whole engine in a seeded world: with any fault, every invariant of the specification
(docs/understand/durability.md#what-must-hold) holds. A seed that fails prints its faults in order, its logs, and how to replay
it: `make simulate SEEDS=1 FROM=<seed>`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import product
from random import Random

import pytest
from embedded import OnFile
from episode import Episode, Parts
from faults import Weather, draw_weather
from grounds import OnCloud
from mutants_cloud import CLOUD_WEATHERS, partial, repeated, robbed
from mutants_file import cramped
from sweeps import at_most, first_quick
from weathers import calm, dead_letters, deadly, draw_cloud_weather, frozen, lingering, lossy, plagued, poisoned, slow, storm
from workflows import SHAPES

from stepless.core.events import RUN_ENDS

pytestmark = [pytest.mark.quick, pytest.mark.long]

FAULTS = (
    "refused: append", "answer lost: append", "crash before: append", "crash after: append", "frozen before: append",
    "crash after: put", "crash after: update_run", "answer lost: take_lease", "loses signal", "forget",
    "is killed: its time is up", "died and starts again",
)  # fmt: skip
CLOUD_FAULTS = (
    "refused: dynamodb.PutItem", "answer lost: dynamodb.UpdateItem", "crash after: dynamodb.PutItem",
    "crash before: dynamodb.Query", "frozen before: dynamodb.UpdateItem", "answer lost: sqs.SendMessage",
    "table        does", "is gone", "gives up on",
)  # fmt: skip
SEEDS = at_most(80, 160)  # of every world a few: `make simulate` goes on
CHUNK = 20
ON_CLOUD_CHUNK = 10
GROUNDS = {"memory": Parts(), "cloud": Parts(OnCloud, weather=draw_cloud_weather), "file": Parts(OnFile)}
ON_CLOUD = 20
DRAFTS = 12  # of each ground
ON_FILE = 8


@pytest.mark.parametrize("first", first_quick(range(0, SEEDS, CHUNK), 2))
def test_every_invariant_holds_in_any_weather(first: int) -> None:
    for number in range(first, first + CHUNK):
        Episode(number).go()


@pytest.mark.check
def test_runs_of_drafts_end_as_runs_of_published_versions_and_call_no_pinned_node() -> None:
    """The version is a blob of the run: under the same crashes, and where the bucket misses it for a while."""
    kept: list[Episode] = []
    for part in (Parts(), Parts(OnCloud, weather=draw_cloud_weather)):
        number, wanted = 0, len(kept) + DRAFTS
        while len(kept) < wanted:
            episode = Episode(number, part)
            number += 1
            if episode.draft is not None:
                kept.append(episode.go())
            else:
                episode.ground.close()
    assert sum(bool(episode.draft.pins) for episode in kept if episode.draft is not None) >= DRAFTS
    assert any("is gone" in line for episode in kept for line in episode.chance.story)


@pytest.mark.parametrize("weather", [deadly, frozen, lossy, slow, storm], ids=lambda weather: weather.__name__)
def test_every_invariant_holds_in_the_weathers_that_planted_bugs_are_looked_for_in(weather: object) -> None:
    for number in range(at_most(8, 20)):
        Episode(number, Parts(weather=weather)).go()  # type: ignore[arg-type]


@pytest.mark.parametrize("first", first_quick(range(0, ON_CLOUD, ON_CLOUD_CHUNK)))
def test_every_invariant_holds_on_the_adapters_of_aws(first: int) -> None:
    for number in range(first, first + ON_CLOUD_CHUNK):
        Episode(number, Parts(OnCloud, weather=draw_cloud_weather)).go()


@pytest.mark.parametrize(("parts", "seeds"), first_quick([(Parts(), 30), (Parts(OnCloud), 8), (Parts(OnFile), 8)]), ids=GROUNDS)
def test_the_code_of_one_instance_runs_once_at_a_time_although_it_goes_on_after_its_end(parts: Parts, seeds: int) -> None:
    """And none goes on in another invocation. Processes whose code does not return end themselves."""
    episodes = [Episode(number, replace(parts, weather=lingering)).go() for number in range(seeds)]
    story = "\n".join(line for episode in episodes for line in episode.chance.story)
    assert "goes on for" in story and "ends itself" in story


@pytest.mark.check
@pytest.mark.parametrize("weather", CLOUD_WEATHERS, ids=lambda weather: weather.__name__)
def test_every_invariant_holds_on_the_adapters_of_aws_in_the_weathers_of_planted_bugs(weather: object) -> None:
    for number in range(2):
        Episode(number, Parts(OnCloud, weather=weather)).go()  # type: ignore[arg-type]


@pytest.mark.parametrize("weather", first_quick([draw_weather, cramped]), ids=lambda weather: weather.__name__)
def test_every_invariant_holds_in_one_sqlite_file_that_runs_share(weather: object) -> None:
    for number in range(ON_FILE):
        Episode(number, Parts(OnFile, weather=weather)).go()  # type: ignore[arg-type]


@pytest.mark.parametrize("weather", [draw_weather, deadly, frozen, dead_letters, storm], ids=lambda weather: weather.__name__)
@pytest.mark.parametrize("outage", [0.0, 0.3])
def test_every_event_is_exported_at_least_once_and_in_order(weather: object, outage: float) -> None:
    for number in range(at_most(6, 12)):
        Episode(number, Parts(weather=weather, exports=True, outage=outage)).go()  # type: ignore[arg-type]


@pytest.mark.parametrize("ground", ["cloud", "file"])
def test_every_event_is_exported_from_the_stores_that_last(ground: str) -> None:
    for number in range(4):
        Episode(number, replace(GROUNDS[ground], exports=True, outage=0.2)).go()


@pytest.mark.parametrize("weather", [draw_weather, deadly, frozen, storm], ids=lambda weather: weather.__name__)
@pytest.mark.parametrize("outage", [None, 0.2])
def test_of_a_run_that_is_erased_or_expires_everything_is_left_or_nothing(weather: object, outage: float | None) -> None:
    for number in range(at_most(4, 6)):
        parts = Parts(weather=weather, erases=True, exports=outage is not None, outage=outage or 0.0)  # type: ignore[arg-type]
        Episode(number, parts).go()


@pytest.mark.parametrize(("ground", "seeds"), first_quick([("cloud", 1), ("file", 2)]))
def test_of_a_run_that_is_erased_or_expires_the_stores_that_last_keep_everything_or_nothing(ground: str, seeds: int) -> None:
    for number in range(seeds):
        Episode(number, replace(GROUNDS[ground], erases=True)).go()


@pytest.mark.check
@pytest.mark.parametrize(("ground", "seeds"), [("memory", 60), ("cloud", 12), ("file", 12)])
@pytest.mark.parametrize("weather", [poisoned, plagued], ids=lambda weather: weather.__name__)
def test_of_instances_that_kill_their_process_all_are_found_and_no_other_is_blamed(
    ground: str, seeds: int, weather: Callable[[Random], Weather]
) -> None:
    crashed = 0
    for number in range(at_most(seeds, 2 * seeds)):
        episode = Episode(number, replace(GROUNDS[ground], weather=weather)).go()
        crashed += episode.deaths.found
    assert crashed


# Seeds that found a fault of the engine, each with its cause.
FOUND = {
    34: "two concurrent publications: one released the webhook path that the other had claimed again",
    41: "the consumer of dead letters met a lease that another process had taken",
    53: "as 34, with other faults",
}


@pytest.mark.parametrize("number", FOUND)
def test_what_a_seed_once_found_is_mended(number: int) -> None:
    Episode(number, Parts(OnCloud, weather=draw_cloud_weather)).go()


FOUND_WITH_ERASURES = {
    322: "an erasure during the removal of an expired run named its reruns as if it had seen all",
    356: "the slower of two erasures named what the faster had left of the reruns",
}


@pytest.mark.parametrize("number", FOUND_WITH_ERASURES)
def test_what_a_seed_with_erasures_once_found_is_mended(number: int) -> None:
    Episode(number, Parts(erases=True)).go()


def test_a_signal_that_is_put_late_is_found_although_its_hint_is_lost() -> None:
    """Seed 134: a process was frozen between making the run due and putting the signal; the sweep came before the signal."""
    Episode(134, Parts(exports=True, weather=storm)).go()


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_workflow_ends_in_calm_weather(shape: str) -> None:
    for number in range(2):
        episode = Episode(number, Parts(shape=shape, weather=calm)).go()
        assert episode.chance.story == []
        assert all(story.events[-1].type in RUN_ENDS for story in episode.journal.runs.values())


@pytest.mark.parametrize("parts", GROUNDS.values(), ids=GROUNDS)
@pytest.mark.parametrize("number", range(0, 60, 21))
def test_a_seed_replays_exactly(number: int, parts: Parts) -> None:
    assert _outcome(Episode(number, parts).go()) == _outcome(Episode(number, parts).go())


def _outcome(episode: Episode) -> object:
    """What happened, with its order and instants. Only the seed may change it."""
    logs = [
        [(event.type, event.instance, event.at_ms) for event in episode.journal.runs[run_id].events] for run_id in episode.names
    ]
    return episode.chance.story, episode.chance.calls, episode.schedule.steps, logs


@pytest.mark.check
def test_chance_deals_every_fault() -> None:
    worlds = [Parts(weather=storm), Parts(weather=frozen), Parts(weather=deadly)]
    assert not_dealt(FAULTS, worlds, seeds=60) == set()


@pytest.mark.check
def test_chance_deals_every_fault_of_the_cloud() -> None:
    worlds = [
        *(Parts(OnCloud, weather=weather) for weather in (storm, deadly, dead_letters, frozen, repeated)),
        Parts(OnCloud, weather=partial, shape="crowd"),
        Parts(OnCloud, weather=robbed, shape="heavy"),
    ]
    assert not_dealt(CLOUD_FAULTS, worlds, seeds=30) == set()


def not_dealt(faults: Iterable[str], worlds: Sequence[Parts], seeds: int) -> set[str]:
    """The faults that no world injected. Stops at the seed that injected the last one."""
    missing = set(faults)
    for number, world in product(range(seeds), worlds):
        story = "\n".join(Episode(number, world).go().chance.story)
        missing = {fault for fault in missing if fault not in story}
        if not missing:
            break
    return missing
