"""Lifts expressions that the closed language cannot say: a whole expression becomes a node, which runs once and is recorded: `x`
of `x = …`, else `eval_…`.

Python evaluates it: in the sandbox, if it names nothing but its own values and Python's functions (`code`: the document holds
its source), else in a function of the module's process (`function`), to which its arguments come with their annotated types.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import keyword
import re
import typing
from collections.abc import Iterable, Mapping
from typing import Any, Final

from stepless.flow.compiler.attachments import LiftedExpression
from stepless.flow.compiler.explaining import Lifting
from stepless.flow.compiler.expressions.calls import AWAITED, PUT
from stepless.flow.compiler.expressions.carrying import Carrying, Leaving
from stepless.flow.compiler.expressions.expression import WITHOUT_COUNTERPART, unknown_name
from stepless.flow.compiler.expressions.naming import check_stays, is_item, is_lookup, without_others
from stepless.flow.compiler.facts.block_nodes import Evaluated
from stepless.flow.compiler.facts.functions import holds_named
from stepless.flow.compiler.facts.types import UNKNOWN, is_carried, is_model, is_plain, members, solid
from stepless.flow.compiler.facts.uses import MUTATORS
from stepless.flow.compiler.frames import TryFrame
from stepless.flow.compiler.trees import copied
from stepless.flow.compiler.unit import Unit
from stepless.flow.words import Answer, word_of
from stepless.limits import MAX_FUNCTION_NAME_CHARACTERS
from stepless.model.json import JSON

_DIGEST_CHARACTERS: Final = 8
_HELPERS: Final = ("main", "__given", "__record", "__Record")
_NUMBERED: Final = re.compile(r"_\d+_$")
_SEES_ITS_CALLER: Final = ("locals", "vars", "dir", "eval", "exec", "super")
_RECORDS: Final = """\
class __Record(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

def __record(value):
    if isinstance(value, dict):
        return __Record({name: __record(item) for name, item in value.items()})
    return [__record(item) for item in value] if isinstance(value, list) else value

"""


def lift(unit: Unit, node: ast.expr) -> ast.expr:
    """Emits the node that evaluates an expression, and refers to its output."""
    if isinstance(node, Evaluated):
        return unit.rules.evaluated(unit, node)
    if unit.lift == "never":
        message = f"`{_shown(node)}` is no expression of a document, and `lift` is never"
        unit.refuse(node, "lifted", message, "Move it into a step")
    whole, result = node, unit.infer(node)
    at = whole if hasattr(whole, "lineno") else unit.statement
    if holds_named(result) and not is_lookup(node):
        return unit.express(without_others(unit, node))
    node, leaves = (node.value, node.kind) if isinstance(node, Leaving) else (node, None)
    node = node.value if isinstance(node, Carrying) else node
    parts = [*ast.walk(node)]
    if any(isinstance(part, ast.Name) and part.id == PUT for part in parts):
        node = _Putting().visit(copied(node))
        parts = [*ast.walk(node)]
    inner, read = _inner(parts), _read(parts)
    _check(unit, parts, inner)
    free = _free(unit, parts, inner, read)
    for name in sorted(free):
        if not is_item(node, name):
            check_stays(unit, node, unit.kind_of(name))
        if name not in unit.bound and not unit.is_strict(name):
            unit.express(_reading(parts, name))  # refuses it
    made_again, further = unit.plan.made_again(unit.origin).of(read)
    for name in sorted(further - unit.origin.globals.keys()):
        if unit.is_local(name) and name not in inner:
            free.add(name)
    outside = bool(made_again) or _outside(unit, parts, [name for name in read if name not in free and name not in inner], free)
    names = _as_written(unit, sorted(free), sorted(inner - free), read)
    kinds = {names[name]: unit.kind_of(name) for name in sorted(free)}
    source = ast.unparse(_Filling({name: ast.Name(chosen) for name, chosen in names.items()}).visit(copied(node)))
    arguments = {names[name]: _argument(unit, name) for name in sorted(free)}
    unsure = frozenset(names[name] for name in free if name not in unit.bound)
    about = next((name.strip("_") for name in read if name.strip("_")), "")
    made = unit.new_id(f"eval_{unit.shown.get(about, about) or 'value'}")
    id = unit.new_id(unit.wanted[1]) if unit.wanted is not None and unit.wanted[0] is whole else made
    in_process = outside or unsure or leaves is not None or is_carried(result)
    in_sandbox = unit.lift == "auto" and not in_process and all(map(is_plain, kinds.values()))
    if in_sandbox and not any(isinstance(frame, TryFrame) for frame in unit.frames):
        values = "".join(f"    {name} = __record(__given[{name!r}])\n" for name in kinds)
        code = f"{_RECORDS}def main(args):\n    __given = args\n{values}"
        unit.emit(id, "code", {"code": f"{code}    return {source}\n", "args": arguments})
    else:
        name = function_name(unit.workflow, made, source, unit.origin.globals.get("__name__", ""))
        unit.lifted.append(LiftedExpression(
            name, source, kinds, unit.origin.globals, result, unsure, leaves, made_again, unit.origin.path, unit.origin.line(at),
        ))  # fmt: skip
        unit.emit(id, "function", {"call": name, "args": arguments})
    unit.liftings.append(Lifting(id, unit.origin, at, tuple(kinds), unit.unsaid))
    unit.may_fail(id, pure=not outside, mixed=True)
    return unit.texts.reference(id)


def _argument(unit: Unit, name: str) -> JSON:
    if name not in unit.bound:
        return f"<workflow.{name}>"  # maybe the mark of a name without a value
    return unit.texts.template(unit.express(ast.Name(name, ast.Load())))


def _as_written(unit: Unit, free: list[str], inner: list[str], read: list[str]) -> dict[str, str]:
    """The names of the source for those of an expression: its text, which names the function, does not change with what stands
    around it."""
    taken = {*_HELPERS, *read} - {*free, *inner}
    chosen: dict[str, str] = {}
    for name in (*free, *inner):
        base = one = unit.shown.get(name, _NUMBERED.sub("", name))
        number = 1
        while one in taken or keyword.iskeyword(one):
            number += 1
            one = f"{base}_{number}"
        taken.add(one)
        chosen[name] = one
    return chosen


def function_name(workflow: str, id: str, source: str, module: object) -> str:
    """Returns the name under which the process registers the expression. It changes with the expression, so a version never calls
    one that has taken its place."""
    digest = hashlib.sha256(f"{module}\n{source}".encode()).hexdigest()[:_DIGEST_CHARACTERS]
    prefix = workflow if workflow[:1].isalpha() else f"_{workflow}"
    space = MAX_FUNCTION_NAME_CHARACTERS - len(id) - _DIGEST_CHARACTERS - 2
    return f"{prefix[:space]}.{id}_{digest}"


class _Putting(ast.NodeTransformer):
    """Writes the assignment of an item as Python makes it, in a copy."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not (isinstance(node.func, ast.Name) and node.func.id == PUT):
            return node
        whole, place, value = node.args
        pattern = ast.parse("(lambda __whole: (__whole.__setitem__(place, value), __whole)[1])(whole.copy())", mode="eval").body
        filled: ast.AST = _Filling({"whole": whole, "place": place, "value": value}).visit(pattern)
        return ast.copy_location(filled, node)


class _Filling(ast.NodeTransformer):
    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._values.get(node.id, node)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        value = self._values.get(node.arg)
        node.arg = value.id if isinstance(value, ast.Name) else node.arg
        return node


def _shown(node: ast.expr) -> str:
    written = ast.unparse(node)
    return written if len(written) <= 60 else written[:59] + "…"


def _check(unit: Unit, parts: list[ast.AST], inner: set[str]) -> None:
    for part in parts:
        if isinstance(part, ast.Await):
            message = "a step inside an expression that Python itself evaluates"
            unit.refuse(part, "conditional_await", message, "Assign its result to a name first")
        if type(part) in WITHOUT_COUNTERPART and not isinstance(part, ast.Lambda):
            message = f"{WITHOUT_COUNTERPART[type(part)]} has no counterpart in a graph"
            unit.refuse(part, "no_such_construct", message, "Write a statement, or a step")
        check_evaluated(unit, part)
        if isinstance(part, ast.Attribute):
            check_field(unit, part)
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in MUTATORS:
            _check_change(unit, part.func, inner)


def check_evaluated(unit: Unit, part: ast.AST) -> None:
    """Refuses what no function can do that Python calls in a node: call a step, or look at the names of its caller."""
    if isinstance(part, ast.Call) and word_of(unit.static(part.func)) in AWAITED:
        message = f"`{ast.unparse(part.func)}` is a step, and nothing waits for it here"
        unit.refuse(part, "not_awaited", message, "Write await before it")
    if isinstance(part, ast.Name) and part.id in _SEES_ITS_CALLER and unit.is_builtin(part, part.id):
        message = f"`{part.id}` sees the names of the function that calls it, which a node does not have"
        unit.refuse(part, "no_such_construct", message, "Write the values that it should have")


def _check_change(unit: Unit, method: ast.Attribute, inner: set[str]) -> None:
    """Refuses a method that would change a value of the workflow in place."""
    if unit.sharing is not None and any(unit.sharing().at(unit.statement, "")):
        unit.refuse(method, "mutation", f"`.{method.attr}()` may change a value of the workflow in place", "Assign it to a name")
    root: ast.expr = method.value
    while isinstance(root, ast.Attribute | ast.Subscript):
        root = root.value
    if isinstance(root, ast.Name) and root.id not in inner and type(unit.static(method.value)) in (list, dict, set):
        message = f"`.{method.attr}()` changes `{ast.unparse(method.value)}`, which belongs to the module, not to the run"
        unit.refuse(method, "mutation", message, "Change it in a step")
    if isinstance(root, ast.Name) and root.id not in inner and unit.is_local(root.id):
        kind = solid(unit.infer(method.value))
        if not is_model(kind):
            unit.refuse(method, "mutation", f"`.{method.attr}()` changes a value in place", "Assign a new value to the name")


def check_field(unit: Unit, node: ast.Attribute) -> None:
    kind = solid(unit.infer(node.value))
    if not is_model(kind) or kind is Answer or node.attr in kind.model_fields:
        return
    if inspect.getattr_static(kind, node.attr, None) is None and kind.model_config.get("extra") != "allow":
        unit.express(node)  # refuses it


def _inner(parts: list[ast.AST]) -> set[str]:
    """The names that the expression binds itself."""
    lambdas = [part.args for part in parts if isinstance(part, ast.Lambda)]
    bound = {arg.arg for arguments in lambdas for arg in ast.walk(arguments) if isinstance(arg, ast.arg)}
    return bound | {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}


def _read(parts: Iterable[ast.AST]) -> list[str]:
    return [part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)]


def _free(unit: Unit, parts: list[ast.AST], inner: set[str], read: list[str]) -> set[str]:
    """The names of the workflow that the expression reads. What the first collection of a comprehension reads, Python evaluates
    outside of it."""
    free = {name for name in read if unit.is_local(name) and name not in inner}
    if not inner:
        return free
    iterated = {name for part in parts if isinstance(part, ast.comprehension) for name in _read(ast.walk(part.iter))}
    return free | {name for name in iterated if name in inner and name in unit.bound}


def _reading(parts: Iterable[ast.AST], name: str) -> ast.Name:
    """Where the expression first reads a name."""
    return next(part for part in parts if isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Load))


def _outside(unit: Unit, parts: list[ast.AST], names: list[str], free: set[str]) -> bool:
    """Whether the expression needs its module: a name of it, or a class of one of its values."""
    needs = False
    for name in names:
        if not unit.is_known(name):
            unknown_name(unit, _reading(parts, name), name)
        needs = needs or name in unit.origin.globals
    return needs or any(_is_class(unit.kind_of(name)) for name in free)


def _is_class(kind: Any) -> bool:
    return any(one is not UNKNOWN and not is_plain(one) and typing.get_origin(one) is not tuple for one in members(kind))
