"""Continues a run whose attempts were interrupted, and ends attempts in order when their process stops
(docs/understand/durability.md#deaths-of-the-process).

A loaded state in which attempts are running proves that no process works on them: whoever loads it has taken the lease, and the
former holder, if it lives, is fenced by the epoch. So such a session begins with the fact `Recovered`, and takes nothing before
it but changes of the hold. What an interrupted attempt has done is unknown. What follows depends on what is known of the
instance:

    its outcome was to be taken over from a former run   its outcome is applied: nothing was called
    at-most-once                                          fails, outcome_unknown: repeating might do it twice
    its exclusive attempts killed the process             fails, crashed: the next one would probably end in the same way
    in doubt, under a limit, or with lingering code       is queued, and the same attempt begins again when it may
    any other                                             begins again at once

An attempt that begins again keeps its number and its token: a receiver that keeps tokens recognises the repetition, and the death
does not use up a `retry`. A pure instance whose start was committed without its end is worked again too: the log ended between
two batches of one decision, and evaluating it has no effect outside.

A process that stops in order queues its attempts in the log (`stopped`). Without that the next process could not tell a stop from
a death, and a deployment would count as one.
"""

from __future__ import annotations

from stepless.core.deciding.settle import attempt_failed
from stepless.core.deciding.start import end_for_permit, work
from stepless.core.decision import Decision
from stepless.core.events import EventType
from stepless.core.facts import Failure, Recovered, Stopped
from stepless.core.state import Instance, State, Status, is_in_doubt, scopes
from stepless.limits import MAX_LONE_DEATHS
from stepless.model.kind import Nature


def recovered(decision: Decision, fact: Recovered) -> None:
    """Handles the attempts that started and did not settle. Each runs again with the same token, or fails if the node is marked
    at-most-once. An instance whose exclusive attempts the process did not survive fails too, as its next one would probably end
    in the same way."""
    state = decision.state
    begun = {dispatch.id for dispatch in decision.dispatches}  # by a release of the run, which came with this fact
    cut_off = [instance for instance in state.running.values() if instance.id not in begun]
    data = {"instances": [instance.id for instance in cut_off]}
    decision.emit_run(EventType.RUN_RECOVERED, data if fact.died else {**data, "died": False})
    for instance in cut_off:
        if instance.id in state.outcomes:  # it was to take over its outcome in the run that this one repeats
            work(decision, instance)
        elif instance.node.delivery == "at_most_once":
            _fail_unknown(decision, instance)
        elif not _failed_for_deaths(decision, instance):
            _repeat(decision, instance)
    for instance in _cut_between(state):
        work(decision, instance)


def _fail_unknown(decision: Decision, instance: Instance) -> None:
    failure = Failure("outcome_unknown", "outcome_unknown", "the attempt was cut off; whether it took effect is unknown")
    attempt_failed(decision, instance, failure, 1.0)


def stopped(decision: Decision, fact: Stopped) -> None:
    """Queues the attempts that were cancelled, so that no later process takes them for attempts that a death interrupted."""
    for instance in list(decision.state.running.values()):
        if instance.node.delivery == "at_most_once":
            _fail_unknown(decision, instance)
        else:
            _queue_again(decision, instance, "the process stopped during the attempt, which begins again in another process")


def _repeat(decision: Decision, instance: Instance) -> None:
    """Runs an attempt again that was cut off. In doubt or under a limit it first has to wait: it then ends here, and the same
    attempt begins again. (Earlier releases count it as another attempt.)"""
    if is_in_doubt(decision.state, instance):
        _queue_again(decision, instance, "the process ended during the attempt, which begins again while no other attempt runs")
        return
    if instance.id in decision.lingering:
        end_for_permit(decision, instance, "lingering", "the attempt was cut off and begins again when its code has returned")
        return
    if decision.permits is None or not _is_limited(decision.state, instance):
        work(decision, instance)
        return
    end_for_permit(decision, instance, "cut_off", "the attempt was cut off and begins again when its limit allows it")


def _is_limited(state: State, instance: Instance) -> bool:
    return state.graph.slots is not None or instance.node.limits is not None


def _failed_for_deaths(decision: Decision, instance: Instance) -> bool:
    """Fails an interrupted instance if the process died during enough of its exclusive attempts."""
    deaths = decision.state.lone_deaths.get(instance.id, 0)
    if deaths < max(instance.node.retry.attempts, MAX_LONE_DEATHS):
        return False
    message = f"the process ended {deaths} times during an attempt of this node, and executed no other attempt at these times"
    attempt_failed(decision, instance, Failure("crashed", "crashed", message), 1.0)
    return True


def _queue_again(decision: Decision, instance: Instance, message: str) -> None:
    """Ends an attempt that was interrupted, and queues it. The attempt keeps its number, and its instance the token."""
    facts = {"attempt": instance.attempt, "cause": "interrupted", "code": "cut_off", "message": message, "delay_ms": 0}
    decision.emit(EventType.NODE_RETRIED, instance, {**facts, "resume_at": decision.now_ms, "again": True})
    decision.emit(EventType.NODE_QUEUED, instance, {"again": True})


def is_cut_off(state: State) -> bool:
    """Returns whether a loaded run has attempts that no process works on: its first fact must then be `Recovered`."""
    return bool(state.running) or (not state.ended and bool(_cut_between(state)))


def _cut_between(state: State) -> list[Instance]:
    """Pure instances whose start was committed and whose end was not: the log ended between two batches of one decision."""
    return [
        instance
        for scope in scopes(state)
        for instance in scope.touched()
        if instance.status is Status.RUNNING
        and instance.iterations is None
        and instance.answer is None
        and not (instance.node.kind.nature is Nature.EFFECT and instance.node.enabled)
    ]
