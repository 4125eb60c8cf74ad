"""Finds which names may be aliases of one value, in whole or in part. In Python a change in place shows under each of them; in a
document a value never changes. So a name is changed in place only while its value has no other name."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from stepless.flow.compiler.facts.block_nodes import Evaluated, Output
from stepless.flow.compiler.facts.names import names_in
from stepless.flow.compiler.facts.uses import parameters, root, uses_of
from stepless.flow.compiler.trees import Visitor

_FRESH = (ast.Constant, ast.JoinedStr, ast.Compare, ast.UnaryOp, Evaluated, Output)
IsFresh = Callable[[ast.expr], bool]
INNER = "\n"
"""Stands in the names of what only a block names: no name of a source has it."""
IsFreshInside = Callable[[Evaluated], IsFresh]


class Sharing(Visitor):
    """Relates the names of a function's body, whatever the order of its statements. `fresh` says of an expression that its value
    has no other name, or cannot be changed."""

    def __init__(self, fresh: IsFresh, inside: IsFreshInside) -> None:
        self._fresh = fresh
        self._inside = inside
        self._blocks: list[Evaluated] = []
        self._targets: dict[tuple[str, str], str] = {}  # the name that an output of a block is bound to
        self._wholes: dict[int, str] = {}
        self._functions: dict[str, list[str]] = {}  # the parameters of functions inside of a block
        self._is: dict[str, set[str]] = {}  # the value of a name may be that of these
        self._in: dict[str, set[str]] = {}  # the value of a name may be a part of that of these
        self._holds: dict[str, set[str]] = {}  # the value of a name may contain that of these

    def visit_Evaluated(self, node: Evaluated) -> None:
        self._blocks.append(node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.generic_visit(node)
        self._assign(node.target, node.value)

    def visit_withitem(self, node: ast.withitem) -> None:
        self.generic_visit(node)
        for name in names_in(node.optional_vars) if node.optional_vars is not None else ():
            self._relate(self._in, name, self._contained(node.context_expr))

    def visit_Match(self, node: ast.Match) -> None:
        self.generic_visit(node)
        for case in node.cases:
            for name in uses_of(case.pattern).bound:
                self._relate(self._in, name, self._contained(node.subject))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.generic_visit(node)
        self._functions[node.name] = [one.arg for one in parameters(node.args)]

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        if isinstance(node.value, Evaluated | Output):
            self._note(node)
            return
        for target in node.targets:
            self._assign(target, node.value)

    def _note(self, node: ast.Assign) -> None:
        """Notes the name that a block, or an output of it, is bound to."""
        (target,) = node.targets
        assert isinstance(target, ast.Name)
        if isinstance(node.value, Evaluated):
            block = node.value.block
            self._wholes[id(node.value)] = target.id
            if block.is_plain and block.outputs:
                self._targets[target.id, block.outputs[0]] = target.id
        elif isinstance(node.value, Output) and isinstance(node.value.whole, ast.Name):
            self._targets[node.value.whole.id, node.value.key.partition(".")[2]] = target.id

    def close(self) -> None:
        """After the last statement: relates the names around each block as the statements inside of it do."""
        for number, node in enumerate(self._blocks):
            whole = self._wholes.get(id(node), "")
            names = {name: self._targets[whole, name] for name in node.block.outputs if (whole, name) in self._targets}
            given = zip(node.block.inputs, node.arguments, strict=True)
            names |= {one: got.id for one, got in given if isinstance(got, ast.Name)}
            inner = Sharing(self._inside(node), self._inside)
            for statement in node.block.statements:
                inner.visit(statement)
            for kept, others in ((self._is, inner._is), (self._in, inner._in), (self._holds, inner._holds)):
                for name, values in others.items():
                    related = {names.get(one, f"{number}{INNER}{one}") for one in values}
                    kept.setdefault(names.get(name, f"{number}{INNER}{name}"), set()).update(related)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.generic_visit(node)
        if node.value is not None:
            self._assign(node.target, node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.generic_visit(node)
        if isinstance(node.target, ast.Name):
            self._relate(self._holds, node.target.id, self._contained(node.value))

    def visit_For(self, node: ast.For) -> None:
        self.generic_visit(node)
        for name in names_in(node.target):
            self._relate(self._in, name, self._contained(node.iter))

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            for argument in node.args:
                self._relate(self._holds, node.func.value.id, self._contained(argument))
        elif isinstance(node.func, ast.Attribute) and (name := root(node.func)) is not None:
            for argument in node.args:
                self._relate(self._holds, name, self._contained(argument))
        if isinstance(node.func, ast.Name):
            for parameter in self._functions.get(node.func.id, ()):
                for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
                    self._relate(self._is, parameter, self._contained(argument))

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
            for one, other in zip(target.elts, value.elts, strict=False):
                self._assign(one, other)
        elif isinstance(target, ast.Tuple | ast.List):
            for name in names_in(target):
                self._relate(self._in, name, self._contained(value))
        elif isinstance(target, ast.Name):
            self._relate(self._is, target.id, self._same(value))
            self._relate(self._in, target.id, self._contained(value) if self._is_part(value) else set())
            self._relate(self._holds, target.id, self._contained(value))
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            self._relate(self._holds, target.value.id, self._contained(value))

    def _relate(self, kept: dict[str, set[str]], name: str, others: set[str]) -> None:
        if self._counted({name}):
            kept.setdefault(name, set()).update(others - {name})

    def _same(self, value: ast.expr) -> set[str]:
        """The names whose value an expression may return itself."""
        if isinstance(value, _FRESH) or self._fresh(value):
            return set()
        match value:
            case ast.Name():
                return self._counted({value.id})
            case ast.IfExp():
                return self._same(value.body) | self._same(value.orelse)
            case ast.BoolOp():
                return set[str]().union(*map(self._same, value.values))
            case ast.Await():
                return self._same(value.value)
            case ast.Call():  # a helper or a part may return what it was given
                return {name for part in _arguments(value) for name in self._contained(part)}
        return set()

    def _is_part(self, value: ast.expr) -> bool:
        match value:
            case ast.Attribute():
                return True
            case ast.Subscript():
                return not isinstance(value.slice, ast.Slice)
            case ast.IfExp():
                return self._is_part(value.body) or self._is_part(value.orelse)
            case ast.BoolOp():
                return any(map(self._is_part, value.values))
        return isinstance(value, ast.Call | ast.Await)

    def _contained(self, value: ast.expr) -> set[str]:
        """The names whose value may be inside of what an expression returns, or be it."""
        if isinstance(value, _FRESH) or self._fresh(value):
            return set()
        if isinstance(value, ast.Subscript):
            return self._contained(value.value)
        names = [name for name in ast.walk(value) if isinstance(name, ast.Name)]
        return self._counted({name.id for name in names if isinstance(name.ctx, ast.Load)})

    def _counted(self, names: set[str]) -> set[str]:
        return {name for name in names if not self._fresh(ast.Name(name, ast.Load()))}

    def others(self, name: str) -> set[str]:
        """Returns the other names that could show a change of this name's value. A change of a list or an object shows under its
        other names and in what contains it, not in its items."""
        near: dict[str, set[str]] = {}
        for kept in (self._is, self._in, self._holds):
            for one, values in kept.items():
                for other in values:
                    near.setdefault(one, set()).add(other)
                    near.setdefault(other, set()).add(one)
        reached = {one for kept in (self._is, self._holds) for one, values in kept.items() if name in values}
        reached |= self._is.get(name, set()) | self._in.get(name, set())
        stack = list(reached)
        while stack:
            for other in near.get(stack.pop(), ()):
                if other not in reached and other != name:
                    reached.add(other)
                    stack.append(other)
        return reached - {name}


def _arguments(call: ast.Call) -> Iterator[ast.expr]:
    yield from call.args
    yield from (keyword.value for keyword in call.keywords)
    if isinstance(call.func, ast.Attribute):
        yield call.func.value


def sharing_of(body: list[ast.stmt], fresh: IsFresh, inside: IsFreshInside) -> Callable[[str], set[str]]:
    """Returns `Sharing.others` of a body, which is read when it is first asked: few functions change a value in place."""
    made: list[Sharing] = []

    def others(name: str) -> set[str]:
        if not made:
            made.append(Sharing(fresh, inside))
            for statement in body:
                made[0].visit(statement)
            made[0].close()
        return made[0].others(name)

    return others
