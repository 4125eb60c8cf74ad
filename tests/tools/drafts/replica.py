"""Keeps one person's copy of a draft, in one tab: what is confirmed, in flight, waiting, and what can be undone.

    view = confirmed, then what is in flight, then what waits, each decided over what is before it

One request is in flight. What others committed is transformed with what is in flight and what waits, and then with both undo
stacks. An operation that means nothing any more by then is cancelled, with a notice, before it is sent. Nothing here knows a
clock or a wire: the caller says when to send, hands in what arrives, and gives every request its random tag.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, TypeAlias

from expansion import expand
from inverse import inverse

from stepless.drafts.rules.effects import Write
from stepless.drafts.rules.fold import apply, fold
from stepless.drafts.rules.requests import EditRequest, Guard, LogEntry, Operation, Outcome
from stepless.drafts.rules.resolve import resolve, undone
from stepless.drafts.rules.state import Entities, Layer, State, value_at
from stepless.drafts.rules.transform import transform, transform_each

Origin: TypeAlias = Literal["edit", "undo", "redo"]
MAX_JOINED_WRITES: Final = 200  # of the operations that one request takes along; as in console/src/editing/limits.ts
MAX_UNDO: Final = 100  # actions of one person in one tab


@dataclass(eq=False)
class UndoStep:
    """What takes one action back. It is made from the view, and again from what was committed. `begun`: a part of the action is
    confirmed, the rest is not."""

    operation: Operation
    begun: bool = False


@dataclass(eq=False)
class Pending:
    """An operation that is not confirmed. `step` takes it back; `former` is the step that an undo or a redo was made from;
    `lost` are its writes that mean nothing any more."""

    operation: Operation
    origin: Origin
    step: UndoStep | None
    former: UndoStep | None = None
    lost: list[Write] = field(default_factory=list)


class Notice(NamedTuple):
    """What became of an operation of this person that was not done as asked."""

    outcome: Outcome
    operation: Operation
    sent: bool


@dataclass(eq=False)
class Sent:
    n: int
    tag: str
    base: int
    parts: list[Pending] = field(default_factory=list)
    first: str = ""


class Replica:
    def __init__(self, client: str, state: Entities, seq: int = 0) -> None:
        self.client = client
        self.n = 0
        self.seq = seq
        self.confirmed = state
        self.sent: Sent | None = None
        self.unsent: list[Pending] = []
        self.undos: list[UndoStep] = []
        self.redos: list[UndoStep] = []
        self.notices: list[Notice] = []
        self._early: dict[int, LogEntry] = {}
        self._view: Layer | None = None
        self._latest: UndoStep | None = None  # of the last thing done

    # -- what is shown -------------------------------------------------------------------------------------------------

    @property
    def view(self) -> State:
        if self._view is None:
            self._view = resolve(self.confirmed, [part.operation for part in self._pending()]).state
        return self._view

    def _pending(self) -> list[Pending]:
        return [*(self.sent.parts if self.sent else ()), *self.unsent]

    # -- editing -------------------------------------------------------------------------------------------------------

    def edit(self, operation: Operation, *, join: bool = False) -> bool:
        """Does what a person asks, at once in the view. `join`: it is one action with the edit before it. False where it was
        refused or does nothing; then the outcome is among the notices."""
        done = self._do(operation, "edit", self.undos, join=join)
        if done:
            self.redos.clear()
        return done

    def undo(self) -> bool:
        """Takes back the last action of this person that can be taken back; False where there is none, or it was refused."""
        return self._step_back(self.undos, self.redos, "undo")

    def redo(self) -> bool:
        return self._step_back(self.redos, self.undos, "redo")

    def _step_back(self, stack: list[UndoStep], other: list[UndoStep], origin: Origin) -> bool:
        while stack:
            step = stack.pop()
            noted = len(self.notices)
            again = self._not_asked(step)
            if again is not None:
                if again.writes:
                    other.append(UndoStep(again))
                    self._latest = None
                    return True
                continue
            if self._do(step.operation, origin, other, former=step):
                return True
            if any(notice.outcome.refused for notice in self.notices[noted:]):
                stack.append(step)
                return False
        return False

    def _not_asked(self, step: UndoStep) -> Operation | None:
        """Takes an action out of what waits, and returns what does it again. If it were sent with what takes it back, that would
        bring back what others have removed meanwhile, too. None, and no change, where a part of the action is in flight or
        confirmed, or another action waits that was made after it."""
        in_flight = self.sent.parts if self.sent else []
        first = next((place for place, part in enumerate(self.unsent) if part.step is step), None)
        if first is None or step.begun or any(part.step is step for part in in_flight):
            return None
        left, parts = self.unsent[:first], self.unsent[first:]
        if any(part.step is not step for part in parts):
            return None
        state = resolve(self.confirmed, [part.operation for part in (*in_flight, *left)]).state
        back = Operation(())
        for part in parts:
            effects = resolve(state, [part.operation]).effects
            back = _joined(inverse(state, effects), back, fold(state, effects))
            apply(state, effects)
        self.unsent, self._view = left, None
        return inverse(state, resolve(state, [back]).effects)

    def _do(
        self, operation: Operation, origin: Origin, stack: list[UndoStep], *, former: UndoStep | None = None, join: bool = False,
    ) -> bool:
        made = expand(self.view, operation)
        self.notices.extend(Notice(outcome, operation, False) for outcome in made.outcomes)
        if made.operation is None:
            return False
        back = inverse(self.view, made.effects)
        step: UndoStep | None = None
        if back.writes:
            step = UndoStep(back)
            if join and stack and stack[-1] is self._latest:
                stack[-1].begun = stack[-1].begun or not any(part.step is stack[-1] for part in self._pending())
                stack[-1].operation = _joined(back, stack[-1].operation, fold(self.view, made.effects))
                step = stack[-1]
            else:
                stack.append(step)
                del stack[:-MAX_UNDO]
        self._latest = step if origin == "edit" else None
        self.unsent.append(Pending(made.operation, origin, step, former))
        assert self._view is not None
        apply(self._view, made.effects)
        return True

    # -- sending -------------------------------------------------------------------------------------------------------

    def message(self, tag: Callable[[], str]) -> EditRequest | None:
        """Returns the request to send now, or to send again; None where nothing waits. An operation with guards travels alone."""
        if self.sent is None and self.unsent:
            parts = [self.unsent.pop(0)]
            size = len(parts[0].operation.writes)
            while self.unsent and not parts[0].operation.guards and not self.unsent[0].operation.guards:
                size += len(self.unsent[0].operation.writes)
                if size > MAX_JOINED_WRITES:
                    break
                parts.append(self.unsent.pop(0))
            self.n += 1
            self.sent = Sent(self.n, tag(), self.seq, parts)
        if self.sent is None:
            return None
        operations = tuple(part.operation for part in self.sent.parts)
        return EditRequest(self.client, self.sent.n, self.sent.tag, self.sent.base, operations, self.sent.first)

    def renamed(self, client: str) -> None:
        """Goes on as another client: this one's id is in use elsewhere, or the server no longer knows it."""
        if self.sent is not None:
            self.sent.first = self.sent.first or self.client
            self.sent.n = 1
        self.client = client
        self.n = 0 if self.sent is None else 1

    # -- hearing -------------------------------------------------------------------------------------------------------

    def hear(self, entry: LogEntry) -> None:
        """Takes a log entry, in sequence; one that comes early waits, one that is known is ignored."""
        if entry.seq > self.seq:
            self._early[entry.seq] = entry
        while self.seq + 1 in self._early:
            self._take(self._early.pop(self.seq + 1))

    def _take(self, entry: LogEntry) -> None:
        self.seq = entry.seq
        sent = self.sent
        if sent is not None and self.is_of(entry, sent):
            self._acknowledged(sent, entry)
        else:
            apply(self.confirmed, entry.effects)
            self._meet(entry.effects, entry.by)
        self._view = None
        self._cancel()

    def is_of(self, entry: LogEntry, sent: Sent) -> bool:
        """Returns whether the entry is what was sent, under any id of this client, or by a copy of its tab."""
        return entry.tag == sent.tag and (entry.first or entry.client) in (self.client, sent.first)

    def _acknowledged(self, sent: Sent, entry: LogEntry) -> None:
        by_operation = {outcome.operation: outcome for outcome in entry.outcomes}
        state = Layer(self.confirmed)
        backs: dict[UndoStep, Operation] = {}
        for place, part in enumerate(sent.parts):
            effects = resolve(state, [part.operation]).effects
            back = inverse(state, effects)
            apply(state, effects)
            if part.step is not None:
                former = backs.get(part.step)
                backs[part.step] = back if former is None else _joined(back, former, state)
            outcome = by_operation.get(place)
            if outcome is not None and not (outcome.code == "superseded" and part.lost):
                self.notices.append(Notice(outcome, part.operation, True))
                if outcome.refused:
                    self._put_back(part)
        self._remake(backs)
        self.sent = None
        apply(self.confirmed, entry.effects)

    def _remake(self, backs: dict[UndoStep, Operation]) -> None:
        """Makes steps again from what was committed: a cascade may have taken more than was shown. A step of several requests
        stays as it was made."""
        passing = [write for part in self.unsent for write in part.operation.writes]
        waiting = {part.step for part in self.unsent}
        for step, back in backs.items():
            if step in waiting or step.begun:
                step.begun = True
            else:
                step.operation = _with_writes(back, transform(back.writes, passing)[0])

    def _put_back(self, part: Pending) -> None:
        """After a refusal both stacks are as before."""
        stacks = {"edit": (self.undos, None), "undo": (self.redos, self.undos), "redo": (self.undos, self.redos)}
        made, taken = stacks[part.origin]
        if part.step in made:
            made.remove(part.step)
        if taken is not None and part.former is not None:
            taken.append(part.former)

    def _meet(self, effects: Sequence[Write], by: str) -> None:
        """Transforms what is not confirmed, and what can be undone, with what others committed."""
        theirs: list[Write] = list(effects)
        for part in self._pending():
            theirs = self._transformed(part, theirs, by)
        if self.sent is not None:
            self.sent.base = self.seq
        for stack in (self.undos, self.redos):
            passing = theirs
            for step in reversed(stack):
                if not passing:
                    break
                writes, passing = transform(step.operation.writes, passing)
                step.operation = _with_writes(step.operation, writes)
            stack[:] = [step for step in stack if step.operation.writes]

    def _transformed(self, part: Pending, theirs: list[Write], by: str | None) -> list[Write]:
        """Transforms one operation, with a notice of what it loses. Returns `theirs` after it."""
        known = len(part.lost)
        passed = _meet(part, theirs)
        lost = tuple(part.lost[known:])
        if lost:
            sent = self.sent is not None and part in self.sent.parts
            self.notices.append(Notice(Outcome(0, "superseded", lost[0].key, by, False, lost), Operation(lost), sent))
        return passed

    def _cancel(self) -> None:
        """Takes out of what waits the operations that would be refused or dropped whole by now."""
        in_flight = [part.operation for part in self.sent.parts] if self.sent else []
        state = resolve(self.confirmed, in_flight).state if self.sent else Layer(self.confirmed)
        kept: list[Pending] = []
        behind: list[Write] = []
        for part in self.unsent:
            behind = self._transformed(part, behind, None)
            decision = resolve(state, [part.operation])
            if decision.effects or (part.operation.writes and not decision.outcomes):
                apply(state, decision.effects)
                kept.append(part)
                continue
            self.notices.extend(Notice(outcome, part.operation, False) for outcome in decision.outcomes)
            self._put_back(part)
            behind = [*behind, *undone(part.operation.writes)]
        self.unsent = kept
        self._view = state


def _meet(part: Pending, theirs: list[Write]) -> list[Write]:
    if not theirs:
        return theirs
    moved, passed = transform_each(part.operation.writes, theirs)
    places: list[int] = []  # where each write stands now
    writes: list[Write] = []
    derived = {place for place, _ in part.operation.derived}
    for place, made in enumerate(moved):
        places.append(len(writes))
        writes.extend(made)
        if not made and place not in derived:
            part.lost.append(part.operation.writes[place])
    pairs = [
        (place, places[cause])
        for follows, cause in part.operation.derived
        for place in range(places[follows], places[follows] + len(moved[follows]))
        if moved[cause]
    ]
    part.operation = Operation(tuple(writes), part.operation.guards, tuple(pairs))
    return passed


def _with_writes(operation: Operation, writes: Sequence[Write]) -> Operation:
    return operation._replace(writes=tuple(writes))


def _joined(later: Operation, former: Operation, made: State) -> Operation:
    """One undo for two actions, the later one first. `made` is the state after both, which the guards of both must find."""
    places = dict.fromkeys((guard.key, guard.path) for guard in (*former.guards, *later.guards))
    guards = (Guard(key, path, value_at(made, key, path)) for key, path in places if key in made)
    return Operation((*later.writes, *former.writes), tuple(guards))


