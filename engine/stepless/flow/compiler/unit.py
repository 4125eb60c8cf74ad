"""Holds the document while it is compiled: the nodes of the current level, where control is, and the facts about each name. The
other files of this folder read one family of constructs each; `rules` connects them."""

from __future__ import annotations

import ast
import builtins
import copy
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from stepless.flow.compiler.attachments import LiftedBlock, LiftedExpression, PartSource
from stepless.flow.compiler.contracts import Planned, Rules
from stepless.flow.compiler.explaining import Lifting
from stepless.flow.compiler.expression_trees import Texts
from stepless.flow.compiler.facts.aliases import Sharing
from stepless.flow.compiler.facts.carried_types import stored
from stepless.flow.compiler.facts.names import Names, bound_in
from stepless.flow.compiler.facts.types import UNKNOWN, believed, is_carried
from stepless.flow.compiler.frames import DeadlineFrame, FinallyFrame, Framed, LoopFrame, PartFrame, TryFrame
from stepless.flow.compiler.origin import Origin
from stepless.flow.compiler.refusals import Ended, Lift, Refusal
from stepless.flow.compiler.remarks import Remarks
from stepless.flow.compiler.variable_writes import merged_writes
from stepless.limits import MAX_ID_CHARACTERS
from stepless.model.declaration.document import RESERVED_IDS
from stepless.model.json import JSON

RETURN: Final = "return_"
_WRITTEN: Final = (
    "level", "frontier", "variables", "lifted", "warnings", "frames", "bound", "values", "kinds", "_taken", "_numbers",
    "_handled", "liftings",
)  # fmt: skip
_ID_SPACE: Final = MAX_ID_CHARACTERS - 8  # for the number of a second one


class Unit(Remarks, Framed):
    """One document. `level` holds the nodes of the body that is being filled, `frontier` the exits that lead to the next node:
    empty at the beginning of a body, None where nothing leads."""

    def __init__(self, workflow: str, origin: Origin, rules: Rules, lift: str, plan: Planned) -> None:
        self.workflow = workflow
        self.origin = origin
        self.rules = rules
        self.lift = lift
        self.plan = plan
        self.refused: list[tuple[Origin, ast.stmt, Refusal]] = []
        self.part_of: Callable[[Any], Any] = lambda function: None  # the part that a coroutine stands for
        self.messages: Mapping[str, Any] = {}  # the types of their data, by name
        self.texts = Texts()
        self.level: dict[str, dict[str, JSON]] = {}
        self.frontier: list[str] | None = []
        self.variables: dict[str, JSON] = {}
        self.lifted: list[LiftedExpression | LiftedBlock] = []
        self.liftings: list[Lifting] = []  # what was lifted, to which node, and why
        self.unsaid: ast.expr | None = None  # the smallest part that has no expression, of the last that was to have one
        self.findings, self.warnings = [], []
        self.frames = []
        self.names = Names()
        self.sharing: Callable[[], Sharing] | None = None  # which names may show a change in place
        self.bound: set[str] = set()
        self.values: dict[str, ast.expr] = {}  # what a name stands for, if it is no variable
        self.kinds: dict[str, Any] = {}  # the types of names
        self.tasks: dict[str, str] = {}  # the nodes that put out how tasks have ended, by the names of the tasks
        self.carried: set[str] = set()  # names whose values may be in the form in which they are carried
        self.error: ast.expr | None = None  # what a bare `raise` raises
        self.shown: dict[str, str] = {}  # the names of the source, by those that stand for them here
        self.hidden: frozenset[str] = frozenset()  # names of the callers of the part that is being inlined
        self.last: set[ast.AST] = set()  # each `try` that is the last statement of a loop's iteration
        self.parts: list[object] = []  # those that are being inlined
        self.floats: set[str] = set()  # outputs that are floats, also where they are whole
        self.risks = 0  # operations met so far that may fail
        self.wanted: tuple[ast.expr, str] | None = None  # the id for the node of this expression, if it takes one
        self.statement: ast.AST = origin.tree
        self.foreign: tuple[Origin, ast.AST] | None = None  # where a part was awaited that another file has
        self.sources: dict[tuple[str, str, int], PartSource] = {}
        self.rereadings = 0  # of statements that were refused
        self.made: set[ast.AST] = set()  # statements that are not the source's: they hold the parts of one that was refused
        self._handled: set[str] = set()  # each `set` whose failure a handler takes
        self._taken: set[str] = set()
        self._numbers: dict[str, int] = {}  # the last number of each base, before which none is free
        self._count = 0

    def note_all(self, statement: ast.stmt, refusal: Refusal) -> None:
        """Notes a refusal of a statement, and what else is wrong with it."""
        self.note(refusal)
        for more in self.rules.further(self, statement, refusal):
            self.note(more)

    # -- names ----------------------------------------------------------------------------------------------------------

    def next(self) -> int:
        self._count += 1
        return self._count

    def new_id(self, base: str) -> str:
        """Returns an id that no other node has: the base, or `base_2`, `base_3` in the order of the source."""
        base = self.shown.get(base, base)
        if not (base.isascii() and base.isidentifier()):
            base = re.sub(r"[^A-Za-z0-9_-]", "_", base) or "step"
        base = base[:_ID_SPACE]
        if base in RESERVED_IDS or not (base[0].isalpha() or base[0] == "_"):
            base = f"{base}_" if base[0].isalpha() else f"_{base}"
        number = self._numbers.get(base, 1)
        chosen = base if number == 1 else f"{base}_{number}"
        while chosen in self._taken:
            number += 1
            chosen = f"{base}_{number}"
        self._taken.add(chosen)
        self._numbers[base] = number
        return chosen

    def fixed_id(self, node: ast.AST, id: str) -> str:
        """Returns an id that the author gave."""
        if id in self._taken:
            self.refuse(node, "bad_arguments", f"the id `{id}` is taken by another step", "Choose another id")
        self._taken.add(id)
        return id

    def temporary(self, value: ast.expr, kind: Any, at: ast.AST) -> ast.Name:
        """Returns a name for a value that stands inside a larger expression."""
        name = self.made_name("value")
        self.values[name], self.kinds[name] = value, kind
        self.carry(name, kind)
        self.bound.add(name)
        return ast.copy_location(ast.Name(name, ast.Load()), at)

    def carry(self, name: str, kind: Any) -> None:
        """Notes the type of a name, if its values are carried."""
        if is_carried(kind):
            self.carried.add(name)
        else:
            self.carried.discard(name)

    def made_name(self, base: str) -> str:
        """Returns a name that neither the source nor its module has."""
        name = f"{base}_{self.next()}_"
        return self.made_name(base) if name in self.origin.globals else name

    def is_local(self, name: str) -> bool:
        return (name in self.values or self.names.is_local(name)) and name not in self.hidden

    def static(self, node: ast.expr) -> Any:
        """Looks up a dotted name of the module: a part for a coroutine without a decorator; None for everything else."""
        value = self._static(node)
        return (self.part_of(value) or value) if inspect.isfunction(value) else value

    def _static(self, node: ast.expr) -> Any:
        if (target := getattr(node, "target", None)) is not None and not node._fields:
            return target  # of a value that names it
        if isinstance(node, ast.Name):
            if self.is_made_again(node.id):
                return self.plan.made_again(self.origin).found(node.id)
            return None if self.is_local(node.id) else self.origin.globals.get(node.id)
        if isinstance(node, ast.Attribute):
            base = self.static(node.value)
            return getattr(base, node.attr, None) if inspect.ismodule(base) or inspect.isclass(base) else None
        return None

    def is_made_again(self, name: str) -> bool:
        """Returns whether a name stands for a module, a function or a class that is made wherever it is read."""
        return name in self.plan.made_again(self.origin).names()

    def is_known(self, name: str) -> bool:
        return self.is_made_again(name) or name in self.origin.globals or hasattr(builtins, name)

    def is_builtin(self, node: ast.expr, name: str) -> bool:
        """Returns whether a node is this function of Python, and not a name of the author's."""
        return isinstance(node, ast.Name) and node.id == name and not (
            self.is_local(name) or self.is_made_again(name) or name in self.origin.globals
        )

    def is_strict(self, name: str) -> bool:
        """Returns whether a name may be read where it has no value: a run variable holds whether it has one."""
        return self.shown.get(name, name) in self.plan.strict(self.origin) and name in self.variables and self.is_local(name)

    # -- expressions --------------------------------------------------------------------------------------------------

    def infer(self, node: ast.AST) -> Any:
        """Returns the type of an expression's value, UNKNOWN where nothing says it."""
        return self.rules.infer(self, node)

    def express(self, node: ast.expr) -> ast.expr:
        """Returns the expression of the document for one of the source. Raises `Lift` where it has none."""
        return self.rules.expression(self, node)

    def value(self, node: ast.expr) -> ast.expr:
        """Compiles like `express`; what has none becomes a node that is evaluated once."""
        before = self.risks
        holes = copy.copy(self.warnings)
        try:
            self.unsaid = None
            expressed = self.express(node)
            if self.risks > before and self.is_exact():
                raise Lift
            return expressed
        except Lift:
            self.risks = before + 1
            self.warnings = holes
            return self.rules.lifted(self, node)

    def risk(self) -> None:
        """Notes that the expression in progress may fail."""
        self.risks += 1

    # -- nodes --------------------------------------------------------------------------------------------------------

    def emit(
        self, id: str, type: str, params: Mapping[str, JSON] | None = None, *, after: list[str] | None = None, **fields: JSON
    ) -> str:
        """Adds a node behind the frontier, which then is its normal exit."""
        sources = list(dict.fromkeys(self.frontier or [] if after is None else after))
        node: dict[str, JSON] = {"type": type}
        if sources:
            node["after"] = sources[0] if len(sources) == 1 else sources
        if params is not None:
            node["with"] = dict(params)
        node |= {name: value for name, value in fields.items() if value is not None}
        node["at"] = self.lines()
        if self.foreign is not None and (part := self.sources.get(self.origin.key)) is not None:
            part.nodes[id] = [self.origin.line(self.statement), self.origin.last_line(self.statement)]
        self.level[id] = node
        self.frontier = [id]
        return id

    def lines(self) -> list[JSON]:
        """Returns the lines of the statement in the file of the function. Of a part that another file has: those of the call of
        it."""
        origin, statement = self.foreign or (self.origin, self.statement)
        return [origin.line(statement), origin.last_line(statement)]

    def set(self, base: str, values: Mapping[str, JSON], *, risky: bool = False) -> str:
        """Writes variables: in the `set` right before, if it makes no difference, else in a node of its own."""
        for name in values:
            self.variables.setdefault(name, None)
        last = self.level.get(self.frontier[0]) if self.frontier and len(self.frontier) == 1 else None
        apart = risky and (self.is_caught() or not self._handled.isdisjoint(self.frontier or ()))
        if self.frontier and last is not None and last["type"] == "set" and not apart:
            merged = merged_writes(last["with"]["variables"], values)
            if merged is not None:
                last["with"]["variables"] = merged
                last["at"] = [last["at"][0], max(last["at"][1], self.lines()[1])]
                return self.frontier[0]
        id = self.emit(self.new_id(base), "set", {"variables": dict(values)})
        if risky:
            self.may_fail(id, pure=True)
            self._handled |= {id} if self.is_caught() else set()
        return id

    def may_fail(
        self, id: str, *, pure: bool = False, mixed: bool = False, inner: bool = False, exit: str | None = None,
        forked: bool = False,
    ) -> None:
        """Wires the failure of a node to where Python would go on. `pure`: what fails is an expression; `mixed`: that is
        possible too; `inner`: the failure happens inside of the node, which reports it as its cause. `exit` is another exit that
        carries the error; `forked`: others may have failed at the same time."""
        exit = exit or f"{id}.error"
        for frame in reversed(self.frames):
            if isinstance(frame, LoopFrame):
                frame.risky = frame.risky or pure or mixed
                return
            if isinstance(frame, FinallyFrame):
                frame.raised.append(exit)
                frame.inner, frame.forked = frame.inner or inner, frame.forked or forked
                return
            if isinstance(frame, TryFrame) and (frame.broad or not pure):
                frame.entries.append(exit)
                frame.mixed = frame.mixed or mixed
                frame.inner, frame.forked = frame.inner or inner, frame.forked or forked
                return

    def fail(self, params: Mapping[str, JSON], *, pure: bool = False) -> None:
        """Raises: adds a node that fails, and ends the path."""
        inner = "error" in params
        id = self.emit(self.new_id("raise"), "fail", params)
        self.may_fail(id, mixed=pure, inner=inner)
        self.frontier = None

    # -- jumps --------------------------------------------------------------------------------------------------------

    def result(self) -> str:
        """Returns the variable that holds what a `return` here returns."""
        part = next((frame for frame in reversed(self.frames) if isinstance(frame, PartFrame)), None)
        return RETURN if part is None else part.result

    def returned_kind(self) -> Any:
        """Returns the type of what a `return` here returns: of the part that it stands in; UNKNOWN in the workflow itself."""
        return stored(believed(self.origin.hint("return"))) if self.parts else UNKNOWN

    def jump(self, kind: str, values: Mapping[str, JSON] | None = None, *, risky: bool = False) -> None:
        """Leaves for the end of a loop (`break`, `continue`) or of the function (`return`); every `finally` comes first."""
        written = dict(values or {})
        for frame in reversed(self.frames):
            if isinstance(frame, FinallyFrame) and frame.ends and kind == "continue":
                frame.ended = [*(frame.ended or []), *(self.frontier or [])]
                break
            if isinstance(frame, FinallyFrame):
                frame.entries.append(self.set(kind, {**written, f"why_{frame.number}": kind}, risky=risky))
                if kind not in frame.kinds:
                    frame.kinds.append(kind)
                break
            if isinstance(frame, LoopFrame):
                self._leave_iteration(frame, kind, written, risky=risky)
                break
            if isinstance(frame, PartFrame) and kind == "return":
                if written:
                    self.set("return", written, risky=risky)
                frame.entries += self.frontier or []
                break
        else:
            body = written.get(RETURN, f"<workflow.{RETURN}>")
            id = self.emit(self.new_id("return"), "respond", {"body": body})
            if risky:
                self.may_fail(id, pure=True)
        self.frontier = None

    def _leave_iteration(self, frame: LoopFrame, kind: str, written: dict[str, JSON], *, risky: bool) -> None:
        leaves = isinstance(frame, DeadlineFrame) or kind not in ("break", "continue")
        if kind == "continue" and not leaves:
            frame.turns.append(set(self.bound))
            if written:
                self.set("continue", written)
            return
        if kind == "break" and not leaves:
            written |= {f"broke_{frame.number}": True} if frame.has_else else {}
            frame.breaks.append(set(self.bound))
        else:
            written[f"exit_{frame.number}"] = kind
            if kind not in frame.escapes:
                frame.escapes.append(kind)
        if written:
            self.set(kind, written, risky=risky)
        self.emit(self.new_id("leave" if leaves else "break"), "end", {"break": True})

    # -- bodies -------------------------------------------------------------------------------------------------------

    def block(self, body: list[ast.stmt]) -> None:
        """Reads statements in order. Notes every refusal, and goes on with the next statement."""
        for statement in self.rules.statements(body):
            if self.frontier is None:
                self.warn(statement, "unreachable", "nothing leads here", "Take it out")
                return
            outer, self.statement = self.statement, statement
            within = len(self.frames)
            try:
                self.rules.statement(self, statement)
            except Refusal as refusal:
                del self.frames[within:]
                self.refused.append((self.origin, statement, refusal))
                self.note_all(statement, refusal)
                self._pretend(statement)
            except Ended:
                self.frontier = None
            self.statement = outer

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Reads something again; what it writes is not kept."""
        kept = {name: getattr(self, name) for name in _WRITTEN}
        for name, value in kept.items():
            setattr(self, name, copy.copy(value))
        try:
            yield
        finally:
            for name, value in kept.items():
                setattr(self, name, value)

    def _pretend(self, statement: ast.stmt) -> None:
        """After a refusal, takes the names of a statement as bound, and a `return` as one, so that one fault is reported once."""
        self.bound |= bound_in(statement)
        self.frontier = self.frontier or []
        if isinstance(statement, ast.Return):
            self.jump("return", {self.result(): None})

    @contextmanager
    def inside(self, frame: LoopFrame) -> Iterator[dict[str, dict[str, JSON]]]:
        """Fills the body of a container: a level of its own, whose names end with it."""
        level, frontier, bound, values = self.level, self.frontier, set(self.bound), dict(self.values)
        self.level, self.frontier = {}, []
        self.frames.append(frame)
        try:
            yield self.level
        finally:
            self.frames.pop()
            self.level, self.frontier, self.bound, self.values = level, frontier, bound, values

    def kind_of(self, name: str) -> Any:
        return self.kinds.get(name, UNKNOWN)
