"""Ends instances early, and ends the run: losers, cancel, deadline, guards, halt, final status
(docs/understand/semantics.md#how-a-run-ends, docs/understand/semantics.md#cancel).

The log records a request to end before the first instance is ended. After a crash in between, the process that loads the run next
ends the remaining instances.
"""

from __future__ import annotations

from typing import Any

from stepless.core.branches import SATISFIED, UNSATISFIED
from stepless.core.decision import Decision
from stepless.core.doubt import has_interrupted
from stepless.core.events import EventType
from stepless.core.mailbox import UNREAD
from stepless.core.state import Instance, RunStatus, Scope, State, Status, is_effect
from stepless.core.values.variables import outgoing_cells
from stepless.limits import SUMMARY_EVENTS
from stepless.model.declaration.policies import OnFailure
from stepless.model.json import JSON


def request_cancel(decision: Decision, by: str | None, reason: str | None) -> None:
    """Cancels the run; a second request, or one after the end, changes nothing."""
    if decision.state.ending or decision.state.ended:
        return
    data: dict[str, JSON] = {"status": "ending", "reason": "run_cancelled"}
    if by is not None:
        data["by"] = by
    if reason is not None:
        data["why"] = reason
    decision.emit_run(EventType.RUN_STATUS_CHANGED, data)


def sweep_losers(decision: Decision) -> None:
    """Ends the losers of joins that have started, or have settled without starting."""
    joins, decision.state.sweeps = decision.state.sweeps, []
    for join in joins:
        reason = SATISFIED if join.index else UNSATISFIED
        for position in join.node.losers:
            _end(decision, join.scope.at(position), reason, skip_undispatched=True)


def sweep_run(decision: Decision) -> None:
    """Ends everything that is not settled."""
    _end_scope(decision, decision.state.root, decision.state.ending, skip_undispatched=False)


def _end_scope(decision: Decision, scope: Scope, reason: str, *, skip_undispatched: bool) -> None:
    for position in range(len(scope.instances)):
        _end(decision, scope.at(position), reason, skip_undispatched=skip_undispatched)


def end_iterations(decision: Decision, instance: Instance, reason: str) -> None:
    """Cancels everything inside the live iterations of a container."""
    for scope in list(instance.iterations.live.values()) if instance.iterations is not None else ():
        _end_scope(decision, scope, reason, skip_undispatched=False)


def _end(decision: Decision, instance: Instance, reason: str, *, skip_undispatched: bool) -> None:
    """Ends one instance, after the instances inside it."""
    if instance.settled:
        return
    if instance.status in (Status.PENDING, Status.QUEUED):
        skip = EventType.NODE_SKIPPED if skip_undispatched else EventType.NODE_CANCELLED
        decision.emit(skip, instance, {"reason": reason})
        return
    if instance.iterations is not None:
        for scope in list(instance.iterations.live.values()):
            _end_scope(decision, scope, reason, skip_undispatched=skip_undispatched)
    if instance.id in decision.state.running:
        decision.aborts.append(instance.id)
    decision.emit(EventType.NODE_CANCELLED, instance, {"reason": reason})


def halt(decision: Decision) -> bool:
    """Continues a halt, in which nothing new is dispatched. Waiting instances end now. The others end when all attempts in
    progress have finished, or now under `on_failure: cancel`. True when this decided anything."""
    state = decision.state
    if state.halting == "run_failed" and state.graph.on_failure is OnFailure.CANCEL:
        unsettled = state.root.unsettled > 0
        _end_scope(decision, state.root, state.halting, skip_undispatched=False)
        return unsettled
    waiting = [*state.waiting.values(), *state.backing_off.values()]
    for instance in waiting:
        _end(decision, instance, state.halting, skip_undispatched=False)
    if waiting or state.running or not state.root.unsettled or has_interrupted(state):
        return bool(waiting)
    _end_scope(decision, state.root, state.halting, skip_undispatched=state.halting == "halted")
    return True


def conclude(decision: Decision) -> None:
    """Completes a decision: ends the run if everything has settled, or updates whether it is paused."""
    state = decision.state
    if state.root.unsettled == 0:
        _end_run(decision)
        return
    queued = bool(state.ready or state.doubted or state.limited or state.paced)
    if not (state.running or state.waiting or state.backing_off or queued or state.held is not None):
        _fail_run(decision, "stalled", "no node can continue; please report this")
        sweep_run(decision)
        _end_run(decision)
        return
    if state.held is None:
        busy = state.running or state.backing_off or state.children or queued
        paused = bool(state.waiting) and not busy
    else:
        paused = not state.running
    if paused and state.status is RunStatus.RUNNING:
        decision.emit_run(EventType.RUN_STATUS_CHANGED, {"status": "paused"})
    elif not paused and state.status is RunStatus.PAUSED:
        decision.emit_run(EventType.RUN_STATUS_CHANGED, {"status": "running"})


def fail_without_progress(decision: Decision) -> None:
    """Fails a run that invocations hand over to each other repeatedly without progress."""
    message = f"no attempt ended and no node settled in {decision.state.idle_hops} consecutive hand-overs"
    state = decision.state
    queued = next((instance for instance in (*state.doubted.values(), *state.ready) if is_effect(instance)), None)
    if queued is not None:
        message += f"; {queued.id} is next, and its timeout of {queued.node.timeout_ms} ms may not fit into an invocation"
    _fail_run(decision, "no_progress", message)


def _fail_run(decision: Decision, code: str, message: str) -> None:
    error = {"code": code, "class": "execution", "message": message}
    decision.emit_run(EventType.RUN_STATUS_CHANGED, {"status": "ending", "reason": "run_failed", "error": error})


_ENDS = {
    RunStatus.TIMED_OUT: EventType.RUN_TIMED_OUT,
    RunStatus.FAILED: EventType.RUN_FAILED,
    RunStatus.CANCELLED: EventType.RUN_CANCELLED,
    RunStatus.COMPLETED: EventType.RUN_COMPLETED,
}


def _end_run(decision: Decision) -> None:
    state = decision.state
    status = final_status(state)
    data: dict[str, Any] = {}
    if status is RunStatus.FAILED:
        data["error"] = state.ending_error or state.root.error or {"code": "run_failed", "message": "the run failed"}
        if not state.ending_error and state.root.cause not in ("", data["error"]["code"]):
            data["cause"] = state.root.cause
    if state.failures:
        data["failures"] = state.failures
    if state.sequence >= SUMMARY_EVENTS and state.usage is not None:
        data |= _summary(state)
    decision.emit_run(_ENDS[status], data)


def _summary(state: State) -> dict[str, JSON]:
    """A summary of a long run, so that readers need not fold its log."""
    facts: dict[str, JSON] = {"steps": state.steps, "usage": dict(state.usage or {}), "variables": variables(state)}
    if state.mailbox.unread:
        facts[UNREAD] = [dict(mail.facts) for mail in state.mailbox]
    return facts | ({"output": outputs(state)} if state.response is None else {"response": dict(state.response)})


def final_status(state: State) -> RunStatus:
    """Returns the run's status by precedence: timed_out > failed > cancelled > completed."""
    if state.ending == "run_timed_out":
        return RunStatus.TIMED_OUT
    if state.root.bad or state.ending == "run_failed":
        return RunStatus.FAILED
    return RunStatus.CANCELLED if state.ending == "run_cancelled" else RunStatus.COMPLETED


def variables(state: State) -> dict[str, JSON]:
    """Returns the run's variables so far, as its last nodes left them; of several concurrent values, the last."""
    return {name: cell.value for name, cell in outgoing_cells(state.root, lambda expression, values: values[-1]).items()}


def outputs(state: State) -> JSON:
    """Returns the run's output so far: the body of its `respond`, else {leaf: output} of the completed leaves in document
    order."""
    if state.response is not None:
        return state.response.get("body")
    leaves = (state.root.instances[position] for position in state.graph.root.leaves)
    return {leaf.id: leaf.value for leaf in leaves if leaf is not None and leaf.status is Status.COMPLETED}
