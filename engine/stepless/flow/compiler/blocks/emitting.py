"""Emits the node that evaluates a block, after checking that it may be one."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping
from typing import Final

from stepless.flow.compiler.attachments import LiftedBlock
from stepless.flow.compiler.blocks.functions import function_of, text_of
from stepless.flow.compiler.blocks.kinds import inside, outputs
from stepless.flow.compiler.blocks.valueless import maker_of
from stepless.flow.compiler.changes import check_others
from stepless.flow.compiler.explaining import Lifting
from stepless.flow.compiler.expressions.expression import unknown_name
from stepless.flow.compiler.expressions.lifting import check_evaluated, check_field, function_name
from stepless.flow.compiler.facts.block_nodes import Block, Evaluated
from stepless.flow.compiler.facts.types import UNBOUND
from stepless.flow.compiler.facts.uses import uses_of
from stepless.flow.compiler.refusals import Refusal
from stepless.flow.compiler.unit import Unit
from stepless.model.json import JSON

_OF_MODULES: Final = (list, dict, set, deque, Counter, defaultdict)
_NESTED: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_ABOUT: Final[Mapping[str, str]] = {
    "With": "with", "For": "for", "While": "while", "If": "if", "Try": "try", "Match": "match", "FunctionDef": "def",
    "ClassDef": "class", "Import": "import", "ImportFrom": "import", "Delete": "del", "Assert": "assert", "Raise": "raise",
}


def evaluate(unit: Unit, node: Evaluated) -> ast.expr:
    """Emits the node of a block behind the frontier, and refers to its output."""
    try:
        return _emitted(unit, node)
    except Refusal as refusal:
        refusal.is_final = refusal.code not in ("no_value", "unbound") and not refusal.name
        raise


def _emitted(unit: Unit, node: Evaluated) -> ast.expr:
    block = node.block
    if unit.lift == "never":
        unit.refuse(node, "lifted", "these statements are none of a document, and `lift` is never", "Move them into a step")
    kinds = {name: unit.infer(argument) for name, argument in zip(block.inputs, node.arguments, strict=True)}
    inner = inside(unit, block, kinds)
    _check(unit, block, inner)
    _check_values(unit, node, inner)
    arguments, unsure = _arguments(unit, node)
    _check_changes(unit, node)
    base = _about(block)
    hint = unit.wanted[1] if unit.wanted is not None and unit.wanted[0] is node and block.is_plain else base
    made = unit.new_id(f"block_{base}")
    text = text_of(block)
    name = function_name(unit.workflow, made, f"{','.join(block.inputs)}\n{text}", unit.origin.globals.get("__name__", ""))
    tree = function_of(block, unit.origin.name, unsure, unit.origin.first)
    unit.lifted.append(LiftedBlock(
        name, tree, unit.origin.path, kinds, outputs(unit, node), block.exits, block.changed, unsure, unit.origin.globals,
        block.is_plain, node.leaves,
    ))  # fmt: skip
    id = unit.emit(unit.new_id(hint), "function", {"call": name, "args": arguments})
    why = unit.plan.why(unit.origin, block.statements)
    unit.liftings.append(Lifting(id, unit.origin, node, block.inputs, why, block))
    unit.may_fail(id, mixed=True)
    return unit.texts.reference(id)


def _arguments(unit: Unit, node: Evaluated) -> tuple[dict[str, JSON], frozenset[str]]:
    """The values of the inputs, and which of them may be those of names without one."""
    arguments: dict[str, JSON] = {}
    unsure = set()
    for name, argument in zip(node.block.inputs, node.arguments, strict=True):
        assert isinstance(argument, ast.Name)
        if argument.id in unit.bound:
            arguments[name] = unit.texts.template(unit.express(argument))
        elif unit.is_strict(argument.id):
            arguments[name] = f"<workflow.{argument.id}>"
            unsure.add(name)
        elif name in node.block.optional or not unit.is_local(argument.id):
            arguments[name] = dict(UNBOUND)
            unsure.add(name)
        else:
            read = next((part for part in _parts(node.block) if isinstance(part, ast.Name) and part.id == name), argument)
            unit.express(ast.copy_location(ast.Name(argument.id, ast.Load()), read))  # refuses it
    return arguments, frozenset(unsure)


def _about(block: Block) -> str:
    if len(block.outputs) == 1:
        return block.outputs[0]
    first = type(block.statements[0]).__name__
    return _ABOUT.get(first, "_".join(block.outputs)[:40] or "statements")


def _parts(block: Block) -> Iterator[ast.AST]:
    for statement in block.statements:
        yield from ast.walk(statement)


# -- checks -----------------------------------------------------------------------------------------------------------


def _check_values(unit: Unit, node: Evaluated, inner: Unit) -> None:
    """Checks that each output of the block has a value."""
    for name in node.block.outputs:
        maker = maker_of(inner, node.block, name)
        if maker is None:
            continue
        end = node.end_lineno or node.lineno
        awaits = [part for part in ast.walk(unit.origin.tree) if isinstance(part, ast.Await)]
        behind = next((part for part in awaits if part.lineno > end), awaits[0] if awaits else None)
        made = f"`{name}` of line {unit.origin.line(maker)} has no value that can be recorded"
        if behind is None:
            message, mend = f"{made}, and is read in another node", "Write what makes it and what reads it one behind the other"
        else:
            where = f"line {unit.origin.line(behind)}"
            message, mend = f"{made}, and would have to outlive the await in {where}", f"Make `{name}` again behind {where}"
        raise Refusal(maker, "no_value", message, mend, name=name)


def _check_changes(unit: Unit, node: Evaluated) -> None:
    """A value that changes in place must have no other name outside of the block."""
    sharing = unit.sharing() if unit.sharing is not None else None
    for name, others in sorted(sharing.found.get(id(unit.statement), {}).items()) if sharing is not None else ():
        check_others(unit, node, name, others)
    for name in sorted(sharing.under.get(id(node), ())) if sharing is not None else ():
        message = f"`{name}` changes in place under another name"
        raise Refusal(node, "shared_mutation", message, "Change it under its own name", name=name)


def _check(unit: Unit, block: Block, inner: Unit) -> None:
    uses = uses_of(*block.statements)
    for part in _parts(block):
        _check_part(unit, inner, part)
    local = ({*inner.names.bound, *block.inputs} - uses.outer) | unit.plan.made_again(unit.origin).names()
    unknown = []
    for name in sorted(uses.read - local):
        if not unit.is_known(name) and name not in uses_of(*unit.origin.tree.body).bound:
            found = next((one for one in _parts(block) if isinstance(one, ast.Name) and one.id == name), block.statements[0])
            try:
                unknown_name(inner, found, name)
            except Refusal as refusal:
                unknown.append(refusal)
    for other in unknown[:-1]:
        unit.note(other)
    if unknown:
        raise unknown[-1]
    for name in sorted(uses.changed - local):
        if type(unit.origin.globals.get(name)) in _OF_MODULES:
            message = f"this changes `{name}`, which belongs to the module, not to the run"
            unit.refuse(block.statements[0], "mutation", message, "Change it in a step")


def _check_part(unit: Unit, inner: Unit, part: ast.AST) -> None:
    check_evaluated(inner, part)
    if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Load):
        check_field(inner, part)
    if isinstance(part, ast.Call):
        target = inner.static(part.func)
        where = f"{getattr(target, '__module__', '')}.{getattr(target, '__qualname__', '')}"
        if where in ("threading.Thread", "multiprocessing.context.Process", "_thread.start_new_thread"):
            unit.refuse(part, "no_such_construct", "a thread outlives the node that starts it", "Start it in a step")
