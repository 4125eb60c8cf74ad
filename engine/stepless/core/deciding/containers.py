"""Runs loops and parallels: their body runs once per iteration, each time in a scope of its own
(docs/understand/semantics.md#containers). A loop runs one iteration at a time, a parallel up to `window` at once.

A container is an instance like any other, which encloses scopes. While it is running it is on the agenda whenever one of its
iterations has ended, and `advance_container` does what is possible then: start iterations while the window has space, or end the
container when none is live. Nothing else starts an iteration, so a container needs no timer and no work list of its own.

* *Completion order does not show.* Results, failures and variables are kept by the index of the iteration, and `output`, the
  consecutive failures and the merge of variables read them by index. Only whether another iteration starts depends on time.
* *An index is used once.* It counts on over all attempts of the container (`first` + `started`), because it is in the ids of the
  instances inside, and so in the tokens that receivers recognise repetitions by. An index that began at 0 again would make the
  second attempt's calls look like repetitions of the first's. `<loop.index>` is counted from `first`, so authors see 0.
* *A test is read over the variables of the last iteration*, not over those before the loop: `reading.cells` is replaced for it.
* *An iteration that fails does not end those that run.* The container waits for them, then takes its verdict, and so the failure
  that it reports is the one with the lowest index, not the one that came first.
* *A held run starts no iteration and ends no container.* The release puts containers on the agenda again (`fold`).
"""

from __future__ import annotations

from collections.abc import Mapping

from stepless.core.deciding.settle import attempt_failed, complete, drawn, fail, processing
from stepless.core.decision import Decision
from stepless.core.events import EventType
from stepless.core.facts import Failure
from stepless.core.folding.iterations import NotACollection, amount, collection, exit_cells, output
from stepless.core.state import Instance, Iterations
from stepless.core.values.inputs import merged_inputs
from stepless.core.values.reference_values import Merging, Reading, with_nulls
from stepless.core.values.variables import VariableConflict
from stepless.errors import AuthorError, SteplessError
from stepless.limits import PREVIEW_CHARACTERS
from stepless.model.graph import Container, OnError
from stepless.model.json import JSON
from stepless.model.kind import Outcome

_TESTED = frozenset({"while", "do_while"})


def open_container(decision: Decision, instance: Instance, reading: Reading) -> None:
    """Counts the iterations to run and emits `loop.started`. Raises `ExpressionError`."""
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
    """The number of iterations; None if this failed the container."""
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
        fail(decision, instance, _too_many(container, f"{count} iterations"))
        return None
    return min(count, container.max_iterations)


def _too_many(container: Container, what: str) -> Failure:
    return processing("too_many_items", f"{what}, and max_iterations is {container.max_iterations}")


def advance_container(decision: Decision, instance: Instance) -> None:
    """Starts the iterations that may start now. Ends the container when all iterations have ended."""
    iterations, container = instance.iterations, instance.node.container
    if iterations is None or container is None or decision.state.held is not None:
        return
    window = container.window if container.parallel else 1
    while (
        not decision.state.halting and len(iterations.live) < window
        and _wants_iteration(decision, instance, container, iterations)
    ):  # fmt: skip
        number = iterations.started
        facts = {"index": iterations.first + number, "total": iterations.total, **_item_preview(iterations, number)}
        decision.emit(EventType.LOOP_NEXT, instance, facts)
    if not iterations.live and not instance.settled and (not decision.state.halting or _is_done(container, iterations)):
        _close(decision, instance, container, iterations)


def _is_done(container: Container, iterations: Iterations) -> bool:
    return iterations.stopped or iterations.broke or (iterations.total is not None and iterations.started >= iterations.total)


def _wants_iteration(decision: Decision, instance: Instance, container: Container, iterations: Iterations) -> bool:
    """Whether another iteration should start. May fail the container."""
    if instance.settled or _is_done(container, iterations):
        return False
    if iterations.total is not None:
        return True
    if not (container.mode == "do_while" and iterations.started == 0) and not _test(decision, instance, container, iterations):
        return False
    if iterations.started >= container.max_iterations:
        if not container.truncate:
            fail(decision, instance, _too_many(container, f"iteration {iterations.started + 1} was about to start"))
        return False
    return True


def _test(decision: Decision, instance: Instance, container: Container, iterations: Iterations) -> bool:
    """Evaluates `while` or `do_while` for the next iteration, with the variables as the last iteration left them."""
    inputs = merged_inputs(decision.state, instance)
    reading = Reading(decision.state, instance, inputs, decision.now_ms, decision.env, iteration=("loop", iterations.started))
    reading.cells = iterations.cells
    try:
        return bool(amount(container, reading))
    except AuthorError as error:
        fail(decision, instance, processing(error.code, with_nulls(f"{container.mode}: {error}", reading.nulls)))
        return False
    finally:
        decision.spent += reading.spent


def _close(decision: Decision, instance: Instance, container: Container, iterations: Iterations) -> None:
    """Ends the container after every iteration has settled."""
    failure = _verdict(container, iterations) or _conflict(decision, instance, iterations)
    counts = {"started": iterations.started, "failed": iterations.failed, "results": len(iterations.results)}
    decision.emit(EventType.LOOP_COMPLETED, instance, counts)
    if failure is not None:
        attempt_failed(decision, instance, failure, drawn(decision.state, instance))
    else:
        complete(decision, instance, Outcome(output(container, iterations)))


def _verdict(container: Container, iterations: Iterations) -> Failure | None:
    maximum = container.max_consecutive_errors
    if iterations.failed and container.on_error is OnError.STOP:
        message = f"{iterations.failed} of {iterations.started} iterations failed"
    elif iterations.stopped and maximum is not None:
        message = f"{maximum} iterations failed in a row"
    else:
        return None
    causes = (iterations.error,) if iterations.error else ()
    return Failure("iteration_failed", "iteration_failed", message, causes=causes, inner=iterations.cause)


def _conflict(decision: Decision, instance: Instance, iterations: Iterations) -> Failure | None:
    """The failure if branches wrote different values to one variable and `on_conflict` is `error`."""
    try:
        exit_cells(instance, iterations, Merging(decision.state, instance, decision.now_ms))
    except VariableConflict as error:
        return processing("variable_conflict", f"branches disagree about the variable {error.name}")
    except SteplessError as error:
        return processing(error.code, str(error))
    return None


def _item_preview(iterations: Iterations, index: int) -> Mapping[str, JSON]:
    if iterations.items is None:
        return {}
    item = iterations.items[index]
    return {"item": _preview(item)} if isinstance(item, str | int | float | bool) else {}


def _preview(value: JSON) -> JSON:
    return value[:PREVIEW_CHARACTERS] if isinstance(value, str) else value
