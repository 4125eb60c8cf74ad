"""Rewrites the tasks of asyncio: groups, tasks that begin beside the workflow, and waits for the first that ends.

| written | becomes |
|---|---|
| `async with asyncio.TaskGroup() as tg:` with `t = tg.create_task(a())` | `t, … = await group(a(), …)`, and `t` for `t.result()` |
| `t = asyncio.create_task(a())`, awaited in the same suite | `t = begin(a())`; `await t` stays |
| a list of calls or tasks, then `await asyncio.gather(*tasks)` | `await asyncio.gather(*[a(x) for x in xs])` |
| `done, pending = await asyncio.wait([…], return_when=FIRST_COMPLETED)` | `place, value = await first(…)`, and `result(value)` |

A form that is not one of these stays as it is, and is refused where it is read.
"""

from __future__ import annotations

import ast
import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from stepless.flow.compiler.rewriting.words import BEGIN, FIRST, GROUP, RESULT, RESULT_OF
from stepless.flow.compiler.trees import copied
from stepless.flow.words import word_of

Static = Callable[[ast.expr], Any]
_LOAD: Final = ast.Load()
_SIMPLE: Final = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return)
_JUMPS: Final = (ast.Return, ast.Break, ast.Continue, ast.Raise)


class Tasks:
    """Rewrites the body of one function. `static` says what a name of the module stands for."""

    def __init__(self, body: list[ast.stmt], static: Static) -> None:
        self._static = static
        self._body = body
        self._everywhere = _names(body)
        self._here = self._everywhere
        self._made = 0
        self._values: Counter[str] = Counter()  # names of tasks of groups
        self._lists: Counter[str] = Counter()  # names of lists of such tasks
        self.changed = False

    def rewritten(self) -> list[ast.stmt]:
        """The statements; as they are, if a task is used in a way that is not rewritten."""
        body = self._suite([copied(statement) for statement in self._body])
        created = self._values + self._lists
        bound = Counter(_stored(self._body))
        if created and any(bound[name] != number for name, number in created.items()):
            self.changed = False
            return self._body
        found = _Results(set(self._values), set(self._lists), bound).rewrite(body) if created else body
        self.changed = self.changed and found is not None
        return self._body if found is None else found

    def _suite(self, body: list[ast.stmt]) -> list[ast.stmt]:
        here = _names(body)
        for statement in body:
            for name in ("body", "orelse", "finalbody"):
                inner = getattr(statement, name, None)
                if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                    setattr(statement, name, self._suite(inner))
            for handler in getattr(statement, "handlers", ()):
                handler.body = self._suite(handler.body)
        place, self._here = 0, here
        while place < len(body):
            for rule in (self._group, self._collected, self._first, self._begun):
                found = rule(body, place)
                if found is not None:
                    body, self.changed = found, True
                    break
            else:
                place += 1
        return body

    def _is_here(self, names: Iterable[str]) -> bool:
        """Whether names are used in the suite that is being rewritten alone."""
        return all(self._everywhere[name] == self._here[name] for name in names)

    def _word(self, node: ast.AST) -> str:
        return word_of(self._static(node.func)) if isinstance(node, ast.Call) else ""

    def _name(self, base: str) -> str:
        self._made += 1
        return f"{base}_of_tasks_{self._made}"

    # -- groups -------------------------------------------------------------------------------------------------------

    def _group(self, body: list[ast.stmt], place: int) -> list[ast.stmt] | None:
        match body[place]:
            case ast.AsyncWith(items=[ast.withitem(context_expr=ast.Call(args=[], keywords=[]) as made, optional_vars=ast.Name(id=group))]):
                pass
            case _:
                return None
        statement = body[place]
        assert isinstance(statement, ast.AsyncWith)
        if self._word(made) != "task_group":
            return None
        front, created = _split(statement.body, group)
        if created is None:
            return None
        rest = body[place + 1 :]
        near, _ = _before_rebound(rest, {group})
        if any(_uses(one, group) for one in near):
            return None
        made_list = self._many(created, group)
        if made_list is not None:
            name, call = made_list
            self._lists.update([name] if name else [])
            target: ast.expr | None = ast.Name(name, ast.Store()) if name else None
        else:
            tasks = [_created(one, group) for one in created]
            if any(one is None for one in tasks):
                return None
            pairs = [one for one in tasks if one is not None]
            names = [name or self._name("task") for name, _ in pairs]
            call = _call(GROUP, [inner for _, inner in pairs])
            self._values.update(name for name, _ in pairs if name)
            target = ast.Tuple([ast.Name(name, ast.Store()) for name in names], ast.Store())
            if len(names) == 1:
                target = ast.List(target.elts, ast.Store())
        awaited = ast.Await(call)
        new: ast.stmt = ast.Expr(awaited) if target is None else ast.Assign([target], awaited)
        return [*body[:place], *front, _at(new, statement), *rest]

    def _many(self, created: list[ast.stmt], group: str) -> tuple[str, ast.Call] | None:
        """One statement that creates a task for each item of a collection: the name of their list, and the call of the group."""
        if len(created) != 1:
            return None
        match created[0]:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.ListComp() as listed):
                inner = _task(listed.elt, group)
                found = None if inner is None else ast.copy_location(ast.ListComp(inner, listed.generators), listed)
            case ast.For(body=[ast.Expr(value=ast.Call() as value)], orelse=[]) as loop:
                name, inner = "", _task(value, group)
                over = ast.comprehension(_loaded_target(loop.target), loop.iter, [], 0)
                found = None if inner is None else ast.copy_location(ast.ListComp(inner, [over]), loop)
            case _:
                return None
        return None if found is None else (name, _call(GROUP, [ast.Starred(found, _LOAD)]))

    # -- lists of calls -----------------------------------------------------------------------------------------------

    def _collected(self, body: list[ast.stmt], place: int) -> list[ast.stmt] | None:
        """`tasks = [a(x) for x in xs]`, then `await asyncio.gather(*tasks)`, with nothing else that uses them."""
        found = self._list_of_calls(body, place)
        if found is None:
            return None
        name, listed, length = found
        for later in range(place + length, len(body)):
            statement = body[later]
            gathered = [
                part for part in ast.walk(statement)
                if isinstance(part, ast.Starred) and isinstance(part.value, ast.Name) and part.value.id == name
            ]
            if gathered:
                around = [part for part in ast.walk(statement) if isinstance(part, ast.Call) and gathered[0] in part.args]
                awaits = sum(isinstance(part, ast.Await) for part in ast.walk(statement))
                simple = isinstance(statement, _SIMPLE) and len(gathered) == 1 and awaits == 1
                elsewhere = sum(_uses(one, name) for one in body) - length - 1
                if not simple or self._word(around[0]) != "gather" or elsewhere > 0 or not self._is_here([name]):
                    return None
                gathered[0].value = listed
                return [*body[:place], *body[place + length : later], statement, *body[later + 1 :]]
            if _uses(statement, name) or any(isinstance(part, ast.Await) for part in ast.walk(statement)) or _binds(statement, listed):
                return None
        return None

    def _list_of_calls(self, body: list[ast.stmt], place: int) -> tuple[str, ast.ListComp, int] | None:
        match body[place : place + 2]:
            case [ast.Assign(targets=[ast.Name(id=name)], value=ast.ListComp() as listed), *_] if self._is_call(listed.elt):
                return name, ast.copy_location(ast.ListComp(self._bare(listed.elt), listed.generators), listed), 1
            case [
                ast.Assign(targets=[ast.Name(id=name)], value=ast.List(elts=[])),
                ast.For(body=[ast.Expr(value=ast.Call(
                    func=ast.Attribute(value=ast.Name(id=other), attr="append"), args=[one], keywords=[],
                ))], orelse=[]) as loop,
            ] if other == name and self._is_call(one):  # fmt: skip
                over = ast.comprehension(loop.target, loop.iter, [], 0)
                return name, ast.copy_location(ast.ListComp(self._bare(one), [over]), loop), 2
        return None

    def _is_call(self, node: ast.expr) -> bool:
        """Whether an expression is the call of what can be awaited, or a task of one."""
        word = self._word(node)
        if word == "create_task" and isinstance(node, ast.Call):
            return len(node.args) == 1 and self._is_call(node.args[0])
        return word in ("step", "part", "flow", "sleep", "asyncio.sleep", "wait_for") or self._is_coroutine(node)

    def _is_coroutine(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and asyncio.iscoroutinefunction(self._static(node.func))

    def _bare(self, node: ast.expr) -> ast.expr:
        """The call of a task."""
        return node.args[0] if isinstance(node, ast.Call) and self._word(node) == "create_task" else node

    # -- tasks beside the workflow ------------------------------------------------------------------------------------

    def _begun(self, body: list[ast.stmt], place: int) -> list[ast.stmt] | None:
        match body[place]:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(args=[inner]) as call) if (
                self._word(call) == "create_task" and self._is_call(inner)
            ):
                pass
            case _:
                return None
        statement = body[place]
        if sum(_binds_name(one, name) for one in self._body) != 1:
            return None
        for later in range(place + 1, len(body)):
            one = body[later]
            if isinstance(one, _SIMPLE) and _awaits(one, name, self._word):
                rest = [_spread(after, name, self._word) if after is one else after for after in body[place + 1 :]]
                if sum(_reads(after, name) for after in self._body) > 1 or not self._is_here([name]):
                    return None
                begin = _at(ast.Assign([ast.Name(name, ast.Store())], _call(BEGIN, [inner])), statement)
                return [*body[:place], begin, *rest]
            if _reads(one, name) or any(isinstance(part, _JUMPS) for part in ast.walk(one)):
                return None
        return None

    # -- the first that ends ------------------------------------------------------------------------------------------

    def _first(self, body: list[ast.stmt], place: int) -> list[ast.stmt] | None:
        match body[place]:
            case ast.Assign(
                targets=[ast.Tuple(elts=[ast.Name(id=done), ast.Name(id=pending)])], value=ast.Await(value=ast.Call() as call),
            ) if self._word(call) == "wait" and self._is_first(call):
                pass
            case _:
                return None
        given = call.args[0]
        if not isinstance(given, ast.List | ast.Tuple | ast.Set):
            return None
        before, names, calls = body[:place], dict[str, int](), list[ast.expr]()
        for number, one in enumerate(given.elts):
            if isinstance(one, ast.Name):
                created = next((it for it in before if _creates(it, one.id, self._word)), None)
                if created is None or not isinstance(created, ast.Assign) or not isinstance(created.value, ast.Call):
                    return None
                if any(isinstance(part, ast.Await) for it in before[before.index(created) :] for part in ast.walk(it)):
                    return None
                names[one.id], one = number, created.value.args[0]
                before = [it for it in before if it is not created]
            if not self._is_call(one):
                return None
            calls.append(self._bare(one))
        if not self._is_here([done, pending, *names]):
            return None
        number, value = self._name("place"), self._name("value")
        near, beyond = _before_rebound(body[place + 1 :], {done, pending})
        rest = _Waited(done, pending, names, number, value, len(calls)).rewrite(near)
        if rest is None or any(_reads(one, name) for one in beyond for name in names):
            return None
        target = ast.Tuple([ast.Name(number, ast.Store()), ast.Name(value, ast.Store())], ast.Store())
        return [*before, _at(ast.Assign([target], ast.Await(_call(FIRST, calls))), body[place]), *rest, *beyond]

    def _is_first(self, call: ast.Call) -> bool:
        words = {word.arg: word.value for word in call.keywords}
        return len(call.args) == 1 and words.keys() == {"return_when"} and (
            self._static(words["return_when"]) == asyncio.FIRST_COMPLETED
        )


# -- reading ----------------------------------------------------------------------------------------------------------


def _split(body: list[ast.stmt], group: str) -> tuple[list[ast.stmt], list[ast.stmt] | None]:
    """What stands in front of the tasks of a group, and what creates them; None for anything else."""
    first = next((place for place, one in enumerate(body) if _uses(one, group)), len(body))
    front, created = body[:first], body[first:]
    plain = not created or any(isinstance(part, ast.Await | _JUMPS) for one in front for part in ast.walk(one))
    fails = any(not isinstance(one, ast.Pass) for one in front)
    return ([], None) if plain or fails else (front, created)


def _created(statement: ast.stmt, group: str) -> tuple[str, ast.expr] | None:
    """The name of a task of a group, if it has one, and its call."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            inner = _task(value, group)
        case ast.Expr(value=value):
            name, inner = "", _task(value, group)
        case _:
            return None
    return None if inner is None or any(isinstance(part, ast.Await) for part in ast.walk(inner)) else (name, inner)


def _task(value: ast.expr, group: str) -> ast.expr | None:
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="create_task"), args=[ast.Call() as inner]) if name == group:
            return inner
    return None


def _creates(statement: ast.stmt, name: str, word: Callable[[ast.AST], str]) -> bool:
    match statement:
        case ast.Assign(targets=[ast.Name(id=found)], value=ast.Call(args=[_]) as call):
            return found == name and word(call) == "create_task"
    return False


def _before_rebound(body: list[ast.stmt], names: set[str]) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """The statements before the first of a suite that binds one of these names again, and the others."""
    for place, one in enumerate(body):
        if any(_binds_name(one, name) for name in names):
            return body[:place], body[place:]
    return body, []


def _stored(body: Iterable[ast.stmt]) -> Iterator[str]:
    parts = (part for one in body for part in ast.walk(one))
    return (part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))


def _names(body: Iterable[ast.stmt]) -> Counter[str]:
    """How often names are used."""
    return Counter(part.id for one in body for part in ast.walk(one) if isinstance(part, ast.Name))


def _uses(node: ast.AST, name: str) -> bool:
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node))


def _reads(node: ast.AST, name: str) -> int:
    return sum(isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Load) for part in ast.walk(node))


def _binds_name(node: ast.AST, name: str) -> int:
    return sum(isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store) for part in ast.walk(node))


def _binds(statement: ast.stmt, listed: ast.expr) -> bool:
    """Whether a statement binds, or may change, a name that an expression reads."""
    read = {part.id for part in ast.walk(listed) if isinstance(part, ast.Name)}
    return any(isinstance(part, ast.Name) and part.id in read for part in ast.walk(statement))


def _awaits(statement: ast.stmt, name: str, word: Callable[[ast.AST], str]) -> bool:
    for part in ast.walk(statement):
        if isinstance(part, ast.Await):
            value = part.value
            if isinstance(value, ast.Name) and value.id == name:
                return True
            if isinstance(value, ast.Call) and word(value) == "gather" and not value.keywords:
                return any(isinstance(one, ast.Name) and one.id == name for one in value.args)
    return False


def _spread(statement: ast.stmt, name: str, word: Callable[[ast.AST], str]) -> ast.stmt:
    """Writes `await gather(t, u)` of tasks as `[await t, await u]`."""

    class _Gathers(ast.NodeTransformer):
        def visit_Await(self, node: ast.Await) -> ast.AST:
            call = node.value
            if isinstance(call, ast.Call) and word(call) == "gather" and all(isinstance(one, ast.Name) for one in call.args):
                return ast.copy_location(ast.List([ast.copy_location(ast.Await(one), one) for one in call.args], _LOAD), node)
            return node

    changed: ast.stmt = _Gathers().visit(statement)
    return changed


def _loaded_target(target: ast.expr) -> ast.expr:
    return target


def _call(name: str, arguments: list[ast.expr]) -> ast.Call:
    return ast.Call(ast.Name(name, _LOAD), arguments, [])


def _at(statement: ast.stmt, former: ast.stmt) -> ast.stmt:
    for part in ast.walk(statement):
        if isinstance(part, ast.expr | ast.stmt) and not hasattr(part, "lineno"):
            ast.copy_location(part, former)
    return statement


# -- results ----------------------------------------------------------------------------------------------------------


class _Foreign(Exception):
    """A task is used as nothing that is rewritten."""


class _Results(ast.NodeTransformer):
    """Writes `t.result()` and `await t` as the value of a task that has ended. `values` are the names of tasks, `lists` those of
    lists of tasks."""

    def __init__(self, values: set[str], lists: set[str], bound: Counter[str]) -> None:
        self._bound = bound
        self._values = values
        self._lists = lists
        self._items: set[str] = set()

    def rewrite(self, body: list[ast.stmt]) -> list[ast.stmt] | None:
        try:
            return [self.visit(copied(statement)) for statement in body]
        except _Foreign:
            return None

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(func=ast.Attribute(value=task, attr="result"), args=[], keywords=[]) if self._is_task(task):
                return task
            case ast.Call(func=ast.Attribute(value=task, attr="done" | "cancelled"), args=[], keywords=[]) if self._is_task(task):
                return ast.copy_location(ast.Constant(node.func.attr == "done"), node)  # type: ignore[attr-defined]
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]) if name in self._lists:
                return node
        return self.generic_visit(node)

    def visit_Await(self, node: ast.Await) -> ast.AST:
        return node.value if self._is_task(node.value) else self.generic_visit(node)

    def _is_task(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(id=name):
                return name in self._values or name in self._items
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=int()) | ast.UnaryOp()):
                return name in self._lists
        return False

    def visit_Name(self, node: ast.Name) -> ast.AST:
        known = node.id in self._values or node.id in self._lists or node.id in self._items
        if known and isinstance(node.ctx, ast.Load):
            raise _Foreign
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        if isinstance(node.iter, ast.Name) and node.iter.id in self._lists and isinstance(node.target, ast.Name):
            self._items.add(node.target.id)
            node.body = [self.visit(one) for one in node.body]
            node.orelse = [self.visit(one) for one in node.orelse]
            if self._bound[node.target.id] > 1:  # bound to something else elsewhere
                self._items.discard(node.target.id)
            return node
        return self.generic_visit(node)

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> ast.AST:
        outer = set(self._items)
        for generator in node.generators:
            over, target = generator.iter, generator.target
            if isinstance(over, ast.Name) and over.id in self._lists and isinstance(target, ast.Name):
                self._items.add(target.id)
            else:
                generator.iter = self.visit(over)
            generator.ifs = [self.visit(one) for one in generator.ifs]
        for name in ("key", "value", "elt"):
            if hasattr(node, name):
                setattr(node, name, self.visit(getattr(node, name)))
        self._items = outer
        return node

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp  # named by `ast`


class _Waited(ast.NodeTransformer):
    """Writes what is done with the tasks of a wait: of those that have ended, which is one, and of the others, which are
    cancelled."""

    def __init__(self, done: str, pending: str, names: Mapping[str, int], place: str, value: str, count: int) -> None:
        self._done, self._pending, self._names = done, pending, names
        self._place, self._value, self._count = place, value, count
        self._winners: set[str] = set()

    def rewrite(self, body: list[ast.stmt]) -> list[ast.stmt] | None:
        try:
            return [found for statement in body for found in self._statement(copied(statement))]
        except _Foreign:
            return None

    def _statement(self, statement: ast.stmt) -> Iterator[ast.stmt]:
        if self._cancels(statement):
            return
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if self._is_done(value):
                self._winners.add(name)
                yield ast.copy_location(ast.Assign(statement.targets, ast.Name(self._value, _LOAD)), statement)
                return
            case ast.Assign(targets=[ast.Tuple(elts=[ast.Name(id=name) as target]) | ast.List(elts=[ast.Name(id=name) as target])],
                            value=ast.Name(id=done)) if done == self._done:
                self._winners.add(name)
                yield ast.copy_location(ast.Assign([target], ast.Name(self._value, _LOAD)), statement)
                return
        for field in ("body", "orelse", "finalbody"):
            inner = getattr(statement, field, None)
            if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                if isinstance(statement, ast.For) and field == "body":
                    self._loop(statement)
                new = [found for one in inner for found in self._statement(one)]
                setattr(statement, field, new or [ast.copy_location(ast.Pass(), inner[0])])
        for handler in getattr(statement, "handlers", ()):
            handler.body = [found for one in handler.body for found in self._statement(one)] or [ast.copy_location(ast.Pass(), handler)]
        yield self._expressions(statement)

    def _loop(self, loop: ast.For) -> None:
        if isinstance(loop.iter, ast.Name) and loop.iter.id == self._done and isinstance(loop.target, ast.Name):
            self._winners.add(loop.target.id)
            loop.iter = ast.copy_location(ast.List([ast.Name(self._value, _LOAD)], _LOAD), loop.iter)

    def _expressions(self, statement: ast.stmt) -> ast.stmt:
        for name, value in ast.iter_fields(statement):
            if isinstance(value, ast.expr):
                setattr(statement, name, self.visit(value))
            elif isinstance(value, list) and value and isinstance(value[0], ast.expr):
                setattr(statement, name, [self.visit(one) for one in value])
        return _at(statement, statement)

    def _cancels(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.For(target=ast.Name(id=name), iter=ast.Name(id=over), body=[ast.Expr(value=value)]) if over == self._pending:
                return _is_cancel(value, {name})
            case ast.Expr(value=ast.ListComp(elt=value, generators=[ast.comprehension(target=ast.Name(id=name), iter=ast.Name(id=over))])):
                return over == self._pending and _is_cancel(value, {name})
            case ast.Expr(value=ast.Await(value=ast.Call(args=[ast.Starred(value=ast.Name(id=name)) | ast.Name(id=name), *_]))):
                return name == self._pending
            case ast.Expr(value=value):
                return _is_cancel(value, set(self._names))
        return False

    def _is_done(self, node: ast.expr) -> bool:
        """Whether an expression is the task that has ended."""
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="pop"), args=[]):
                return name == self._done
            case ast.Call(func=ast.Name(id="next"), args=[ast.Call(func=ast.Name(id="iter"), args=[ast.Name(id=name)])]):
                return name == self._done
            case ast.Subscript(value=ast.Call(func=ast.Name(id="list"), args=[ast.Name(id=name)]), slice=ast.Constant(value=0)):
                return name == self._done
        return False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(func=ast.Attribute(value=task, attr="result"), args=[], keywords=[]):
                if self._is_done(task):
                    return _at_expr(_call(RESULT, [ast.Name(self._value, _LOAD)]), node)
                if isinstance(task, ast.Name) and task.id in self._winners:
                    return _at_expr(_call(RESULT, [task]), node)
                if isinstance(task, ast.Name) and task.id in self._names:
                    wanted = ast.Constant(self._names[task.id])
                    found = [ast.Name(self._place, _LOAD), wanted, ast.Name(self._value, _LOAD)]
                    return _at_expr(_call(RESULT_OF, list[ast.expr](found)), node)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="done"), args=[]) if name in self._names:
                return self._is_first(name, node, ast.Eq())
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]) if name in (self._done, self._pending):
                return ast.copy_location(ast.Constant(1 if name == self._done else self._count - 1), node)
        return self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        match node:
            case ast.Compare(left=ast.Name(id=name), ops=[op], comparators=[ast.Name(id=other)]) if name in self._names:
                if other in (self._done, self._pending) and isinstance(op, ast.In | ast.NotIn):
                    is_equal = (other == self._done) is isinstance(op, ast.In)
                    return self._is_first(name, node, ast.Eq() if is_equal else ast.NotEq())
            case ast.Compare(left=ast.Name(id=name), ops=[ast.Is() | ast.Eq() | ast.IsNot() | ast.NotEq() as op],
                             comparators=[ast.Name(id=other)]) if name in self._winners and other in self._names:
                return self._is_first(other, node, ast.Eq() if isinstance(op, ast.Is | ast.Eq) else ast.NotEq())
        return self.generic_visit(node)

    def _is_first(self, name: str, node: ast.AST, op: ast.cmpop) -> ast.expr:
        compared = ast.Compare(ast.Name(self._place, _LOAD), [op], [ast.Constant(self._names[name])])
        return _at_expr(compared, node)

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        first = node.generators[0]
        if isinstance(first.iter, ast.Name) and first.iter.id == self._done and isinstance(first.target, ast.Name):
            self._winners.add(first.target.id)
            first.iter = _at_expr(ast.List([ast.Name(self._value, _LOAD)], _LOAD), first.iter)
            node.elt = self.visit(node.elt)
            first.ifs = [self.visit(one) for one in first.ifs]
            return node
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        known = {self._done, self._pending, *self._names, *self._winners}
        if node.id in known and isinstance(node.ctx, ast.Load):
            raise _Foreign
        return node


def _is_cancel(value: ast.expr, names: set[str]) -> bool:
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="cancel"), args=[]):
            return name in names
    return False


def _at_expr(node: ast.expr, former: ast.AST) -> ast.expr:
    for part in ast.walk(node):
        if isinstance(part, ast.expr) and not hasattr(part, "lineno"):
            ast.copy_location(part, former)
    return node
