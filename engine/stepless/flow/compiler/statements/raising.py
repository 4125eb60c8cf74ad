"""Compiles `raise` and `assert`: a node that fails."""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Callable
from typing import Any, Final

from stepless.flow.compiler.expressions.hoisting import Hoist, has_await
from stepless.flow.compiler.expressions.json_values import json_value
from stepless.flow.compiler.facts.block_nodes import Output
from stepless.flow.compiler.unit import Unit
from stepless.flow.words import NodeError, code_of
from stepless.model.json import JSON


def raise_(unit: Unit, statement: ast.Raise, hoist: Hoist) -> None:
    raised = statement.exc
    if raised is None:
        if unit.error is None:
            unit.refuse(statement, "bare_raise", "there is no error here to raise again", "Write raise inside except")
        unit.fail({"error": unit.texts.template(unit.error)}, pure=True)
        return
    if isinstance(raised, Output):
        unit.fail({"error": unit.texts.template(unit.express(raised))}, pure=True)
        return
    if isinstance(raised, ast.Name) and unit.is_local(raised.id):
        if unit.infer(raised) is not NodeError:
            unit.refuse(statement, "raise", f"`{raised.id}` is no error", "Raise a NodeError, or a class made from it")
        unit.fail({"error": unit.texts.template(unit.express(raised))}, pure=True)
        return
    kind = _raised(unit, raised)
    if kind is None:
        mend = "Write class OutOfStock(Exception): …"
        unit.refuse(statement, "raise", "what is raised is no class of exceptions, and no exception that was caught", mend)
    if statement.cause is not None and not (isinstance(statement.cause, ast.Constant | ast.Name)):
        unit.refuse(statement, "raise", "the cause of an exception is computed", "Raise it without `from`")
    if issubclass(kind, NodeError):
        _made(unit, statement, raised, kind, hoist)
    else:
        _python(unit, statement, raised, kind, hoist)


def _raised(unit: Unit, raised: ast.expr) -> type[BaseException] | None:
    """The class of what is raised."""
    named = raised.func if isinstance(raised, ast.Call) else raised
    kind = unit.static(named)
    if kind is None and isinstance(named, ast.Name) and unit.is_builtin(named, named.id):
        kind = getattr(builtins, named.id, None)
    return kind if inspect.isclass(kind) and issubclass(kind, Exception) else None


def _python(unit: Unit, statement: ast.stmt, raised: ast.expr, kind: type[BaseException], hoist: Hoist) -> None:
    """An exception of Python, or of the author's: a failure with its code that `except NodeError` does not take."""
    given = raised.args if isinstance(raised, ast.Call) else []
    plain = all(getattr(kind, name) is getattr(Exception, name) for name in ("__str__", "__init__", "__new__")) or kind in _PLAIN
    words = isinstance(raised, ast.Call) and raised.keywords
    if not plain or words or len(given) > 1 or any(isinstance(one, ast.Starred) for one in given):
        mend = "Assign the awaited value to a name first" if has_await(statement) else "Pass it one text"
        unit.refuse(statement, "raise", f"`{kind.__name__}` makes its message itself", mend)
    message: JSON = ""
    for argument in hoist.expressions(unit, given):
        read = ast.copy_location(ast.Call(ast.Name("str", ast.Load()), [argument], []), argument)
        message = json_value(unit, argument if unit.infer(argument) is str else read)
    error: JSON = {"class": "processing", "code": code_of(kind), "message": message, "node": "raise"}
    unit.fail({"error": error}, pure=True)


_PLAIN: Final = (
    Exception, ValueError, TypeError, RuntimeError, LookupError, IndexError, ArithmeticError, ZeroDivisionError, OverflowError,
    NotImplementedError, AssertionError, PermissionError, TimeoutError, ConnectionError, BufferError, EOFError, RecursionError,
)  # fmt: skip
"""Exceptions whose text is that of their one argument, although they have a method of their own that makes it."""


def assert_(unit: Unit, statement: ast.Assert, branch: Callable[[ast.If], None]) -> None:
    """`assert test, text` is `if not test: raise AssertionError(text)`."""
    kind = ast.Name("AssertionError", ast.Load())
    made = ast.Raise(ast.Call(kind, [statement.msg], []) if statement.msg is not None else kind, None)
    test = ast.If(ast.UnaryOp(ast.Not(), statement.test), [made], [])
    for node in (test, test.test, made, kind, *([made.exc] if made.exc is not None else [])):
        ast.copy_location(node, statement)
    branch(test)


def _made(unit: Unit, statement: ast.Raise, raised: ast.expr, kind: type[NodeError], hoist: Hoist) -> None:
    if kind.__init__ is not NodeError.__init__:
        message = f"`{kind.__name__}.__init__` computes its message, but workflow code is not executed"
        unit.refuse(statement, "raise", message, "Remove `__init__`, and pass the message as a literal")
    given: dict[str, ast.expr] = {}
    if isinstance(raised, ast.Call):
        given = dict(zip(["message"], raised.args, strict=False)) | {str(word.arg): word.value for word in raised.keywords}
        if len(raised.args) > 1 or not given.keys() <= {"message", "code"}:
            unit.refuse(statement, "bad_arguments", f"{kind.__name__} takes a message and a code", "Write them by name")
    written = hoist.expressions(unit, list(given.values()))
    before = unit.risks
    values: dict[str, Any] = {name: json_value(unit, node) for name, node in zip(given, written, strict=True)}
    code = values.get("code", code_of(kind))
    params = {"code": code}
    if values.get("message"):
        params["message"] = values["message"]
    elif isinstance(code, str):
        params["message"] = code.replace("_", " ")
    unit.fail(params, pure=unit.risks > before)
