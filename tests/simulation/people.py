"""The actors in an episode besides the runners: the caller who starts the run, the people who answer, hold and release it, the
operator who cancels, and the sweeper.

People are persistent: when a call fails or their process dies they retry, until they have a definite response.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from callers import callers
from episode import SIGNER, SWEEP_MS, Episode
from erased import LATER_MS
from faults import Crash
from journal import Answered, Held, Violation
from virtual_time import Actor
from workers import UNEXPECTED, is_missing_blob, unexpected

from stepless.core.events import EventType
from stepless.errors import Conflict, Gone, InvalidRequest, NotFound, StoreUnavailable
from stepless.ports import RunHead
from stepless.runtime.hosting.sweep import sweep
from stepless.runtime.inbox import OVER
from stepless.runtime.removal import remove_expired
from stepless.runtime.service import Service
from stepless.testing import simulate

HOLD_MS = (50, 1_500, 30_000, 200_000)  # how long a run stays held, and then runs until the next hold
GONE_MS = 300_000  # how long people wait before they request a missing object again
WHEN_MS = (0, 2_000, 5_000, 5_200, 20_000)  # instants of answers after the start, some of them at deadlines
Person = tuple[str, float, Callable[[Actor], None]]


def people(episode: Episode) -> Iterator[Person]:
    random = episode.random
    episode.busy_people += 1
    yield "starter", 0.0, lambda actor: _start(episode, actor, random)
    yield "sweeper", SWEEP_MS, lambda actor: _sweep(episode, actor)
    if episode.chance.weather.ahead_ms:
        for later_ms in (1_000, 61_000):  # a process that notices it, and one that begins later
            noticed_ms = episode.chance.weather.back_at_ms + later_ms
            yield "clock", noticed_ms, lambda actor: _examine(episode, actor)
    yield "janitor", 45_000, lambda actor: _tidy(episode, actor)
    yield from episode.erasures.people(stubbornly)
    for caller in callers(episode, stubbornly) if episode.ground.is_cloud else ():
        episode.busy_people += 1
        yield caller


def service(episode: Episode, actor: Actor) -> Service:
    return Service(episode.world(actor), SIGNER)


def stubbornly(episode: Episode, actor: Actor, attempt: Callable[[Service], None]) -> None:
    """Repeats the attempt until it has a definite response. A crash ends the process, and a new process tries again."""
    while True:
        try:
            attempt(service(episode, actor))
            return
        except StoreUnavailable as error:
            episode.chance.record(actor.name, f"must try again: {error.message}")
        except UNEXPECTED as error:
            if not is_missing_blob(error):
                raise unexpected(error) from error
            episode.chance.record(actor.name, f"misses an object: {error}")
            actor.pause(GONE_MS)
        except Crash:
            if actor.doomed:
                raise
            episode.chance.record(actor.name, "died and starts again")
        actor.pause(episode.chance.random.choice([10, 1_000, 20_000]))


def _start(episode: Episode, actor: Actor, random: Random) -> None:
    inputs = {"input": {"ballast": episode.ballast}} if episode.ballast else {}
    workflow = episode.scenario.document["id"]
    for key, started in episode.started.items():
        given = {**inputs, "key": key} if len(episode.started) > 1 else inputs  # distinguishes timers of the same instant

        def attempt(verbs: Service, key: str = key, started: list[str] = started, given: Any = given) -> None:
            if (draft := episode.draft) is not None:
                started.append(draft.start(verbs, given))
            else:
                started.append(episode.erasures.started(lambda: verbs.start(workflow, given, key=key).run_id))

        stubbornly(episode, actor, attempt)
        if random.random() < 0.2:
            stubbornly(episode, actor, attempt)
    run_id = next(iter(episode.started.values()))[0]
    for name, at_ms, body in _followers(episode, run_id, random):
        episode.busy_people += 1
        episode.schedule.spawn(name, body, episode.schedule.now_ms + at_ms)
    episode.busy_people -= 1


def _followers(episode: Episode, run_id: str, random: Random) -> Iterator[Person]:
    operators = Random(f"operators {episode.number}")
    for name in ("dan", "eve")[: operators.choice([0, 0, 1, 1, 2]) if episode.parts.operators else 0]:
        yield name, operators.choice([0, 10, 500, 5_000]), _operator(episode, name, Random(f"{name} {episode.number}"))
    expected = simulate(episode.scenario.document, {"input": {}}, script=_answered_at_once(episode))
    asked = [event["payload"]["instance"] for event in expected.events if event["type"] == EventType.NODE_WAITING]
    questions = [pause for pause in asked if "human" in (episode.scenario.script.get(pause.partition("@")[0]) or [{}])[0]]
    contested = random.random() < 0.3
    for pause in questions:
        handle = episode.scenario.script[pause.partition("@")[0]][0]["human"]["handle"]
        yield f"ann {pause}", random.choice(WHEN_MS), _answerer(episode, run_id, pause, handle, "ann")
        if contested:
            other = "rejected" if handle == "approved" else "approved"
            yield f"bob {pause}", random.choice(WHEN_MS), _answerer(episode, run_id, pause, other, "bob")
    if random.random() < episode.parts.cancels:
        episode.cancelled = True
        yield "canceller", random.choice([0, 500, 5_000, 60_000]), _canceller(episode, run_id)


def _answered_at_once(episode: Episode) -> dict[str, object]:
    script: dict[str, object] = {}
    for name, entries in episode.scenario.script.items():
        human = entries[0].get("human")
        script[name] = [{"human": {"resume_at": 0, **human}}] if human else entries
    return script


def _answerer(episode: Episode, run_id: str, pause: str, handle: str, by: str) -> Callable[[Actor], None]:
    def live(actor: Actor) -> None:
        stubbornly(episode, actor, lambda verbs: _answer(episode, verbs, run_id, pause, handle, by))
        episode.busy_people -= 1

    return live


def _answer(episode: Episode, verbs: Service, run_id: str, pause: str, handle: str, by: str) -> None:
    asked_ms = episode.schedule.now_ms
    try:
        verbs.answer_pause(run_id, pause, handle, {}, by)
    except Conflict as error:
        first = error.facts["first"]
        if (first["decision"], first["by"]) != (handle, by):
            return
    except (Gone, NotFound):
        return
    episode.journal.answers.append(Answered(run_id, pause, handle, by, asked_ms))


def _canceller(episode: Episode, run_id: str) -> Callable[[Actor], None]:
    def attempt(verbs: Service) -> None:
        try:
            verbs.cancel(run_id, by="cem")
        except Conflict as error:
            assert error.code == "run_ended"
        except (Gone, NotFound):
            episode.erasures.may_be_gone(run_id)

    def live(actor: Actor) -> None:
        stubbornly(episode, actor, attempt)
        episode.busy_people -= 1

    return live


def _operator(episode: Episode, name: str, random: Random) -> Callable[[Actor], None]:
    """Holds and releases a run and its child runs, several times; the last action is always a release."""

    def live(actor: Actor) -> None:
        for _ in range(random.choice([1, 1, 2, 4])):
            run_id = random.choice(list(episode.names))
            for wanted in (True, False):
                stubbornly(episode, actor, lambda verbs, wanted=wanted: _hold(episode, verbs, run_id, wanted, name))  # type: ignore[misc]  # noqa: B023
                actor.pause(random.choice(HOLD_MS))
        episode.busy_people -= 1

    return live


def _hold(episode: Episode, verbs: Service, run_id: str, wanted: bool, by: str) -> None:
    asked_ms = episode.schedule.now_ms
    try:
        (verbs.hold if wanted else verbs.release)(run_id, by=by)
    except Conflict as error:
        assert error.code == "run_ended"
    except (Gone, NotFound):
        episode.erasures.may_be_gone(run_id)
    else:
        episode.journal.holds.append(Held(run_id, wanted, asked_ms))


def _examine(episode: Episode, actor: Actor) -> None:
    stubbornly(episode, actor, lambda verbs: episode.parts.examines(verbs.world, verbs.world.clock.now_ms()))


def _sweep(episode: Episode, actor: Actor) -> None:
    while True:
        if episode.parts.sweeps:
            stubbornly(episode, actor, _sweep_once)
        actor.pause(LATER_MS - episode.schedule.now_ms % LATER_MS if episode.erasures.lasts else SWEEP_MS)


def _sweep_once(verbs: Service) -> None:
    sweep(verbs.world)
    if verbs.world.retention_ms is not None:
        remove_expired(verbs.world)


def _tidy(episode: Episode, actor: Actor) -> None:
    """Answers open questions at intervals, so that every run can end. Uses the links, as people do."""
    while True:
        actor.pause(LATER_MS if episode.erasures.lasts else 45_000)
        for run_id in list(episode.names):
            stubbornly(episode, actor, lambda verbs, run_id=run_id: _answer_all(episode, verbs, run_id))  # type: ignore[misc]


def _is_orphan(episode: Episode, head: RunHead) -> bool:
    """Whether its parent no longer waits for it. Then it must be cancelled, and its questions stay unanswered."""
    parent = json.loads(head.meta).get("parent")
    return parent is not None and parent["instance"] in episode.journal.runs[parent["run"]].ends


def _answer_all(episode: Episode, verbs: Service, run_id: str) -> None:
    head = episode.truth.get_run(run_id)
    if head is None or head.status in OVER or _is_orphan(episode, head):
        return
    try:
        pauses = verbs.run(run_id).pauses
    except (Gone, NotFound):
        episode.erasures.may_be_gone(run_id)
        return
    for pause in pauses:
        if pause.token is None or not pause.exits:
            continue
        asked_ms = episode.schedule.now_ms
        try:
            handle = pause.exits[0]
            verbs.answer(pause.token, handle, {}, "janitor")
        except (Conflict, Gone):
            continue
        except InvalidRequest as error:
            raise Violation(f"an open pause refuses a proper answer: {error}") from error
        episode.journal.answers.append(Answered(run_id, pause.pause, handle, "janitor", asked_ms))
