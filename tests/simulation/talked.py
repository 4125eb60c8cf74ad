"""What people were told about messages and keys in a world, and the check that all of it holds when the world has ended
(docs/understand/durability.md#keys-and-messages).

A message that was answered as delivered is in the log of that run, or its run ended and has it unread. One that asks for a start
is in the log of exactly one run of its key. A kept one reaches every run that answers to its key within the time. No log has a
message twice, no two runs of a key are at work at once, and nodes get the messages in the order that the rules say.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from faults import EPOCH_MS
from journal import SOON_MS, RunStory, Violation

from stepless.core.events import NODE_ENDS, RUN_ENDS, Event, EventType
from stepless.core.fold import fold
from stepless.core.state import MESSAGE, State
from stepless.runtime.header_notes import notes_in
from stepless.runtime.messages.keys import AFTER, BEGINS, RunKey, run_key_of
from stepless.runtime.verbs.changes.sending import Delivered

if TYPE_CHECKING:
    from talking import MessagesEpisode

EVEN: Final = "even"  # the nodes of this name take messages with an even number only
STOP: Final = "stop"  # the message that cancels a run
NOBODY: Final = ("no_receiver", "run_ended", "unknown_run")  # refusals of a message that no run has got


@dataclass(frozen=True)
class Told:
    """An answer that a sender got. It asked at `from_ms` and was told at `at_ms`, in the world's time."""

    from_ms: float
    at_ms: float
    delivered: Delivered


@dataclass
class Sent:
    """A message, and what its senders were told. `how`: keyed, kept, start or directed. `broken`: an attempt ended without an
    answer, so that it may have had an effect."""

    id: str
    name: str
    how: str
    workflow: str
    target: str  # a key; of a directed message, a run
    data: Any
    keep_ms: int = 0
    told: list[Told] = field(default_factory=list)
    nobody: list[tuple[float, float]] = field(default_factory=list)  # from and to: when it asked, and was told `no_receiver`
    refused: Counter[str] = field(default_factory=Counter)
    open: int = 0

    @property
    def is_even(self) -> bool:
        return int(self.data["n"]) % 2 == 0


@dataclass
class Asked:
    """A start under a key: what was asked, and the runs that its callers were told. `joined`: the run was there before."""

    key: str
    runs: set[str] = field(default_factory=set)
    joined: bool = False


class Talked:
    """The records of one world."""

    def __init__(self, episode: MessagesEpisode) -> None:
        self.episode = episode
        self.sent: dict[str, Sent] = {}
        self.starts: dict[str, Asked] = {}
        self.at_work: dict[tuple[str, str], str] = {}  # by workflow and key: the run that has begun and has not ended

    # -- while it happens -------------------------------------------------------------------------------------------

    def wrote(self, run_id: str, events: Sequence[Event]) -> None:
        """Checks at each commit that one run of a key is at work at most."""
        found = run_key_of(self.episode.ground.created[run_id])
        if found is None:
            return
        place = (found[0].workflow_id, found[0].key)
        other = self.at_work.setdefault(place, run_id)
        if other != run_id:
            self.episode.journal.refuse(f"one run of a key is at work: {run_id} writes, and {other} has not ended")
        if any(event.type in RUN_ENDS for event in events):
            del self.at_work[place]

    # -- afterwards -------------------------------------------------------------------------------------------------

    def check(self) -> None:
        for run_id, story in self._runs():
            Reader(self, run_id, story).check()
            self._check_begin(run_id, story)
        for sent in self.sent.values():
            self._check_sent(sent)
        for run_key, numbers in self._numbers().items():
            last = run_key.number(self._world)
            if sorted(numbers) != list(range(1, max(numbers) + 1)) or last < max(numbers):
                raise Violation(f"the runs of a key are numbered: {run_key.key} has {sorted(numbers)}, and the last is {last}")
        told = Counter(run for asked in self.starts.values() if not asked.joined for run in asked.runs)
        for name, asked in self.starts.items():
            if len(asked.runs) > 1:
                raise Violation(f"one start is one run: {name} is {asked.runs}")
            if asked.joined and self.episode.talk.on_conflict != "join":
                raise Violation(f"a start joins another run only where the workflow says so: {name} is {asked.runs}")
            if not asked.joined and any(told[run] > 1 for run in asked.runs):
                raise Violation(f"a start that joins nothing has its own run: {name} is {asked.runs}, and so is another")

    def _runs(self) -> Iterator[tuple[str, RunStory]]:
        return iter(list(self.episode.journal.runs.items()))

    @property
    def _world(self) -> Any:
        return self.episode.plain_world()

    def _numbers(self) -> dict[RunKey, list[int]]:
        numbers: defaultdict[RunKey, list[int]] = defaultdict(list)
        for head in self.episode.ground.created.values():
            if (found := run_key_of(head)) is not None:
                numbers[found[0]].append(found[1])
        return numbers

    def _check_begin(self, run_id: str, story: RunStory) -> None:
        head = self.episode.ground.created[run_id]
        begins_ms = notes_in(head).get(BEGINS)
        if not isinstance(begins_ms, int) or story.status == "cancelled":
            return
        first = story.events[0]
        if self.episode.journal.exact and min(first.at_ms, story.committed_ms[1] + EPOCH_MS) < begins_ms:
            raise Violation(f"a run begins at its instant: {run_id} at {first.at_ms}, asked for {begins_ms}")
        former = notes_in(head).get(AFTER)
        if isinstance(former, str) and self._end_ms(former) > story.committed_ms[1]:
            raise Violation(f"a run begins when the one that it replaces has ended: {run_id} before {former}")

    def _check_sent(self, sent: Sent) -> None:
        if sent.how == "start" and sent.told:
            runs = [run_id for run_id, _ in self._runs() if self._logged_ms(run_id, sent.id) is not None]
            if len(runs) != 1:
                raise Violation(f"a message that starts is in one log: {sent} is in those of {runs}")
        for told in sent.told:
            for run_id in told.delivered.delivered:
                if not self._has(run_id, sent.id) and sent.how != "start":
                    raise Violation(f"a delivered message is not lost: {sent.id} ({sent.how}) is not in {run_id}, {told}")
                self._check_prompt(sent, run_id, told)
        if sent.how == "kept" and sent.told:
            self._check_kept(sent)
        if sent.how in ("keyed", "kept") and not self.episode.chance.weather.missing:  # a run that cannot be read gets everything
            self._check_receivers(sent)
        if not sent.told and not sent.open and set(sent.refused) <= set(NOBODY):
            having = [run_id for run_id, _ in self._runs() if self._has(run_id, sent.id)]
            if having:
                raise Violation(f"a refused message is nowhere: {sent} is in {having}")

    def _check_receivers(self, sent: Sent) -> None:
        """A message goes to the run of its key and to those that wait under it while it is sent, and to no other; and a sender is
        told that there is nobody only if nobody has waited for a while."""
        run_key = RunKey(sent.workflow, sent.target)
        for told in sent.told:
            for run_id in told.delivered.delivered:
                own = run_key_of(self.episode.ground.created[run_id])
                waits = self._waits(run_id, self.episode.journal.runs[run_id], run_key)
                answers = own is not None and own[0] == run_key
                if not answers and not any(began <= told.at_ms and ended >= told.from_ms for began, ended in waits):
                    raise Violation(f"a message goes to who answers to its key: {sent.id} to {run_id} does not, {told}")
        for from_ms, at_ms in sent.nobody:
            for run_id, story in self._runs():
                for began_ms, ended_ms in self._waits(run_id, story, run_key):
                    if began_ms + SOON_MS < from_ms and at_ms < ended_ms:
                        raise Violation(f"who waits under a key is found: {sent.id} to {run_id}, {from_ms} to {at_ms}")

    def _check_prompt(self, sent: Sent, run_id: str, told: Told) -> None:
        story = self.episode.journal.runs[run_id]
        logged_ms, ended_ms = self._logged_ms(run_id, sent.id), self._end_ms(run_id)
        late_ms = max(told.at_ms, story.committed_ms[1]) + SOON_MS
        if self.episode.chance.weather.missing:
            return  # a run rests while an object is missing, for up to an hour
        if (logged_ms if logged_ms is not None else ended_ms) > late_ms:
            raise Violation(f"a message is read soon: {sent.id} by {run_id} at {logged_ms}, end {ended_ms}, {told}")

    def _check_kept(self, sent: Sent) -> None:
        first, slack_ms = sent.told[0], 1_000 + 2 * self.episode.chance.weather.skew_ms + self.episode.chance.weather.back_ms
        until_ms = min(told.delivered.kept_until_ms or 0 for told in sent.told) - EPOCH_MS - slack_ms
        run_key = RunKey(sent.workflow, sent.target)
        for run_id, story in self._runs():
            if self._has(run_id, sent.id):
                continue
            own = run_key_of(self.episode.ground.created[run_id])
            if own is not None and own[0] == run_key and self._answers(own, first.at_ms, until_ms):
                raise Violation(f"a kept message reaches every run of its key: {sent} is not in {run_id}")
            for began_ms, ended_ms in self._waits(run_id, story, run_key):
                if ended_ms > max(first.at_ms, began_ms) and began_ms + SOON_MS < until_ms:
                    raise Violation(f"a kept message reaches who waits under its key: {sent} is not in {run_id}")

    def _answers(self, own: tuple[RunKey, int], told_ms: float, until_ms: float) -> bool:
        """Whether a run answered to its key at `told_ms`, or began to between then and `until_ms`."""
        run_key, number = own
        run_id = run_key.run_id(number)
        story, created_ms = self.episode.journal.runs[run_id], self.episode.created_ms
        if created_ms[run_id] > told_ms:
            return story.committed_ms[1] < until_ms
        later = [created_ms[one] for one in created_ms if (found := run_key_of(self.episode.ground.created[one])) is not None
                 and found[0] == run_key and found[1] > number]  # fmt: skip
        return self._end_ms(run_id) > told_ms and all(at_ms > told_ms for at_ms in later) and told_ms < until_ms

    def _waits(self, run_id: str, story: RunStory, run_key: RunKey) -> Iterator[tuple[float, float]]:
        """When nodes of a run waited under a further key: from and to."""
        if self.episode.ground.created[run_id].workflow_id != run_key.workflow_id:
            return
        began: dict[str, float] = {}
        for event in story.events:
            at_ms = story.committed_ms[event.sequence]
            if event.type is EventType.NODE_WAITING and event.data.get("details", {}).get("key") == run_key.key:
                began[event.instance] = at_ms
            elif event.instance in began and (event.type in NODE_ENDS or event.type is EventType.NODE_RESUMED):
                from_ms = began.pop(event.instance)
                yield from_ms, at_ms

    def _end_ms(self, run_id: str) -> float:
        story = self.episode.journal.runs[run_id]
        return story.committed_ms[story.events[-1].sequence]

    def _logged_ms(self, run_id: str, id: str) -> float | None:
        story = self.episode.journal.runs.get(run_id)
        for event in story.events if story is not None else ():
            if event.type is EventType.MESSAGE_RECEIVED and event.data["id"] == id:
                return story.committed_ms[event.sequence] if story is not None else None
        return None

    def _has(self, run_id: str, id: str) -> bool:
        """Whether a message is in the log of a run, or unread in its inbox."""
        waiting = self.episode.truth.read_inbox(run_id)
        return self._logged_ms(run_id, id) is not None or any(signal.identity == id for signal in waiting)


class Reader:
    """Reads one log: which node gets which message follows from the order of the messages and of the waits."""

    def __init__(self, talked: Talked, run_id: str, story: RunStory) -> None:
        self._sent, self._run_id, self._events = talked.sent, run_id, story.events
        head = talked.episode.ground.created[run_id]
        graph = talked.episode.plain_versions.graph(head.workflow_id, head.version)
        self._state, self._cancels, self._status = State(graph, run_id), graph.cancel_on, story.status
        self._seen: set[str] = set()
        self._unread: defaultdict[str, list[str]] = defaultdict(list)  # by name, in order
        self._waiting: defaultdict[str, list[str]] = defaultdict(list)  # instances, by the name that they wait for
        self._next: tuple[str, str] | None = None  # the instance that gets a message now, and the message

    def check(self) -> None:
        for event in self._events:
            if event.type is EventType.NODE_WAITING and event.data["reason"] == MESSAGE:
                self._waits(event.instance, event.data["details"]["message"])
            elif event.type is EventType.MESSAGE_RECEIVED:
                self._arrives(event.data)
            elif event.type is EventType.NODE_RESUMED and event.data["reason"] == MESSAGE and "message" in event.data:
                self._gets(event.instance, event.data["name"], event.data["message"])
            elif event.type in NODE_ENDS or event.type is EventType.NODE_RESUMED:
                self._leaves(event.instance)
            fold(self._state, event)
            self._state.notes.clear()

    def _refuse(self, reason: str) -> None:
        raise Violation(f"{reason} of {self._run_id}")

    def _fits(self, instance: str, id: str) -> bool:
        return EVEN not in instance.partition("@")[0] or self._sent[id].is_even

    def _arrives(self, data: Any) -> None:
        id, sent = data["id"], self._sent.get(data["id"])
        if sent is None or sent.name != data["name"] or data.get("data", sent.data) != sent.data:  # large data is a blob
            self._refuse(f"what is received was sent: {data['id']} is not {sent}, in the log")
        if id in self._seen:
            self._refuse(f"no message is twice in a log: {id}")
        self._seen.add(id)
        self._unread[data["name"]].append(id)
        if self._state.ending or self._state.halting:
            return
        if data["name"] in self._cancels:
            if self._status == "completed":
                self._refuse(f"a message cancels: {id}, and the status is {self._status},")
            return
        fitting = [one for one in self._waiting[data["name"]] if self._fits(one, id)]
        self._next = (fitting[0], id) if fitting else None

    def _waits(self, instance: str, name: str) -> None:
        if missed := [id for id in self._unread[name] if self._fits(instance, id)]:
            self._refuse(f"a receiver that begins takes what is there: {instance} waits, and {missed} is unread,")
        self._waiting[name].append(instance)

    def _gets(self, instance: str, name: str, id: str) -> None:
        if id not in self._unread[name]:
            self._refuse(f"a message is consumed once: {instance} gets {id},")
        if instance in self._waiting[name]:
            self._waiting[name].remove(instance)
            if self._next != (instance, id):
                self._refuse(f"the longest wait comes first: {instance} gets {id}, and {self._next} was due,")
        elif id != next(one for one in self._unread[name] if self._fits(instance, one)):
            self._refuse(f"the oldest message comes first: {instance} gets {id} of {self._unread[name]},")
        self._next = None
        self._unread[name].remove(id)

    def _leaves(self, instance: str) -> None:
        if self._next is not None and self._next[0] == instance:
            self._refuse(f"a receiver gets what it waits for: {self._next} did not")
        for waiting in self._waiting.values():
            if instance in waiting:
                waiting.remove(instance)
