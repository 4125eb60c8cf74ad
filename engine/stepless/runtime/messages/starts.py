"""Starts runs under a key: joins the live run, refuses, or replaces it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from stepless.errors import Conflict, StoreUnavailable
from stepless.limits import MAX_KEY_TRIES
from stepless.model.declaration.policies import OnConflict
from stepless.model.graph import Graph
from stepless.model.json import JSON
from stepless.ports import ERASED, RunHead, Version
from stepless.runtime import inbox
from stepless.runtime.header_notes import notes_in
from stepless.runtime.headers import CLAIM, create_run_once
from stepless.runtime.messages.kept import take_kept
from stepless.runtime.messages.keys import AFTER, BEGINS, KEY, KEY_NUMBER, RunKey, is_live, last_run
from stepless.runtime.signalling import put_signal
from stepless.runtime.world import World


class KeyedStart(NamedTuple):
    """The run of a start under a key. `created` says whether this start created it, otherwise it is the live run of the key."""

    head: RunHead
    created: bool


class NewRun(NamedTuple):
    """What a run is created with. `begins_ms` is when it begins, None for at once."""

    version: Version
    graph: Graph
    inputs: bytes
    facts: Mapping[str, JSON]
    begins_ms: int | None = None


def start_under_key(
    world: World, run_key: RunKey, new: NewRun, reserve: Callable[..., str], rule: OnConflict | None = None
) -> KeyedStart:
    """Returns the run of a start under a key, as `rule` says, or `on_conflict` of the workflow. `reserve` records that the start
    has a run, under its idempotency key for example, and returns the run of the record: that of an earlier start of the same
    request, if there was one. Its second argument is a run that the record names and gives up. Raises `Conflict` (key_taken),
    which names the live run."""
    rule = rule or new.graph.on_conflict
    for _ in range(MAX_KEY_TRIES):
        last = run_key.number(world)
        ran, head = last_run(world, run_key, last)
        if head is not None and is_live(head) and rule is not OnConflict.REPLACE:
            return _join(world, run_key, new, reserve, rule, head)
        number = last if last and (head is None or ran < last) else last + 1
        if number != last and not run_key.raise_to(world, last, number):
            continue  # another start was first: look at its run
        run_id = reserve(run_key.run_id(number))
        if run_id != run_key.run_id(number):
            if (found := former_start(world, run_key, new, run_id, rule)) is not None:
                return found
            if reserve(run_key.run_id(number), run_id) != run_key.run_id(number):
                continue  # a repetition of this start was first
        found = _create_next(world, run_key, number, new, head)
        if found.created or rule is OnConflict.JOIN:
            return found
    raise StoreUnavailable("many starts under this key at once", code="key_busy", mend="try again", run_id=None)


def _join(
    world: World, run_key: RunKey, new: NewRun, reserve: Callable[..., str], rule: OnConflict, live: RunHead
) -> KeyedStart:
    """The live run, for a start that joins it. A repetition names the same run after its end."""
    if rule is OnConflict.REFUSE:
        message = f"the run {live.run_id} of {run_key.workflow_id} has this key"
        raise Conflict(message, code="key_taken", mend="wait for its end, or cancel it", run_id=live.run_id)
    run_id = reserve(live.run_id)
    return KeyedStart(live, False) if run_id == live.run_id else repeated(world, run_key, new, run_id)


def is_own(new: NewRun, head: RunHead) -> bool:
    """Returns whether a run was created by this start or its repetition: by one with the same idempotency key."""
    claim = new.facts.get(CLAIM)
    return claim is not None and notes_in(head).get(CLAIM) == claim


def former_start(world: World, run_key: RunKey, new: NewRun, run_id: str, rule: OnConflict) -> KeyedStart | None:
    """Returns the run that an earlier start of the same request has reserved, created now if that start died before. None if it
    is the run of another start, which created the run of that number first. With `join`, it does not matter whose the run is."""
    found = repeated(world, run_key, new, run_id)
    if found.created or rule is OnConflict.JOIN or CLAIM not in new.facts or found.head.status == ERASED:
        return found
    return found if is_own(new, found.head) else None


def _create_next(world: World, run_key: RunKey, number: int, new: NewRun, before: RunHead | None) -> KeyedStart:
    """Creates the run of a number, and requests the end of the run before it, if that one is live."""
    former = before.run_id if before is not None and is_live(before) else None
    if before is not None and former is not None and not before.sequence:
        # Readers that remove expired messages leave them to the last run of the key alone: from now on, to the new one.
        take_kept(world, run_key, former, before.created_ms)
    found = create(world, run_key, number, new, former)
    if found.created and former is not None:
        cancel_former(world, former, found.head.run_id)
    return found


def create(world: World, run_key: RunKey, number: int, new: NewRun, former: str | None = None) -> KeyedStart:
    """Creates the run of a number of the key, unless another process has created it."""
    facts = {**new.facts, KEY: run_key.key, KEY_NUMBER: number}
    if former is not None:
        facts[AFTER] = former
    begins_ms = new.begins_ms
    if begins_ms is not None:
        facts[BEGINS] = begins_ms
    head, created = create_run_once(
        world, run_key.run_id(number), new.version, new.inputs, facts, numbered=new.graph.numbered, begins_ms=begins_ms
    )
    if created and (begins_ms is not None or former is not None):  # it may begin when what is kept now has expired
        take_kept(world, run_key, head.run_id)
    return KeyedStart(head, created)


def repeated(world: World, run_key: RunKey, new: NewRun, run_id: str) -> KeyedStart:
    """Returns the run that an earlier start of the same request has reserved, created now if that start died before."""
    head = world.store.get_run(run_id)
    if head is not None:
        return KeyedStart(head, False)
    last = run_key.number(world)
    if run_key.run_id(last) == run_id:
        return _create_next(world, run_key, last, new, last_run(world, run_key, last)[1])
    head = world.store.get_run(run_id)  # another start has gone on to the next number, after the run was created
    if head is None:
        message = f"the run {run_id} of this request was removed"
        raise Conflict(message, code="run_erased", mend="use another idempotency key for a new run", run_id=run_id)
    return KeyedStart(head, False)


def cancel_former(world: World, former: str, successor: str) -> None:
    """Requests the end of a run that another one replaces. May be repeated."""
    head = world.store.get_run(former)
    if head is None or not is_live(head):
        return
    now_ms = world.clock.now_ms()
    signal = inbox.cancel_signal(None, f"replaced by {successor}", now_ms)
    if put_signal(world, former, signal, now_ms):
        from stepless.runtime.billing import spending  # imported late: few starts replace a run

        world.queue.send(spending.hint(world, former, "signal"))
