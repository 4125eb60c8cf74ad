"""Starts a node (docs/understand/semantics.md#attempts): records the start, merges inputs, checks the input contract, renders
parameters, then decides the node or dispatches an attempt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from stepless.core.deciding.containers import open_container
from stepless.core.deciding.messages import deliver, wanted_by
from stepless.core.deciding.settle import complete, fail, processing
from stepless.core.deciding.takeover import apply_outcome
from stepless.core.decision import Decision, Dispatch, Render
from stepless.core.events import EventType
from stepless.core.facts import Failure
from stepless.core.state import MESSAGE, Instance, State, is_in_doubt
from stepless.core.values.inputs import merged_inputs, with_defaults
from stepless.core.values.reference_values import Merging, Reading, with_nulls
from stepless.core.values.variables import VariableConflict, incoming_cells
from stepless.errors import ExpressionError, SteplessError
from stepless.model.graph import Node
from stepless.model.json import JSON
from stepless.model.kind import SOURCE, Nature, Outcome, Pause
from stepless.model.scope import Contract
from stepless.model.work import passed_through

if TYPE_CHECKING:
    from stepless.core.limits.permits import Permits

_NOTHING: Mapping[str, JSON] = {}


def begin(decision: Decision, instance: Instance, *, substituted: bool = False) -> None:
    """Starts an instance that was decided to run, or its next attempt. Queues it instead when no slot is free, when its timeout
    is too long, or while the run is held."""
    state, node = decision.state, instance.node
    effect = node.kind.nature is Nature.EFFECT and node.enabled
    if state.held is not None or (effect and not decision.admits(instance) and instance.id not in state.outcomes):
        facts = _facts(instance, {}, substituted=substituted)
        decision.emit(EventType.NODE_QUEUED, instance, facts or _NOTHING)
        return
    permits = decision.permits if effect and state.graph.limited and instance.id not in state.outcomes else None
    if permits is not None and not _permitted(decision, instance, permits, substituted=substituted):
        return
    if instance.index:
        wait = instance.wait
        again = wait is not None and bool(wait.details.get("again"))
        begin_attempt(decision, instance, instance.attempt if again else instance.attempt + 1)
        return
    if state.steps >= state.graph.max_steps:
        limit = state.graph.max_steps
        error = {"code": "max_steps_exceeded", "class": "execution", "message": f"the run would start more than {limit} nodes"}
        decision.emit_run(EventType.RUN_STATUS_CHANGED, {"status": "ending", "reason": "run_failed", "error": error})
        return
    data: dict[str, JSON] = {"index": state.steps + 1}
    if substituted or instance.substituted:
        data["substituted"] = True
    decision.emit(EventType.NODE_STARTED, instance, data)
    work(decision, instance)


def _permitted(decision: Decision, instance: Instance, permits: Permits, *, substituted: bool) -> bool:
    """Whether an attempt has permits for all its limits. Otherwise queues the instance for the limit that it lacks, unless it is
    queued for it already; or fails it if its key cannot be evaluated."""
    reading = _reading_before_start(decision, instance)
    try:
        lacks = permits.refusal(decision.state, instance, reading)
    except SteplessError as error:
        fail(decision, instance, processing(error.code, with_nulls(str(error), reading.nulls)))
        return False
    finally:
        decision.spent += reading.spent
    if lacks is None:
        return True
    wait = instance.wait
    if wait is None or wait.details.get("cell") != lacks["cell"] or wait.resume_at_ms != lacks.get("resume_at"):
        decision.emit(EventType.NODE_QUEUED, instance, _facts(instance, lacks, substituted=substituted))
    return False


def _facts(instance: Instance, lacks: Mapping[str, JSON], *, substituted: bool) -> Mapping[str, JSON]:
    facts = {**lacks, "substituted": True} if substituted else lacks
    return {**facts, "again": True} if instance.wait is not None and instance.wait.details.get("again") else facts


def _reading_before_start(decision: Decision, instance: Instance) -> Reading:
    """What an instance can read, also before its first start, which brings its variables."""
    state = decision.state
    reading = Reading(state, instance, merged_inputs(state, instance), decision.now_ms, decision.env)
    if instance.scope.wrote and not instance.index:
        try:
            reading.cells = incoming_cells(instance, Merging(state, instance, decision.now_ms))[0]
        except (VariableConflict, ExpressionError):
            return reading  # its start fails for the same reason
    return reading


def begin_attempt(decision: Decision, instance: Instance, attempt: int) -> None:
    """Starts another attempt of an instance after its back-off."""
    data = {"attempt": attempt}
    if decision.state.recoveries and is_in_doubt(decision.state, instance):
        data["exclusive"] = True
    decision.emit(EventType.NODE_STARTED, instance, data)
    work(decision, instance)


def end_for_permit(decision: Decision, instance: Instance, code: str, message: str) -> None:
    """Ends an attempt that has had no effect, or may be repeated, until it has a permit again. The attempt keeps its number."""
    facts = {"attempt": instance.attempt, "cause": "limit", "code": code, "message": message, "delay_ms": 0}
    decision.emit(EventType.NODE_RETRIED, instance, {**facts, "resume_at": decision.now_ms, "again": True})
    begin(decision, instance)


def work(decision: Decision, instance: Instance) -> None:
    """Does everything between a committed start and the attempt's end. Idempotent: a repetition after a crash gives the same
    result."""
    node = instance.node
    if decision.start_failures and (conflict := decision.start_failures.pop(instance, None)) is not None:
        fail(decision, instance, processing(*conflict))
        return
    if decision.state.outcomes and apply_outcome(decision, instance):
        return
    inputs = merged_inputs(decision.state, instance)
    if not node.enabled:
        handle = node.leaves_by or (node.exits[0] if node.exits else SOURCE)
        complete(decision, instance, Outcome(passed_through(inputs), handle))
        return
    if node.input_contract is not None and _violates(decision, instance, inputs):
        return
    if node.kind.nature is Nature.EFFECT and node.config.template.constant and not node.tools and node.container is None:
        params = node.config.template.value  # without references there is nothing to read
        decision.dispatches.append(_dispatch(decision.state, instance, params, inputs))
        return
    reading = Reading(decision.state, instance, inputs, decision.now_ms, decision.env)
    if node.entry_contract is not None and _unfit(decision, reading, node.entry_contract):
        return
    try:
        nature = node.kind.nature
        if node.container is not None and nature is Nature.CONTAINER:
            open_container(decision, instance, reading)
            return
        reading.params = params = node.config.template.render(reading)
        if nature is Nature.EFFECT:
            _dispatch_rendered(decision, instance, reading, params)
        elif nature is Nature.PAUSE:
            _suspend(decision, instance, reading)
        else:
            evaluate = node.kind.evaluate
            outcome = evaluate(reading) if evaluate is not None else Outcome(passed_through(inputs))
            if outcome.failure is None:
                complete(decision, instance, outcome)
            else:
                code, message, cause = outcome.failure
                fail(decision, instance, Failure("execution", code, message, causes=(cause,) if cause is not None else ()))
    except SteplessError as error:
        fail(decision, instance, processing(error.code, with_nulls(str(error), reading.nulls)))
    finally:
        decision.spent += reading.spent


def _dispatch_rendered(decision: Decision, instance: Instance, reading: Reading, params: Mapping[str, JSON]) -> None:
    """Dispatches an attempt whose parameters contain references."""
    if instance.node.container is not None:
        from stepless.core.shards.items import given_to_shards  # imported late: few workflows have `distributed` nodes

        params = given_to_shards(instance, reading)
    render = _tool_renderer(decision, instance) if instance.node.tools else None
    decision.dispatches.append(_dispatch(decision.state, instance, params, reading.inputs, render, reading.nulls))


def _dispatch(
    state: State, instance: Instance, params: Mapping[str, JSON], inputs: Mapping[str, JSON], render: Render | None = None,
    nulls: tuple[str, ...] = (),
) -> Dispatch:  # fmt: skip
    dispatch = Dispatch(instance, instance.id, instance.attempt, params, inputs, render, nulls)
    if state.tokens or state.calls:
        dispatch.token, dispatch.repeats = state.tokens.get(instance.id, ""), state.calls.get(instance.id, "")
    return dispatch


def _tool_renderer(decision: Decision, instance: Instance) -> Render:
    """Renders tools. A tool can read what the node that runs it can read, and the arguments of its call as `<input>`."""
    state, now_ms, env = decision.state, decision.now_ms, decision.env

    def render(tool: Node, arguments: Mapping[str, JSON]) -> Mapping[str, JSON]:
        params: Mapping[str, JSON] = tool.config.template.render(Reading(state, instance, {"input": arguments}, now_ms, env))
        return params

    return render


def _violates(decision: Decision, instance: Instance, inputs: Mapping[str, JSON]) -> bool:
    contract = instance.node.input_contract
    violations = contract.violations(dict(inputs)) if contract is not None else ()
    if violations:
        decision.emit(EventType.CONTRACT_VIOLATED, instance, {"phase": "input", "violations": list(violations)})
        fail(decision, instance, processing("input_contract_violation", violations[0]))
    return bool(violations)


def _unfit(decision: Decision, reading: Reading, contract: Contract) -> bool:
    """Whether the inputs of the run violate the entry's `inputs`; fills in its defaults."""
    reading.run_inputs = with_defaults(contract.schema, reading.run_inputs)
    violations = contract.violations(reading.run_inputs)
    if violations:
        instance = reading.instance
        decision.emit(EventType.CONTRACT_VIOLATED, instance, {"phase": "input", "violations": list(violations)})
        fail(decision, instance, processing("input_contract_violation", f"the inputs of the run: {violations[0]}"))
    return bool(violations)


def _suspend(decision: Decision, instance: Instance, reading: Reading) -> None:
    suspend = instance.node.kind.suspend
    pause = suspend(reading) if suspend is not None else Outcome()
    if isinstance(pause, Outcome):
        complete(decision, instance, pause)
    elif pause.reason == MESSAGE and (mail := wanted_by(decision, instance, str(pause.details["message"]))) is not None:
        deliver(decision, instance, mail)
    else:
        wait(decision, instance, pause)


def wait(decision: Decision, instance: Instance, pause: Pause) -> None:
    """Suspends an instance until its pause is answered, due or expired."""
    data: dict[str, JSON] = {"reason": pause.reason, "exits": list(pause.exits)}
    if pause.resume_at_ms is not None:
        data["resume_at"] = pause.resume_at_ms
    if pause.deadline_ms is not None:
        data["deadline"] = pause.deadline_ms
    if pause.handle != SOURCE:
        data["handle"] = pause.handle
    if pause.details:
        data["details"] = dict(pause.details)
    decision.emit(EventType.NODE_WAITING, instance, data)
