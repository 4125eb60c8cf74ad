"""Evaluates lifted expressions and blocks in the process of their module, with arguments that have their annotated types
again."""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from pydantic import TypeAdapter
from pydantic.errors import PydanticUserError

from stepless.flow.carried import decoded, encoded, same
from stepless.flow.compiler.attachments import LiftedBlock, LiftedExpression
from stepless.flow.compiler.blocks.functions import LEAVE, LOCALS, UNBOUND_MARK
from stepless.flow.compiler.facts.block_nodes import RAISE
from stepless.flow.compiler.facts.carried_types import conforms
from stepless.flow.compiler.facts.types import TAG, UNBOUND, UNKNOWN, is_carried, is_dict, is_failure, is_list, is_plain, solid
from stepless.flow.plain import failure_of, owned
from stepless.flow.words import Answer, NodeError, code_of, record
from stepless.model.json import JSON
from stepless.model.work import NodeFailure
from stepless.nodes.json_value import NotJson, to_json

NAME: Final = "name."
_UNBOUND: Final = object()
R = TypeVar("R")
_Tree = TypeVar("_Tree", bound=ast.AST)


def evaluator(lifted: LiftedExpression | LiftedBlock) -> Callable[..., Any]:
    """Returns the function that a node calls for an expression or a block. An exception of it fails the node as one of Python's
    own, so that `except NodeError` does not take it; a `NodeError` that a helper raises stays one."""
    evaluate = _of_block(lifted) if isinstance(lifted, LiftedBlock) else _of_expression(lifted)
    evaluate.__qualname__ = lifted.name
    evaluate.__module__ = str(lifted.globals.get("__name__", ""))
    return evaluate


def _of_expression(expression: LiftedExpression) -> Callable[..., Any]:
    rebuild = {name: _rebuilder(kind, expression.globals) for name, kind in expression.arguments.items()}
    carries = is_carried(expression.result)
    make = _once(lambda: _function_of(expression))

    def evaluate(**given: Any) -> Any:
        with _failing():
            arguments = {name: _read(rebuild[name], value) for name, value in given.items()}
            before = {name: owned(value) for name, value in arguments.items()}
            result = make()(**arguments)
            _check_unchanged(arguments, before)
            if expression.leaves is not None:
                return _leaving(result, expression.leaves)
            return encoded(result) if carries else result

    return evaluate


def _leaving(value: Any, kind: Any) -> Any:
    """A value as JSON for what takes values of a type, which refuses those that are not."""
    if kind is UNKNOWN:
        return value
    try:
        adapter = TypeAdapter(kind)
    except PydanticUserError:
        return value
    return adapter.dump_python(adapter.validate_python(value, by_alias=True, by_name=True), mode="json")


def _function_of(expression: LiftedExpression) -> Callable[..., Any]:
    names = ", ".join(expression.arguments)
    file = expression.file or f"<{expression.name}>"
    if not expression.unsure and not expression.made_again:
        compiled = compile(_at(ast.parse(f"lambda {names}: ({expression.source})", mode="eval"), expression.line), file, "eval")
        found: Callable[..., Any] = eval(compiled, dict(expression.globals))
        return found
    forgets = "".join(f"    if {name} is {UNBOUND_MARK}: del {name}\n" for name in sorted(expression.unsure))
    before = textwrap.indent("\n".join(map(ast.unparse, expression.made_again)) + "\n", "    ")
    source = f"def evaluated({names}):\n{forgets}{before}    return ({expression.source})\n"
    space = {**expression.globals, UNBOUND_MARK: _UNBOUND}
    exec(compile(_at(ast.parse(source), expression.line), file, "exec"), space)
    made: Callable[..., Any] = space.pop("evaluated")
    return made


def _at(tree: _Tree, line: int) -> _Tree:
    """The tree at one line: that of the expression in the author's file."""
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            vars(node).update(lineno=line, end_lineno=line, col_offset=0, end_col_offset=0)
    return tree


def _of_block(block: LiftedBlock) -> Callable[..., Any]:
    rebuild = {name: _rebuilder(kind, block.globals) for name, kind in block.arguments.items()}
    put = {name: to_json if block.leaves else _putter(name, kind) for name, kind in block.outputs.items()}
    make = _once(lambda: _function_of_block(block))

    def evaluate(**given: Any) -> Any:
        with _failing():
            arguments = {name: _read(rebuild[name], value) for name, value in given.items()}
            before = {name: owned(value) for name, value in arguments.items() if name not in block.changed}
            left: dict[str, Any] = {}
            try:
                exit, value = make()(left, arguments)
            except Exception as error:
                if RAISE not in block.exits:
                    raise
                exit, value = RAISE, error
            _check_unchanged(arguments, before)
            return _put_out(block, put, exit, value, left)

    return evaluate


def _put_out(
    block: LiftedBlock, put: Mapping[str, Callable[[Any], JSON]], exit: str, value: Any, left: Mapping[str, Any]
) -> JSON:
    """The output of a block: the value alone, or an object with the exit, what it returned, and the values of its names."""
    names: dict[str, JSON] = {}
    for output, of in put.items():
        name = output.removeprefix(NAME)
        if name != output:
            names[name] = of(left[name]) if name in left else dict(UNBOUND)
    if block.whole:
        return put["value"](value) if exit == "return" else next(iter(names.values()), None)
    found: dict[str, JSON] = {"name": names}
    if len(block.exits) > 1:
        found["exit"] = exit
    if exit == "return":
        found["value"] = put["value"](value)
    if exit == RAISE:
        found["error"] = _described(value)
    return found


def _described(error: Exception) -> JSON:
    """An exception as the engine describes the failure of a node."""
    if isinstance(error, NodeFailure):
        kind = "processing" if error.cause == "config" else "execution"
        return {"class": kind, "code": error.code, "message": error.message, "node": "block"}
    return {"class": "processing", "code": code_of(type(error)), "message": str(error), "node": "block"}


def _function_of_block(block: LiftedBlock) -> Callable[[dict[str, Any], Mapping[str, Any]], tuple[str, Any]]:
    """Makes a function that calls the function of a block, and notes the names that it leaves."""
    space = {**block.globals, LOCALS: locals, UNBOUND_MARK: _UNBOUND}
    former = space.get(block.tree.name, _UNBOUND)
    module = ast.fix_missing_locations(ast.Module([block.tree], []))
    exec(compile(module, block.file or f"<{block.name}>", "exec", dont_inherit=True), space)
    function = space.pop(block.tree.name)
    if former is not _UNBOUND:
        space[block.tree.name] = former
    return lambda names, arguments: function(**{LEAVE: names.update}, **arguments)


def _putter(name: str, kind: Any) -> Callable[[Any], JSON]:
    """What makes JSON of an output: the form in which it is carried, or that of its type, from which the value can be made
    again."""
    if is_carried(kind):
        return lambda value: _fitting(encoded(value), kind, name)
    rebuild = None if is_plain(kind) else _rebuilder(kind, {})

    def put(value: Any) -> JSON:
        stored = to_json(value)
        if not (conforms(value, kind) if rebuild is None else same(rebuild(stored), value)):
            message = f"`{name.removeprefix(NAME)}` is not of the type that its source says, {kind}"
            raise NodeFailure("config", "result_not_json", message, retryable=False, mend="annotate it")
        return stored

    return put


def _fitting(stored: JSON, kind: Any, name: str) -> JSON:
    """A carried value, of which the compiler knows that it is a list or an object, as it is stored."""
    one = solid(kind)
    fits = not (is_list(one) or is_dict(one)) or stored is None
    if not fits and not isinstance(stored, list if is_list(one) else dict):
        raise NodeFailure("config", "result_not_json", f"`{name.removeprefix(NAME)}` is not a {kind}", retryable=False)
    if not fits and isinstance(stored, dict) and TAG in stored:
        raise NodeFailure("config", "result_not_json", f"`{name.removeprefix(NAME)}` has keys that are no texts", retryable=False)
    return stored


@contextmanager
def _failing() -> Iterator[None]:
    """Fails the node with the exception of the author's code."""
    try:
        yield
    except NodeFailure:
        raise
    except NotJson as error:
        raise NodeFailure("execution", "result_not_json", str(error), retryable=False, mend=error.mend) from error
    except Exception as error:
        raise NodeFailure("config", code_of(type(error)), str(error), retryable=False, origin=error) from error


def _check_unchanged(arguments: Mapping[str, Any], before: Mapping[str, Any]) -> None:
    changed = [name for name, value in before.items() if arguments[name] != value]
    if changed:
        message = f"`{changed[0]}` was changed in place, which no other node sees"
        raise NodeFailure("config", "argument_changed", message, retryable=False, mend="return the new value")


def _once(make: Callable[[], R]) -> Callable[[], R]:
    """Returns a function that makes something at its first call, and returns it at each."""
    made: list[R] = []

    def get() -> R:
        if not made:
            made.append(make())
        return made[0]

    return get


def _read(rebuild: Callable[[Any], Any], stored: Any) -> Any:
    return _UNBOUND if stored == UNBOUND else rebuild(stored)


def _rebuilder(kind: Any, names: Mapping[str, Any]) -> Callable[[Any], Any]:
    if kind is Answer or solid(kind) is Answer:
        return Answer.model_validate
    if is_failure(kind):
        return lambda value: _error(value, names)
    if kind is UNKNOWN:
        return record
    if is_carried(kind):
        return decoded
    try:
        adapter = TypeAdapter(kind)
    except PydanticUserError:
        return record
    return lambda value: adapter.validate_python(value, by_alias=True, by_name=True)


def _error(value: Mapping[str, Any], names: Mapping[str, Any]) -> NodeError:
    """The failure as an exception of the class that has its code, among those of flows, of the module, and of Python."""
    message, code = str(value.get("message", "")), str(value.get("code", "")) or None
    for kind in (*_subclasses(NodeError), *names.values(), *vars(builtins).values()):
        if inspect.isclass(kind) and issubclass(kind, Exception) and kind is not NodeError and code_of(kind) == code:
            return _as_raised(failure_of(kind, message, code), message)
    return NodeError(message, code=code)


def _as_raised(error: NodeError, message: str) -> NodeError:
    """An exception whose text is empty if that of the one that was raised is."""
    if not message:
        error.message, error.args = "", ()
    return error


def _subclasses(kind: type[NodeError]) -> Iterator[type[NodeError]]:
    for one in kind.__subclasses__():
        if one.__module__ != failure_of.__module__:  # made for an exception of another class, below
            yield one
            yield from _subclasses(one)
