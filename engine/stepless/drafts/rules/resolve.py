"""Decides which effects the operations of a request have, over the state as it is when they are committed.

Every state that the effects lead to is whole: no edge, subflow, place, pin or child without its block, no edge between two
bodies, no two blocks of one name in one body, no block inside itself.

    operation                     meets                                  then
    any                           a guard that does not hold             refused `changed_since`
    any                           a write that the table forbids         refused `not_allowed`
    a write of an entity          that is gone                           dropped `gone`
    a write                       a later value over its place           dropped `superseded`
    put block                     its parent is gone                     dropped `gone`
                                  its name is taken in the body          the name gets `_2`, `_3` …; what the operation adds
                                                                         follows
    put edge                      an end is gone                         dropped `gone`
                                  its ends are in two bodies             dropped `other_body`
                                  the same tie stands                    dropped `already_there`
    del block                     what hangs on it                       goes too: edges, subflow, place, pin, children
    rename                        the name is taken                      refused `name_taken`
                                  texts that mention it                  derived splices, as far as they still stand
    set parent                    a container that is gone               dropped `gone`
                                  one below the block itself             refused `parent_cycle`
                                  the name taken there                   the name gets `_2`, `_3` …
                                  edges to what stays                    go with it
    a change of a pin             more than a pin, or all, may hold      refused `pin_too_large`, `pins_too_large`
    set order                     longer than its limit                  the siblings get new orders
    put block, set parent         more containers around it than allowed refused `too_deep`
    any                           more than a decision may take          refused `gesture_too_large`

A refusal takes the whole operation and nothing else; a drop takes the write and, since they find nothing any more, those that
need it. A write that changes nothing has no effect and no outcome.

A client numbers the characters of a text by what it showed: with everything that it had asked for. Where a write is dropped, or a
reference follows a new name, what it asked for later is transformed with that difference (`_Unknown`), or its offsets would be
wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from stepless.drafts.rules.budget import Budget, Exhausted
from stepless.drafts.rules.effects import Delete, Effect, Put, Rename, Set, Splice, Write
from stepless.drafts.rules.fold import apply
from stepless.drafts.rules.requests import Operation, Outcome, RefusalCode
from stepless.drafts.rules.state import Layer, State, value_at
from stepless.drafts.rules.transform import transform
from stepless.drafts.rules.validation import Refused, Validation
from stepless.drafts.rules.values import same

TOO_LARGE: Final[RefusalCode] = "gesture_too_large"


class Change(NamedTuple):
    """Effects that were committed since a client's base, and the person they are by."""

    by: str
    effects: Sequence[Effect]


class Decision(NamedTuple):
    """The effects, in order, what became of operations that were not committed as asked, and the state after them."""

    effects: tuple[Effect, ...]
    outcomes: tuple[Outcome, ...]
    state: Layer


def resolve(
    state: State, operations: Sequence[Operation], since: Iterable[Change] = (), budget: Budget | None = None,
) -> Decision:
    """Decides the operations of a request, each over what those before it made. `since` is what others committed between the
    request's base and `state`, in order. Costs what the operations and `since` touch.

    Each operation has a budget of its own, and is refused with `gesture_too_large` beyond it: then this never raises for what a
    client sends. With `budget` all have that one together, and `Exhausted` is raised unless a single operation is too large by
    itself."""
    unknown = _Unknown()
    blame: dict[str, str] = {}
    for change in since:
        unknown.add(change.effects)
        blame.update((effect.key, change.by) for effect in change.effects)
    effects: list[Effect] = []
    outcomes: list[Outcome] = []
    layer = Layer(state)
    for index, operation in enumerate(operations):
        allowed = budget or Budget()
        validation = Validation(layer, allowed)
        moved: list[list[Write]] = []
        try:
            for write in operation.writes:
                moved.append(unknown.met(write, allowed))
            _guarded(layer, operation)
            _validate(validation, operation, moved, unknown, allowed)
        except Exhausted as exhausted:
            if budget is not None and (len(operations) > 1 or (exhausted.by == "transform" and exhausted.key in blame)):
                raise
            refusal = Outcome(index, TOO_LARGE, exhausted.key, None, True, operation.writes)
        except Refused as refused:
            refusal = Outcome(index, refused.code, refused.key, blame.get(refused.key), True, operation.writes)
        else:
            effects.extend(validation.effects)
            apply(layer, validation.effects)
            outcomes.extend(
                Outcome(index, code, key, blame.get(key), False, tuple(operation.writes[place] for place in sorted(places)))
                for (code, key), places in validation.dropped.items()
            )
            continue
        outcomes.append(refusal)
        unknown.add(undone([write for writes in moved for write in writes]))
    return Decision(tuple(effects), tuple(outcomes), layer)


class _Unknown:
    """Writes that a client did not know when it made its own, by their entity: writes of others do not concern each other."""

    def __init__(self) -> None:
        self._of: dict[str, list[Write]] = {}

    def add(self, writes: Iterable[Write]) -> None:
        for write in writes:
            self._of.setdefault(write.key, []).append(write)

    def met(self, write: Write, budget: Budget) -> list[Write]:
        """Returns a write after all of them, which are then after it. Raises `Exhausted`."""
        theirs = self._of.get(write.key)
        if not theirs:
            return [write]
        budget.transformed(len(theirs), write.key)
        mine, self._of[write.key] = transform([write], theirs)
        return mine

    def take(self, others: _Unknown) -> None:
        """Adds what another one has, after what is here."""
        for writes in others._of.values():
            self.add(writes)


def _guarded(state: State, operation: Operation) -> None:
    for guard in operation.guards:
        if not same(value_at(state, guard.key, guard.path), guard.value):
            raise Refused("changed_since", guard.key)


def _validate(
    validation: Validation, operation: Operation, moved: Sequence[Sequence[Write]], unknown: _Unknown, budget: Budget
) -> None:
    """Validates the writes of one operation in order. Adds to `unknown` what the client did not expect of this operation."""
    causes = dict(operation.derived)
    behind = _Unknown()  # how what was done differs from what the client showed
    for place, writes in enumerate(moved):
        if not writes and place not in causes:
            validation.drop(place, "superseded", operation.writes[place].key)
        for write in writes:
            meant = behind.met(write, budget)
            if not meant and place not in causes:
                validation.drop(place, "superseded", write.key)
            for one in meant:
                done = validation.validate(place, one, cause=_cause(operation, causes.get(place)))
                behind.add(validation.unforeseen())
                behind.add([] if done else undone([one]))
    validation.finish()
    unknown.take(behind)
    unknown.add(undone(validation.withdrawn))
    unknown.add(validation.unforeseen())


def _cause(operation: Operation, place: int | None) -> Write | None:
    return operation.writes[place] if place is not None and 0 <= place < len(operation.writes) else None


class _Blank(str):
    """A text of which only the length counts. It takes no room: a client may say that it removed more than any text has."""

    _length: int

    def __new__(cls, length: int) -> _Blank:
        made = super().__new__(cls)
        made._length = length
        return made

    def __len__(self) -> int:
        return self._length


def undone(writes: Sequence[Write]) -> list[Write]:
    """Writes that take others back, for transformation: only their places and lengths count."""
    back: list[Write] = []
    for write in reversed(writes):
        match write:
            case Splice(key=key, path=path, start=start, removed=removed, text=text):
                back.append(Splice(key, path, start, len(text), _Blank(removed)))
            case Put(key=key):
                back.append(Delete(key))
            case Rename() | Delete():
                pass
            case _:
                back.append(Set(write.key, write.path, None))
    return back
