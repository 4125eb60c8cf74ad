"""Infers the types of what a block puts out, from those of its inputs, as those of a function of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from stepless.flow.compiler.expressions.inference import infer
from stepless.flow.compiler.expressions.local_types import learn
from stepless.flow.compiler.facts.block_nodes import Block, Evaluated
from stepless.flow.compiler.facts.carried_types import carried
from stepless.flow.compiler.facts.names import loosely_changed, names_of
from stepless.flow.compiler.facts.types import CARRIED, UNSEEN, is_atom, is_list, is_model, members, solid, union
from stepless.flow.compiler.facts.uses import root
from stepless.flow.compiler.unit import Unit

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def outputs(unit: Unit, node: Evaluated) -> Mapping[str, Any]:
    """Returns the types of the outputs of a block, by `name.` and the name of each, and `value` for what it returns."""
    block = node.block
    kinds = {name: infer(unit, argument) for name, argument in zip(block.inputs, node.arguments, strict=True)}
    try:
        key = tuple(kinds.items())
        known = block.kept.get(key)
    except TypeError:  # `Annotated` may hold what has no hash
        return _outputs(unit, block, kinds)
    if known is None:
        known = block.kept[key] = _outputs(unit, block, kinds)
    found: Mapping[str, Any] = known
    return found


def inside(unit: Unit, block: Block, kinds: Mapping[str, Any]) -> Unit:
    """Makes the unit of the inside of a block: its names as they are written, and their types."""
    inner = Unit(unit.workflow, unit.origin, unit.rules, unit.lift, unit.plan)
    inner.messages = unit.messages
    inner.names = names_of([*block.statements], block.inputs)
    inner.kinds = dict(kinds)
    inner.bound = {*inner.names.bound, *block.inputs}
    for name, kind in kinds.items():
        inner.carry(name, kind)
    learn(inner, inner.names, partly=UNSEEN in kinds.values())
    return inner


def _outputs(unit: Unit, block: Block, kinds: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = inside(unit, block, kinds)
    loose = loosely_changed(block.statements) | _keyed_otherwise(inner, block)
    refilled = {name for statement in block.statements for name in _refilled(inner, statement)}
    found: dict[str, Any] = {}
    for name in block.outputs:
        kind = inner.kind_of(name)
        is_loose = name in refilled or (name in loose and not _is_kept(kind))
        found[f"name.{name}"] = CARRIED if is_loose and kind is not UNSEEN else carried(kind)
    returned = [infer(inner, one) for one in _returned(block)]
    returned = [kind for kind in returned if kind is not UNSEEN]
    if "return" in block.exits:
        found["value"] = carried(union(*returned)) if returned else UNSEEN
    return found


def _is_kept(kind: Any) -> bool:
    """Whether a value stays of a type whatever is done to it in place."""
    return is_atom(kind) or (len(members(kind)) == 1 and is_model(solid(kind)))


def _keyed_otherwise(inner: Unit, block: Block) -> set[str]:
    """Names of objects that may get a key that is no text."""
    found = set()
    for node in (part for statement in block.statements for part in ast.walk(statement)):
        match node:
            case ast.Subscript(ctx=ast.Store(), slice=ast.Slice()):
                continue
            case ast.Subscript(ctx=ast.Store(), value=ast.Name(id=name), slice=key):
                kind, whole = infer(inner, key), inner.kind_of(name)
                placed = kind is int and (whole is UNSEEN or is_list(whole))
                found |= set() if kind in (str, UNSEEN) or placed else {name}
    return found


def _refilled(inner: Unit, statement: ast.stmt) -> Iterator[str]:
    """Names of models of which a field may get a value that is not of its type: pydantic does not look at it."""
    for node in ast.walk(statement):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
        for target in targets:
            for part in ast.walk(target):
                if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store) and (name := root(part)) is not None:
                    given = infer(inner, node.value) if isinstance(node, ast.Assign) and part is target else CARRIED
                    if given is not UNSEEN and given != solid(infer(inner, ast.Attribute(part.value, part.attr, ast.Load()))):
                        yield name


def _returned(block: Block) -> Iterator[ast.expr]:
    """The values that the `return`s of a block return."""
    stack: list[ast.AST] = [*block.statements]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Return):
            yield node.value or ast.Constant(None)
        elif not isinstance(node, (*_SCOPES, ast.expr)):
            stack.extend(ast.iter_child_nodes(node))
