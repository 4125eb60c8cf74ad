"""The door of the core: state + facts → events + effects.

A decision takes its facts in order and after each walks the agenda: the instances about which something changed. Each is
looked at once per change and decided by the table of `branches`; what is decided is folded at once, which may put more on
the agenda. The walk ends when nothing is left to look at, so its cost is the number of instances and edges touched, never
the size of the graph; and there is no recursion, however long a cascade of prunings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from stepless.core.branches import Verdict, verdict
from stepless.core.causes import causes_behind
from stepless.core.containers import advance_container
from stepless.core.decision import Decision
from stepless.core.ending import conclude, fail_without_progress, halt, request_cancel, sweep_losers, sweep_run
from stepless.core.events import EventType
from stepless.core.facts import (
    Answered,
    Begin,
    CancelRequested,
    ChildChanged,
    Completed,
    Continued,
    Expired,
    Fact,
    Failed,
    Failure,
    HoldChanged,
    Logged,
    Noticed,
    Recovered,
    Streamed,
    Suspended,
    Tick,
)
from stepless.core.pauses import answer_pause, child_changed, expire_pause, go_on, hold_changed, noticed, tick
from stepless.core.settle import attempt_failed, complete, fail
from stepless.core.start import begin, wait, work
from stepless.core.state import Instance, State, Status, is_effect, scopes
from stepless.limits import MAX_IDLE_HOPS, MAX_RECOVERIES
from stepless.model.kind import Nature

_NO_ENV: Mapping[str, str] = {}


def decide(
    state: State,
    facts: Sequence[Fact],
    now_ms: int,
    *,
    env: Mapping[str, str] = _NO_ENV,
    capacity: int | None = None,
    room_ms: int | None = None,
    steps: int | None = None,
) -> Decision:
    """Takes facts in order and answers what follows from them; `state` is afterwards what folding the events makes it.

    `env` holds the values that `${NAME}` reads; `capacity` bounds how many attempts run at once and `room_ms` how
    long the timeout of one that begins may be (None: no bound); what does not fit is queued. A decision whose evaluations took
    more than `steps` (None: no bound) takes all facts and leaves the rest to the next one: it is not `over` then. A fact that
    comes too late (a closed attempt, a settled pause, a run that is over) changes nothing. Raises nothing but `EngineBug`.
    """
    decision = Decision(state, now_ms, env, capacity, room_ms)
    for fact in facts:
        if state.ended:
            break
        _TAKE[type(fact)](decision, fact)
        _advance(decision, steps)
    if not facts:
        _advance(decision, steps)
    if not state.ended and state.sequence and decision.over:
        conclude(decision)
    return decision


def _advance(decision: Decision, steps: int | None) -> None:
    """Looks at everything that changed until nothing is left to look at, or the steps are used up. A run that halts is decided
    in one piece: what was ready in the same instant is told apart by that."""
    state = decision.state
    agenda = state.agenda
    while True:
        if state.sweeps:
            sweep_losers(decision)
        elif state.ending and state.root.unsettled:
            sweep_run(decision)
        elif agenda:
            if steps is not None and decision.spent > steps and not state.halting:
                return
            _look_at(decision, agenda.popleft())
            if state.halting and decision.last_starts is None:
                decision.last_starts = frozenset(agenda)
        elif state.halting and halt(decision):
            continue
        elif not (state.ready and _start_queued(decision)):
            return


def _start_queued(decision: Decision) -> bool:
    """Gives a free slot to the instance that has waited longest. False when there is none to give."""
    state = decision.state
    instance = state.ready[0]
    if state.halting or state.held is not None or (is_effect(instance) and not decision.admits(instance)):
        return False
    state.ready.popleft()
    if instance.status is Status.QUEUED:
        begin(decision, instance)
    return True


def _look_at(decision: Decision, instance: Instance) -> None:
    if instance.status is Status.PENDING:
        _decide_pending(decision, instance)
    elif instance.status is Status.RUNNING:
        if instance.answer is not None:
            go_on(decision, instance)
        elif instance.turns is not None:
            advance_container(decision, instance)


def _decide_pending(decision: Decision, instance: Instance) -> None:
    match verdict(instance):
        case Verdict.WAIT:
            return
        case Verdict.RUN:
            if _may_start(decision, instance):
                begin(decision, instance)
        case Verdict.RUN_SUBSTITUTED:
            if _may_start(decision, instance):
                begin(decision, instance, substituted=True)
        case Verdict.SKIP_NOT_TAKEN:
            decision.emit(EventType.NODE_SKIPPED, instance, {"reason": "branch_not_taken"})
        case Verdict.SKIP_FAILED:
            decision.emit(EventType.NODE_SKIPPED, instance, {"reason": "upstream_failure"})
        case Verdict.FAIL:
            message = "what it needs from upstream failed"
            causes = tuple(causes_behind(instance))
            fail(decision, instance, Failure("upstream", "upstream_failure", message, "upstream", causes=causes))


def _may_start(decision: Decision, instance: Instance) -> bool:
    """Nothing new starts in a run that halts, but what became ready in the same instant as the halt: document order must not
    decide between the two."""
    return not decision.state.halting or (decision.last_starts is not None and instance in decision.last_starts)


# -- facts ------------------------------------------------------------------------------------------------------------


def _attempt(decision: Decision, instance_id: str, attempt: int) -> Instance | None:
    """The instance whose attempt this is, if that attempt is still open (else it is a stale attempt)."""
    instance = decision.state.running.get(instance_id)
    return instance if instance is not None and instance.attempt == attempt else None


def _begin(decision: Decision, fact: Begin) -> None:
    if decision.state.sequence == 0:
        data: dict[str, object] = {"inputs": fact.inputs}
        if fact.meta:
            data["meta"] = dict(fact.meta)
        if fact.reused:
            data["reused"] = dict(fact.reused)
        decision.emit_run(EventType.RUN_STARTED, data)
        for hold in fact.holds:
            hold_changed(decision, hold)


def _completed(decision: Decision, fact: Completed) -> None:
    instance = _attempt(decision, fact.instance, fact.attempt)
    if instance is not None:
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


def _recovered(decision: Decision, fact: Recovered) -> None:
    """Started and not settled: runs again with the same token, or fails where running twice is worse than not knowing. An
    instance that is cut off again and again fails too: its next attempt would end as the former ones did."""
    state = decision.state
    cut_off = list(state.running.values())
    decision.emit_run(EventType.RUN_RECOVERED, {"instances": [instance.id for instance in cut_off]})
    for instance in cut_off:
        if instance.node.delivery == "at_most_once":
            failure = Failure("outcome_unknown", "outcome_unknown", "the attempt was cut off; whether it took effect is unknown")
            attempt_failed(decision, instance, failure, 1.0)
        elif state.recoveries[instance.id] > (most := max(instance.node.retry.attempts, MAX_RECOVERIES)):
            message = f"the process ended during an attempt, and again during each of {most} repetitions of it"
            attempt_failed(decision, instance, Failure("crashed", "crashed", message), 1.0)
        else:
            work(decision, instance)
    for instance in _cut_between(state):
        work(decision, instance)


def is_cut_off(state: State) -> bool:
    """Whether a loaded run has anything under way that nobody works on: then the first fact is `Recovered`."""
    return bool(state.running) or (not state.ended and bool(_cut_between(state)))


def _cut_between(state: State) -> list[Instance]:
    """Pure instances whose start was committed and whose end was not: the log was cut between two of its batches."""
    return [
        instance
        for scope in scopes(state)
        for instance in scope.touched()
        if instance.status is Status.RUNNING
        and instance.turns is None
        and instance.answer is None
        and not (instance.node.kind.nature is Nature.EFFECT and instance.node.enabled)
    ]


def _continued(decision: Decision, fact: Continued) -> None:
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
    Tick: _tick,
    CancelRequested: _cancel,
    HoldChanged: hold_changed,
    Recovered: _recovered,
    Continued: _continued,
    Logged: _logged,
    Noticed: noticed,
    Streamed: _streamed,
}
