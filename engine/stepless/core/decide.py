"""Decides what happens next in a run, the entry point of the core: state + facts → events + effects.

A decision takes its facts in order. After each fact it works through the agenda: the instances that changed. It examines each
instance once per change and decides it by the table of `branches`. Each decided event is folded at once, which may add instances
to the agenda. The decision ends when the agenda is empty.

* *It ends.* Only a fold puts instances on the agenda: when an instance settles, its targets, and the container around it. A
  settled status never changes, so within one attempt of a container an edge leads to the agenda at most once. What remains are
  loops, whose iterations `max_iterations` and `max_steps` bound.
* *It is complete.* An empty agenda means that no rule applies: an instance whose branches have not changed would get the verdict
  that it had. So a decision over no facts does nothing, unless a permit or the right to an exclusive attempt has come.
* *Its cost* is the number of instances and edges touched, not the size of the graph. It does not recurse, however many prunings
  follow from each other: a chain of 10,000 skipped nodes is 10,000 entries of the agenda.
* *It may stop between two instances* when its steps are used up: the agenda is part of the state in memory, and the next decision
  goes on. The events so far are a valid prefix. A halting run is the exception: what was ready at the instant of the halt still
  starts, and that set has to be taken in one piece.

Do not decide anything from the order of the facts beyond what `branches` says, and do not read a clock, a random number or the
environment here: they are arguments and facts, which is why a simulation can replay every decision.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from stepless.core.branches import Verdict, verdict
from stepless.core.deciding.containers import advance_container
from stepless.core.deciding.ending import conclude, fail_without_progress, halt, request_cancel, sweep_losers, sweep_run
from stepless.core.deciding.messages import take_message
from stepless.core.deciding.pauses import answer_pause, child_changed, complete_resumed, expire_pause, hold_changed, noticed, tick
from stepless.core.deciding.recovery import recovered, stopped
from stepless.core.deciding.set_back import set_back
from stepless.core.deciding.settle import attempt_failed, complete, fail
from stepless.core.deciding.start import begin, end_for_permit, wait, work
from stepless.core.deciding.takeover import apply_failure, next_outcome
from stepless.core.decision import Decision
from stepless.core.doubt import next_in_doubt
from stepless.core.events import EventType
from stepless.core.facts import (
    Answered,
    Begin,
    CancelRequested,
    ChildChanged,
    ClockSetBack,
    Completed,
    Continued,
    Expired,
    Fact,
    Failed,
    Failure,
    HoldChanged,
    Logged,
    Noticed,
    Postponed,
    Received,
    Recovered,
    Stopped,
    Streamed,
    Suspended,
    Tick,
)
from stepless.core.folding.causes import causes_behind
from stepless.core.state import Instance, RunStatus, State, Status, is_effect
from stepless.limits import MAX_IDLE_HOPS

if TYPE_CHECKING:
    from stepless.core.limits.permits import Permits

_NO_ENV: Mapping[str, str] = {}


def decide(
    state: State,
    facts: Sequence[Fact],
    now_ms: int,
    *,
    env: Mapping[str, str] = _NO_ENV,
    capacity: int | None = None,
    spare_ms: int | None = None,
    steps: int | None = None,
    permits: Permits | None = None,
    lingering: Container[str] = (),
    exclusive: bool = True,
) -> Decision:
    """Takes facts in order and returns the decision that follows from them. Afterwards `state` includes the decision's events.

    `env` holds the values of `${NAME}`. `capacity` limits how many attempts run at once, and `spare_ms` the timeout of an attempt
    that begins (None: no limit); attempts beyond these limits are queued, and so are attempts that lack `permits` for the
    limits of their node or workflow (None: these are not applied), and those of instances in `lingering`, whose former attempt
    has ended and whose code has not returned. `exclusive`: the process executes no attempt of other runs and begins none, so that
    an exclusive attempt may begin. A decision whose evaluations take more than `steps` (None: no limit) takes all facts and
    leaves the remaining work to the next decision: it is then not `over`. A late fact (for a closed attempt, a settled pause, an
    ended run) changes nothing. Raises only `EngineBug`. """
    decision = Decision(state, now_ms, env, capacity, spare_ms, permits, lingering, exclusive)
    begins = not state.sequence and len(facts) > 1
    for fact in facts:
        if state.ended:
            break
        _TAKE[type(fact)](decision, fact)
        if begins and type(fact) is Begin:
            continue  # what arrived before the beginning applies to the first nodes: a cancel, messages
        _advance(decision, steps)
    if not facts:
        _advance(decision, steps)
    working = state.running and state.status is RunStatus.RUNNING and state.root.unsettled  # nothing to conclude: it goes on
    if not working and not state.ended and state.sequence and not state.agenda:
        conclude(decision)
    return decision


def _advance(decision: Decision, steps: int | None) -> None:
    """Works through the agenda until it is empty or the steps are used up. A halting run is decided in one piece, because
    `last_starts` must hold exactly what was ready at the instant of the halt."""
    state = decision.state
    agenda = state.agenda
    while True:
        # The order matters: what ends early must be cancelled before anything else could start with it, and queued instances
        # start last, when it is known which of them still may.
        if state.sweeps:
            sweep_losers(decision)
        elif state.ending and state.root.unsettled:
            sweep_run(decision)
        elif agenda:
            if steps is not None and decision.spent > steps and not state.halting:
                return
            _examine(decision, agenda.popleft())
            if state.halting and decision.last_starts is None:
                decision.last_starts = frozenset(agenda)
        elif (state.outcomes and _take_over(decision)) or (state.halting and halt(decision)):
            continue
        elif state.doubted and (instance := next_in_doubt(state)) is not None and decision.admits(instance):
            begin(decision, instance)
        elif not (state.ready and _start_queued(decision)) and not (state.limited and _start_limited(decision)):
            return


def _take_over(decision: Decision) -> bool:
    """Applies the next outcome of the former run. False if there is none."""
    instance = next_outcome(decision.state)
    if instance is None:
        return False
    payload = decision.state.outcomes.get(instance.id)
    if payload is None:
        return True  # it is on the agenda again
    if instance.status is Status.RUNNING:
        work(decision, instance)
    elif "error" in payload and not payload["started"]:
        apply_failure(decision, instance, payload)
    else:
        begin(decision, instance, substituted=bool(payload.get("substituted")))
    return True


def _start_queued(decision: Decision) -> bool:
    """Gives a free slot to the instance that has waited longest. False when no slot is free."""
    state = decision.state
    instance = state.ready[0]
    if instance.id in decision.lingering:
        instance = next((one for one in state.ready if one.id not in decision.lingering), instance)
    if state.halting or state.held is not None or (is_effect(instance) and not decision.admits(instance)):
        return False
    state.ready.remove(instance)
    if instance.status is Status.QUEUED:
        begin(decision, instance)
    return True


def _start_limited(decision: Decision) -> bool:
    """Begins, or moves on to its next limit, the first instance in line for a limit that has a permit. False if there is none."""
    state, permits = decision.state, decision.permits
    if state.halting or state.held is not None:
        return False
    if permits is not None:
        permits.ended(state)
    for cell in permits.open_cells() if permits is not None else list(state.limited)[:1]:
        if cell not in state.limited:
            continue
        instance = next(iter(state.limited[cell].values()))
        if not decision.admits(instance) and decision.fits(instance):
            continue  # else it waits for an invocation with more time
        begin(decision, instance)
        if state.limited.get(cell, {}).get(instance.id) is not instance:
            return True
    return False


def _examine(decision: Decision, instance: Instance) -> None:
    if instance.status is Status.PENDING:
        ruling = verdict(instance)
        if ruling is not Verdict.RUN:
            _decide_pending(decision, instance, ruling)
        elif decision.state.outcomes and instance.id in decision.state.outcomes:
            return  # its outcome is applied in the order of the former run
        elif not decision.state.halting or _may_start(decision, instance):
            begin(decision, instance)
    elif instance.status is Status.RUNNING:
        if instance.answer is not None:
            complete_resumed(decision, instance)
        elif instance.iterations is not None:
            advance_container(decision, instance)


def _decide_pending(decision: Decision, instance: Instance, ruling: Verdict) -> None:
    """Follows every ruling but RUN, which is by far the most frequent."""
    match ruling:
        case Verdict.WAIT:
            return
        case Verdict.RUN_SUBSTITUTED:
            if instance.id not in decision.state.outcomes and _may_start(decision, instance):
                begin(decision, instance, substituted=True)
        case Verdict.SKIP_NOT_TAKEN:
            decision.emit(EventType.NODE_SKIPPED, instance, {"reason": "branch_not_taken"})
        case Verdict.SKIP_FAILED:
            decision.emit(EventType.NODE_SKIPPED, instance, {"reason": "upstream_failure"})
        case Verdict.FAIL:
            message = "an upstream node that it needs failed"
            causes = tuple(causes_behind(instance))
            fail(decision, instance, Failure("upstream", "upstream_failure", message, "upstream", causes=causes))


def _may_start(decision: Decision, instance: Instance) -> bool:
    """Whether an instance may start. A halting run starts nothing new, except instances that became ready at the instant of the
    halt, so that the result does not depend on document order."""
    return not decision.state.halting or (decision.last_starts is not None and instance in decision.last_starts)


# -- facts ------------------------------------------------------------------------------------------------------------


def _attempt(decision: Decision, instance_id: str, attempt: int) -> Instance | None:
    """The instance of this attempt, if the attempt is still open; None for a stale attempt."""
    instance = decision.state.running.get(instance_id)
    return instance if instance is not None and instance.attempt == attempt else None


def _begin(decision: Decision, fact: Begin) -> None:
    if decision.state.sequence == 0:
        data: dict[str, object] = {"inputs": fact.inputs}
        if fact.meta:
            data["meta"] = dict(fact.meta)
        if fact.reused:
            data["reused"] = dict(fact.reused)
        if fact.kept:
            data["kept"] = dict(fact.kept)
        decision.emit_run(EventType.RUN_STARTED, data)
        for hold in fact.holds:
            hold_changed(decision, hold)


def _completed(decision: Decision, fact: Completed) -> None:
    instance = decision.state.running.get(fact.instance)
    if instance is not None and instance.attempt == fact.attempt:  # as `_attempt`, without a call: the most frequent fact
        complete(decision, instance, fact.outcome, usage=fact.usage)


def _failed(decision: Decision, fact: Failed) -> None:
    instance = _attempt(decision, fact.instance, fact.attempt)
    if instance is not None:
        attempt_failed(decision, instance, fact.failure, fact.chance, fact.usage)


def _suspended(decision: Decision, fact: Suspended) -> None:
    instance = _attempt(decision, fact.instance, fact.attempt)
    if instance is not None:
        wait(decision, instance, fact.pause)


def _cancel(decision: Decision, fact: CancelRequested) -> None:
    request_cancel(decision, fact.by, fact.reason)


def _tick(decision: Decision, fact: Tick) -> None:
    tick(decision)


def _expired(decision: Decision, fact: Expired) -> None:
    expire_pause(decision, fact.instance)


def _postponed(decision: Decision, fact: Postponed) -> None:
    instance = _attempt(decision, fact.instance, fact.attempt)
    if instance is not None:
        end_for_permit(decision, instance, "late", "the time for which it was planned had passed")


def _continued(decision: Decision, fact: Continued) -> None:
    """Counts a hand-over once: its hint may be delivered again, also when the run has gone on and now waits."""
    if fact.hops <= decision.state.continued:
        return
    decision.emit_run(EventType.RUN_CONTINUED, {"hops": fact.hops})
    if decision.state.idle_hops > MAX_IDLE_HOPS:
        fail_without_progress(decision)


def _logged(decision: Decision, fact: Logged) -> None:
    instance = _attempt(decision, fact.instance, fact.attempt)
    if instance is not None:
        decision.emit(EventType.NODE_LOG, instance, {"text": fact.text, "attempt": fact.attempt})


def _streamed(decision: Decision, fact: Streamed) -> None:
    instance = _attempt(decision, fact.instance, fact.attempt)
    if instance is not None:
        piece: dict[str, Any] = {"attempt": fact.attempt, "deltaIndex": instance.deltas, "offset": instance.streamed}
        piece["text"] = fact.text
        if fact.media is not None:
            piece["media"] = dict(fact.media)
        decision.emit(EventType.NODE_DELTA, instance, piece)


_TAKE: Mapping[type, Callable[[Decision, Any], None]] = {
    Begin: _begin,
    Completed: _completed,
    Failed: _failed,
    Suspended: _suspended,
    Answered: answer_pause,
    Expired: _expired,
    ChildChanged: child_changed,
    Received: take_message,
    Tick: _tick,
    ClockSetBack: set_back,
    CancelRequested: _cancel,
    HoldChanged: hold_changed,
    Recovered: recovered,
    Stopped: stopped,
    Continued: _continued,
    Logged: _logged,
    Noticed: noticed,
    Postponed: _postponed,
    Streamed: _streamed,
}
