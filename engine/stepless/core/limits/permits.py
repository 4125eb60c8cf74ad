"""Keeps what a session has acquired for the attempts of its run (permits), and what the run still lacks.

The core is pure, so it cannot acquire a slot. A decision starts an attempt only with permits for all its limits. It queues the
others and notes in `wanted` what they lack; the session acquires that and decides again, before anything is committed. Both
decisions become one batch, so a node that has to ask costs one event more (`node.queued`), and no write.

The slots of a cell that the run holds are at each moment in exactly one of these: `free` (used by no attempt), `begun` (used by
an attempt in progress, or by its lingering code), `kept` (held for an instance that waits for its instant only), `returned` (on
their way back). Each method moves slots between these and creates none. A slot that is counted twice exceeds the limit, and one
that is lost is lost until the lease ends.

* *Slots before instants.* An instant of a rate lapses, a slot does not. If nodes reserved instants and then waited for slots,
  both limits would be wasted.
* *Slots follow the code, not the attempt.* After a timeout the code may still run; until it returns, its slots are in use.
* *Instances in doubt get their permits first* (`want_for_doubt`). An exclusive attempt holds all others back; if it then waited
  for a slot that one of these holds, neither could go on.
* *The session learns by trying.* What an instance lacks depends on values of the run, so a decision has to look at it: `probes`
  let it look at the first instance in line of a cell for which there is no permit.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import NamedTuple

from stepless.core.limits.input_scope import OfInputs
from stepless.core.limits.pacing import is_late
from stepless.core.state import Instance, State, Status, is_in_doubt
from stepless.core.values.reference_values import Reading
from stepless.errors import ConfigError
from stepless.limits import MAX_LIMIT_KEY_CHARACTERS, RATE_LEAD_MS
from stepless.model.graph import Pace, Slots
from stepless.model.json import JSON
from stepless.model.scope import Expression, Scope

CONCURRENCY, RATE = "concurrency", "rate"


class Cell(NamedTuple):
    """One limit for one key. `id` identifies it among all limits of the store; `of` is the place of the limit in the document;
    `key` is the value of `by` as it is shown. One of `slots` and `pace` is set; `weight` is how many slots one use takes;
    1 while it is not `weighed`. `run`: one use is a run with attempts in progress, not one attempt."""

    id: str
    of: str
    key: str
    slots: Slots | None = None
    pace: Pace | None = None
    weight: int = 1
    run: bool = False
    weighed: bool = True


@dataclass(slots=True)
class Begun:
    """The permits that an attempt uses: its slots, and the instant that was reserved for it under a rate."""

    slots: Cell | None
    pace: Pace | None = None
    at_ms: int = 0


@dataclass(slots=True)
class Permits:
    """`free` are the slots of each cell that no attempt uses. `times` are reserved instants, of each cell. `runs` are the cells
    of the workflow's own limit whose slots the run holds. `begun` are the permits in use, by instance; `kept` the slots of
    instances that wait for an instant only. `excess` is how many slots of a cell are still to be `returned` when they become
    free. `lead_ms` is how long a commit takes, where that is slow.
    `wanted` are the cells that decisions found lacking; the session clears it. `probes` are cells in which the next decision
    looks at the first instance in line, although there is no permit, so that the session learns what it lacks. `lingering` are
    instances whose attempt has ended and whose code has not returned: they still use their slots."""

    free: dict[str, int] = field(default_factory=dict)
    times: dict[str, deque[int]] = field(default_factory=dict)
    runs: set[str] = field(default_factory=set)
    run: Cell | None = None
    begun: dict[str, Begun] = field(default_factory=dict)
    kept: dict[str, Cell] = field(default_factory=dict)
    excess: dict[str, int] = field(default_factory=dict)
    returned: dict[str, int] = field(default_factory=dict)
    lead_ms: int = 0
    wanted: dict[str, Cell] = field(default_factory=dict)
    probes: list[str] = field(default_factory=list)
    lingering: Container[str] = ()

    def open_cells(self) -> list[str]:
        """Returns the cells with permits that no attempt uses."""
        return [*self.runs, *self.free, *self.times, *self.probes]

    def refusal(self, state: State, instance: Instance, reading: Reading) -> Mapping[str, JSON] | None:
        """Takes the permits for an attempt that is about to begin, and returns None; or returns what the event that queues it
        must hold. Instants of a rate are taken last, and by instances with slots only: an instant lapses, and a slot does not.
        Raises `SteplessError` for a `by` or `weight` that cannot be evaluated."""
        limits, wait = instance.node.limits, instance.wait
        at_ms = _number(wait.details.get("paced")) if wait is not None else 0
        former = self.begun.pop(instance.id, None)
        if former is not None and former.slots is not None:  # it begins again at once: its slots are still its own
            self.kept[instance.id] = former.slots
        if state.graph.slots is not None:
            self.run = self.run or run_cell(state, reading.now_ms)
            if self.run.id not in self.runs:
                return self._lacks(self.run, at_ms)
        if limits is None:
            return None
        slots = self.kept.get(instance.id)
        if limits.slots is not None and slots is None:
            weight = weight_of(limits.slots, reading)
            slots = _cell(state, f"{limits.node}.{CONCURRENCY}", limits.slots.by, reading, slots=limits.slots, weight=weight)
            if self.free.get(slots.id, 0) < weight:
                self.ended(state)
            if self.free.get(slots.id, 0) < weight:
                return self._lacks(slots, at_ms)
            self._use(slots)
            self.kept[instance.id] = slots
        if limits.pace is not None and (not at_ms or is_late(at_ms, reading.now_ms, limits.pace)):
            cell = _cell(state, f"{limits.node}.{RATE}", limits.pace.by, reading, pace=limits.pace)
            at_ms = self._next_time(cell, reading.now_ms)
            if not at_ms:
                return self._lacks(cell, 0)
            lead_ms = max(RATE_LEAD_MS, self.lead_ms)
            if at_ms > reading.now_ms + lead_ms:
                return {**_waits_for(cell), "paced": at_ms, "resume_at": at_ms - lead_ms}
        self.kept.pop(instance.id, None)
        self.begun[instance.id] = Begun(slots, limits.pace, at_ms)
        return None

    def want_for_doubt(self, state: State) -> None:
        """Marks what the instances in doubt at the head of a line lack as wanted. They get their permits before their attempt may
        be exclusive: a process that waited for slots with all other attempts held back could wait for these."""
        for cell_id, line in state.limited.items():
            first = next(iter(line.values()))
            if not (cell_id in self.runs or cell_id in self.free or cell_id in self.times) and is_in_doubt(state, first):
                cell, limits = waited_for(state, cell_id), first.node.limits
                if cell is None and limits is not None and limits.pace is not None:
                    cell = Cell(cell_id, f"{limits.node}.{RATE}", "", pace=limits.pace)
                if cell is not None:
                    self.wanted[cell_id] = cell

    def _use(self, slots: Cell) -> None:
        left = self.free[slots.id] - slots.weight
        if left:
            self.free[slots.id] = left
        else:
            del self.free[slots.id]

    def _next_time(self, cell: Cell, now_ms: int) -> int:
        """The next reserved instant that has not passed; 0 if there is none."""
        times = self.times.get(cell.id)
        while times and cell.pace is not None:
            at_ms = times.popleft()
            if not is_late(at_ms, now_ms, cell.pace):
                return at_ms
        self.times.pop(cell.id, None)
        return 0

    def _lacks(self, cell: Cell, at_ms: int) -> Mapping[str, JSON]:
        """What the event that queues an instance must hold; with the instant that was reserved for it, if any."""
        self.wanted[cell.id] = cell
        return {**_waits_for(cell), "paced": at_ms} if at_ms else _waits_for(cell)

    def ended(self, state: State) -> None:
        """Frees the slots of attempts whose code no longer runs, and those kept for instances that no longer wait."""
        for name in [name for name in self.begun if name not in state.running and name not in self.lingering]:
            slots = self.begun.pop(name).slots
            if slots is not None:
                self._free(slots)
        for name in [name for name in self.kept if not _is_queued(state, name)]:
            slots = self.kept.pop(name)
            if name not in self.begun:
                self._free(slots)

    def _free(self, slots: Cell) -> None:
        self.free[slots.id] = self.free.get(slots.id, 0) + slots.weight
        self.put_back(slots.id, slots.weight)

    def give_up(self, cell_id: str, excess: int) -> None:
        """Makes `excess` slots go back: those that are free now, and others when they become free."""
        if excess > 0:
            self.excess[cell_id] = excess
            self.put_back(cell_id, min(excess, self.free.get(cell_id, 0)))
        else:
            self.excess.pop(cell_id, None)

    def put_back(self, cell_id: str, number: int) -> None:
        """Returns `number` free slots if some must go back. They are those of whole attempts, so a few more may go back."""
        excess = self.excess.get(cell_id, 0)
        if not excess or not number:
            return
        self.returned[cell_id] = self.returned.get(cell_id, 0) + number
        self.free[cell_id] -= number
        if not self.free[cell_id]:
            del self.free[cell_id]
        self.give_up(cell_id, excess - number)


def run_cell(state: State, now_ms: int) -> Cell:
    """Returns the cell of the workflow's own limit for this run."""
    limit = state.graph.slots
    assert limit is not None
    inputs = OfInputs(state.inputs, now_ms)
    return _cell(state, CONCURRENCY, limit.by, inputs, slots=limit, weight=weight_of(limit, inputs), run=True)


def waited_for(state: State, cell_id: str) -> Cell | None:
    """Returns the cell of slots for which instances of a run are queued, as far as their events tell: it is not weighed. None if
    it is a rate's."""
    wait = next(iter(state.limited[cell_id].values())).wait
    limits = next(iter(state.limited[cell_id].values())).node.limits
    shown = wait.details.get("limit") if wait is not None else None
    of = shown["of"] if isinstance(shown, Mapping) else None
    if of == CONCURRENCY and state.graph.slots is not None:
        return Cell(cell_id, CONCURRENCY, "", state.graph.slots, run=True, weighed=False)
    if limits is not None and limits.slots is not None and of == f"{limits.node}.{CONCURRENCY}":
        return Cell(cell_id, of, "", limits.slots, weighed=False)
    return None


def weight_of(limit: Slots, scope: Scope) -> int:
    """Returns how many slots one use takes, at most all. Raises `SteplessError`."""
    weight = limit.weight if isinstance(limit.weight, int) else limit.weight.evaluate(scope)
    if isinstance(weight, bool) or not isinstance(weight, int) or weight < 1:
        raise ConfigError(
            "the weight under `concurrency` is not a whole number of at least 1", code="invalid_weight",
            mend="check what its expression reads",
        )
    return min(weight, limit.max)


def _cell(
    state: State, of: str, by: Expression | None, scope: Scope, *, slots: Slots | None = None, pace: Pace | None = None,
    weight: int = 1, run: bool = False,
) -> Cell:
    keyed = by is not None
    value = by.evaluate(scope) if by is not None else None
    identity = f"{state.graph.workflow_id}\n{of}\n{canonical(value)}".encode("utf-8", "surrogatepass")
    return Cell(sha256(identity).hexdigest()[:32], of, _shown(value) if keyed else "", slots, pace, weight, run)


def canonical(value: JSON) -> str:
    """Returns one text for each key: objects in the order of their names, 1.0 like 1."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, sort_keys=True)


def _shown(value: JSON) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_LIMIT_KEY_CHARACTERS else f"{text[: MAX_LIMIT_KEY_CHARACTERS - 1]}…"


def _waits_for(cell: Cell) -> Mapping[str, JSON]:
    shown: dict[str, JSON] = {"of": cell.of}
    if cell.key:
        shown["key"] = cell.key
    return {"limit": shown, "cell": cell.id}


def _is_queued(state: State, name: str) -> bool:
    instance = state.find(name)
    return instance is not None and instance.status is Status.QUEUED


def _number(value: JSON) -> int:
    return value if isinstance(value, int) else 0
