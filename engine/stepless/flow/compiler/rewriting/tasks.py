"""Rewrites the tasks of asyncio: groups, tasks that begin beside the workflow, and waits for the first that ends.

| written | becomes |
|---|---|
| `async with asyncio.TaskGroup() as tg:` with `t = tg.create_task(a())` | `t, … = await group(a(), …)`, `t` for `t.result()` |
| `t = asyncio.create_task(a())`, awaited in the same suite | `t = begin(a())`; `await t` stays |
| a list of calls or tasks, then `await asyncio.gather(*tasks)` | `await asyncio.gather(*[a(x) for x in xs])` |
| `done, pending = await asyncio.wait([…], return_when=FIRST_COMPLETED)` | `place, value = await first(…)`, and `result(value)` |

A form that is not one of these stays as it is, and is refused where it is read.
"""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Final

from stepless.flow.compiler.rewriting.reading import (
    awaits,
    before_rebound,
    binds,
    calling,
    created_by,
    creates,
    names_in,
    placed,
    reads,
    split,
    spread,
    stored,
    task_of,
    uses,
)
from stepless.flow.compiler.rewriting.results import Results
from stepless.flow.compiler.rewriting.waits import Waited
from stepless.flow.compiler.rewriting.words import BEGIN, FIRST, GROUP
from stepless.flow.compiler.trees import copied
from stepless.flow.words import word_of

Static = Callable[[ast.expr], Any]
_FIRST: Final = "FIRST_COMPLETED"
_LOAD: Final = ast.Load()
_SIMPLE: Final = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return)
_JUMPS: Final = (ast.Return, ast.Break, ast.Continue, ast.Raise)


class Tasks:
    """Rewrites the body of one function. `static` says what a name of the module stands for."""

    def __init__(self, body: list[ast.stmt], static: Static) -> None:
        self._static = static
        self._body = body
        self._everywhere = names_in(body)
        self._stored = Counter(stored(body))
        self._here = self._everywhere
        self._made = 0
        self._values: Counter[str] = Counter()  # names of tasks of groups
        self._lists: Counter[str] = Counter()  # names of lists of such tasks
        self.changed = False

    def rewritten(self) -> list[ast.stmt]:
        """Returns the statements; as they are, if a task is used in a way that is not rewritten."""
        body = self._suite([copied(statement) for statement in self._body])
        created = self._values + self._lists
        bound = self._stored
        if created and any(bound[name] != number for name, number in created.items()):
            self.changed = False
            return self._body
        found = Results(set(self._values), set(self._lists), bound).rewrite(body) if created else body
        self.changed = self.changed and found is not None
        return self._body if found is None else found

    def _suite(self, body: list[ast.stmt]) -> list[ast.stmt]:
        here = names_in(body)
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
            case ast.AsyncWith(items=[ast.withitem(
                context_expr=ast.Call(args=[], keywords=[]) as made, optional_vars=ast.Name(id=group),
            )]):  # fmt: skip
                pass
            case _:
                return None
        statement = body[place]
        assert isinstance(statement, ast.AsyncWith)
        if self._word(made) != "task_group":
            return None
        front, created = split(statement.body, group)
        if created is None:
            return None
        rest = body[place + 1 :]
        near, _ = before_rebound(rest, {group})
        if any(uses(one, group) for one in near):
            return None
        made_list = self._many(created, group)
        if made_list is not None:
            name, call = made_list
            self._lists.update([name] if name else [])
            target: ast.expr | None = ast.Name(name, ast.Store()) if name else None
        else:
            tasks = [created_by(one, group) for one in created]
            if any(one is None for one in tasks):
                return None
            pairs = [one for one in tasks if one is not None]
            names = [name or self._name("task") for name, _ in pairs]
            call = calling(GROUP, [inner for _, inner in pairs])
            self._values.update(name for name, _ in pairs if name)
            target = ast.Tuple([ast.Name(name, ast.Store()) for name in names], ast.Store())
            if len(names) == 1:
                target = ast.List(target.elts, ast.Store())
        awaited = ast.Await(call)
        new: ast.stmt = ast.Expr(awaited) if target is None else ast.Assign([target], awaited)
        return [*body[:place], *front, placed(new, statement), *rest]

    def _many(self, created: list[ast.stmt], group: str) -> tuple[str, ast.Call] | None:
        """One statement that creates a task for each item of a collection: the name of their list, and the call of the group."""
        if len(created) != 1:
            return None
        match created[0]:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.ListComp() as listed):
                inner = task_of(listed.elt, group)
                found = None if inner is None else ast.copy_location(ast.ListComp(inner, listed.generators), listed)
            case ast.For(body=[ast.Expr(value=ast.Call() as value)], orelse=[]) as loop:
                name, inner = "", task_of(value, group)
                over = ast.comprehension(loop.target, loop.iter, [], 0)
                found = None if inner is None else ast.copy_location(ast.ListComp(inner, [over]), loop)
            case _:
                return None
        return None if found is None else (name, calling(GROUP, [ast.Starred(found, _LOAD)]))

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
                elsewhere = sum(uses(one, name) for one in body) - length - 1
                if not simple or self._word(around[0]) != "gather" or elsewhere > 0 or not self._is_here([name]):
                    return None
                gathered[0].value = listed
                return [*body[:place], *body[place + length : later], statement, *body[later + 1 :]]
            awaited = any(isinstance(part, ast.Await) for part in ast.walk(statement))
            if awaited or uses(statement, name) or binds(statement, listed):
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
        return isinstance(node, ast.Call) and inspect.iscoroutinefunction(self._static(node.func))

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
        if self._stored[name] != 1:
            return None
        for later in range(place + 1, len(body)):
            one = body[later]
            if isinstance(one, _SIMPLE) and awaits(one, name, self._word):
                rest = [spread(after, name, self._word) if after is one else after for after in body[place + 1 :]]
                if self._everywhere[name] > 2 or not self._is_here([name]):
                    return None
                begin = placed(ast.Assign([ast.Name(name, ast.Store())], calling(BEGIN, [inner])), statement)
                return [*body[:place], begin, *rest]
            if reads(one, name) or any(isinstance(part, _JUMPS) for part in ast.walk(one)):
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
        given, before = self._waited_for(call.args[0], body[:place])
        if not isinstance(given, ast.List | ast.Tuple | ast.Set):
            return None
        names, calls = dict[str, int](), list[ast.expr]()
        for turn, given_one in enumerate(given.elts):
            one = given_one
            if isinstance(one, ast.Name):
                created = next((it for it in before if creates(it, one.id, self._word)), None)
                if created is None or not isinstance(created, ast.Assign) or not isinstance(created.value, ast.Call):
                    return None
                if any(isinstance(part, ast.Await) for it in before[before.index(created) :] for part in ast.walk(it)):
                    return None
                names[one.id], one = turn, created.value.args[0]
                before = [it for it in before if it is not created]
            if not self._is_call(one):
                return None
            calls.append(self._bare(one))
        if not self._is_here([done, pending, *names]):
            return None
        number, value = self._name("place"), self._name("value")
        near, beyond = before_rebound(body[place + 1 :], {done, pending})
        rest = Waited(done, pending, names, number, value, len(calls)).rewrite(near)
        if rest is None or any(reads(one, name) for one in beyond for name in names):
            return None
        target = ast.Tuple([ast.Name(number, ast.Store()), ast.Name(value, ast.Store())], ast.Store())
        return [*before, placed(ast.Assign([target], ast.Await(calling(FIRST, calls))), body[place]), *rest, *beyond]

    def _waited_for(self, given: ast.expr, before: list[ast.stmt]) -> tuple[ast.expr, list[ast.stmt]]:
        """What is waited for, and the statements in front of it, without one that only gives it its name."""
        match given, before[-1:]:
            case ast.Name(id=name), [ast.Assign(targets=[ast.Name(id=other)], value=value)] if name == other:
                if self._everywhere[name] == 2 and isinstance(value, ast.List | ast.Tuple | ast.Set):
                    return value, before[:-1]
        return given, before

    def _is_first(self, call: ast.Call) -> bool:
        words = {word.arg: word.value for word in call.keywords}
        return len(call.args) == 1 and words.keys() == {"return_when"} and (
            self._static(words["return_when"]) == _FIRST
        )
