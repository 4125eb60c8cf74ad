"""Ends pauses (docs/understand/semantics.md#pauses): by answers, deadlines, timers and child runs. Any number of instances wait
at once, and each resumes independently.

In a held run, attempts in progress finish, and answers, deadlines, timers and the ends of child runs are accepted as usual.
Everything that would start is queued until the run is released.
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heappop

from stepless.core.deciding.ending import end_iterations
from stepless.core.deciding.messages import output_of
from stepless.core.deciding.settle import attempt_failed, complete, drawn, fail
from stepless.core.deciding.start import begin
from stepless.core.decision import Decision, iso
from stepless.core.events import EventType
from stepless.core.facts import Answered, ChildChanged, Failure, HoldChanged, Noticed
from stepless.core.folding.clocks import LIMIT
from stepless.core.folding.notice_times import NOT_NOTIFIED, NOTIFIED
from stepless.core.limits.queue import PACED
from stepless.core.state import MESSAGE, SUBRUN, Instance, State, Status, Timer, is_enclosing
from stepless.core.values.inputs import merged_inputs
from stepless.model.json import JSON
from stepless.model.kind import SOURCE, Outcome
from stepless.model.work import passed_through

TIMEOUT = "timeout"
APPROVED = "approved"
CONTAINER_TIMED_OUT = "container_timed_out"
CHILD_ENDS = frozenset({"child_failed", "child_cancelled", "child_timed_out"})


def refusal(instance: Instance, handle: str, answer: JSON) -> tuple[str, ...]:
    """Returns why an answer to a waiting instance is invalid, one sentence per reason; empty when it is valid. A refused answer
    leaves the pause open."""
    wait = instance.wait
    if wait is None or instance.status is not Status.WAITING or wait.reason == "retry_backoff":
        return (f"{instance.id} is not waiting for an answer",)
    if handle not in wait.exits or handle == TIMEOUT:
        answers = ", ".join(exit for exit in wait.exits if exit != TIMEOUT)
        return (f"{handle!r} is not a possible answer to {instance.id}; answer with {answers}",)
    contract = instance.node.answer_contract
    return contract.violations({} if answer is None else answer) if contract is not None else ()


def answer_pause(decision: Decision, fact: Answered) -> None:
    """Takes an answer. A late or invalid answer changes nothing."""
    instance = decision.state.waiting.get(fact.instance)
    if instance is None or refusal(instance, fact.handle, fact.answer):
        return
    data: dict[str, JSON] = {"handle": fact.handle}
    if fact.answer is not None:
        data["answer"] = fact.answer
    if fact.by is not None:
        data["by"] = fact.by
    if fact.at_ms is not None:
        data["decided_at"] = fact.at_ms
    _resume(decision, instance, data)


def child_changed(decision: Decision, fact: ChildChanged) -> None:
    """Takes a child run's new status. Its end settles the instance that waits for it; its pause may pause this run too."""
    instance = decision.state.waiting.get(fact.instance)
    wait = instance.wait if instance is not None else None
    if instance is None or wait is None or wait.reason != SUBRUN or fact.run not in ("", wait.details.get("run")):
        return
    if fact.status == "completed":
        _resume(decision, instance, {"handle": SOURCE, "answer": fact.output})
    elif fact.status == "failed" and instance.node.kind.distributes and fact.error:
        code, message = str(fact.error["code"]), str(fact.error["message"])
        attempt_failed(decision, instance, Failure("provider_error", code, message), drawn(decision.state, instance))
    elif f"child_{fact.status}" in CHILD_ENDS:
        child = wait.details.get("run")
        causes = ({"run": child, **fact.error},) if fact.error else ()
        message = f"the child run {child} is {fact.status.replace('_', ' ')}"
        cause = TIMEOUT if fact.status == "timed_out" else "child_failed"
        failure = Failure(cause, f"child_{fact.status}", message, causes=causes, inner=fact.cause)
        attempt_failed(decision, instance, failure, drawn(decision.state, instance))
    elif bool(wait.details.get("paused")) is not (fact.status == "paused"):
        details = {**wait.details, "paused": fact.status == "paused"}
        decision.emit(EventType.NODE_WAITING, instance, {"reason": SUBRUN, "exits": [], "details": details})


def hold_changed(decision: Decision, fact: HoldChanged) -> None:
    """Holds or releases the run. Each change takes effect once, in order. A run that is ending ignores it."""
    state = decision.state
    if state.ending or fact.number != state.holds + 1:
        return
    data: dict[str, JSON] = {"status": state.status.value, "held": fact.held}
    if fact.by is not None:
        data["by"] = fact.by
    if fact.reason is not None:
        data["why"] = fact.reason
    decision.emit_run(EventType.RUN_STATUS_CHANGED, data)


def expire_pause(decision: Decision, instance_id: str) -> None:
    """Expires a pause whose deadline won: it leaves by its `timeout` exit or, if that is not wired, fails. A missing answer never
    counts as success."""
    instance = decision.state.waiting.get(instance_id)
    if instance is None:
        return
    if TIMEOUT in instance.node.handles:
        _resume(decision, instance, {"handle": TIMEOUT})
    else:
        fail(decision, instance, Failure(TIMEOUT, "wait_timeout", "no answer arrived in time", "timeout"))


def _resume(decision: Decision, instance: Instance, data: Mapping[str, JSON]) -> None:
    wait = instance.wait
    decision.emit(EventType.NODE_RESUMED, instance, {**data, "reason": wait.reason if wait is not None else ""})


def complete_resumed(decision: Decision, instance: Instance) -> None:
    """Completes an instance whose resume is in the log."""
    answer = instance.answer or {}
    handle, given = str(answer.get("handle", SOURCE)), answer.get("answer")
    value: JSON
    match answer.get("reason"):
        case "human_input":
            at = iso(int(answer.get("decided_at", decision.now_ms)))  # logs of earlier releases lack it
            value = _decided(instance, given if isinstance(given, dict) else {}, handle, answer.get("by"), at)
        case "message" if handle == SOURCE:
            value = output_of(answer)
        case "timer":
            value = passed_through(merged_inputs(decision.state, instance))
        case _:
            value = given
    complete(decision, instance, Outcome(value, handle))


def _decided(instance: Instance, fields: Mapping[str, JSON], handle: str, by: JSON, at: str) -> JSON:
    """The output of an approval. A field of the answer that is named `approved` stays, and an output contract that only the
    engine's `approved` would violate gets the output without it: documents of earlier releases keep their meaning."""
    former = {**fields, "decision": handle, "by": by, "at": at}
    value = {"approved": handle == APPROVED, **former}
    contract = instance.node.output_contract
    forbidden = contract is not None and contract.violations(value) and not contract.violations(former)
    return former if forbidden else value


def noticed(decision: Decision, fact: Noticed) -> None:
    """Logs the result of a notice, unless the pause has ended."""
    instance = decision.state.waiting.get(fact.instance)
    if instance is None or instance.wait is None or instance.wait.sent != fact.number:
        return
    if fact.fault is None:
        decision.emit(EventType.NODE_LOG, instance, {"code": NOTIFIED, "number": fact.number + 1})
    else:
        data = {"code": NOT_NOTIFIED, "level": "warning", "number": fact.number + 1, "text": fact.fault}
        decision.emit(EventType.NODE_LOG, instance, data)


def tick(decision: Decision) -> None:
    """Processes every timer that is due at this instant, in the order of due times."""
    timers = decision.state.timers
    while timers and timers[0].at_ms <= decision.now_ms and not decision.state.ending:
        timer = heappop(timers)
        _DUE[timer.kind](decision, timer)


def _due_retry(decision: Decision, timer: Timer) -> None:
    instance = decision.state.backing_off.get(timer.instance)
    if instance is not None and instance.last_sequence == timer.stamp:
        begin(decision, instance)


def _due_pace(decision: Decision, timer: Timer) -> None:
    instance = decision.state.paced.get(timer.instance)
    if instance is not None and instance.wait is not None and instance.wait.resume_at_ms == timer.at_ms:
        begin(decision, instance)


def _due_limit(decision: Decision, timer: Timer) -> None:
    """Ends an attempt that has exceeded its time limit, with everything inside: one of a container, or one that waits for a child
    run."""
    instance = decision.state.find(timer.instance)
    if instance is None or not is_enclosing(instance) or instance.attempt != timer.stamp:
        return
    end_iterations(decision, instance, CONTAINER_TIMED_OUT)
    message = f"it did not end within {instance.node.limit_ms} ms"
    failure = Failure(TIMEOUT, TIMEOUT, message, "timeout")
    attempt_failed(decision, instance, failure, drawn(decision.state, instance))


def _due_wait(decision: Decision, timer: Timer) -> None:
    instance = decision.state.waiting.get(timer.instance)
    if instance is None or instance.wait is None or instance.last_sequence != timer.stamp:
        return
    if instance.wait.resume_at_ms is not None:
        _resume(decision, instance, {"handle": instance.wait.handle})
    elif instance.wait.reason == MESSAGE:  # messages come through the log alone, so nothing competes with the deadline
        expire_pause(decision, timer.instance)
    else:
        decision.expiries.append(timer.instance)


def _due_notice(decision: Decision, timer: Timer) -> None:
    instance = decision.state.waiting.get(timer.instance)
    if instance is not None and instance.wait is not None and instance.wait.notice_ms == timer.at_ms:
        decision.notices.append(timer.instance)


def _due_join(decision: Decision, timer: Timer) -> None:
    instance = decision.state.find(timer.instance)
    if instance is None or instance.status is not Status.PENDING or decision.state.halting:
        return
    rule = instance.node.join.rule
    if rule.proceeds and instance.taken >= max(1, rule.min_success):
        begin(decision, instance)
    else:
        message = f"{instance.taken} of {len(instance.node.branches)} branches had arrived after {rule.timeout_ms} ms"
        fail(decision, instance, Failure(TIMEOUT, "join_timeout", message, "timeout"))


def _due_run(decision: Decision, timer: Timer) -> None:
    state = decision.state
    if state.paused_since_ms is None and timer.stamp == state.paused_ms:
        decision.emit_run(EventType.RUN_STATUS_CHANGED, {"status": "ending", "reason": "run_timed_out"})


_DUE = {
    "retry": _due_retry, LIMIT: _due_limit, "wait": _due_wait, "notice": _due_notice, "join": _due_join, "run": _due_run,
    PACED: _due_pace,
}  # fmt: skip


def next_due_ms(state: State) -> int | None:
    """Returns the earliest instant at which a timer may be due. May be too early, never too late."""
    return state.timers[0].at_ms if state.timers else None
