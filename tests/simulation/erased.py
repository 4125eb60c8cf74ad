"""People who erase runs, rerun them and read them in a world whose runs expire, and the check of what is left: of each run
everything, or nothing.

When all runs have ended, the world goes on for days with a second weather, so that expired runs and the headers of erased ones
are removed while people still work on them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Final, TypeVar

from journal import Violation
from virtual_time import Actor

from stepless.core.events import EventType
from stepless.errors import Conflict, Gone, InvalidRequest, NotFound
from stepless.limits import ERASED_KEPT_MS, EXPIRY_SLACK_MS, IDEMPOTENCY_KEY_LIFE_MS, SHORT_RUN_MS
from stepless.model.graph import Graph
from stepless.ports import ERASED, Message, RunHead
from stepless.runtime.inbox import OVER
from stepless.runtime.service import Service

if TYPE_CHECKING:
    from episode import Episode

T = TypeVar("T")
HOUR_MS: Final = 3_600_000
LATER_MS: Final = 3 * HOUR_MS  # between sweeps, after the end of all runs
LASTS_MS: Final = 9 * 24 * HOUR_MS  # of the world, after the end of all runs
STORM_MS: Final = 150_000  # of faults whenever people meet
MORE_TURNS: Final = 200_000
RETENTION_MS: Final = 50 * HOUR_MS
REMOVED_MS: Final = SHORT_RUN_MS + EXPIRY_SLACK_MS + 3 * LATER_MS  # after its expiry a run is gone
PAUSES_MS: Final = (0, 10, 500, 5_000, 60_000)
REASONS: Final = ("start", "sweep", "timer", "signal", "continue")
SKEW_MS: Final = 60_000  # more than any clock is wrong
Person = tuple[str, float, Callable[[Actor], None]]
Stubbornly = Callable[["Episode", Actor, Callable[[Service], None]], None]


@dataclass
class Rerun:
    """A rerun that was acknowledged."""

    run_id: str
    origin: str
    node: str | None


class Erasures:
    """What is erased in a world, as its store and its people see it. `lasts_ms` is how long the world goes on, with
    `more_turns`."""

    def __init__(self, episode: Episode) -> None:
        self.episode = episode
        self.dice = Random(f"erasures {episode.number}")
        erases = episode.parts.erases
        self.retention_ms = RETENTION_MS if erases and self.dice.random() < 0.6 else None
        self.lasts_ms = LASTS_MS if erases else 0
        self.more_turns = MORE_TURNS if erases else 0
        self._patience = self.dice.choice((0.2, 0.9, 0.98))  # so that some runs last until they expire
        self.acknowledged: set[str] = set()
        self.forced: set[str] = set()  # runs whose events may be dropped
        self.reruns: list[Rerun] = []
        self._tried: set[str] = set()  # to be erased
        self._removed: dict[str, float] = {}

    # -- what the ground sees -----------------------------------------------------------------------------------------

    def header(self, run_id: str, *, erased: bool | None) -> None:
        """Notes a write of a header. `erased` is None if it was removed."""
        journal, now_ms = self.episode.journal, self.episode.schedule.now_ms
        if erased is None:
            if run_id not in self._removed:
                if run_id not in journal.erased:
                    self._expired(run_id)
                self._removed[run_id] = now_ms
                self._ended(run_id)
            return
        if run_id in self._removed or (not erased and run_id in journal.erased):
            self._refuse(f"an erased run does not come back: {run_id}")
        if erased and run_id not in journal.erased:
            self._ended(run_id)

    def _expired(self, run_id: str) -> None:
        """Notes that a run is removed that no person has erased."""
        story = self.episode.journal.runs[run_id]
        ended_ms = story.committed_ms[len(story.events)] if story.ended else self.episode.schedule.now_ms
        if self.retention_ms is None or ended_ms + self.retention_ms - SKEW_MS > self.episode.schedule.now_ms:
            self._refuse(f"a run is kept until it expires: {run_id}")

    def _ended(self, run_id: str) -> None:
        """Notes that a run is erased: it must have ended, and its parent with it."""
        journal = self.episode.journal
        journal.erased.add(run_id)
        parent = json.loads(self.episode.ground.created[run_id].meta).get("parent") or {"run": run_id}
        for one in (run_id, parent["run"]):
            if one not in self._removed and not journal.runs[one].ended:
                self._refuse(f"only runs that have ended are erased: {run_id} while {one} has not")

    def _refuse(self, reason: str) -> None:
        violation = Violation(reason)
        self.episode.schedule.failure = self.episode.schedule.failure or violation
        raise violation

    def removed(self, run_id: str) -> bool:
        return run_id in self._removed

    # -- what people see ----------------------------------------------------------------------------------------------

    def may_be_gone(self, run_id: str) -> None:
        """Checks a response that says that a run is erased or unknown."""
        head = self.episode.truth.get_run(run_id)
        expired = head is not None and head.expires_ms is not None and head.expires_ms <= self.episode.world_ms() + SKEW_MS
        if head is not None and head.status != ERASED and not expired:
            raise Violation(f"a run that is not erased is there: {head}")

    def started(self, start: Callable[[], str]) -> str:
        """The run of a start that may be repeated after the run was erased."""
        try:
            return start()
        except Conflict as error:
            assert error.code == "run_erased", error
            self.may_be_gone(str(error.facts["run_id"]))
            return str(error.facts["run_id"])

    @property
    def lasts(self) -> bool:
        """Whether the world is in its second part, in which days pass. Without erasures there is none."""
        return self.lasts_ms > 0 and self.episode.ended_ms is not None

    def all_have_ended(self) -> None:
        """Begins the second part of the world, with another weather."""
        if self.lasts_ms:
            chance, now_ms = self.episode.chance, self.episode.schedule.now_ms
            chance.weather = self.episode.parts.weather(self.dice)
            chance.weather.until_ms = now_ms + STORM_MS
            chance.weather.skew_ms = chance.weather.back_ms = 0
            if chance.weather.single is not None:
                chance.weather.single += chance.calls
            for meeting in range(self.dice.choice((1, 8, 30))):
                at_ms = (now_ms // LATER_MS + 1 + meeting) * LATER_MS
                self.episode.schedule.at(at_ms, lambda at_ms=at_ms: setattr(chance.weather, "until_ms", at_ms + STORM_MS))  # type: ignore[misc]

    def people(self, stubbornly: Stubbornly) -> Iterator[Person]:
        if not self.episode.parts.erases:
            return
        acts = {"rae": self._erase, "rob": self._erase, "ron": self._read, "rut": self._rerun, "ray": self._again}
        for name, act in acts.items():
            yield name, self.dice.choice((100, 2_000, 9_000)), _Person(self, stubbornly, name, act).live

    def any_run(self, dice: Random) -> str | None:
        """A run that has been created; ended ones are more likely."""
        names = [run_id for run_id in self.episode.names if run_id not in self._removed or dice.random() < 0.2]
        if self.episode.ended_ms is not None and dice.random() < 0.7:  # the same as the others
            dice = Random(f"{self.episode.schedule.now_ms // LATER_MS} {self.episode.number}")
        ended = [run_id for run_id in names if self.episode.journal.runs[run_id].ended]
        return dice.choice(ended if ended and dice.random() < 0.8 else names) if names else None

    def _erase(self, verbs: Service, run_id: str, dice: Random) -> None:
        if dice.random() < self._patience:
            return
        before, dry = self.episode.truth.get_run(run_id), dice.random() < 0.1
        first = run_id not in self._tried  # else an erasure that began earlier may have noted what it names
        self._tried.add(run_id)
        reruns = {one.run_id for one in self.reruns if one.origin == run_id}
        try:
            force = dice.random() < 0.1
            if force and not dry:
                self.forced.add(run_id)
            relatives = verbs.erase(run_id, dry=dry, force=force)
        except Conflict as error:
            self._may_be_refused(error, run_id, before)
        except NotFound:
            if run_id not in self._removed:
                raise Violation(f"a run that was not removed can be erased: {before}") from None
        else:
            if dry:
                return
            self.acknowledged.add(run_id)
            if run_id not in self.episode.journal.erased:
                raise Violation(f"an erasure that was acknowledged has happened: {run_id}")
            missing = reruns - {*relatives.reruns} - {*self._removed}
            if first and missing and not relatives.more and before is not None and before.status != ERASED:
                raise Violation(f"an erasure names the reruns that stay: not {missing}")
            for _ in range(dice.choice((0, 1, 3))):
                self.episode.send(Message(run_id, dice.choice(REASONS)), dice.choice((0, 900, 400_000)))

    def _may_be_refused(self, error: Conflict, run_id: str, before: RunHead | None) -> None:
        if error.code == "run_not_ended" and before is not None and before.status in OVER:
            raise Violation(f"a run that has ended can be erased: {before}")
        if error.code == "parent_not_ended" and self.episode.journal.runs[str(error.facts["parent"])].ended:
            parent = self.episode.truth.get_run(str(error.facts["parent"]))
            if parent is not None and parent.status in OVER and before is not None and before.updated_ms > parent.updated_ms:
                raise Violation(f"a child run can be erased after the end of its parent: {run_id}")
        if error.code == "exports_pending" and not self.episode.parts.exports:
            raise Violation(f"nothing is exported here: {error.message}")
        if error.code not in ("run_not_ended", "parent_not_ended", "run_busy", "exports_pending"):
            raise error

    def _read(self, verbs: Service, run_id: str, dice: Random) -> None:
        """Reads a run, which is whole or not there."""
        before = self.episode.truth.get_run(run_id)
        try:
            match dice.choice(("run", "overview", "events", "nodes")):
                case "run":
                    read = verbs.run(run_id).sequence
                case "overview":
                    read = verbs.overview(run_id).sequence
                case "events":
                    verbs.events(run_id, limit=10_000)  # the next page says that the run is gone
                    return
                case _:
                    verbs.nodes(run_id, limit=1_000)
                    return
        except (Gone, NotFound):
            self.may_be_gone(run_id)
            return
        if before is not None and read < before.sequence:
            raise Violation(f"a run is readable or gone: {read} of {before.sequence} events of {run_id}")

    def _rerun(self, verbs: Service, run_id: str, dice: Random) -> None:
        story = self.episode.journal.runs[run_id]
        if len(self.reruns) >= 3 or not story.ended:
            return
        done = [event.instance for event in story.events if event.type is EventType.NODE_COMPLETED and "@" not in event.instance]
        node = dice.choice(done) if done and dice.random() < 0.8 else None
        try:
            self.reruns.append(Rerun(verbs.rerun(run_id, node=node).run_id, run_id, node))
        except (Gone, NotFound) as error:
            if error.code != "unknown_node":
                self.may_be_gone(run_id)
        except (Conflict, InvalidRequest) as error:
            if error.code not in ("predecessor_never_ran", "inside_container"):
                raise

    def _again(self, verbs: Service, run_id: str, dice: Random) -> None:
        """Repeats the start of a run, with its key."""
        key, started = dice.choice(list(self.episode.started.items()))
        head = self.episode.ground.created.get(started[0]) if started else None
        if head is None or head.created_ms + IDEMPOTENCY_KEY_LIFE_MS < self.episode.world_ms() + LATER_MS:
            return  # the key is free again, or soon will be
        started.append(self.started(lambda: verbs.start(head.workflow_id, json.loads(head.inputs), key=key).run_id))

    # -- afterwards ---------------------------------------------------------------------------------------------------

    def check(self, graph: Callable[[RunHead], Graph]) -> None:
        """Of every run there is everything or nothing, and what should be gone is gone."""
        if not self.lasts_ms:
            return
        ground, now_ms, blobs = self.episode.ground, self.episode.world_ms(), set(self.episode.ground.blob_keys())
        for run_id in ground.names:
            head = self.episode.truth.get_run(run_id)
            left = [*ground.kept(run_id), *sorted(key for key in blobs if key.startswith(f"{run_id}/"))]
            if head is None:
                if left:
                    raise Violation(f"nothing is left of an erased run: {run_id} has {left}")
            elif head.status == ERASED:
                left = [what for what in left if not what.endswith("(empty)")]
                if left or head.updated_ms + ERASED_KEPT_MS + 3 * LATER_MS < now_ms:
                    raise Violation(f"an erased run is removed after a while: {head} has {left}")
            else:
                self._check_kept(head, blobs)
        if self.acknowledged - self.episode.journal.erased:
            raise Violation("an erasure that was acknowledged has happened")
        for again in self.reruns:
            self._check_rerun(again, graph)
        for key in self.episode.started:
            claim = f"start:{self.episode.scenario.document['id']}:{key}"
            if (kept := self.episode.truth.get_claim(claim, now_ms)) is not None:
                raise Violation(f"a claim expires: {claim} is {kept!r}")

    def _check_kept(self, head: RunHead, blobs: set[str]) -> None:
        events = self.episode.journal.runs[head.run_id].events
        if missing := {key for event in events for key, _ in event.data.get("blobs", {}).values()} - blobs:
            raise Violation(f"a run that is not erased is whole: {head.run_id} misses {missing}")
        if head.expires_ms is not None and head.expires_ms + REMOVED_MS < self.episode.world_ms():
            raise Violation(f"a run that has expired is removed: {head}")
        if head.run_id in self.acknowledged:
            raise Violation(f"an erasure that was acknowledged lasts: {head}")

    def _check_rerun(self, again: Rerun, graph: Callable[[RunHead], Graph]) -> None:
        """A rerun repeats only what is downstream of its node."""
        if again.node is None:
            return
        root, journal = graph(self.episode.ground.created[again.origin]).root, self.episode.journal
        repeated, front = set[int](), [root.positions[again.node]]
        while front:
            position = front.pop()
            if position not in repeated:
                repeated.add(position)
                front += root.nodes[position].targets
        origin = {event.instance for event in journal.runs[again.origin].events if event.type is EventType.NODE_COMPLETED}
        for instance, _ in journal.runs[again.run_id].ran:
            if instance in origin and root.positions.get(instance, root.positions[again.node]) not in repeated:
                raise Violation(f"a rerun reuses what has completed: {instance} ran again in {again}")


class _Person:
    """Acts on runs, at first while they are executed, and then for days after their end."""

    def __init__(
        self, erasures: Erasures, stubbornly: Stubbornly, name: str, act: Callable[[Service, str, Random], None]
    ) -> None:
        self._erasures = erasures
        self._stubbornly = stubbornly
        self._name = name
        self._act = act

    def live(self, actor: Actor) -> None:
        episode = self._erasures.episode
        dice = Random(f"{self._name} {episode.number}")
        while episode.ended_ms is None or episode.schedule.now_ms < episode.ended_ms + LASTS_MS - 5 * 24 * HOUR_MS:
            run_id = self._erasures.any_run(dice)
            if run_id is not None:
                self._stubbornly(episode, actor, lambda verbs, run_id=run_id: self._act(verbs, run_id, dice))  # type: ignore[misc]
            if episode.ended_ms is None:
                actor.pause(dice.choice(PAUSES_MS))
            else:  # at the same time as the others, and the sweeper
                actor.pause(LATER_MS - episode.schedule.now_ms % LATER_MS + dice.choice(PAUSES_MS[:4]))


