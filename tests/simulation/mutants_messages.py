"""Planted bugs of keys and messages: each loses a message, doubles one, gives it to the wrong node, or lets two runs of a key
work at once. A bug is a function or a class that takes the place of the real one while a world lasts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from episode import Parts
from faults import draw_weather
from talked import STOP
from talking import FURTHER, KEYED, Talk
from weathers import deadly, frozen, lossy, slow

import stepless.core.decide as decide
from stepless.adapters.memory.store import MemoryStore
from stepless.core import mailbox as mailboxes
from stepless.core.deciding.messages import take_message
from stepless.core.decision import Decision
from stepless.core.events import Event, EventType
from stepless.core.facts import Fact, Received
from stepless.core.mailbox import digests_of
from stepless.core.state import State
from stepless.core.stored import snapshot as snapshots
from stepless.ports import Lease, RunHead, Signal
from stepless.runtime import inbox, runlog
from stepless.runtime.messages import kept, keys, starts
from stepless.runtime.messages.keys import RunKey, is_live, number_in
from stepless.runtime.messages.routes import Route
from stepless.runtime.messages.starts import KeyedStart, NewRun
from stepless.runtime.service import Service
from stepless.runtime.session import loop, runner
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.invocation_end import InvocationEnd
from stepless.runtime.session.pauses import receiving
from stepless.runtime.session.pauses.receiving import Receiving
from stepless.runtime.session.pauses.signals import Signals
from stepless.runtime.session.runner import Runner, Session
from stepless.runtime.verbs.changes import sending
from stepless.runtime.verbs.changes.sending import Delivered
from stepless.runtime.verbs.starts import starting
from stepless.runtime.world import World


@dataclass(frozen=True)
class Bug:
    """`instead` names the parts that are replaced: (module or class, name) → the bug. `talk` is what people talk about, where
    few of the drawn worlds would find it."""

    parts: Parts = field(default_factory=Parts)
    instead: Mapping[tuple[Any, str], Any] = field(default_factory=dict)
    talk: Talk | None = None

    @contextmanager
    def planted(self) -> Iterator[Parts]:
        real = {(home, name): getattr(home, name) for home, name in self.instead}
        try:
            for (home, name), bug in self.instead.items():
                setattr(home, name, bug)
            yield self.parts
        finally:
            for (home, name), part in real.items():
                setattr(home, name, part)


def _runner(session: type[Session]) -> type[Runner]:
    class WithSession(Runner):
        def _open(self, head: RunHead, lease: Lease, budget: Budget) -> Session:
            return session(self._world, head, lease, budget, self.lingering, self.exclusivity)

    return WithSession


# -- receivers ----------------------------------------------------------------------------------------------------------


class LooksBeforeTheRoute(Receiving):
    """The kept messages are read before the route is put."""

    def committed(self, events: Iterable[Event]) -> bool:
        for event in events:
            if event.type is EventType.NODE_WAITING and (key := event.data.get("details", {}).get("key")) is not None:
                super()._take_kept(key)
        return super().committed(events)

    def _take_kept(self, key: str) -> None:
        return


class ForgetsRoutesOfTheDead(Receiving):
    """The process that finds the lease of a dead one does not put the routes again."""

    def open(self, state: State, *, repeats: bool) -> None:
        super().open(state, repeats=False)


class TakesNothingKept(Receiving):
    """A run that begins does not look for what was kept for its key."""

    def begin(self) -> None:
        return


class LooksOnce(Receiving):
    """A run that has ended does not look into its inbox once more."""

    def finish(self) -> None:
        return


class LooksBeforeTheHeader(Session):
    """The last look comes before the header says that the run has ended."""

    async def _end(self) -> InvocationEnd:
        await self._leaving.announce_end(self._state)
        if self._receiving is not None and self._receiving.has_key:
            await self._with_retries(self._receiving.finish)
            await self._with_retries(self._renew)
        return await self._leaving.end(self._state, released=self._released)


class ClearsTheDueTimeTooEarly(Session):
    """The lease is released before the last look, and nobody repeats the look if the process dies."""

    async def _end(self) -> InvocationEnd:
        await self._leaving.announce_end(self._state)
        end = await self._leaving.end(self._state, released=self._released)
        if self._receiving is not None and self._receiving.has_key:
            await self._with_retries(self._receiving.finish)
        return end


class MarksBeforeTheCommit(Signals):
    """A message is marked as taken when it is read."""

    def look(self, state: State) -> list[Fact]:
        facts = super().look(state)
        read = [signal for signal in self.unmarked if signal.kind == inbox.MESSAGE]
        if read:
            self._world.store.take_signals(self._run_id, read)
        return facts


class MarksWhatHasNoEvent(Signals):
    """Messages that came after the end of the run are marked as taken, and are nowhere then."""

    async def mark_taken(self, state: State, *given: Any) -> None:
        known = state.mailbox.known
        state.mailbox.known = known + digests_of(signal.identity for signal in self.unmarked)
        await super().mark_taken(state, *given)
        state.mailbox.known = known


def believes_a_route(world: World, run_key: RunKey, run_id: str, found: Iterable[Route]) -> bool:
    """A route is believed without a look at the log of its run."""
    return True


# -- senders ------------------------------------------------------------------------------------------------------------


def keeps_after_the_routes(service: Service, workflow_id: str, name: str, data: Any, **options: Any) -> Delivered:
    """The routes are read before the message is kept."""
    world = service.world
    if not options.get("keep_ms"):
        return sending.send(world, workflow_id, name, data, **options)
    run_key, now_ms = RunKey(workflow_id, keys.checked_key(options["key"])), world.clock.now_ms()
    signal = inbox.message_signal(options["id"], name, data, now_ms, key=run_key.key)
    found = sending.receivers(world, run_key)
    _, until_ms = kept.keep(world, run_key, signal, options["keep_ms"])
    return Delivered(options["id"], tuple(run_id for run_id in found if sending.put(world, run_id, signal)), until_ms)


def gives_without_a_look(world: World, run_key: RunKey, signal: Signal, **_: Any) -> Delivered:
    """A sender does not look at the header after it put a message that asks for a start."""
    return _give(world, run_key, signal, looks=False)


def gives_to_the_last(world: World, run_key: RunKey, signal: Signal, **_: Any) -> Delivered:
    """The message has no claim: each party begins with the last run of the key."""
    return _give(world, run_key, signal, claims=False)


def gives_on_what_was_logged(world: World, run_key: RunKey, signal: Signal, **_: Any) -> Delivered:
    """A party goes past a run that has ended without a look at its log."""
    return _give(world, run_key, signal, reads=False)


def _give(
    world: World, run_key: RunKey, signal: Signal, *, looks: bool = True, claims: bool = True, reads: bool = True
) -> Delivered:
    """`sending.deliver_to_one`, without one of its rules."""
    body, now_ms = inbox.body_of(signal), world.clock.now_ms()
    inputs, version = body["start"].get("inputs", body["data"]), sending.latest(world, run_key.workflow_id)
    graph = world.versions.graph(run_key.workflow_id, version.hash)
    new = NewRun(version, graph, sending.encoded_inputs(inputs), {"trigger": {"kind": "message", "id": signal.identity}})
    number, claim = int(sending._first_number(world, run_key)), f"message:{run_key.digest}:{signal.identity}"
    if claims:
        number = number_in(claim, world.store.claim(claim, str(number).encode(), now_ms, now_ms + 10**8))
    while True:
        run_id = run_key.run_id(number)
        head = world.store.get_run(run_id)
        if head is not None and not is_live(head):
            if reads and sending.logged(world, head, signal.identity):
                return Delivered(signal.identity, (run_id,))
            number += 1
            continue
        created = head is None and sending._create(world, run_key, number, new, inputs, accepted=False)
        if not sending.put(world, run_id, signal):
            continue
        head = world.store.get_run(run_id) if looks else None
        if head is None or is_live(head):
            return Delivered(signal.identity, (run_id,), started=run_id if created else None)


def puts_without_a_touch(world: World, run_id: str, signal: Signal) -> bool:
    """The run is not made due: only the hint leads to the message."""
    head = world.store.get_run(run_id)
    if head is None or not is_live(head):
        return False
    world.store.put_signal(run_id, sending.in_inbox(world, run_id, signal))
    world.queue.send(sending.spending.hint(world, run_id, "signal"))
    return True


# -- keys ---------------------------------------------------------------------------------------------------------------


class RaisesWithoutAComparison(MemoryStore):
    """The claim of a key is overwritten, whatever it holds."""

    def replace_claim(self, key: str, former: bytes | None, value: bytes, now_ms: int, expires_ms: int | None = None) -> bool:
        if key.startswith("key:"):
            former = self.get_claim(key, now_ms)
        return super().replace_claim(key, former, value, now_ms, expires_ms)


def begins_at_once(world: World, head: RunHead, now_ms: int) -> bool:
    """A run does not wait for the end of the run that it replaces."""
    return False


_waits = receiving.waits_to_begin


def begins_when_cancelled(world: World, head: RunHead, now_ms: int) -> bool:
    """A run that is to be cancelled begins before the run that it replaces has ended."""
    return world.store.get_signal(head.run_id, inbox.CANCEL, "run") is None and _waits(world, head, now_ms)


def repeats_without_the_former(world: World, run_key: RunKey, new: NewRun, run_id: str) -> KeyedStart:
    """A repeated start creates the run of one that died, without a look at the run before."""
    head = world.store.get_run(run_id)
    return KeyedStart(head, False) if head is not None else starts.create(world, run_key, run_key.number(world), new)


def believes_a_record(world: World, run_key: RunKey, new: NewRun, run_id: str, rule: Any) -> KeyedStart:
    """A repeated start takes the run that it had reserved for its own, although another start has created it."""
    return starts.repeated(world, run_key, new, run_id)


def sees_the_last_number_only(world: World, run_key: RunKey, number: int) -> tuple[int, RunHead | None]:
    """A number without a run hides the live run before it."""
    return number, world.store.get_run(run_key.run_id(number)) if number else None


def keeps_for_long(world: World, run_key: RunKey, signal: Signal, keeps_ms: int) -> tuple[Signal, int]:
    """A repeated message is said to be kept for longer than it is."""
    return _keep(world, run_key, signal, keeps_ms)[0], world.clock.now_ms() + keeps_ms


_keep = kept.keep


# -- the core -----------------------------------------------------------------------------------------------------------


def forgets_the_mailbox(data: bytes, graph: Any, run_id: str) -> State:
    """The mailbox is not in the snapshot."""
    state = _decode(data, graph, run_id)
    state.mailbox = mailboxes.Mailbox()
    return state


_decode = snapshots.decode_state


def sorts_backwards(state: State) -> None:
    """After a snapshot, the node that began to wait last gets a message first."""
    for name, waiting in state.receivers.items():
        state.receivers[name] = dict(sorted(waiting.items(), key=lambda one: -one[1].last_sequence))


def takes_a_name_once(decision: Decision, fact: Received) -> None:
    """A message with the name of an unread one is taken for the same."""
    if fact.name in decision.state.mailbox.unread:
        decision.state.mailbox.known += digests_of([fact.id])
    else:
        take_message(decision, fact)


def _bug(home: Any, name: str, instead: Any, weather: Any = draw_weather, talk: Talk | None = None) -> Bug:
    return Bug(Parts(weather=weather), {(home, name): instead}, talk)


def _with_snapshots(home: Any, name: str, instead: Any, shape: str) -> Bug:
    """A bug that shows after a snapshot: every session leaves one."""
    talk = Talk("join", shape, starts=3, messages=12, larger=0, hows=("keyed", "directed"), workflows=(KEYED,))
    return Bug(Parts(weather=lossy), {(home, name): instead, (runlog, "SNAPSHOT_TAIL_BYTES"): 100}, talk)


AT_ONCE = (0, 5, 5, 400)
PATIENT = Talk("join", "patient", starts=2, hows=("keyed", "directed"), names=("tick",))
WAITS = Talk("join", "further", starts=6, messages=12, hows=("kept",), names=("tick",), whens=AT_ONCE, workflows=(FURTHER,))
KEEPS = Talk("join", "one", starts=6, messages=24, hows=("kept",), names=("tick",), workflows=(KEYED,))
REROUTED = Talk(
    "join", "further", starts=6, messages=12, hows=("keyed",), names=("tick",), whens=(5, 3_000, 450_000), workflows=(FURTHER,)
)
ENDS = Talk("join", "one", starts=1, messages=12, hows=("start",), names=("tick", STOP), whens=AT_ONCE)
REPLACED = Talk("replace", "one", starts=8, messages=2, hows=("start",), names=(STOP,), workflows=(KEYED,))


MESSAGE_MUTANTS: Mapping[str, Bug] = {
    "kept before route": _bug(receiving, "Receiving", LooksBeforeTheRoute, slow, WAITS),
    "routes before kept": _bug(Service, "send", keeps_after_the_routes, slow),
    "the routes of the dead are forgotten": _bug(receiving, "Receiving", ForgetsRoutesOfTheDead, deadly, WAITS),
    "a route is believed": _bug(sending, "_waits", believes_a_route, deadly, REROUTED),
    "a run that begins takes nothing that was kept": _bug(receiving, "Receiving", TakesNothingKept),
    "a repeated message is said to be kept for longer": _bug(kept, "keep", keeps_for_long, frozen, KEEPS),
    "no second look at the end": _bug(receiving, "Receiving", LooksOnce),
    "look before the header": Bug(
        Parts(runner=_runner(LooksBeforeTheHeader), weather=lossy), {(sending, "put"): puts_without_a_touch}, ENDS
    ),  # alone it loses nothing: the touch of the run leads to one more session
    "due cleared too early": Bug(Parts(runner=_runner(ClearsTheDueTimeTooEarly), weather=deadly), talk=ENDS),
    "no look after the put": _bug(sending, "deliver_to_one", gives_without_a_look, slow, ENDS),
    "no claim of the message": _bug(sending, "deliver_to_one", gives_to_the_last),
    "no look at the log of a run that ended": _bug(sending, "deliver_to_one", gives_on_what_was_logged),
    "no touch of the run": _bug(sending, "put", puts_without_a_touch, lossy, PATIENT),
    "mark before commit": _bug(loop, "Signals", MarksBeforeTheCommit),
    "mark without an event": _bug(loop, "Signals", MarksWhatHasNoEvent),
    "dedupe by name": _bug(decide, "_TAKE", {**decide._TAKE, Received: takes_a_name_once}),
    "id window too small": _bug(mailboxes, "MAX_KNOWN_MESSAGES", 1),
    "mailbox not in the snapshot": _with_snapshots(runlog, "decode_state", forgets_the_mailbox, "turns"),
    "receivers in the wrong order after a snapshot": _with_snapshots(snapshots, "_sort_receivers", sorts_backwards, "crowd"),
    "claim not compared": Bug(Parts(store=RaisesWithoutAComparison, weather=frozen), talk=REPLACED),
    "a number without a run hides the live run": Bug(instead={
        (keys, "last_run"): sees_the_last_number_only, (starts, "last_run"): sees_the_last_number_only,
        (sending, "last_run"): sees_the_last_number_only,
    }, talk=REPLACED),
    "a repeated start forgets the former run": _bug(starts, "repeated", repeats_without_the_former, deadly, REPLACED),
    "a repeated start takes the run of another": Bug(Parts(weather=deadly), {
        (starts, "former_start"): believes_a_record, (starting, "former_start"): believes_a_record,
    }, talk=REPLACED),
    "a successor begins before the former has ended": _bug(runner, "waits_to_begin", begins_at_once),
    "a cancelled successor begins before the former has ended": _bug(
        runner, "waits_to_begin", begins_when_cancelled, deadly, REPLACED
    ),
}  # fmt: skip

# What a bug needs beside itself, without the bug: then everything must hold.
CONTROLS: Mapping[str, Bug] = {
    "a snapshot after each session, turns": _with_snapshots(runlog, "decode_state", snapshots.decode_state, "turns"),
    "a snapshot after each session, crowd": _with_snapshots(runlog, "decode_state", snapshots.decode_state, "crowd"),
    "no touch of the run, where only starts are asked for": Bug(
        Parts(weather=lossy), {(sending, "put"): puts_without_a_touch}, ENDS
    ),
    "many waits under one key": Bug(Parts(weather=slow), talk=WAITS),
    "waits under one key, one after the other": Bug(Parts(weather=frozen), talk=REROUTED),
    "many runs that replace each other": Bug(Parts(weather=frozen), talk=REPLACED),
}
