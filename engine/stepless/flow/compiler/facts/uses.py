"""Finds which names a piece of Python reads, binds and changes in place, by Python's own rules of scope: the names of a nested
function, a lambda, a class or a comprehension are its own."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Final

from stepless.flow.compiler.trees import Visitor

MUTATORS: Final = frozenset({
    "append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse", "update", "setdefault", "popitem", "add",
    "discard", "appendleft", "popleft", "extendleft", "rotate", "subtract", "move_to_end", "intersection_update",
    "difference_update", "symmetric_difference_update", "__setitem__", "__delitem__",
})
"""Methods that change a list, an object or a set in place."""
CHANGES_ITS_ARGUMENT: Final = frozenset({
    "heappush", "heappop", "heapify", "heapreplace", "heappushpop", "shuffle", "insort", "insort_left", "insort_right", "setattr",
    "delattr", "next",
})
"""Functions of Python that change their first argument in place."""
_READS: Final = frozenset({
    "print", "debug", "info", "warning", "error", "exception", "critical", "log", "write", "writelines", "dump", "sleep",
})
"""Functions that are called for an effect elsewhere: they leave their arguments as they are."""


class Uses(Visitor):
    """What some nodes do with the names around them. `changed` has the names whose value they may change in place, `deleted`
    those that `del` and the end of a handler leave without a value, `outer` those that `global` names, `maybe` those that `:=`
    binds where Python may skip it."""

    def __init__(self) -> None:
        self.read: set[str] = set()
        self.bound: set[str] = set()
        self.changed: set[str] = set()
        self.deleted: set[str] = set()
        self.outer: set[str] = set()
        self.maybe: set[str] = set()
        self._walrused: set[str] = set()  # bound by `:=`, in front of what is visited now
        self._skipped = False
        self._lent: set[str] = set()

    # -- names ----------------------------------------------------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            if node.id not in self._walrused:
                self.read.add(node.id)
            return
        self.bound.add(node.id)
        if isinstance(node.ctx, ast.Del):
            self.read.add(node.id)
            self.deleted.add(node.id)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        name = node.target.id
        if self._skipped and name not in self.bound:
            self.maybe.add(name)
        if not self._skipped:
            self._walrused.add(name)
            self.maybe.discard(name)
        self.bound.add(name)

    def _some(self, sure: Iterable[ast.expr], others: Iterable[ast.expr]) -> None:
        """Visits what Python evaluates for certain, and what it may skip."""
        for part in sure:
            self.visit(part)
        outer, self._skipped = self._skipped, True
        for part in others:
            self.visit(part)
        self._skipped = outer

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self._some(node.values[:1], node.values[1:])

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._some([node.test], [node.body, node.orelse])

    def visit_Compare(self, node: ast.Compare) -> None:
        self._some([node.left, node.comparators[0]], node.comparators[1:])

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.generic_visit(node)
        if isinstance(node.target, ast.Name):
            self.read.add(node.target.id)
            self.changed.add(node.target.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._item(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self._item(node)

    def _item(self, node: ast.Attribute | ast.Subscript) -> None:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            self._change(node)

    def _change(self, node: ast.expr) -> None:
        name = root(node)
        if name is not None:
            self.changed.add(name)

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in MUTATORS:
            self._change(function.value)
        if called(function) in CHANGES_ITS_ARGUMENT and node.args:
            self._change(node.args[0])

    def visit_Expr(self, node: ast.Expr) -> None:
        """A call whose result is not used is made for its effect, which may be on its arguments."""
        self.generic_visit(node)
        call = node.value
        if isinstance(call, ast.Call) and called(call.func) not in _READS | MUTATORS | CHANGES_ITS_ARGUMENT:
            if isinstance(call.func, ast.Attribute):
                self._change(call.func.value)
            for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
                if isinstance(argument, ast.Name | ast.Attribute | ast.Subscript):
                    self._change(argument)

    def visit_Global(self, node: ast.Global) -> None:
        self.outer |= set(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self._lent |= set(node.names)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self.generic_visit(node)
        if node.name:
            self.bound.add(node.name)
            self.deleted.add(node.name)

    def _named(self, node: ast.MatchAs | ast.MatchStar) -> None:
        self.generic_visit(node)
        self.bound |= {node.name} if node.name else set()

    visit_MatchAs = visit_MatchStar = _named  # named by `ast`

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self.generic_visit(node)
        self.bound |= {node.rest} if node.rest else set()

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        self.bound |= {one.asname or one.name.partition(".")[0] for one in node.names}

    visit_ImportFrom = visit_Import  # named by `ast`

    # -- scopes ---------------------------------------------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.bound.add(node.name)
        for part in (*node.decorator_list, *_defaults(node.args), *_annotations(node)):
            self.visit(part)
        self._inner(uses_of(*node.body), {one.arg for one in parameters(node.args)})

    visit_AsyncFunctionDef = visit_FunctionDef  # named by `ast`

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for part in _defaults(node.args):
            self.visit(part)
        self._inner(uses_of(node.body), {one.arg for one in parameters(node.args)})

    def _inner(self, inner: Uses, given: set[str]) -> None:
        own = (inner.bound | given) - inner._lent - inner.outer
        self.read |= (inner.read | inner._lent) - own - inner.outer
        self.changed |= inner.changed - own
        self.bound |= inner._lent - inner.outer

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.bound.add(node.name)
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part)
        inner = uses_of(*node.body)
        self.read |= inner.read
        self.changed |= inner.changed - inner.bound

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        self.visit(node.generators[0].iter)
        elements = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        parts = [one.iter for one in node.generators[1:]] + [part for one in node.generators for part in one.ifs]
        inner, targets = uses_of(*parts, *elements), uses_of(*(one.target for one in node.generators))
        own = targets.bound
        made = inner.bound - own  # by `:=`, which binds a name of the function
        self.read |= (inner.read | targets.read) - own - made - self._walrused
        self.changed |= (inner.changed | targets.changed) - own
        self.maybe |= made - self.bound
        self.bound |= made

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp  # named by `ast`


def uses_of(*nodes: ast.AST) -> Uses:
    uses = Uses()
    for node in nodes:
        uses.visit(node)
    return uses


def root(node: ast.expr) -> str | None:
    """Returns the name that an attribute, an item or the result of a method belongs to."""
    while True:
        match node:
            case ast.Name(id=name):
                return name
            case ast.Attribute(value=value) | ast.Subscript(value=value) | ast.Starred(value=value):
                node = value
            case ast.Call(func=ast.Attribute(value=value)):
                node = value
            case _:
                return None


def called(function: ast.expr) -> str:
    """Returns the last word of what is called."""
    return function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""


def parameters(arguments: ast.arguments) -> Iterator[ast.arg]:
    yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    yield from (one for one in (arguments.vararg, arguments.kwarg) if one is not None)


def _defaults(arguments: ast.arguments) -> Iterable[ast.expr]:
    return [*arguments.defaults, *(one for one in arguments.kw_defaults if one is not None)]


def _annotations(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterable[ast.expr]:
    found = [one.annotation for one in parameters(node.args)] + [node.returns]
    return [one for one in found if one is not None]
