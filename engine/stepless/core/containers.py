"""Runs loops and parallels turn by turn (docs/understand/semantics.md#containers). The body runs once per turn, each time in its
own scope, and the leaf rule decides each turn's result. A loop runs one turn at a time, a parallel up to `window` turns at
once."""

from __future__ import annotations

from collections.abc import Mapping

from stepless.core.decision import Decision
from stepless.core.events import EventType
from stepless.core.facts import Failure
from stepless.core.inputs import merged_inputs
from stepless.core.reading import Merging, Reading, with_nulls
from stepless.core.settle import attempt_failed, complete, drawn, fail, processing
from stepless.core.state import Instance, Turns
from stepless.core.turns import NotACollection, amount, collection, exit_cells, output
from stepless.core.variables import VariableConflict
from stepless.errors import AuthorError, SteplessError
from stepless.limits import PREVIEW_CHARACTERS
from stepless.model.graph import Container, OnError
from stepless.model.json import JSON
from stepless.model.kind import Outcome

_TESTED = frozenset({"while", "do_while"})


def open_container(decision: Decision, instance: Instance, reading: Reading) -> None:
    """Counts the turns to run and emits `loop.started`. Raises `ExpressionError`."""
    container = instance.node.container
    if container is None:
        return
    total: int | None = None
    if container.mode not in _TESTED:
        counted = _count(decision, instance, container, reading)
        if counted is None:
            return
        total = counted
    data: dict[str, JSON] = {"total": total, "mode": container.mode}
    if instance.used:
        data["first"] = instance.used
    decision.emit(EventType.LOOP_STARTED, instance, data)


def _count(decision: Decision, instance: Instance, container: Container, reading: Reading) -> int | None:
    """The number of turns; None if this failed the container."""
    try:
        if container.mode == "items":
            count: JSON = len(collection(container, reading))
        else:
            count = amount(container, reading)
    except NotACollection as error:
        fail(decision, instance, processing("not_a_collection", with_nulls(str(error), reading.nulls)))
        return None
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        message = f"{container.mode} is {'null' if count is None else _preview(count)}, not a whole number ≥ 0"
        fail(decision, instance, processing("invalid_config", with_nulls(message, reading.nulls)))
        return None
    if count > container.max_iterations and not container.truncate:
        fail(decision, instance, _too_many(container, f"{count} turns"))
        return None
    return min(count, container.max_iterations)


def _too_many(container: Container, what: str) -> Failure:
    return processing("too_many_items", f"{what}, and max_iterations is {container.max_iterations}")


def advance_container(decision: Decision, instance: Instance) -> None:
    """Starts the turns that may start now. Ends the container when all turns have ended."""
    turns, container = instance.turns, instance.node.container
    if turns is None or container is None or decision.state.held is not None:
        return
    window = container.window if container.parallel else 1
    while not decision.state.halting and len(turns.live) < window and _wants_turn(decision, instance, container, turns):
        facts = {"index": turns.first + turns.started, "total": turns.total, **_item_preview(turns, turns.started)}
        decision.emit(EventType.LOOP_NEXT, instance, facts)
    if not turns.live and not instance.settled and (not decision.state.halting or _is_done(container, turns)):
        _close(decision, instance, container, turns)


def _is_done(container: Container, turns: Turns) -> bool:
    return turns.stopped or turns.broke or (turns.total is not None and turns.started >= turns.total)


def _wants_turn(decision: Decision, instance: Instance, container: Container, turns: Turns) -> bool:
    """Whether another turn should start. May fail the container."""
    if instance.settled or _is_done(container, turns):
        return False
    if turns.total is not None:
        return True
    if not (container.mode == "do_while" and turns.started == 0) and not _test(decision, instance, container, turns):
        return False
    if turns.started >= container.max_iterations:
        if not container.truncate:
            fail(decision, instance, _too_many(container, f"turn {turns.started + 1} was about to start"))
        return False
    return True


def _test(decision: Decision, instance: Instance, container: Container, turns: Turns) -> bool:
    """Evaluates `while` or `do_while` for the next turn, with the variables as the last turn left them."""
    inputs = merged_inputs(decision.state, instance)
    reading = Reading(decision.state, instance, inputs, decision.now_ms, decision.env, turn=("loop", turns.started))
    reading.cells = turns.cells
    try:
        return bool(amount(container, reading))
    except AuthorError as error:
        fail(decision, instance, processing(error.code, with_nulls(f"{container.mode}: {error}", reading.nulls)))
        return False
    finally:
        decision.spent += reading.spent


def _close(decision: Decision, instance: Instance, container: Container, turns: Turns) -> None:
    """Ends the container after every turn has settled."""
    failure = _verdict(container, turns) or _conflict(decision, instance, turns)
    counts = {"started": turns.started, "failed": turns.failed, "results": len(turns.results)}
    decision.emit(EventType.LOOP_COMPLETED, instance, counts)
    if failure is not None:
        attempt_failed(decision, instance, failure, drawn(decision.state, instance))
    else:
        complete(decision, instance, Outcome(output(container, turns)))


def _verdict(container: Container, turns: Turns) -> Failure | None:
    maximum = container.max_consecutive_errors
    if turns.failed and container.on_error is OnError.STOP:
        message = f"{turns.failed} of {turns.started} turns failed"
    elif turns.stopped and maximum is not None:
        message = f"{maximum} turns failed in a row"
    else:
        return None
    causes = (turns.error,) if turns.error else ()
    return Failure("iteration_failed", "iteration_failed", message, causes=causes, inner=turns.cause)


def _conflict(decision: Decision, instance: Instance, turns: Turns) -> Failure | None:
    """The failure if branches wrote different values to one variable and `on_conflict` is `error`."""
    try:
        exit_cells(instance, turns, Merging(decision.state, instance, decision.now_ms))
    except VariableConflict as error:
        return processing("variable_conflict", f"branches disagree about the variable {error.name}")
    except SteplessError as error:
        return processing(error.code, str(error))
    return None


def _item_preview(turns: Turns, index: int) -> Mapping[str, JSON]:
    if turns.items is None:
        return {}
    item = turns.items[index]
    return {"item": _preview(item)} if isinstance(item, str | int | float | bool) else {}


def _preview(value: JSON) -> JSON:
    return value[:PREVIEW_CHARACTERS] if isinstance(value, str) else value
