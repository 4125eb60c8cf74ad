"""Applies an event to a state: state + event → state. No other code changes a state.

A decision folds each event as soon as it creates it, and loading a run folds the same events from the log. Both therefore reach
the same state, and a snapshot is only a cache of it: fold(log) = fold(tail, snapshot).

That holds only under three rules, which a new fold has to obey:

* *It is a function of the state and the event alone.* What an event means must not depend on the time, the environment or the
  process that folds it. A value that a decision took from one of these, such as the instant of a retry, is in the event's data.
* *It decides nothing.* If folding chose whether a node starts, a later release with another rule would give old logs another
  meaning, and a run would continue from a state that never was. The consequences of a settled instance for its targets
  (docs/understand/semantics.md#branches) and of a settled iteration for its container (docs/understand/semantics.md#containers)
  are folded, and not logged, because they follow from the event without any choice; in the log they would only repeat it.
* *It accepts every event that a former release has written.* Missing fields have the meaning that they had before there were such
  fields; unknown events of a node change nothing.

The sequence number is checked, since a gap or a repetition shows that two processes wrote: it is refused and never repaired.
Folding takes constant time per event, plus the out-degree of the instance that settled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from heapq import heappush

from stepless.core.events import NODE_FAILURES, Event, EventType
from stepless.core.folding.causes import note_failure
from stepless.core.folding.clocks import arm_limit, arm_run, enter
from stepless.core.folding.consequences import settled
from stepless.core.folding.container_folds import (
    VARIABLE_CONFLICT,
    enclosing_iteration,
    end_attempt,
    leave_container,
    loop_next,
    loop_started,
)
from stepless.core.folding.interruptions import fold_recovered
from stepless.core.folding.iterations import output
from stepless.core.folding.notice_times import arm_notice, first_notice_ms, fold_log
from stepless.core.folding.set_back_folds import CLOCK_SET_BACK, begin_again
from stepless.core.limits.queue import fold_queued, is_ready, unqueue
from stepless.core.mailbox import Mail
from stepless.core.state import (
    MESSAGE,
    SUBRUN,
    Instance,
    RunStatus,
    State,
    Status,
    Timer,
    Wait,
    is_child_at_work,
    is_enclosing,
    scopes,
    stop_receiving,
)
from stepless.core.values.reference_values import Merging
from stepless.core.values.variables import VariableConflict, incoming_cells, merge_cells, written
from stepless.errors import EngineBug, ExpressionError
from stepless.model.graph import Join
from stepless.model.kind import Nature
from stepless.model.steps import TOO_MUCH
from stepless.model.work import added


def fold(state: State, event: Event) -> None:
    """Applies the next event of the log. Raises `EngineBug` when the sequence number is not the next one."""
    if event.sequence != state.sequence + 1:
        raise EngineBug(f"event {event.sequence} after event {state.sequence}", place=state.run_id)
    apply(state, event, subject(state, event))


def subject(state: State, event: Event) -> Instance | None:
    """Returns the instance that an event is about. None for the run's own events, and for a log line of an instance whose
    iteration has ended and was removed. Raises `EngineBug` for an instance that cannot exist."""
    if event.type is EventType.NODE_LOG:
        return state.find(event.instance)
    return state.get(event.instance) if event.instance else None


def apply(state: State, event: Event, instance: Instance | None) -> None:
    """Folds an event for a caller that already has the instance."""
    state.sequence = event.sequence
    if instance is None:
        _RUN_FOLDS.get(event.type, _ignore_of_run)(state, event)
    else:
        NODE_FOLDS.get(event.type, ignore)(state, instance, event)


# -- the run ----------------------------------------------------------------------------------------------------------


def _ignore_of_run(state: State, event: Event) -> None:
    """Events that do not change the state: heartbeat."""


def _run_started(state: State, event: Event) -> None:
    state.status = RunStatus.RUNNING
    state.inputs = event.data.get("inputs")
    if "reused" in event.data or "kept" in event.data:
        state.take_over(event.data)
    state.meta = event.data.get("meta", {})
    state.started_ms = event.at_ms
    state.root.started_ms = event.at_ms
    enter(state, state.root)
    arm_run(state)


def _run_status(state: State, event: Event) -> None:
    status = event.data["status"]
    if "held" in event.data:
        _hold_changed(state, event)
        return
    if event.data.get("reason") == CLOCK_SET_BACK:
        begin_again(state, event.at_ms)
        return
    if status == "paused":
        state.status = RunStatus.PAUSED
        state.paused_since_ms = event.at_ms
        return
    if state.paused_since_ms is not None:
        state.paused_ms += max(0, event.at_ms - state.paused_since_ms)  # the clock may have been set back
        state.paused_since_ms = None
        arm_run(state)
    state.status = RunStatus.RUNNING
    if status == "ending":
        state.held = None
        state.ending = event.data["reason"]
        state.ending_error = event.data.get("error")


def _hold_changed(state: State, event: Event) -> None:
    """Holds or releases the run. A release puts the containers back on the agenda: their next iterations or their ends had to
    wait."""
    state.holds += 1
    if event.data["held"]:
        state.held = {"by": event.data.get("by"), "reason": event.data.get("why"), "at": event.at_ms}
        return
    state.held = None
    for scope in scopes(state):
        state.agenda.extend(one for one in scope.touched() if one.iterations is not None and not one.settled)


def _run_ended(status: RunStatus) -> Callable[[State, Event], None]:
    def folded(state: State, event: Event) -> None:
        state.status = status
        state.ended = True
        state.ended_ms = event.at_ms
        state.held = None
        state.timers.clear()

    return folded


def _run_continued(state: State, event: Event) -> None:
    state.continued += 1
    if is_ready(state) or state.doubted or not (state.limited or state.paced):  # else it waits for a limit, like many others
        state.idle_hops += 1


def _message_received(state: State, event: Event) -> None:
    data = event.data
    state.mailbox.add(Mail(data["id"], data["name"], data.get("key"), data.get("data"), data.get("by"), data["at"]))


# -- nodes ------------------------------------------------------------------------------------------------------------


def ignore(state: State, instance: Instance, event: Event) -> None:
    """Events that do not change the state: log, contract.violated, moderation.flagged, loop.completed."""


def _started(state: State, instance: Instance, event: Event) -> None:
    data = event.data
    first = instance.index == 0
    if not first:
        state.backing_off.pop(event.instance, None)
        state.first_starts.setdefault(event.instance, instance.since_ms)
    if instance.wait is not None:
        unqueue(state, instance)
        instance.wait = None
    instance.attempt = data.get("attempt", 1)
    instance.streamed = 0
    instance.since_ms = event.at_ms
    instance.status = Status.RUNNING
    instance.last_sequence = event.sequence
    if first:
        _first_start(state, instance, event)
    node = instance.node
    if node.kind.nature is Nature.EFFECT and node.enabled:
        state.running[event.instance] = instance
        if state.recoveries:
            state.exclusive = event.instance if data.get("exclusive") else ""
            state.doubted.pop(event.instance, None)


def _first_start(state: State, instance: Instance, event: Event) -> None:
    state.steps += 1
    instance.index = state.steps
    instance.predecessor = instance.last_taken
    instance.substituted = instance.substituted or bool(event.data.get("substituted"))
    if instance.taken + instance.pruned + instance.dead != len(instance.node.branches):
        sources, settled = instance.scope.instances, (Status.COMPLETED, Status.FAILED)
        branches = instance.node.branches
        instance.arrived = tuple(b for b in branches if (source := sources[b]) is not None and source.status in settled)
    if instance.node.join.rule.losers == "cancel":
        state.sweeps.append(instance)
    if instance.scope.wrote:
        _bring_variables(state, instance, event)


def _bring_variables(state: State, instance: Instance, event: Event) -> None:
    """Gives an instance the variables of its taken branches. Without any writes it keeps those of its scope."""
    custom = Merging(state, instance, event.at_ms)
    try:
        instance.cells, conflicts = incoming_cells(instance, custom)
        state.notes.extend((VARIABLE_CONFLICT, instance, name) for name in conflicts)
    except (VariableConflict, ExpressionError) as error:
        # the decision fails this instance next; until then it reads the variables of one of its branches
        sources = instance.scope.instances
        views = [source.cells for branch in instance.node.branches if (source := sources[branch]) is not None]
        instance.cells = merge_cells(views, instance.scope, Join(need=1), custom)[0]
        code = TOO_MUCH if isinstance(error, ExpressionError) and error.code == TOO_MUCH else "failed"
        state.notes.append((code, instance, error.name if isinstance(error, VariableConflict) else str(error)))


def _streamed(state: State, instance: Instance, event: Event) -> None:
    instance.deltas += 1
    instance.streamed += len(event.data["text"])


def _waiting(state: State, instance: Instance, event: Event) -> None:
    data = event.data
    state.running.pop(event.instance, None)
    state.idle_hops = 0
    instance.status = Status.WAITING
    instance.wait = Wait(
        data["reason"],
        event.at_ms,
        data.get("resume_at"),
        data.get("deadline"),
        data.get("handle", "source"),
        tuple(data.get("exits", ("source",))),
        data.get("details", {}),
        first_notice_ms(data.get("details", {}), event.at_ms),
    )
    instance.last_sequence = event.sequence
    arm_notice(state, instance)
    state.waiting[event.instance] = instance
    if is_child_at_work(instance.wait):
        state.children[event.instance] = instance
    else:
        state.children.pop(event.instance, None)
    due_ms = instance.wait.due_ms
    if due_ms is not None:
        heappush(state.timers, Timer(due_ms, event.sequence, "wait", event.instance))
    if instance.wait.reason == SUBRUN:
        arm_limit(state, instance)
    elif instance.wait.reason == MESSAGE:
        state.receivers.setdefault(str(instance.wait.details["message"]), {})[event.instance] = instance


def _resumed(state: State, instance: Instance, event: Event) -> None:
    state.waiting.pop(event.instance, None)
    state.children.pop(event.instance, None)
    instance.answer = event.data
    if event.data.get("reason") == MESSAGE:
        if instance.wait is not None:
            stop_receiving(state, instance)
        if "message" in event.data:
            mail = state.mailbox.take(event.data["name"], event.data["message"])
            instance.answer = {**event.data, "data": mail.data, "facts": mail.facts}
    instance.wait = None
    instance.last_sequence = event.sequence
    instance.status = Status.RUNNING
    state.agenda.append(instance)


def _spend(state: State, event: Event) -> None:
    """Adds an attempt's usage to the run's. A reused result costs nothing: another run has paid for it."""
    if state.usage is not None and not event.data.get("reused"):
        state.usage = added(state.usage, event.data["usage"])


def _retried(state: State, instance: Instance, event: Event) -> None:
    resume_at_ms = event.data["resume_at"]
    if "usage" in event.data:
        _spend(state, event)
    state.running.pop(event.instance, None)
    state.idle_hops = 0
    _end_enclosed(state, instance, event)
    instance.status = Status.WAITING
    details = {"again": True} if event.data.get("again") else {}
    instance.wait = Wait("retry_backoff", event.at_ms, resume_at_ms, None, "source", (), details)
    instance.last_sequence = event.sequence
    state.backing_off[event.instance] = instance
    heappush(state.timers, Timer(resume_at_ms, event.sequence, "retry", event.instance))


def _end_enclosed(state: State, instance: Instance, event: Event) -> None:
    """Lets go of what an attempt enclosed, before the next one: the iterations of a container, a child run that it waited for or
    that has ended."""
    if instance.iterations is not None:
        end_attempt(state, instance, event)
    elif is_enclosing(instance) or (instance.answer is not None and instance.node.kind.calls_runs):
        instance.used = instance.attempt
        state.waiting.pop(event.instance, None)
        state.children.pop(event.instance, None)
    instance.answer = None


def _completed(state: State, instance: Instance, event: Event) -> None:
    data = event.data
    instance.status = Status.COMPLETED
    instance.handle = data.get("handle", "source")
    if (iterations := instance.iterations) is not None and (container := instance.node.container) and "output" not in data:
        instance.value = output(container, iterations)
        leave_container(state, instance, iterations, event)
    else:
        instance.value = data.get("output")
    if variables := data.get("variables"):
        instance.cells = written(instance.cells, variables, instance.node.position, event.sequence)
        instance.scope.wrote = True
    if "response" in data and state.response is None:
        state.response = data["response"]
    if data.get("halt"):
        state.halting = state.halting or "halted"
    if data.get("break"):
        enclosing_iteration(instance.scope).broke = True
    if "usage" in data:
        _spend(state, event)
    settled(state, instance, event)


def _failed(state: State, instance: Instance, event: Event) -> None:
    instance.status = Status.FAILED
    instance.error = event.data["error"]
    instance.cause = str(event.data.get("cause") or event.data["error"]["code"])
    state.failures += 1
    if "usage" in event.data:
        _spend(state, event)
    if variables := event.data.get("variables"):  # of a container that failed in the run that this one repeats
        instance.cells = written(instance.cells, variables, instance.node.position, event.sequence)
        instance.scope.wrote = True
    if (iterations := instance.iterations) is not None and (container := instance.node.container) and container.keeps_writes:
        leave_container(state, instance, iterations, event)
    note_failure(instance.scope, instance)
    _release_losers(state, instance)
    settled(state, instance, event)


def _skipped(state: State, instance: Instance, event: Event) -> None:
    instance.status = Status.SKIPPED
    instance.reason = event.data["reason"]
    if instance.reason == "upstream_failure":
        _release_losers(state, instance)
    settled(state, instance, event)


def _release_losers(state: State, instance: Instance) -> None:
    """Ends the losers of a join that settles without starting: it no longer needs any of its branches."""
    if instance.node.join.rule.losers == "cancel" and not instance.index:
        state.sweeps.append(instance)


def _cancelled(state: State, instance: Instance, event: Event) -> None:
    instance.status = Status.CANCELLED
    instance.reason = event.data["reason"]
    settled(state, instance, event)


_RUN_FOLDS: Mapping[EventType, Callable[[State, Event], None]] = {
    EventType.RUN_STARTED: _run_started,
    EventType.RUN_STATUS_CHANGED: _run_status,
    EventType.RUN_RECOVERED: fold_recovered,
    EventType.RUN_CONTINUED: _run_continued,
    EventType.MESSAGE_RECEIVED: _message_received,
    EventType.RUN_COMPLETED: _run_ended(RunStatus.COMPLETED),
    EventType.RUN_FAILED: _run_ended(RunStatus.FAILED),
    EventType.RUN_CANCELLED: _run_ended(RunStatus.CANCELLED),
    EventType.RUN_TIMED_OUT: _run_ended(RunStatus.TIMED_OUT),
}

NODE_FOLDS: Mapping[EventType, Callable[[State, Instance, Event], None]] = {
    EventType.NODE_QUEUED: fold_queued,
    EventType.NODE_STARTED: _started,
    EventType.NODE_DELTA: _streamed,
    EventType.NODE_LOG: fold_log,
    EventType.NODE_WAITING: _waiting,
    EventType.NODE_RESUMED: _resumed,
    EventType.NODE_RETRIED: _retried,
    EventType.NODE_COMPLETED: _completed,
    EventType.NODE_SKIPPED: _skipped,
    EventType.NODE_CANCELLED: _cancelled,
    EventType.LOOP_STARTED: loop_started,
    EventType.LOOP_NEXT: loop_next,
    **dict.fromkeys(NODE_FAILURES, _failed),
}
