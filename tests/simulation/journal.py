"""A record of what really happened, separate from the store: every batch that took effect or was acknowledged, every attempt that
ran, every answer that was acknowledged. The invariants of the specification (docs/understand/durability.md#what-must-hold) are
checked against it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from faults import EPOCH_MS
from virtual_time import Schedule

from stepless.core.events import NODE_ENDS, NODE_FAILURES, RUN_ENDS, Event, EventType
from stepless.core.fold import fold
from stepless.core.state import State
from stepless.core.stored.codec import decode_batch
from stepless.core.stored.snapshot import decode_state, encode_state
from stepless.limits import MAX_BATCH_BYTES
from stepless.model.graph import Graph
from stepless.ports import Batch, Call, RunHead, Store

SOON_MS = 400_000  # the longest time without a check of an inbox: lost hints, dead processes, late sweeps


class Violation(Exception):
    """A broken invariant."""


@dataclass
class Answered:
    """An answer that was acknowledged to its sender. Instants are the world's true time."""

    run_id: str
    pause: str
    handle: str
    by: str | None
    asked_ms: float


@dataclass
class Held:
    """A hold or release of a run that was acknowledged to its sender. Instants are the world's true time."""

    run_id: str
    wanted: bool
    asked_ms: float


@dataclass
class RunStory:
    """What happened in one run."""

    written: dict[int, Batch] = field(default_factory=dict)  # by first sequence number
    acknowledged: list[Batch] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    committed_ms: dict[int, float] = field(default_factory=dict)  # by sequence number, true time
    starts: set[tuple[str, int]] = field(default_factory=set)
    ends: dict[str, EventType] = field(default_factory=dict)
    ran: Counter[tuple[str, int]] = field(default_factory=Counter)
    tokens: dict[str, str] = field(default_factory=dict)
    snapshots: dict[int, bytes] = field(default_factory=dict)

    @property
    def ended(self) -> bool:
        return bool(self.events) and self.events[-1].type in RUN_ENDS

    @property
    def status(self) -> str:
        """How the run ended."""
        return self.events[-1].type.value.removeprefix("run.")


class Journal:
    """Records what all processes do. `exact` is false in worlds whose clocks differ or step back; `fenced` in worlds where they
    differ by more than a lease's margin: there a fenced process may continue what it began."""

    def __init__(self, schedule: Schedule, exact: bool, fenced: bool = True) -> None:
        self.schedule = schedule
        self.exact = exact
        self.fenced = fenced
        self.runs: defaultdict[str, RunStory] = defaultdict(RunStory)
        self.keeps: Callable[[str], bool] = lambda key: True  # whether the object of this key exists
        self.answers: list[Answered] = []
        self.holds: list[Held] = []
        self.erased: set[str] = set()  # runs whose header says so, or is removed
        self.on_events: Callable[[str, Sequence[Event]], None] = lambda run_id, events: None  # called at each batch

    def refuse(self, reason: str) -> None:
        """Ends the episode, even when the engine catches the exception."""
        violation = Violation(reason)
        self.schedule.failure = self.schedule.failure or violation
        raise violation

    # -- while it happens -------------------------------------------------------------------------------------------

    def wrote(self, run_id: str, batch: Batch, *, emptied: bool = False) -> None:
        """Records a batch that took effect, whether or not its writer receives the response. `emptied`: it replaces one."""
        story = self.runs[run_id]
        if emptied:
            if batch.data or batch.first not in story.written:
                self.refuse(f"an erasure empties batches, and makes none: {batch} of {run_id}")
            return
        if len(batch.data) > MAX_BATCH_BYTES:
            self.refuse(f"bounds: a batch of {len(batch.data)} bytes")
        if story.events and story.events[-1].type in RUN_ENDS:
            self.refuse(f"a finished run never changes: batch {batch.first} after the end of {run_id}")
        if batch.first != len(story.events) + 1:
            self.refuse(f"no gap and no fork: batch {batch.first} after event {len(story.events)} of {run_id}")
        story.written[batch.first] = batch
        events = decode_batch(batch.data, batch.first)
        self.on_events(run_id, events)
        for event in events:
            story.events.append(event)
            story.committed_ms[event.sequence] = self.schedule.now_ms
            for name, (key, _) in event.data.get("blobs", {}).items():
                if not self.keeps(key):
                    self.refuse(f"an object is there before the batch that names it: {name} of {event.instance}")
            if event.type is EventType.NODE_STARTED:
                story.starts.add((event.instance, event.data.get("attempt", 1)))
            elif event.type in NODE_ENDS:
                if event.instance in story.ends:
                    self.refuse(f"a completed instance never runs again: {event.instance} ended twice")
                story.ends[event.instance] = event.type

    def acknowledged(self, run_id: str, batch: Batch) -> None:
        """Records that a process received the acknowledgement of its batch."""
        story = self.runs[run_id]
        story.acknowledged.append(batch)
        if story.written.get(batch.first) != batch:
            self.refuse(f"acknowledged is durable: the batch {batch.first} of {run_id} was acknowledged and is not there")

    def taken(self, run_id: str, left: Sequence[str]) -> None:
        """Records that a process was informed that signals are marked as taken; `left` are those that are not."""
        if left:
            self.refuse(f"acknowledged is durable: {len(left)} signals of {run_id} are said to be marked as taken and are not")

    def runs_now(self, call: Call) -> None:
        """Records that an attempt begins to have effects."""
        story, attempt = self.runs[call.run_id], (call.instance, call.attempt)
        if attempt not in story.starts:
            self.refuse(f"no effect before its commit: {attempt} of {call.run_id} runs and its start is not in the log")
        if call.instance in story.ends and self.fenced:
            self.refuse(f"a completed instance never runs again: {attempt} of {call.run_id} runs after its end")
        if story.tokens.setdefault(call.instance, call.token) != call.token:
            self.refuse(f"{call.instance} runs with two idempotency tokens")
        story.ran[attempt] += 1

    # -- afterwards -------------------------------------------------------------------------------------------------

    def check(self, store: Store, created: Mapping[str, RunHead], graphs: Callable[[RunHead], Graph]) -> None:
        """Checks all runs. `created` has their first headers. Those that are erased have no log any more."""
        for run_id, story in self.runs.items():
            head, graph = store.get_run(run_id), graphs(created[run_id])
            if run_id not in self.erased:
                if head is None:
                    raise Violation(f"{run_id} has a log and no header")
                self._check_log(run_id, story, store)
                self._check_header(run_id, story, head)
            self._check_end(run_id, story)
            self._check_attempts(run_id, story, graph)
            self._check_timers(story)
            self._check_holds(run_id, story)
            self._check_snapshots(run_id, story, graph)
        for answer in self.answers:
            self._check_answer(answer)

    def _check_log(self, run_id: str, story: RunStory, store: Store) -> None:
        log = store.read_log(run_id, limit_bytes=10**9)
        firsts = [batch.first for batch in log]
        if firsts != [1, *(batch.last + 1 for batch in log[:-1])]:
            raise Violation(f"no gap and no fork: {run_id} has batches from {firsts}")
        kept = {batch.first: batch for batch in log}
        for batch in story.acknowledged:
            if kept.get(batch.first) != batch:
                raise Violation(f"no gap and no fork: the acknowledged batch {batch.first} of {run_id} is not in the log")

    @staticmethod
    def _check_header(run_id: str, story: RunStory, head: RunHead) -> None:
        due = head.due_ms is not None and head.due_ms != head.expires_ms
        if head.status != story.status or head.sequence != len(story.events) or head.owner is not None or due:
            raise Violation(f"{run_id} ended as {story.status} after {len(story.events)} events, and its header is {head}")

    @staticmethod
    def _check_end(run_id: str, story: RunStory) -> None:
        ends = [event for event in story.events if event.type in RUN_ENDS]
        if len(ends) != 1 or story.events[-1] is not ends[0]:
            raise Violation(f"{run_id} has {len(ends)} ends")
        if (ends[0].data.get("error") or {}).get("code") == "stalled":
            raise Violation(f"{run_id} stalled")

    def _check_attempts(self, run_id: str, story: RunStory, graph: Graph) -> None:
        for instance, _ in story.starts:
            if instance not in story.ends:
                raise Violation(f"{instance} of {run_id} was started and never ended")
        recovered: Counter[tuple[str, int]] = Counter()
        present: dict[str, int] = {}
        for event in story.events:
            if event.type is EventType.NODE_STARTED:
                present[event.instance] = event.data.get("attempt", 1)
            elif event.type is EventType.RUN_RECOVERED:
                recovered.update((instance, present[instance]) for instance in event.data["instances"])
        for one, times in story.ran.items():
            if times > 1 + recovered[one]:
                raise Violation(f"commits exactly once: {one} of {run_id} ran {times} times, {recovered[one]} times recovered")
            if times > 1 and at_most_once(graph, one[0]):
                raise Violation(f"{one} of {run_id} ran {times} times and is at_most_once")
        resumed = Counter(event.instance for event in story.events if event.type is EventType.NODE_RESUMED)
        if resumed and max(resumed.values()) > 1:
            raise Violation(f"a decision is never doubled: {resumed} of {run_id}")

    def _check_timers(self, story: RunStory) -> None:
        due: dict[str, int] = {}
        deadline: dict[str, int] = {}
        for event in story.events:
            match event.type:
                case EventType.NODE_WAITING:
                    due[event.instance] = event.data.get("resume_at") or 0
                    deadline[event.instance] = event.data.get("deadline") or 0
                case EventType.NODE_RETRIED:
                    due[event.instance] = event.data["resume_at"]
                case EventType.NODE_RESUMED if event.data["reason"] == "timer":
                    self._not_before(story, event, due[event.instance])
                case EventType.NODE_RESUMED if event.data["handle"] == "timeout":
                    self._not_before(story, event, deadline[event.instance])
                case EventType.NODE_STARTED | EventType.NODE_QUEUED if event.instance in due:
                    self._not_before(story, event, due.pop(event.instance))
                case EventType.NODE_FAILED if event.data["error"]["code"] == "wait_timeout":
                    self._not_before(story, event, deadline[event.instance])

    def _check_holds(self, run_id: str, story: RunStory) -> None:
        """Nothing starts while a run is held, and every acknowledged hold takes effect while the run lasts."""
        held, changed_ms = False, dict[bool, float]()
        for event in story.events:
            if event.type is EventType.RUN_STATUS_CHANGED and "held" in event.data:
                if held is event.data["held"]:
                    raise Violation(f"a decision is never doubled: {run_id} is held or released twice in a row")
                held = not held
                changed_ms[held] = story.committed_ms[event.sequence]
            elif held and event.type in (EventType.NODE_STARTED, EventType.LOOP_NEXT):
                raise Violation(f"a run that is held starts nothing: {event.instance} of {run_id} at {event.sequence}")
        ended_ms = story.committed_ms[story.events[-1].sequence]
        for asked in self.holds:
            if asked.run_id == run_id and asked.wanted not in changed_ms and asked.asked_ms < ended_ms - SOON_MS and (
                asked.wanted or True in changed_ms
            ):
                raise Violation(f"a decision is never lost: {asked} was acknowledged, and the log says {changed_ms}")

    def _not_before(self, story: RunStory, event: Event, due_ms: int) -> None:
        true_ms = story.committed_ms[event.sequence] + EPOCH_MS
        if event.at_ms < due_ms or (self.exact and true_ms < due_ms):
            raise Violation(f"a timer never fires early: {event.instance} at {event.at_ms}, due {due_ms}, really {true_ms}")

    def _check_snapshots(self, run_id: str, story: RunStory, graph: Graph) -> None:
        state = State(graph, run_id)
        for event in story.events:
            if not story.snapshots:
                return
            if "blobs" in event.data:
                return  # the contract suite checks what is stored beside the log
            fold(state, event)
            state.notes.clear()
            data = story.snapshots.get(event.sequence)
            if data is not None and encode_state(decode_state(data, graph, run_id)) != encode_state(state):
                raise Violation(f"fold(log) == snapshot + tail: the snapshot of {run_id} at {event.sequence} is another state")

    def _check_answer(self, answer: Answered) -> None:
        story = self.runs[answer.run_id]
        for event in story.events:
            if event.instance == answer.pause and event.type is EventType.NODE_RESUMED:
                if (event.data["handle"], event.data.get("by")) == (answer.handle, answer.by):
                    return
                raise Violation(f"a decision is never lost: {answer} was acknowledged, and the log says {dict(event.data)}")
        closed = [e for e in story.events if (e.instance == answer.pause and e.type in NODE_ENDS) or e.type in RUN_ENDS]
        if story.committed_ms[closed[0].sequence] < answer.asked_ms:
            raise Violation(f"a decision is never lost: {answer} was acknowledged after the end of its pause")
        if closed[0].type is EventType.NODE_COMPLETED or closed[0].type in NODE_FAILURES:
            raise Violation(f"a decision is never lost: {answer} was acknowledged, and its pause ended as {closed[0].type}")


def at_most_once(graph: Graph, instance: str) -> bool:
    name = instance.partition("@")[0]
    return any(node.id == name and node.delivery == "at_most_once" for node in graph.root.nodes)


def show(events: list[Event], names: Mapping[str, str]) -> str:
    """A log as readable text."""
    lines = []
    for event in events:
        data = " ".join(f"{key}={str(value)[:60]}" for key, value in event.data.items() if key not in ("inputs", "output"))
        lines.append(f"{event.sequence:5} {event.at_ms - EPOCH_MS:9} ms  {event.type.value:<20} {event.instance:<14} {data}")
    text = "\n".join(lines)
    for run_id, name in names.items():
        text = text.replace(run_id, name)
    return text
