"""One person's copy of a draft, in one tab: what is confirmed, what is in flight, what waits, and what can be undone.

    view = confirmed, then what is in flight, then what waits, each decided over what is before it

One intent is in flight. What others committed is crossed with what is in flight and what waits, and then with both undo stacks.
A gesture that means nothing any more by then is cancelled, with a notice, before it is sent. Nothing here knows a clock or a
wire: the caller says when to send, hands in what arrives, and gives every intent its random tag.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from stepless.drafts.rules.effects import Write
from stepless.drafts.rules.expansion import expand
from stepless.drafts.rules.fold import apply, fold
from stepless.drafts.rules.inverse import inverse
from stepless.drafts.rules.requests import Gesture, Guard, Intent, Item, Outcome
from stepless.drafts.rules.resolve import resolve, undone
from stepless.drafts.rules.state import Entities, Layer, State, value_at
from stepless.drafts.rules.transform import cross, cross_each
from stepless.limits import MAX_JOINED_WRITES, MAX_UNDO

Origin: TypeAlias = Literal["edit", "undo", "redo"]


@dataclass(eq=False)
class Entry:
    """What takes one action back. It is made from the view, and again from what was committed. `begun`: a part of the action is
    confirmed, the rest is not."""

    gesture: Gesture
    begun: bool = False


@dataclass(eq=False)
class Pending:
    """A gesture that is not confirmed. `entry` takes it back; `former` is the entry that an undo or a redo was made from; `lost`
    are its writes that mean nothing any more."""

    gesture: Gesture
    origin: Origin
    entry: Entry | None
    former: Entry | None = None
    lost: list[Write] = field(default_factory=list)


class Notice(NamedTuple):
    """What became of a gesture of this person that was not done as asked."""

    outcome: Outcome
    gesture: Gesture
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
        self.undos: list[Entry] = []
        self.redos: list[Entry] = []
        self.notices: list[Notice] = []
        self._early: dict[int, Item] = {}
        self._view: Layer | None = None
        self._latest: Entry | None = None  # of the last thing done

    # -- what is shown -------------------------------------------------------------------------------------------------

    @property
    def view(self) -> State:
        if self._view is None:
            self._view = resolve(self.confirmed, [part.gesture for part in self._pending()]).state
        return self._view

    def _pending(self) -> list[Pending]:
        return [*(self.sent.parts if self.sent else ()), *self.unsent]

    # -- editing -------------------------------------------------------------------------------------------------------

    def edit(self, gesture: Gesture, *, join: bool = False) -> bool:
        """Does what a person asks, at once in the view. `join`: it is one action with the edit before it. False where it was
        refused or does nothing; then the outcome is among the notices."""
        done = self._do(gesture, "edit", self.undos, join=join)
        if done:
            self.redos.clear()
        return done

    def undo(self) -> bool:
        """Takes back the last action of this person that can be taken back; False where there is none, or it was refused."""
        return self._step_back(self.undos, self.redos, "undo")

    def redo(self) -> bool:
        return self._step_back(self.redos, self.undos, "redo")

    def _step_back(self, stack: list[Entry], other: list[Entry], origin: Origin) -> bool:
        while stack:
            entry = stack.pop()
            noted = len(self.notices)
            again = self._not_asked(entry)
            if again is not None:
                if again.writes:
                    other.append(Entry(again))
                    self._latest = None
                    return True
                continue
            if self._do(entry.gesture, origin, other, former=entry):
                return True
            if any(notice.outcome.refused for notice in self.notices[noted:]):
                stack.append(entry)
                return False
        return False

    def _not_asked(self, entry: Entry) -> Gesture | None:
        """Takes an action out of what waits, and returns what does it again. If it were sent with what takes it back, that would
        bring back what others have removed meanwhile, too. None, and no change, where a part of the action is in flight or
        confirmed, or another action waits that was made after it."""
        in_flight = self.sent.parts if self.sent else []
        first = next((place for place, part in enumerate(self.unsent) if part.entry is entry), None)
        if first is None or entry.begun or any(part.entry is entry for part in in_flight):
            return None
        left, parts = self.unsent[:first], self.unsent[first:]
        if any(part.entry is not entry for part in parts):
            return None
        state = resolve(self.confirmed, [part.gesture for part in (*in_flight, *left)]).state
        back = Gesture(())
        for part in parts:
            effects = resolve(state, [part.gesture]).effects
            back = _joined(inverse(state, effects), back, fold(state, effects))
            apply(state, effects)
        self.unsent, self._view = left, None
        return inverse(state, resolve(state, [back]).effects)

    def _do(
        self, gesture: Gesture, origin: Origin, stack: list[Entry], *, former: Entry | None = None, join: bool = False,
    ) -> bool:
        made = expand(self.view, gesture)
        self.notices.extend(Notice(outcome, gesture, False) for outcome in made.outcomes)
        if made.gesture is None:
            return False
        back = inverse(self.view, made.effects)
        entry: Entry | None = None
        if back.writes:
            entry = Entry(back)
            if join and stack and stack[-1] is self._latest:
                stack[-1].begun = stack[-1].begun or not any(part.entry is stack[-1] for part in self._pending())
                stack[-1].gesture = _joined(back, stack[-1].gesture, fold(self.view, made.effects))
                entry = stack[-1]
            else:
                stack.append(entry)
                del stack[:-MAX_UNDO]
        self._latest = entry if origin == "edit" else None
        self.unsent.append(Pending(made.gesture, origin, entry, former))
        assert self._view is not None
        apply(self._view, made.effects)
        return True

    # -- sending -------------------------------------------------------------------------------------------------------

    def message(self, tag: Callable[[], str]) -> Intent | None:
        """The intent to send now, or to send again; None where nothing waits. A gesture with guards travels alone."""
        if self.sent is None and self.unsent:
            parts = [self.unsent.pop(0)]
            size = len(parts[0].gesture.writes)
            while self.unsent and not parts[0].gesture.guards and not self.unsent[0].gesture.guards:
                size += len(self.unsent[0].gesture.writes)
                if size > MAX_JOINED_WRITES:
                    break
                parts.append(self.unsent.pop(0))
            self.n += 1
            self.sent = Sent(self.n, tag(), self.seq, parts)
        if self.sent is None:
            return None
        gestures = tuple(part.gesture for part in self.sent.parts)
        return Intent(self.client, self.sent.n, self.sent.tag, self.sent.base, gestures, self.sent.first)

    def renamed(self, client: str) -> None:
        """Goes on as another client: this one's id is in use elsewhere, or the server no longer knows it."""
        if self.sent is not None:
            self.sent.first = self.sent.first or self.client
            self.sent.n = 1
        self.client = client
        self.n = 0 if self.sent is None else 1

    # -- hearing -------------------------------------------------------------------------------------------------------

    def hear(self, item: Item) -> None:
        """Takes an item of the log, in sequence; one that comes early waits, one that is known is ignored."""
        if item.seq > self.seq:
            self._early[item.seq] = item
        while self.seq + 1 in self._early:
            self._take(self._early.pop(self.seq + 1))

    def _take(self, item: Item) -> None:
        self.seq = item.seq
        sent = self.sent
        if sent is not None and self.is_of(item, sent):
            self._acknowledged(sent, item)
        else:
            apply(self.confirmed, item.effects)
            self._meet(item.effects, item.by)
        self._view = None
        self._cancel()

    def is_of(self, item: Item, sent: Sent) -> bool:
        """Whether the item is what was sent, under any id of this client, or by a copy of its tab."""
        return item.tag == sent.tag and (item.first or item.client) in (self.client, sent.first)

    def _acknowledged(self, sent: Sent, item: Item) -> None:
        by_gesture = {outcome.gesture: outcome for outcome in item.outcomes}
        state = Layer(self.confirmed)
        backs: dict[Entry, Gesture] = {}
        for place, part in enumerate(sent.parts):
            effects = resolve(state, [part.gesture]).effects
            back = inverse(state, effects)
            apply(state, effects)
            if part.entry is not None:
                former = backs.get(part.entry)
                backs[part.entry] = back if former is None else _joined(back, former, state)
            outcome = by_gesture.get(place)
            if outcome is not None and not (outcome.code == "superseded" and part.lost):
                self.notices.append(Notice(outcome, part.gesture, True))
                if outcome.refused:
                    self._put_back(part)
        self._remake(backs)
        self.sent = None
        apply(self.confirmed, item.effects)

    def _remake(self, backs: dict[Entry, Gesture]) -> None:
        """Makes entries again from what was committed: a cascade may have taken more than was shown. An entry of several intents
        stays as it was made."""
        passing = [write for part in self.unsent for write in part.gesture.writes]
        waiting = {part.entry for part in self.unsent}
        for entry, back in backs.items():
            if entry in waiting or entry.begun:
                entry.begun = True
            else:
                entry.gesture = _with_writes(back, cross(back.writes, passing)[0])

    def _put_back(self, part: Pending) -> None:
        """After a refusal both stacks are as before."""
        stacks = {"edit": (self.undos, None), "undo": (self.redos, self.undos), "redo": (self.undos, self.redos)}
        made, taken = stacks[part.origin]
        if part.entry in made:
            made.remove(part.entry)
        if taken is not None and part.former is not None:
            taken.append(part.former)

    def _meet(self, effects: Sequence[Write], by: str) -> None:
        """Crosses what is not confirmed, and what can be undone, with what others committed."""
        theirs: list[Write] = list(effects)
        for part in self._pending():
            theirs = self._crossed(part, theirs, by)
        if self.sent is not None:
            self.sent.base = self.seq
        for stack in (self.undos, self.redos):
            passing = theirs
            for entry in reversed(stack):
                if not passing:
                    break
                writes, passing = cross(entry.gesture.writes, passing)
                entry.gesture = _with_writes(entry.gesture, writes)
            stack[:] = [entry for entry in stack if entry.gesture.writes]

    def _crossed(self, part: Pending, theirs: list[Write], by: str | None) -> list[Write]:
        """Crosses one gesture, with a notice of what it loses. Returns `theirs` after it."""
        known = len(part.lost)
        passed = _meet(part, theirs)
        lost = tuple(part.lost[known:])
        if lost:
            sent = self.sent is not None and part in self.sent.parts
            self.notices.append(Notice(Outcome(0, "superseded", lost[0].key, by, False, lost), Gesture(lost), sent))
        return passed

    def _cancel(self) -> None:
        """Takes out of what waits the gestures that would be refused or dropped whole by now."""
        state = resolve(self.confirmed, [part.gesture for part in self.sent.parts]).state if self.sent else Layer(self.confirmed)
        kept: list[Pending] = []
        behind: list[Write] = []
        for part in self.unsent:
            behind = self._crossed(part, behind, None)
            decision = resolve(state, [part.gesture])
            if decision.effects or (part.gesture.writes and not decision.outcomes):
                apply(state, decision.effects)
                kept.append(part)
                continue
            self.notices.extend(Notice(outcome, part.gesture, False) for outcome in decision.outcomes)
            self._put_back(part)
            behind = [*behind, *undone(part.gesture.writes)]
        self.unsent = kept
        self._view = state


def _meet(part: Pending, theirs: list[Write]) -> list[Write]:
    if not theirs:
        return theirs
    moved, passed = cross_each(part.gesture.writes, theirs)
    places: list[int] = []  # where each write stands now
    writes: list[Write] = []
    derived = {place for place, _ in part.gesture.derived}
    for place, made in enumerate(moved):
        places.append(len(writes))
        writes.extend(made)
        if not made and place not in derived:
            part.lost.append(part.gesture.writes[place])
    pairs = [
        (place, places[cause])
        for follows, cause in part.gesture.derived
        for place in range(places[follows], places[follows] + len(moved[follows]))
        if moved[cause]
    ]
    part.gesture = Gesture(tuple(writes), part.gesture.guards, tuple(pairs))
    return passed


def _with_writes(gesture: Gesture, writes: Sequence[Write]) -> Gesture:
    return gesture._replace(writes=tuple(writes))


def _joined(later: Gesture, former: Gesture, made: State) -> Gesture:
    """One undo for two actions, the later one first. `made` is the state after both, which the guards of both must find."""
    places = dict.fromkeys((guard.key, guard.path) for guard in (*former.guards, *later.guards))
    guards = (Guard(key, path, value_at(made, key, path)) for key, path in places if key in made)
    return Gesture((*later.writes, *former.writes), tuple(guards))


