"""Defines the state of a run in memory. `fold` derives all of it from the log, and nothing else changes it.

    State ── root: Scope ── instances: Instance ── iterations: Iterations ── live: Scope …

A scope is one execution of a body: the document itself, one iteration of a loop, or one branch of a parallel. An instance is
created when it is first accessed; a node without an instance has no record.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from stepless.core.mailbox import Mailbox
from stepless.core.reused_outcomes import Payload, outcomes_of
from stepless.errors import EngineBug
from stepless.model.graph import Body, Graph, Node
from stepless.model.json import JSON
from stepless.model.kind import Nature
from stepless.model.runs.statuses import ENDED, SETTLED


class Status(StrEnum):
    """The status of an instance. The last four are terminal: they never change."""

    PENDING = "pending"
    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"


TERMINAL = frozenset(status for status in Status if status in SETTLED)


class RunStatus(StrEnum):
    CREATED = "created"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed_out"


RUN_TERMINAL = frozenset(status for status in RunStatus if status in ENDED)


class Cell(NamedTuple):
    """A variable's value, the position of its writer in the body that reads it (OUTSIDE: inherited), and the sequence number at
    which the writer settled."""

    value: JSON
    writer: int
    sequence: int


OUTSIDE = -1
SUBRUN = "subrun"  # the reason of a wait for a child run
MESSAGE = "message"  # the reason of a wait for a message
Cells = Mapping[str, Cell]


class Timer(NamedTuple):
    """An instant at which something is due. `kind` is retry, timeout, wait, notice, join, run or pace. `stamp` identifies
    stale timers."""

    at_ms: int
    stamp: int
    kind: str
    instance: str


class Wait(NamedTuple):
    """Why an instance waits; see `model.kind.Pause`. `since_ms` is when the wait began. `notice_ms` is when the next notice is
    due (None: no more notices). `sent` counts the notices that were sent or given up, `tries` the failed tries of the next."""

    reason: str
    since_ms: int
    resume_at_ms: int | None
    deadline_ms: int | None
    handle: str
    exits: tuple[str, ...]
    details: Mapping[str, JSON]
    notice_ms: int | None = None
    sent: int = 0
    tries: int = 0

    @property
    def due_ms(self) -> int | None:
        """When the wait ends without an answer: at a timer's instant or at the deadline."""
        return self.resume_at_ms if self.resume_at_ms is not None else self.deadline_ms


class Instance:
    """One node in one scope."""

    __slots__ = (
        "node", "scope", "id", "status", "taken", "pruned", "dead", "last_taken", "index", "predecessor", "attempt", "handle",
        "value", "error", "reason", "cells", "arrived", "wait", "answer", "iterations", "last_sequence", "settled_sequence",
        "since_ms", "substituted", "deltas", "streamed", "used", "cause",
    )  # fmt: skip

    def __init__(self, node: Node, scope: Scope) -> None:
        self.node = node
        self.scope = scope
        self.id = node.id + scope.suffix
        self.status = Status.PENDING
        self.taken = 0  # branches, by how they resolved
        self.pruned = 0
        self.dead = 0
        self.last_taken = OUTSIDE  # the taken branch that settled last
        self.index = 0  # position in the order of starts, from 1
        self.predecessor = OUTSIDE
        self.attempt = 0
        self.handle: str | None = None
        self.value: JSON = None
        self.error: Mapping[str, JSON] | None = None
        self.reason = ""
        self.cells = scope.cells
        self.arrived: tuple[int, ...] | None = None  # taken branches at the start, when others were still open
        self.wait: Wait | None = None
        self.answer: Mapping[str, JSON] | None = None  # a logged resume that is not yet processed
        self.iterations: Iterations | None = None
        self.last_sequence = 0  # of its last start, wait, resume or retry: the parent of what comes next, the stamp of its timer
        self.settled_sequence = 0
        self.since_ms = 0  # when the present attempt started or, once settled, when the instance settled
        self.substituted = False  # runs with defaults for its dead branches
        self.deltas = 0  # pieces streamed, over all attempts
        self.streamed = 0  # characters streamed by the present attempt
        # what earlier attempts used up: of a container the iterations that they started, of a caller of child runs the attempts
        # whose
        # child run has ended. The next iteration and the next child run get ids that no earlier one had.
        self.used = 0
        self.cause = ""  # of its failure, as `retry_on` names it: where it encloses other work, the cause of what failed inside

    @property
    def settled(self) -> bool:
        return self.status in TERMINAL

    @property
    def open(self) -> int:
        """Branches that are not resolved yet."""
        return len(self.node.branches) - self.taken - self.pruned - self.dead

    @property
    def readable(self) -> JSON:
        """What a reference to this instance reads: its output, `{error}` after a failure, else nothing."""
        if self.status is Status.COMPLETED:
            return self.value
        return {"error": dict(self.error)} if self.status is Status.FAILED and self.error is not None else None


class Scope:
    """One execution of a body."""

    __slots__ = (
        "body", "owner", "index", "item", "suffix", "instances", "unsettled", "bad", "error", "error_index", "cells", "wrote",
        "started_ms", "broke", "causes", "cause",
    )  # fmt: skip

    suffix: str  # of the ids of its instances
    cells: Cells  # the variables that its entries start with

    def __init__(self, body: Body, owner: Instance | None, index: int, item: JSON, cells: Cells, started_ms: int) -> None:
        self.body = body
        self.owner = owner
        self.index = index
        self.item = item
        self.suffix = f"@{owner.node.id}[{index}]{owner.scope.suffix}" if owner else ""
        self.instances: list[Instance | None] = [None] * len(body.nodes)
        self.unsettled = len(body.nodes)
        self.bad = 0  # bad leaves: failed unhandled, or skipped upstream_failure
        self.error: Mapping[str, JSON] | None = None  # why it failed; see `causes.note_failure`
        self.error_index = 0
        self.cause = ""  # of `error`
        self.cells = cells
        self.wrote = False  # whether any instance in it wrote a variable
        self.started_ms = started_ms
        self.broke = False
        self.causes: dict[int, tuple[Mapping[str, JSON], ...]] = {}  # behind skipped instances; see `causes`

    def at(self, position: int) -> Instance:
        """Returns the instance at a position, created on first access."""
        instance = self.instances[position]
        if instance is None:
            instance = self.instances[position] = Instance(self.body.nodes[position], self)
        return instance

    def touched(self) -> Iterator[Instance]:
        """Returns every instance that exists, in document order."""
        return (instance for instance in self.instances if instance is not None)


class Iterations:
    """The progress of one attempt of a container. Iterations go by the index of their scope, which no earlier attempt has
    used."""

    __slots__ = ("items", "total", "first", "started", "live", "results", "failed", "failed_indexes", "consecutive", "error",
                 "error_index", "cause", "broke", "stopped", "cells", "writes")  # fmt: skip

    def __init__(self, items: list[JSON] | None, total: int | None, cells: Cells, first: int = 0) -> None:
        self.items = items
        self.total = total  # None for while and do_while
        self.first = first  # the index of the first iteration: how many iterations earlier attempts of the container have started
        self.started = 0
        self.live: dict[int, Scope] = {}
        self.results: dict[int, JSON] = {}  # by index; a dropped iteration is missing
        self.failed = 0
        self.failed_indexes: set[int] = set()  # only where max_consecutive_errors is set
        self.consecutive = 0  # how many consecutive iterations failed, around the last one that failed
        self.error: Mapping[str, JSON] | None = None  # of the first failed iteration by index
        self.error_index = 0
        self.cause = ""  # of `error`
        self.broke = False
        self.stopped = False  # no new iteration starts
        self.cells = cells  # what the next iteration of a loop starts with
        self.writes: dict[int, dict[str, Cell]] = {}  # of a parallel's branches, until they merge at the exit

    def output(self) -> list[JSON]:
        """Results by index, whatever the finish order."""
        return [self.results[index] for index in sorted(self.results)]


class State:
    """The state of a whole run. Only `fold` changes it; all other code reads it."""

    __slots__ = (
        "graph", "run_id", "inputs", "root", "status", "ended", "sequence", "steps", "failures", "agenda", "ready", "running",
        "waiting", "backing_off", "children", "reused", "kept", "outcomes", "late", "tokens", "calls", "limited", "paced",
        "timers", "sweeps", "ending", "ending_error", "halting", "response", "started_ms", "ended_ms", "paused_since_ms",
        "paused_ms", "continued", "idle_hops", "recoveries", "first_starts", "meta", "notes", "held", "holds", "usage",
        "deaths", "lone_deaths", "exclusive", "doubted", "mailbox", "receivers")  # fmt: skip

    def __init__(self, graph: Graph, run_id: str) -> None:
        self.graph = graph
        self.run_id = run_id
        self.inputs: JSON = None
        self.meta: Mapping[str, JSON] = {}
        cells = {name: Cell(value, OUTSIDE, 0) for name, value in graph.variables.items()}
        self.root = Scope(graph.root, None, 0, None, cells, 0)
        self.status = RunStatus.CREATED
        self.ended = False  # whether `status` is terminal
        self.sequence = 0
        self.steps = 0  # started instances, of every iteration; also the counter behind `index`
        self.failures = 0
        self.agenda: deque[Instance] = deque()  # changed instances, still to be examined
        self.ready: deque[Instance] = deque()  # queued: decided to run, waiting for a slot
        self.running: dict[str, Instance] = {}  # effectful attempts in progress
        self.waiting: dict[str, Instance] = {}  # for a human, a timer, a callback, a child run
        self.mailbox = Mailbox()
        self.receivers: dict[str, dict[str, Instance]] = {}  # those of `waiting` that wait for a message: by its name, in order
        self.backing_off: dict[str, Instance] = {}  # between two attempts
        self.children: dict[str, Instance] = {}  # those of `waiting` whose child run is active
        self.limited: dict[str, dict[str, Instance]] = {}  # queued for a limit: by its cell, in the order of waiting
        self.paced: dict[str, Instance] = {}  # queued until an instant that was reserved for them under a rate
        self.reused: Mapping[str, Payload] = {}  # outcomes that it takes over from the run that it repeats; see `kept`
        self.kept: Mapping[str, JSON] = {}
        # those that are still to be applied, in the order in which they settled in the former run
        self.outcomes: OrderedDict[str, Payload] = OrderedDict()
        self.late: dict[str, dict[str, Payload]] = {}  # those of iterations that have not begun, by the suffix of their instances
        self.tokens: Mapping[str, str] = {}  # that instances keep from a former run
        self.calls: Mapping[str, str] = {}  # the child runs that calls repeat; see `kept`
        self.timers: list[Timer] = []  # a heap
        self.sweeps: list[Instance] = []  # joins whose losers are still to be ended
        self.ending = ""  # why everything unsettled is being cancelled: run_cancelled, run_timed_out, run_failed
        self.ending_error: Mapping[str, JSON] | None = None
        self.halting = ""  # why nothing new is dispatched: halted, run_failed
        self.response: Mapping[str, JSON] | None = None
        self.started_ms = 0
        self.ended_ms = 0
        self.paused_since_ms: int | None = None
        self.paused_ms = 0
        self.continued = 0  # hand-overs so far
        self.idle_hops = 0  # consecutive hand-overs since an attempt last ended or an instance settled
        self.recoveries: dict[str, int] = {}  # how many deaths of a process interrupted each unsettled instance: the window
        self.deaths = 0  # of a process, in the present window
        self.lone_deaths: dict[str, int] = {}  # of these, those during an exclusive attempt: by the instance
        self.exclusive = ""  # the instance whose exclusive attempt began last, unless another attempt has begun since
        self.doubted: dict[str, Instance] = {}  # queued, in doubt: waiting for an exclusive attempt
        # when each unsettled instance first started, where its present attempt began later: another attempt, or a recovered one
        self.first_starts: dict[str, int] = {}
        self.held: Mapping[str, JSON] | None = None  # {by, reason, at} while an operator holds the run: nothing new starts
        self.holds = 0  # how often it was held or released so far
        self.usage: Mapping[str, int] | None = {}  # of all attempts; None after a snapshot of an earlier release without it
        self.notes: list[tuple[str, Instance, str]] = []  # warnings of the last folds that are not yet logged

    def take_over(self, data: Mapping[str, Any]) -> None:
        """Takes what the first event of a run has of a former run: outcomes, tokens and calls."""
        kept = data.get("kept", {})
        self.reused, self.kept, self.outcomes = data.get("reused", {}), kept, outcomes_of(data)
        self.tokens, self.calls = kept.get("tokens", {}), kept.get("calls", {})

    def find(self, instance_id: str) -> Instance | None:
        """Returns the instance with this id if its scope is live; created on first access."""
        name, *containers = instance_id.split("@")
        scope = self.root
        for part in reversed(containers):
            owner_id, _, index = part.removesuffix("]").partition("[")
            position = scope.body.positions.get(owner_id)
            owner = scope.instances[position] if position is not None else None
            iteration = owner.iterations.live.get(int(index)) if owner and owner.iterations and index.isdecimal() else None
            if iteration is None:
                return None
            scope = iteration
        position = scope.body.positions.get(name)
        return scope.at(position) if position is not None else None

    def is_over(self, instance_id: str) -> bool:
        """Returns whether the instance or its iteration has settled, or its iteration can never begin."""
        name, *containers = instance_id.split("@")
        scope = self.root
        for part in reversed(containers):
            owner_id, _, index = part.removesuffix("]").partition("[")
            position = scope.body.positions.get(owner_id)
            owner = scope.instances[position] if position is not None else None
            if owner is None or owner.iterations is None:
                return position is None or not index.isdecimal() or (owner is not None and _is_past(owner, int(index)))
            iteration = owner.iterations.live.get(int(index)) if index.isdecimal() else None
            if iteration is None:
                return not index.isdecimal() or _is_past(owner, int(index))
            scope = iteration
        position = scope.body.positions.get(name)
        instance = scope.instances[position] if position is not None else None
        return position is None or (instance is not None and instance.settled)

    def get(self, instance_id: str) -> Instance:
        """Returns the instance that an event names. Raises `EngineBug` when it cannot exist."""
        instance = self.find(instance_id)
        if instance is None:
            raise EngineBug(f"the log names an instance that cannot exist: {instance_id}", place=self.run_id)
        return instance

    @property
    def deadline_ms(self) -> int | None:
        """When the run times out; paused time does not count. None while the run is paused or has no deadline."""
        if self.graph.timeout_ms is None or self.paused_since_ms is not None:
            return None
        return self.started_ms + self.graph.timeout_ms + self.paused_ms


def _is_past(owner: Instance, index: int) -> bool:
    """Whether the iteration of a container with this index, which is not live, has ended or can never begin."""
    iterations = owner.iterations
    if owner.settled or iterations is None:
        return owner.settled or index < owner.used
    never = iterations.total is not None and not owner.node.whole and index >= iterations.first + iterations.total
    return never or index < iterations.first + iterations.started


def is_bad_leaf(instance: Instance) -> bool:
    """Returns whether a leaf failed unhandled, or was skipped after a failure (docs/understand/semantics.md#how-a-run-ends)."""
    if not instance.node.is_leaf:
        return False
    return instance.status is Status.FAILED or (instance.status is Status.SKIPPED and instance.reason == "upstream_failure")


def is_in_doubt(state: State, instance: Instance) -> bool:
    """Returns whether attempts of this instance must be exclusive (docs/understand/durability.md#deaths-of-the-process)."""
    return state.deaths > 1 and instance.id in state.recoveries


def scopes(state: State) -> Iterator[Scope]:
    """Yields every live scope, outer before inner."""
    stack = [state.root]
    while stack:
        scope = stack.pop()
        yield scope
        for instance in scope.touched():
            if instance.iterations is not None:
                stack.extend(instance.iterations.live.values())


def is_child_at_work(wait: Wait) -> bool:
    """Returns whether the wait is for a child run that is not itself paused."""
    return wait.reason == SUBRUN and not wait.details.get("paused")


def is_effect(instance: Instance) -> bool:
    return instance.node.kind.nature is Nature.EFFECT and instance.node.enabled


def stop_receiving(state: State, instance: Instance) -> None:
    """Removes an instance that waits for a message from those that wait for its name."""
    name = str(instance.wait.details["message"]) if instance.wait is not None else ""
    del state.receivers[name][instance.id]
    if not state.receivers[name]:
        del state.receivers[name]


def is_enclosing(instance: Instance) -> bool:
    """Returns whether an attempt is in progress in which a container runs iterations, or in which a child run is waited for."""
    if instance.iterations is not None:
        return instance.status is Status.RUNNING
    return instance.wait is not None and instance.wait.reason == SUBRUN
