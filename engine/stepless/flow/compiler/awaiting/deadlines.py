"""Compiles time limits, `asyncio.timeout` and `asyncio.wait_for`: a container that runs once and has a `timeout_ms`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final, TypeAlias

from stepless.flow.compiler.awaiting.awaits import constant
from stepless.flow.compiler.awaiting.gathers import awaited, settled_calls
from stepless.flow.compiler.expressions.hoisting import Hoist
from stepless.flow.compiler.expressions.reading import as_float
from stepless.flow.compiler.facts.names import names_of
from stepless.flow.compiler.frames import DeadlineFrame
from stepless.flow.compiler.refusals import Ended
from stepless.flow.compiler.unit import Unit
from stepless.flow.words import word_of
from stepless.model.json import JSON

Await: TypeAlias = Callable[[Unit, ast.Await, str | None], ast.expr]
_FIXED: Final = "a time limit is fixed in the document"
_TIMEOUT: Final = "Write async with asyncio.timeout(5), a number of seconds"
_BLOCK: Final = "Write async with asyncio.timeout(5)"
_CATCHES_ALL: Final = ("BaseException", "CancelledError")


def limit_of(unit: Unit, statement: ast.AsyncWith) -> int | None:
    """Returns the milliseconds that `async with asyncio.timeout(…)` gives its statements; None without a limit."""
    item = statement.items[0]
    call = item.context_expr
    if len(statement.items) != 1 or not isinstance(call, ast.Call) or word_of(unit.static(call.func)) != "timeout":
        check_task_group(unit, statement)
        if isinstance(call, ast.Name):
            message = f"`{unit.shown.get(call.id, call.id)}` is held by a process, which a workflow does not have"
            mend = (
                "Make it asyncio.Semaphore(5), a number, and put it around all that a coroutine does whose calls are gathered; "
                'or limit the attempts of the step: a.with_(concurrency={"max": 2})(x)'
            )
            unit.refuse(statement, "no_such_construct", message, mend)
        message = "async with has no counterpart in a graph, but for asyncio.timeout and asyncio.TaskGroup"
        unit.refuse(statement, "no_such_construct", message, _BLOCK)
    if item.optional_vars is not None or len(call.args) != 1 or call.keywords:
        unit.refuse(statement, "bad_arguments", "asyncio.timeout takes a time, and is given no name", _TIMEOUT)
    check_cancelled(unit, statement.body)
    limit = _limit_ms(unit, call.args[0])
    if limit is not None and unit.is_caught():
        _check_written(unit, statement)
    return limit


def check_task_group(unit: Unit, statement: ast.AsyncWith) -> None:
    call = statement.items[0].context_expr
    if isinstance(call, ast.Call) and word_of(unit.static(call.func)) == "task_group":
        message = "this group does more than create tasks whose results are read behind it"
        mend = "Write t = tg.create_task(f(x)) in it and nothing else, and t.result() behind it, or use gather"
        unit.refuse(statement, "gather", message, mend)


def _limit_ms(unit: Unit, node: ast.expr) -> int | None:
    limit = constant(unit, node, _FIXED)
    if limit is None:
        return None
    if isinstance(limit, bool) or not isinstance(limit, int | float) or round(limit * 1000) < 1:
        unit.refuse(node, "bad_arguments", "a time limit is a number of seconds above 0", _TIMEOUT)
    return round(limit * 1000)


def _check_written(unit: Unit, statement: ast.AsyncWith) -> None:
    """Refuses to change what a handler around may read: what is written before the time is over is not kept."""
    bound = names_of(list(statement.body), unit.bound).bound
    written = sorted(name for name in unit.bound if len(bound[name]) > 1 and unit.names.is_variable(name))
    if written:
        shown = unit.shown.get(written[0], written[0])
        message = f"`{shown}` has its former value again if the time is over, which the try around could show"
        unit.refuse(statement, "mutation", message, f"Assign another name here, and `{shown}` behind the time limit")


def check_cancelled(unit: Unit, body: list[ast.stmt]) -> None:
    """Refuses statements that Python runs when a time limit cancels them: a run does nothing more there."""
    for part in (part for statement in body for part in ast.walk(statement)):
        if not isinstance(part, ast.Try):
            continue
        if part.finalbody:
            message = "a `finally` inside a time limit does not run when the time is over"
            unit.refuse(part, "no_such_construct", message, "Put the try around the time limit")
        for handler in part.handlers:
            names = {one.id if isinstance(one, ast.Name) else getattr(one, "attr", "") for one in ast.walk(handler.type or part)}
            if handler.type is None or names & {*_CATCHES_ALL}:
                message = "this handler would take the cancel of the time limit around it"
                unit.refuse(handler, "except", message, "Write except Exception, or put the try around the time limit")


def waited(unit: Unit, call: ast.Call, hint: str | None, await_: Await, hoist: Hoist) -> ast.expr:
    """Emits `asyncio.wait_for(f(x), 5)`, and refers to its value."""
    given = dict(zip(("fut", "timeout"), call.args, strict=False)) | {str(word.arg): word.value for word in call.keywords}
    if given.keys() != {"fut", "timeout"} or len(given) != len(call.args) + len(call.keywords):
        unit.refuse(call, "bad_arguments", "wait_for takes a call and a time", "Write asyncio.wait_for(f(x), 5)")
    inner = given["fut"]
    if not isinstance(inner, ast.Call):
        unit.refuse(inner, "bad_arguments", f"`{ast.unparse(inner)}` is no call", "Write asyncio.wait_for(f(x), 5)")
    limit = _limit_ms(unit, given["timeout"])
    if limit is None:
        return await_(unit, awaited(inner), hint)
    (inner,) = settled_calls(unit, hoist, [inner])
    id = unit.new_id(hint or "waited")
    frame = DeadlineFrame(unit.next(), id)
    with unit.inside(frame) as level:
        try:
            value = as_float(unit, unit.infer(awaited(inner)), await_(unit, awaited(inner), None))
            path = unit.texts.path(value)
            if path is None or unit.frontier != [path]:
                unit.emit(unit.new_id("result"), "transform", {"value": unit.texts.template(value)})
        except Ended:
            unit.frontier = None
    keeps = {"keep_writes": True} if unit.is_caught() else {}
    unit.emit(id, "loop", {"times": 1, **keeps, "body": {"nodes": level}}, timeout_ms=limit)
    times_out(unit, id)
    return unit.texts.reference(f"{id}[0]")


def times_out(unit: Unit, id: str) -> None:
    """Wires the failure of a container with a time limit: that of a node inside of it, or `TimeoutError`, which is one of
    Python's own."""
    ends = unit.frontier
    if not unit.is_caught():
        return
    late: JSON = f"{{'class': 'processing', 'code': 'timeout', 'message': '', 'node': '{id}'}}"
    unit.frontier = [f"{id}.error"]
    unit.fail({"error": f"{{{{ default(<input.causes[0]>, {late}) }}}}"}, pure=True)
    unit.frontier = ends
