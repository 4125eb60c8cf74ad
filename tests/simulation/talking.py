"""Worlds in which people talk to runs: they start runs under keys, at once or later, and send messages to runs, to keys, for
later and with a start, while runs begin, wait under further keys, are replaced and cancelled, and end.

`talked` says what must hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from episode import SWEEP_MS, Episode, Parts
from faults import SkewedClock
from people import HOLD_MS, Person, _hold, _sweep, stubbornly
from talked import EVEN, STOP, Asked, Sent, Talked, Told
from virtual_time import Actor
from workflows import Scenario, call

from stepless.adapters.memory.secrets import MemorySecrets
from stepless.errors import Conflict, Gone, NotFound
from stepless.nodes import KINDS
from stepless.runtime.service import Service
from stepless.runtime.verbs.changes.sending import Delivered
from stepless.runtime.world import World

KEYED, FURTHER = "talks", "waits"  # the workflow whose runs have keys, and one whose nodes wait under keys
KEYS: Final = ("a", "b")
NAMES: Final = ("tick", "tick", "tick", "tock", STOP)
WHEN_MS: Final = (0, 5, 400, 3_000, 20_000, 90_000)
KEEP_MS: Final = (5_000, 60_000, 1_500_000)
USUAL: Final = Parts()
LARGE: Final = "x" * 40_000  # more than an inbox takes; a blob
MESSAGES: Final = {"tick": {}, "tock": {"keep": "10m"}, STOP: {}}


@dataclass
class Talk:
    """What is talked about in a world. `shape` is that of the runs with keys."""

    on_conflict: str
    shape: str
    starts: int = 4
    messages: int = 8
    larger: float = 0.1  # the probability that a message is large
    hows: tuple[str, ...] = ("keyed", "kept", "kept", "start", "start", "directed")
    names: tuple[str, ...] = NAMES
    whens: tuple[int, ...] = WHEN_MS
    workflows: tuple[str, ...] = (KEYED, KEYED, FURTHER)


def draw(random: Random) -> Talk:
    return Talk(
        on_conflict=random.choice(["join", "refuse", "replace", "replace"]),
        shape=random.choice(list(DRAWN)),
        starts=random.choice([0, 2, 4, 6]),
        messages=random.choice([3, 8, 12]),
    )


def receive(after: Any = None, name: str = "tick", timeout: str = "40s", **config: Any) -> dict[str, Any]:
    node: dict[str, Any] = {"type": "receive", "with": {"message": name, "timeout": timeout, **config}}
    return {**node, "after": after, "join": {"mode": "any"}} if after is not None else node


def either(node: str) -> list[str]:
    """Both exits of a receiver."""
    return [node, f"{node}.timeout"]


def one(random: Random) -> dict[str, Any]:
    return {"got": receive("go", timeout=random.choice(["3s", "2m"])), "last": call(either("got"), join={"mode": "any"})}


def turns(random: Random) -> dict[str, Any]:
    body = {"nodes": {"got": receive(timeout=random.choice(["5s", "90s"])), "then": call(either("got"), join={"mode": "any"})}}
    return {"l": {"type": "loop", "after": "go", "with": {"times": 3, "body": body}}}


def several(random: Random) -> dict[str, Any]:
    """Receivers of one name that wait at the same time, some of which take only some messages."""
    even = receive("work", timeout="3m", where="<message.n> % 2 == 0")
    return {
        "work": call("go"),
        "first": receive("go", timeout=random.choice(["10s", "3m"])),
        EVEN: even,
        "other": receive(either("first"), timeout="1m"),
        "tock": receive(either(EVEN), name="tock", timeout=random.choice(["2s", "1m"])),
    }


def crowd(random: Random) -> dict[str, Any]:
    body = {"nodes": {"work": call(), "got": receive("work", timeout="2m")}}
    turns = {"branches": 12, "window": 12, "body": body, "on_error": "drop"}
    return {"p": {"type": "parallel", "after": "go", "with": {**turns, "body": {"nodes": {
        **body["nodes"], "late": call("got.timeout"),
    }}}}}  # fmt: skip


def further(random: Random) -> dict[str, Any]:
    """A receiver that waits under a further key, and another one of the same run."""
    return {
        "got": receive("go", timeout=random.choice(["5s", "3m"]), key="<go.further>"),
        "work": call(either("got"), join={"mode": "any"}),
        "again": receive("work", timeout=random.choice(["1m", "15m"]), key="<go.further>"),
        "tock": receive("go", name="tock", timeout="2m"),
    }


def patient(random: Random) -> dict[str, Any]:
    """A receiver that waits so long that no timer of the run leads to a message whose hint was lost."""
    return {"got": receive("go", timeout="30m"), "last": call(either("got"), join={"mode": "any"})}


DRAWN: Final[dict[str, Callable[[Random], dict[str, Any]]]] = {
    "one": one, "turns": turns, "several": several, "crowd": crowd, "further": further,
}  # fmt: skip
SHAPES: Final = {**DRAWN, "patient": patient}


class MessagesEpisode(Episode):
    """An episode of two workflows that get messages, of which one has keys."""

    def __init__(self, number: int, parts: Parts = USUAL, talk: Talk | None = None) -> None:
        self.dice = Random(f"talk {number}")
        self.talk = talk or draw(self.dice)
        self.created_ms: dict[str, float] = {}
        super().__init__(number, parts)
        self.started = {}
        self.talked = Talked(self)
        self.journal.on_events = self.talked.wrote
        named = self.ground.named

        def noted(run_id: str, workflow_id: str) -> None:
            self.created_ms.setdefault(run_id, self.schedule.now_ms)
            named(run_id, workflow_id)

        self.ground.named = noted  # type: ignore[method-assign]
        if hasattr(self.ground, "_watched"):
            self.ground._watched._named = noted

    def _scenario(self) -> Scenario:
        go: dict[str, Any] = {"go": {"type": "manual"}}
        shared = {"messages": MESSAGES, "cancel_on": [STOP]}
        keyed = {
            "id": KEYED, "key": "<input.key>", "on_conflict": self.talk.on_conflict, **shared,
            "nodes": {**go, **SHAPES[self.talk.shape](self.dice)},
        }  # fmt: skip
        waits = {"id": FURTHER, **shared, "nodes": {**go, **further(self.dice)}}
        ms = [1, 5, 300, 2_500]
        script = {name: [{"ok": {"ms": self.dice.choice(ms)}}] for name in ("work", "then", "last", "late")}
        return Scenario(keyed, script, [waits], timed=True)

    def plain_world(self) -> World:
        """A world without faults, for checks."""
        clock = SkewedClock(self.schedule, self.chance.weather, 0)
        store: Any = self.truth
        unused: Any = None
        return World(store, unused, unused, unused, clock, MemorySecrets({}), KINDS, self.plain_versions, {})

    def _all_ended(self) -> bool:
        return self.ground.over(self.names)  # also if no run was ever started

    def _judge(self) -> None:
        super()._judge()
        self.talked.check()

    # -- who acts -----------------------------------------------------------------------------------------------------

    def _people(self) -> Iterable[Person]:
        yield "sweeper", SWEEP_MS, lambda actor: _sweep(self, actor)
        dice, whens = self.dice, [0.0]
        for number in range(self.talk.starts):
            whens.append(whens[-1] + dice.choice(self.talk.whens) if dice.random() < 0.7 else 0.0)
            yield from self._twice(f"starter {number}", whens[-1], self._starter(number))
        for number in range(self.talk.messages):
            at_ms = dice.choice(whens) + dice.choice(self.talk.whens)
            yield from self._twice(f"sender {number}", at_ms, self._sender(number))
        for number in range(dice.choice([0, 1, 2])):
            yield from self._busy(f"canceller {number}", dice.choice(self.talk.whens), self._cancel)
        if self.parts.operators and dice.random() < 0.3:
            yield from self._busy("dan", dice.choice(self.talk.whens), self._operate)

    def _twice(self, name: str, at_ms: float, act: Callable[[Actor], None]) -> Iterable[Person]:
        """Somebody who asks once, or, as some do, twice, at any interval."""
        yield from self._busy(name, at_ms, act)
        if self.dice.random() < 0.25:
            yield from self._busy(f"{name} again", at_ms + self.dice.choice(self.talk.whens), act)

    def _busy(self, name: str, at_ms: float, act: Callable[[Actor], None]) -> Iterable[Person]:
        def live(actor: Actor) -> None:
            act(actor)
            self.busy_people -= 1

        self.busy_people += 1
        yield name, at_ms, live

    def _starter(self, number: int) -> Callable[[Actor], None]:
        dice = Random(f"starter {number} of {self.number}")
        workflow, key = dice.choice(self.talk.workflows), dice.choice(KEYS)
        inputs = {"key": key, "further": dice.choice(KEYS)}
        delay_ms = dice.choice([None, None, None, 2_000, 70_000])
        asked = self.talked.starts.setdefault(f"start {number}", Asked(key))
        begins: list[int] = []  # a repeated request asks for the same instant

        def attempt(verbs: Service) -> None:
            if delay_ms is not None and not begins:
                begins.append(verbs.world.clock.now_ms() + delay_ms)
            try:
                told = verbs.start(workflow, inputs, key=f"start {number}", begins_ms=begins[0] if begins else None)
            except Conflict as error:
                if error.code != "key_taken":
                    raise
                return
            asked.runs.add(told.run_id)
            asked.joined |= told.joined

        return lambda actor: stubbornly(self, actor, attempt)

    def _sender(self, number: int) -> Callable[[Actor], None]:
        dice = Random(f"sender {number} of {self.number}")
        how = dice.choice(self.talk.hows)
        data = {"n": number, **({"text": LARGE} if dice.random() < self.talk.larger else {})}
        workflow = KEYED if how == "start" else dice.choice(self.talk.workflows)
        sent = Sent(f"m{number}", dice.choice(self.talk.names), how, workflow, dice.choice(KEYS), data, dice.choice(KEEP_MS))
        self.talked.sent[sent.id] = sent
        inputs = {"key": sent.target, "further": dice.choice(KEYS)}

        def attempt(verbs: Service) -> None:
            sent.open += 1
            from_ms = self.schedule.now_ms
            try:
                told = self._send(verbs, sent, inputs, dice)
            except (NotFound, Gone) as error:
                sent.refused[error.code] += 1
                if error.code == "no_receiver":
                    sent.nobody.append((from_ms, self.schedule.now_ms))
                told = None
            sent.open -= 1
            if told is not None:
                sent.told.append(Told(from_ms, self.schedule.now_ms, told))

        return lambda actor: stubbornly(self, actor, attempt)

    def _send(self, verbs: Service, sent: Sent, inputs: Any, dice: Random) -> Delivered | None:
        if sent.how == "directed":
            if sent.target in KEYS:
                if not self.names:
                    return None
                sent.target = dice.choice(list(self.names))
            return verbs.send_to_run(sent.target, sent.name, sent.data, id=sent.id)
        kept = sent.keep_ms if sent.how == "kept" else 0
        start = sent.how == "start"
        return verbs.send(
            sent.workflow, sent.name, sent.data, key=sent.target, id=sent.id, keep_ms=kept, start=start,
            inputs=inputs if start else None,
        )  # fmt: skip

    def _cancel(self, actor: Actor) -> None:
        if not self.names:
            return
        run_id = self.dice.choice(list(self.names))

        def attempt(verbs: Service) -> None:
            try:
                verbs.cancel(run_id, by="cem")
            except Conflict as error:
                assert error.code == "run_ended"

        stubbornly(self, actor, attempt)

    def _operate(self, actor: Actor) -> None:
        for _ in range(self.dice.choice([1, 2])):
            if not self.names:
                return
            run_id = self.dice.choice(list(self.names))
            for wanted in (True, False):
                stubbornly(self, actor, lambda verbs, wanted=wanted: _hold(self, verbs, run_id, wanted, "dan"))  # type: ignore[misc]  # noqa: B023
                actor.pause(self.dice.choice(HOLD_MS))
