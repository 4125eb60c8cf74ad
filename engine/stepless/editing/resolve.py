"""The decision: which effects the gestures of a client have, over the state as it is when they are committed.

Every state that the effects lead to is whole: no edge, subflow, place, pin or child without its block, no edge between two
bodies, no two blocks of one name in one body, no block inside itself.

    gesture                       meets                                  then
    any                           a guard that does not hold             refused `changed_since`
    any                           a write that the table forbids         refused `not_allowed`
    a write of an entity          that is gone                           dropped `gone`
    a write                       a later value over its place           dropped `superseded`
    put block                     its parent is gone                     dropped `gone`
                                  its name is taken in the body          the name gets `_2`, `_3` …; what the gesture adds
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

A refusal takes the whole gesture and nothing else; a drop takes the write and, since they find nothing any more, those that need
it. A write that changes nothing has no effect and no outcome.

A client numbers the characters of a text by what it showed: with everything that it had asked for. Where a write is dropped, or a
reference follows a new name, what it asked for later is crossed with that difference (`_behind`), or its offsets would be wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from stepless.editing.cross import cross, cross_each
from stepless.editing.effects import Delete, Effect, Put, Rename, Set, Splice, Write
from stepless.editing.fold import apply
from stepless.editing.gestures import Gesture, Outcome
from stepless.editing.judging import Refused, Trial
from stepless.editing.state import Layer, State, value_at
from stepless.editing.values import same


class Change(NamedTuple):
    """Effects that were committed since a client's base, and the person they are by."""

    by: str
    effects: Sequence[Effect]


class Decision(NamedTuple):
    """The effects, in order, what became of gestures that were not committed as asked, and the state after them."""

    effects: tuple[Effect, ...]
    outcomes: tuple[Outcome, ...]
    state: Layer


def resolve(state: State, gestures: Sequence[Gesture], since: Iterable[Change] = ()) -> Decision:
    """Decides the gestures of an intent, each over what those before it made. `since` is what others committed between the
    intent's base and `state`, in order. Never raises for what a client sends; costs what the gestures and `since` touch."""
    theirs: list[Write] = []
    blame: dict[str, str] = {}
    for change in since:
        theirs.extend(change.effects)
        blame.update((effect.key, change.by) for effect in change.effects)
    effects: list[Effect] = []
    outcomes: list[Outcome] = []
    layer = Layer(state)
    for index, gesture in enumerate(gestures):
        moved, theirs = cross_each(gesture.writes, theirs)
        trial = Trial(layer)
        try:
            _guarded(layer, gesture)
            theirs = _judged(trial, gesture, moved, theirs)
        except Refused as refused:
            outcomes.append(Outcome(index, refused.code, refused.key, blame.get(refused.key), True, gesture.writes))
            theirs = _behind(moved, theirs)
            continue
        effects.extend(trial.effects)
        apply(layer, trial.effects)
        outcomes.extend(
            Outcome(index, code, key, blame.get(key), False, tuple(gesture.writes[place] for place in sorted(places)))
            for (code, key), places in trial.dropped.items()
        )
    return Decision(tuple(effects), tuple(outcomes), layer)


def _guarded(state: State, gesture: Gesture) -> None:
    for guard in gesture.guards:
        if not same(value_at(state, guard.key, guard.path), guard.value):
            raise Refused("changed_since", guard.key)


def _judged(trial: Trial, gesture: Gesture, moved: Sequence[Sequence[Write]], theirs: list[Write]) -> list[Write]:
    """Judges the writes of one gesture in order. Returns `theirs`, with what the client did not expect of this gesture."""
    causes = dict(gesture.derived)
    behind: list[Write] = []  # how what was done differs from what the client showed
    for place, writes in enumerate(moved):
        if not writes and place not in causes:
            trial.drop(place, "superseded", gesture.writes[place].key)
        for write in writes:
            meant, behind = cross([write], behind)
            if not meant and place not in causes:
                trial.drop(place, "superseded", write.key)
            for one in meant:
                done = trial.judge(place, one, cause=_cause(gesture, causes.get(place)))
                behind = [*behind, *trial.unforeseen(), *([] if done else undone([one]))]
    trial.finish()
    return [*theirs, *behind, *undone(trial.withdrawn), *trial.unforeseen()]


def _cause(gesture: Gesture, place: int | None) -> Write | None:
    return gesture.writes[place] if place is not None and 0 <= place < len(gesture.writes) else None


def _behind(moved: Sequence[Sequence[Write]], theirs: list[Write]) -> list[Write]:
    """`theirs` after a gesture that the client showed and the server refused."""
    return [*theirs, *undone([write for writes in moved for write in writes])]


def undone(writes: Sequence[Write]) -> list[Write]:
    """Writes that take others back, for crossing: only their places and lengths count."""
    back: list[Write] = []
    for write in reversed(writes):
        match write:
            case Splice(key=key, path=path, start=start, removed=removed, text=text):
                back.append(Splice(key, path, start, len(text), "\0" * removed))
            case Put(key=key):
                back.append(Delete(key))
            case Rename() | Delete():
                pass
            case _:
                back.append(Set(write.key, write.path, None))
    return back
