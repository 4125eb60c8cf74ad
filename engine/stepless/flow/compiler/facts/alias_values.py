"""Finds which objects an expression may return, and what it does to others: which it changes in place, and what it puts into
them."""

from __future__ import annotations

import ast
import datetime
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any, Final
from uuid import UUID

from stepless.flow.compiler.facts.alias_state import NOTHING, Labels, State, Value, content, either, made, older
from stepless.flow.compiler.facts.block_nodes import Evaluated, Output
from stepless.flow.compiler.facts.uses import CHANGES_ITS_ARGUMENT, MUTATORS, called, uses_of

MODULE: Final = "\nmodule "
"""Begins the label of what belongs to the module."""
Fact = Callable[[ast.expr], bool]
_IMMUTABLE: Final = (
    str, int, float, bool, complex, bytes, range, slice, type, datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo,
    Decimal, UUID, Enum,
)
_COPIES: Final = frozenset({
    "list", "sorted", "set", "frozenset", "tuple", "dict", "deque", "Counter", "OrderedDict", "defaultdict", "islice",
})
"""Functions that return a new collection of what their arguments contain."""
_VIEWS: Final = frozenset({"enumerate", "zip", "reversed", "iter", "map", "filter", "chain"})
"""Functions whose result runs over their arguments later."""
_ITEMS: Final = frozenset({"get", "pop", "popleft", "popitem", "setdefault", "heappop", "heappushpop", "next", "min", "max"})
_ATOMS: Final = ("str", "int", "float", "bool", "bytes", "list", "dict", "tuple", "set", "frozenset")
"""Classes of which a pattern captures the value itself."""
_NUMBERS: Final = ("math", "time", "uuid", "_uuid", "statistics", "_statistics", "hashlib", "_operator")
_ADDING: Final = MUTATORS - {"pop", "popitem", "popleft", "remove", "clear", "sort", "reverse", "discard", "rotate"}
_READ: Final = frozenset({
    "print", "debug", "info", "warning", "error", "exception", "critical", "log", "write", "writelines", "dump", "sleep",
})


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of the expressions of a function. `scalar`: its value cannot be changed in place; `flat`: it contains nothing
    that can; `copied`: an awaited call returns a copy; `static`: the object of the module that an expression names."""

    scalar: Fact
    flat: Fact
    copied: Fact
    static: Callable[[ast.expr], Any]
    local: Callable[[str], bool]
    inside: Callable[[Evaluated], Facts]


def is_immutable(kind: Any) -> bool:
    """Returns whether no value of a class can be changed in place."""
    return kind is None or (inspect.isclass(kind) and issubclass(kind, (*_IMMUTABLE, type(None))))


def global_value(name: str, value: Any) -> Value:
    """Returns the objects of a constant of the module, which are none of the run's."""
    if isinstance(value, (*_IMMUTABLE, type(None))) or callable(value) or inspect.ismodule(value):
        return NOTHING
    return Value(frozenset({f"{MODULE}{name}"}), frozenset({f"{MODULE}{name}"}))


class Values:
    """Evaluates expressions in a state, which they may change. `changed` takes the objects that are changed, and the name under
    which. `functions` are the names that the functions of the function read."""

    def __init__(self, facts: Facts, changed: Callable[[State, Labels, str, ast.AST], None]) -> None:
        self.facts = facts
        self._changed = changed
        self.functions: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
        self.outputs: dict[tuple[str, str], Value] = {}
        self._rules: dict[type, Callable[[State, Any], Value]] = {
            ast.Name: self._name, ast.Attribute: self._part, ast.Subscript: self._part, ast.BinOp: self._operation,
            ast.List: self._display, ast.Tuple: self._display, ast.Set: self._display, ast.Dict: self._display,
            ast.Call: self._call, ast.Await: self._await, ast.NamedExpr: self._walrus, ast.Lambda: self._lambda,
            ast.ListComp: self._comprehension, ast.SetComp: self._comprehension, ast.DictComp: self._comprehension,
            ast.GeneratorExp: self._comprehension, Output: self._output, ast.Starred: self._starred,
        }  # fmt: skip

    def of(self, state: State, node: ast.expr | None) -> Value:
        if node is None or isinstance(node, ast.Constant):
            return NOTHING
        rule = self._rules.get(type(node))
        if rule is not None:
            found = rule(state, node)
            if found.top and self.facts.scalar(node):
                return NOTHING
            return Value(found.top) if found.deep and self.facts.flat(node) else found
        values = [self.of(state, one) for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr)]
        return either(values) if isinstance(node, ast.BoolOp | ast.IfExp) else NOTHING

    # -- parts ----------------------------------------------------------------------------------------------------------

    def _name(self, state: State, node: ast.Name) -> Value:
        if node.id in state.names:
            return state.names[node.id]
        return NOTHING if self.facts.local(node.id) else global_value(node.id, self.facts.static(node))

    def _part(self, state: State, node: ast.Attribute | ast.Subscript) -> Value:
        if isinstance(node, ast.Attribute):
            target = self.facts.static(node)
            return global_value(ast.unparse(node), target) if target is not None else self.of(state, node.value).item()
        whole = self.of(state, node.value)
        self.of(state, node.slice)
        return self._new(state, node, whole.deep) if isinstance(node.slice, ast.Slice) else whole.item()

    def _new(self, state: State, node: ast.AST, deep: Labels) -> Value:
        """A new collection."""
        state.make(made(node))
        return Value(frozenset({made(node)}), deep)

    def _operation(self, state: State, node: ast.BinOp) -> Value:
        left, right = self.of(state, node.left), self.of(state, node.right)
        if not left.top and not right.top:
            return NOTHING
        state.twice |= (left.deep | right.deep) if isinstance(node.op, ast.Mult) else left.deep & right.deep
        return self._new(state, node, left.deep | right.deep)

    def _display(self, state: State, node: ast.List | ast.Tuple | ast.Set | ast.Dict) -> Value:
        parts: Iterable[ast.expr | None] = node.elts if not isinstance(node, ast.Dict) else [*node.keys, *node.values]
        pairs = zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ()
        spread = {id(value) for key, value in pairs if key is None}
        deep: Labels = frozenset()
        for part in parts:
            value = self.of(state, part)
            inner = value.deep if id(part) in spread else value.all()
            state.twice |= deep & inner
            deep |= inner
        return NOTHING if isinstance(node, ast.Tuple) and not deep else self._new(state, node, deep)

    def _starred(self, state: State, node: ast.Starred) -> Value:
        return Value(frozenset(), self.of(state, node.value).deep)

    def _walrus(self, state: State, node: ast.NamedExpr) -> Value:
        value = self.of(state, node.value)
        state.names[node.target.id] = value
        return value

    def _lambda(self, state: State, node: ast.Lambda) -> Value:
        uses = uses_of(node)
        read = [state.names[name] for name in uses.read if name in state.names]
        for name in uses.changed & state.names.keys():
            self._changed(state, state.names[name].all(), name, node)
            for value in read:
                state.put(state.names[name].all(), value)
        return self._new(state, node, either(read).top | either(read).deep)

    def _output(self, state: State, node: Output) -> Value:
        whole = node.whole.id if isinstance(node.whole, ast.Name) else ""
        return self.outputs.get((whole, node.key), NOTHING)

    def _comprehension(self, state: State, node: Any) -> Value:
        before = {**state.names}
        own: set[Any] = set()
        for generator in node.generators:
            items = self.of(state, generator.iter).item()
            own |= items.top
            self.bind(state, generator.target, items)
            for test in generator.ifs:
                self.of(state, test)
        parts = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        inner = either([self.of(state, part) for part in parts]).all()
        outside = {label for value in before.values() for label in value.all()}
        state.twice |= (inner & outside) - own
        state.make(*[label for label in inner if label not in outside and isinstance(label, int) and label > 0])
        for name in uses_of(*(generator.target for generator in node.generators)).bound:
            state.names.pop(name, None)
            if name in before:
                state.names[name] = before[name]
        return self._new(state, node, frozenset(one if one in outside else older(one) for one in inner))

    def bind(self, state: State, target: ast.expr, value: Value) -> None:
        """Binds the names of a target."""
        match target:
            case ast.Name(ctx=ast.Del()):
                state.names.pop(target.id, None)
            case ast.Name():
                state.names[target.id] = value
            case ast.Starred():
                self.bind(state, target.value, self._new(state, target, value.deep))
            case ast.Tuple() | ast.List():
                for one in target.elts:
                    inner = value if isinstance(one, ast.Starred) else value.item()
                    self.bind(state, one, inner)
            case ast.Subscript() | ast.Attribute():
                if isinstance(target, ast.Subscript):
                    self.of(state, target.slice)
                is_slice = isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice)
                self.change(state, target.value, Value(frozenset(), value.deep) if is_slice else value, target)

    def match(self, state: State, pattern: ast.pattern, value: Value) -> None:
        """Binds the names of a pattern that matches a value."""
        inner = value.item()
        match pattern:
            case ast.MatchAs() | ast.MatchStar():
                found = self._new(state, pattern, value.deep) if isinstance(pattern, ast.MatchStar) else value
                state.names |= {pattern.name: found} if pattern.name else {}
            case ast.MatchMapping(rest=str(name)):
                state.names[name] = self._new(state, pattern, value.deep)
            case ast.MatchClass(cls=ast.Name(id=name)) if name in _ATOMS:
                inner = value
        for one in ast.iter_child_nodes(pattern):
            if isinstance(one, ast.pattern):
                alike = isinstance(pattern, ast.MatchAs | ast.MatchOr) or isinstance(one, ast.MatchStar)
                self.match(state, one, value if alike else inner)

    def change(self, state: State, whole: ast.expr, value: Value, at: ast.AST, *, parts: bool = False) -> None:
        """Changes what an expression returns in place, and puts a value into it. `parts`: and what it contains."""
        found = self.of(state, whole)
        labels = found.all() if parts else found.top
        if labels:
            self._changed(state, labels, _root(whole), at)
            state.put(labels, value)

    # -- calls ----------------------------------------------------------------------------------------------------------

    def _await(self, state: State, node: ast.Await) -> Value:
        if isinstance(node.value, ast.Call) and self.facts.copied(node):
            for part in _given(node.value):
                self.of(state, part)
            return self._fresh(state, node)
        value = self.of(state, node.value)
        fresh = self._fresh(state, node)
        return either([value, fresh])

    def _fresh(self, state: State, node: ast.expr) -> Value:
        """A value that nothing else names."""
        if self.facts.scalar(node):
            return NOTHING
        flat = self.facts.flat(node)
        state.make(made(node), *([] if flat else [content(node)]))
        return Value(frozenset({made(node)}), frozenset() if flat else frozenset({content(node)}))

    def _call(self, state: State, node: ast.Call) -> Value:
        target, name = self.facts.static(node.func), called(node.func)
        base = self.of(state, node.func.value) if isinstance(node.func, ast.Attribute) and target is None else NOTHING
        given = [self.of(state, part) for part in _given(node)]
        whole = either(given)
        self._functions_called(state, node, whole)
        if name in CHANGES_ITS_ARGUMENT and node.args:
            self.change(state, node.args[0], either(given[1:]), node)
        if isinstance(node.func, ast.Attribute) and target is None:
            return self._method(state, node, name, base, whole)
        return self._function(state, node, target, name, whole)

    def _method(self, state: State, node: ast.Call, name: str, base: Value, given: Value) -> Value:
        assert isinstance(node.func, ast.Attribute)
        if name in MUTATORS:
            if name in ("extend", "update", "extendleft"):
                named = either([self.of(state, word.value) for word in node.keywords])
                given = Value(named.top, given.deep)
            self.change(state, node.func.value, given if name in _ADDING else NOTHING, node)
        if name in _ITEMS:
            return either([base.item(), given])
        if name in MUTATORS:
            return NOTHING
        if name in ("copy", "items", "values", "keys", "most_common", "elements", "union", "intersection", "difference"):
            tops = base.top if name in ("items", "values", "keys") else frozenset[Any]()
            fresh = self._new(state, node, base.deep | given.deep)
            return Value(fresh.top | tops, fresh.deep)
        if name == "model_dump" or any(word.arg == "deep" for word in node.keywords):
            return self._fresh(state, node)
        if name == "model_copy":
            return self._new(state, node, base.deep | given.all())
        return self._unknown(state, node, either([base, given]))

    def _function(self, state: State, node: ast.Call, target: Any, name: str, given: Value) -> Value:
        if target is None and isinstance(node.func, ast.Name) and not self.facts.local(name):
            target = getattr(__import__("builtins"), name, None)
        if name == "gather":
            return self._new(state, node, given.all())
        if getattr(target, "__module__", "") == "json" or name == "deepcopy":
            return self._fresh(state, node)
        owner = getattr(target, "__self__", None)
        if is_immutable(target) or (owner is not None and is_immutable(owner)) or getattr(target, "__module__", "") in _NUMBERS:
            return NOTHING if inspect.isclass(target) or inspect.isclass(owner) else self._new(state, node, frozenset())
        if name in _COPIES:
            named = frozenset[Any]().union(*(self.of(state, word.value).all() for word in node.keywords if word.arg != "key"))
            return self._new(state, node, given.deep | named)
        if name in _VIEWS:
            within = given.all() if name == "chain" else given.deep
            return Value(self._new(state, node, frozenset()).top | given.top, within)
        if name in _ITEMS:
            return either([given, given.item()])
        if name in ("sum", "len", "range", "any", "all", "isinstance", "str", "repr", "abs", "round", "hash", "ord", "chr"):
            return self._new(state, node, given.deep)
        if inspect.isclass(target):
            return self._new(state, node, given.all())
        if is_immutable(getattr(target, "__annotations__", {}).get("return", object)):
            return NOTHING
        return self._unknown(state, node, given)

    def _unknown(self, state: State, node: ast.Call, given: Value) -> Value:
        """What a helper returns: something new, something that it was given, or a part of that."""
        if not given.top and not given.deep:
            return self._fresh(state, node)
        return either([self._new(state, node, given.all()), Value(given.all(), given.deep)])

    def _functions_called(self, state: State, node: ast.Call, given: Value) -> None:
        """Does what a function of the function may do that is called, or handed on to be called."""
        handed = [node.func, *_given(node)]
        for name in {one.id for one in handed if isinstance(one, ast.Name)} & self.functions.keys():
            read, changed = self.functions[name]
            for one in changed & state.names.keys():
                inner = either([given, *(state.names[other] for other in read - {one} if other in state.names)])
                labels = state.names[one].all()
                self._changed(state, labels, one, node)
                state.put(labels, Value(inner.all(), inner.deep))

    def effect(self, state: State, call: ast.Call) -> None:
        """A call whose result is not used is made for its effect, which may be on its arguments."""
        if called(call.func) in _READ | MUTATORS | CHANGES_ITS_ARGUMENT:
            return
        parts: list[ast.expr] = [part for part in _given(call) if isinstance(part, ast.Name | ast.Attribute | ast.Subscript)]
        if isinstance(call.func, ast.Attribute) and self.facts.static(call.func) is None:
            parts.append(call.func.value)
        given = either([self.of(state, part) for part in parts])
        for part in parts:
            self.change(state, part, Value(given.all(), given.deep), call, parts=True)


def _given(call: ast.Call) -> Iterable[ast.expr]:
    return [*call.args, *(word.value for word in call.keywords)]


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _root(node.func.value)
    return node.id if isinstance(node, ast.Name) else ""
