"""The callers in a cloud world besides runners and people: publishers, senders of webhooks, callers that compete for a claim, and
a clerk who lists runs. They retry as persistently as people."""

from __future__ import annotations

import hmac
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from random import Random
from typing import TYPE_CHECKING, Final

from journal import Violation
from virtual_time import Actor
from workflows import call

from stepless.errors import Conflict, NotFound, StoreUnavailable
from stepless.model.json import JSON
from stepless.ports import RunFilter
from stepless.runtime.service import Service
from stepless.runtime.triggers.webhooks import HookRequest
from stepless.runtime.verbs.publication.publishing import hook_key

if TYPE_CHECKING:
    from episode import Episode

FIRST, SECOND = "/first", "/second"
SECRET: Final = "a shared secret"
CLAIM_MS: Final = 60_000
Caller = tuple[str, float, Callable[[Actor], None]]
Stubbornly = Callable[["Episode", Actor, Callable[[Service], None]], None]


def hooked(path: str, workflow: str = "hooked") -> dict[str, JSON]:
    """A workflow that listens on a path."""
    entry: dict[str, JSON] = {"path": path, "auth": {"scheme": "github", "secret": "${HOOK}"}}
    return {"id": workflow, "env": ["HOOK"], "nodes": {"in": {"type": "webhook", "with": entry}, "answered": call("in")}}


@dataclass
class Reported:
    """What the engine reported to callers, for the checks. Instants are the world's true time. A path is known to listen
    from `since_ms` to `until_ms`."""

    accepted: defaultdict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))  # by workflow, delivery
    since_ms: dict[str, float] = field(default_factory=dict)
    until_ms: dict[str, float] = field(default_factory=dict)
    claimed: dict[bytes, int] = field(default_factory=dict)  # every offered value, with the instant by its caller's clock
    won: list[bytes] = field(default_factory=list)

    def check(self, episode: Episode) -> None:
        for (workflow, delivery), runs in self.accepted.items():
            if len(runs) > 1:
                raise Violation(f"a delivery is one run: {delivery} is {sorted(runs)} of {workflow}")
        store, now_ms = episode.truth, episode.world_ms()
        newest = store.get_version("hooked")
        if newest is None:
            return
        path = FIRST if FIRST.encode() in newest.document else SECOND
        if store.get_claim(hook_key(path), now_ms) != b"hooked":
            raise Violation(f"a published webhook listens: {path} of the newest version is not claimed")
        other = store.get_claim(hook_key(SECOND if path == FIRST else FIRST), now_ms)
        if other == b"hooked":
            raise Violation("a path that a version has dropped is free: it still belongs to the workflow")


def callers(episode: Episode, stubbornly: Stubbornly) -> Iterator[Caller]:
    dice = Random(f"callers {episode.number}")
    if dice.random() < 0.4:
        yield "pia", dice.choice([0, 3_000]), _Publishing(episode, stubbornly, dice).live
    if dice.random() < 0.3:
        for name in ("kim", "lou"):
            yield name, dice.choice([0, 10, 1_000]), _Claiming(episode, stubbornly, name).live
    if dice.random() < 0.5:
        yield "clerk", dice.choice([100, 4_000]), _Listing(episode, stubbornly).live


class _Publishing:
    """Publishes a webhook, starts senders, and publishes it with another path. In some worlds a second publisher rolls it back
    concurrently; in the others another workflow claims the dropped path."""

    def __init__(self, episode: Episode, stubbornly: Stubbornly, dice: Random) -> None:
        self._episode = episode
        self._stubbornly = stubbornly
        self._dice = dice
        self._contested = dice.random() < 0.5

    def live(self, actor: Actor) -> None:
        reported, schedule = self._episode.reported, self._episode.schedule
        self._publish(actor, FIRST)
        reported.since_ms[FIRST] = schedule.now_ms
        self._spawn("sam", FIRST, 3)
        actor.pause(self._dice.choice([0, 500, 20_000]))
        reported.until_ms[FIRST] = schedule.now_ms
        if self._contested:
            self._also("pat", lambda other: self._publish(other, FIRST))
        self._publish(actor, SECOND)
        if not self._contested:
            reported.since_ms[SECOND] = schedule.now_ms
            self._spawn("sue", SECOND, 2)
            self._stubbornly(self._episode, actor, self._take_over)
        self._episode.busy_people -= 1

    def _publish(self, actor: Actor, path: str) -> None:
        self._stubbornly(self._episode, actor, lambda verbs: _published(verbs, hooked(path)))

    def _take_over(self, verbs: Service) -> None:
        """Another workflow gets the dropped path, after the publication that dropped it was acknowledged."""
        try:
            _published(verbs, hooked(FIRST, "rival"))
        except Conflict as error:
            raise Violation(f"a path that a version has dropped is free: {error.message}") from error

    def _spawn(self, name: str, path: str, times: int) -> None:
        for number in range(times):
            sender = _Sending(self._episode, self._stubbornly, path, f"{name}-{number // 2}")  # some deliveries are sent twice
            self._also(f"{name} {number}", sender.live)

    def _also(self, name: str, act: Callable[[Actor], None]) -> None:
        def live(actor: Actor) -> None:
            act(actor)
            self._episode.busy_people -= 1

        self._episode.busy_people += 1
        self._episode.schedule.spawn(name, live, self._episode.schedule.now_ms + self._dice.choice([0, 10, 900]))


def _published(verbs: Service, document: dict[str, JSON]) -> None:
    verbs.publish(document)


class _Sending:
    """Sends one delivery until it is accepted, or until its path may no longer listen."""

    def __init__(self, episode: Episode, stubbornly: Stubbornly, path: str, delivery: str) -> None:
        self._episode = episode
        self._stubbornly = stubbornly
        self._path = path
        self._delivery = delivery

    def live(self, actor: Actor) -> None:
        self._stubbornly(self._episode, actor, self._send)

    def _send(self, verbs: Service) -> None:
        reported, schedule, body = self._episode.reported, self._episode.schedule, f'"{self._delivery}"'.encode()
        signature = f"sha256={hmac.new(SECRET.encode(), body, sha256).hexdigest()}"
        headers = {"x-hub-signature-256": signature, "x-github-delivery": self._delivery}
        try:
            started = verbs.trigger(HookRequest(self._path, "POST", headers, {}, body)).started
            reported.accepted[started.workflow_id, self._delivery].add(started.run_id)
        except StoreUnavailable as error:
            head = self._episode.truth.get_run(str(error.facts.get("run_id")))
            if head is not None:
                reported.accepted[head.workflow_id, self._delivery].add(head.run_id)
            raise
        except NotFound as error:
            if schedule.now_ms < reported.until_ms.get(self._path, 1e18):
                raise Violation(f"a published webhook listens: {error.message}") from error


class _Claiming:
    """Offers values for one key, some while another value holds it and some long after it has expired."""

    def __init__(self, episode: Episode, stubbornly: Stubbornly, name: str) -> None:
        self._episode = episode
        self._stubbornly = stubbornly
        self._name = name

    def live(self, actor: Actor) -> None:
        dice = Random(f"{self._name} {self._episode.number}")
        for number in range(4):
            self._stubbornly(self._episode, actor, lambda verbs, number=number: self._claim(verbs, number))  # type: ignore[misc]
            actor.pause(dice.choice([500, 20_000, 61_000, 4_000_000]))
        self._episode.busy_people -= 1

    def _claim(self, verbs: Service, number: int) -> None:
        reported, now_ms = self._episode.reported, verbs.world.clock.now_ms()
        mine = f"{self._name} {number} {now_ms}".encode()
        reported.claimed[mine] = now_ms
        holders = [value for value in reported.won if reported.claimed[value] + CLAIM_MS > now_ms]
        stored = verbs.world.store.claim("contested", mine, now_ms, now_ms + CLAIM_MS)
        if not self._episode.journal.exact:
            return
        if reported.claimed[stored] + CLAIM_MS <= now_ms:
            raise Violation(f"a claim is kept until it expires: {stored!r} is stored at {now_ms}")
        if stored == mine:
            if holders:
                raise Violation(f"a claim is kept until it expires: {mine!r} won while {holders} held it")
            reported.won.append(mine)


class _Listing:
    """Lists runs, and checks that each matches the filter."""

    def __init__(self, episode: Episode, stubbornly: Stubbornly) -> None:
        self._episode = episode
        self._stubbornly = stubbornly

    def live(self, actor: Actor) -> None:
        dice = Random(f"clerk {self._episode.number}")
        for _ in range(6):
            wanted = RunFilter(status=dice.choice(["running", "paused", "completed"]), due=dice.random() < 0.3)
            self._stubbornly(self._episode, actor, lambda verbs, wanted=wanted: self._list(verbs, wanted))  # type: ignore[misc]
            actor.pause(dice.choice([200, 5_000, 30_000]))
        self._episode.busy_people -= 1

    def _list(self, verbs: Service, wanted: RunFilter) -> None:
        for head in verbs.search(wanted).items:
            if head.status != wanted.status or (wanted.due and head.due_ms is None):
                raise Violation(f"a listing contains only matching runs: {head} is listed as {wanted}")
