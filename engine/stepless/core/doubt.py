"""Finds the attempt that kills its process, without blaming those that ran at the same time
(docs/understand/durability.md#deaths-of-the-process).

The problem: a death interrupts every attempt that was in progress and does not tell which of them caused it. A run that simply
begins them again dies for ever, and a run that counts the death against each of them fails fifty good nodes with the bad one.

The rule. The *window* of a run is the set of its instances that a death interrupted and that have not settled since.

* After the first death of a window all of them begin again: most deaths are deployments, and have nothing to do with the run.
* From the second one on they are *in doubt*: each attempt of theirs is exclusive, so the process executes no other at the same
  time.
* Only a death during an exclusive attempt counts against its instance (`lone_deaths`). Enough of them fail it (`recovery`).

Why it is right. An instance is charged only if nothing else was executed, so an innocent one is charged only for deaths by causes
outside of the run. Those strike the instances in turn, as the one with the fewest deaths of its own begins next: with n instances
in doubt, one of them reaches k deaths only after about n · (k − 1) others, and each that completes leaves the window. The guilty
one dies each time, and is found after the two deaths of the window and its own, five by default.

It must not be weakened in three places. An exclusive attempt waits for *all* attempts of the process to end, those of other runs
and lingering code included, and not only for those of its run. An instance in doubt that lacks a permit gets it before the
process holds others back (`Permits.want_for_doubt`), or it would wait for slots that those hold. And an instance in the line of a
limit is not one that waits for the process (`waits_for_process`): a second death that took it for one made a run that never
ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepless.core.state import Instance, State, is_in_doubt

if TYPE_CHECKING:
    from stepless.core.limits.permits import Permits


def needs_exclusive(state: State, permits: Permits | None) -> bool:
    """Returns whether the next attempt of the run is an exclusive one that may begin once the process executes no other
    attempt."""
    if not state.recoveries or state.running or state.held is not None:
        return False
    if _startable(state):
        return True
    heads = (state.limited[cell] for cell in permits.open_cells() if cell in state.limited) if permits is not None else ()
    return not state.halting and any(is_in_doubt(state, next(iter(line.values()))) for line in heads)


def next_in_doubt(state: State) -> Instance | None:
    """Returns the queued instance in doubt whose exclusive attempt begins next: the one with the fewest deaths, so that deaths by
    other causes strike each of them in turn. None while another attempt of the run is in progress."""
    if state.running or state.held is not None:
        return None
    return min(_startable(state), key=lambda one: state.lone_deaths.get(one.id, 0), default=None)


def _startable(state: State) -> list[Instance]:
    """The queued instances in doubt; in a halting run those with an attempt that was interrupted, as nothing new starts."""
    queued = list(state.doubted.values())
    return [one for one in queued if is_interrupted(one)] if state.halting else queued


def is_interrupted(instance: Instance) -> bool:
    """Returns whether a queued instance continues an attempt that was interrupted."""
    return instance.wait is not None and bool(instance.wait.details.get("again"))


def has_interrupted(state: State) -> bool:
    """Returns whether an attempt of an instance in doubt was interrupted and has not begun again."""
    return any(map(is_interrupted, state.doubted.values()))


def may_begin(state: State, instance: Instance, *, exclusive: bool) -> bool:
    """Returns whether an attempt may begin as far as doubt decides it. `exclusive`: an exclusive one may."""
    if is_in_doubt(state, instance):
        return exclusive and not state.running
    return not state.doubted and state.exclusive not in state.running
