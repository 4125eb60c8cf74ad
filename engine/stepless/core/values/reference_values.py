"""Resolves references while a node is decided: the core's implementation of `model.scope.Scope` and `model.kind.Work`
(docs/understand/semantics.md#references)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from stepless.core.state import Instance, Scope, State, Status
from stepless.errors import ConfigError, ExpressionError
from stepless.limits import MAX_EVALUATION_STEPS, MAX_SHOWN_NULLS
from stepless.model.json import JSON, Path, has_step, read_path
from stepless.model.kind import Case, Nature
from stepless.model.scope import Expression, Reference
from stepless.model.steps import Steps

_NOTHING: Mapping[str, JSON] = {}
_NULL = re.compile(r"\bnull\b")
MISSING = "missing_value"
ITEM: Final = "item"  # the name of an item in the body of a `distributed` node, unless a node has it
_NO_MESSAGE: Final[Any] = object()
_FIXED = frozenset({"workflow", "loop", "parallel", "run"})  # their fields are checked at publication
DECIDED = 1 << 62  # steps for an evaluation whose result the log determines: a release with other limits may have written it


class Reading(Steps):
    """The values that one instance can read at one instant, and the steps that are left for its evaluation.

    With `iteration`, `<loop.…>` reads an iteration of the instance itself that has not started yet: `while` is evaluated in it.
    With `message`, `<message>` reads the data of a message: `where` is evaluated for it. Without an `env`, as when a log is
    folded, `${NAME}` reads as null.
    """

    __slots__ = ("state", "instance", "inputs", "now_ms", "env", "params", "iteration", "cells", "nulls", "run_inputs",
                 "message")

    def __init__(
        self,
        state: State,
        instance: Instance,
        inputs: Mapping[str, JSON],
        now_ms: int,
        env: Mapping[str, str] | None = None,
        iteration: tuple[str, int] | None = None,
        message: JSON = _NO_MESSAGE,
    ) -> None:
        self.state = state
        self.instance = instance
        self.inputs = inputs
        self.now_ms = now_ms
        self.env = env
        self.iteration = iteration
        self.message = message
        self.cells = instance.cells
        self.params: Mapping[str, JSON] = _NOTHING
        self.run_inputs: JSON = state.inputs  # with the defaults of an entry that has `inputs`
        self.nulls: tuple[str, ...] = ()  # the text of each reference that was read as null
        self.left = MAX_EVALUATION_STEPS

    @property
    def spent(self) -> int:
        return MAX_EVALUATION_STEPS - self.left

    # -- model.scope.Scope ------------------------------------------------------------------------------------------

    def read(self, reference: Reference) -> JSON:
        root, path = reference.root, reference.path
        if reference.env:
            return self._read_env(root)
        reader = _READERS.get(root)
        value = reader(self, path) if reader is not None else self._read_name(root, path)
        if value is None:
            if reference.strict and not self._exists(root, path):
                raise missing(reference)
            self.nulls += (reference.text,)
        return value

    def _exists(self, root: str, path: Path) -> bool:
        """Whether there is something to read at a path whose value is null."""
        if not path:
            return root == "inputs" or ("input" in self.inputs if root == "input" else self._has_settled(root))
        if len(path) == 1 and (root in _FIXED or self._encloses(root)):
            return True
        reader = _READERS.get(root)
        return has_step(reader(self, path[:-1]) if reader is not None else self._read_name(root, path[:-1]), path[-1])

    def _has_settled(self, name: str) -> bool:
        """Whether a node that can be read has an output or an error."""
        if name == "message" and self.message is not _NO_MESSAGE:
            return True
        scope: Scope | None = self.instance.scope
        while scope is not None:
            position = scope.body.positions.get(name)
            if position is not None:
                instance = scope.instances[position]
                return instance is not None and instance.status in (Status.COMPLETED, Status.FAILED)
            scope = scope.owner.scope if scope.owner is not None else None
        return False

    def _encloses(self, name: str) -> bool:
        owner = self.instance.scope.owner
        while owner is not None and owner.node.id != name:
            owner = owner.scope.owner
        return owner is not None

    # -- model.kind.Work --------------------------------------------------------------------------------------------

    @property
    def literals(self) -> Mapping[str, JSON]:
        return self.instance.node.config.literals

    @property
    def cases(self) -> tuple[Case, ...]:
        return self.instance.node.config.cases

    def evaluate(self, expression: Expression) -> JSON:
        return expression.evaluate(self)

    # -- by root ----------------------------------------------------------------------------------------------------

    def _read_env(self, name: str) -> JSON:
        """Raises `ConfigError` (secret_missing) for a name without a value, so that no request is sent with an empty secret. An
        entry sends no request, and its trigger has already authenticated the caller."""
        value = self.env.get(name) if self.env is not None else None
        if not value and self.env is not None and self.instance.node.kind.nature is not Nature.ENTRY:
            raise ConfigError(
                f"`${{{name}}}` has no value: {name} is not set, or set to nothing", code="secret_missing",
                mend=f"set {name} in the environment of the process that runs the workflow, or in its secret store",
            )
        return value

    def _read_name(self, name: str, path: Path) -> JSON:
        """Reads the message that a receiver examines, an upstream node, in this scope or before an enclosing container, or an
        enclosing container itself."""
        if name == "message" and self.message is not _NO_MESSAGE:
            return read_path(self.message, path)
        scope: Scope | None = self.instance.scope
        while scope is not None:
            position = scope.body.positions.get(name)
            if position is not None:
                instance = scope.instances[position]
                return read_path(instance.readable, path) if instance is not None else None
            if scope.owner is None:
                return self._read_item(path) if name == ITEM else None
            if scope.owner.node.id == name:
                return _iteration_field(scope, path)
            scope = scope.owner.scope
        return None

    def _read_item(self, path: Path) -> JSON:
        """Reads the item of the innermost `distributed` node: `index` is its number, all else its own."""
        scope: Scope | None = self.instance.scope
        while scope is not None and scope.owner is not None:
            if scope.owner.node.kind.distributes:
                return scope.index if path == ("index",) else read_path(scope.item, path)
            scope = scope.owner.scope
        return None

    def _read_container(self, parallel: bool, path: Path) -> JSON:
        if self.iteration is not None and self.iteration[0] == ("parallel" if parallel else "loop"):
            return self.iteration[1] if path and path[0] in ("index", "iteration") else None
        scope: Scope | None = self.instance.scope
        while scope is not None and scope.owner is not None:
            container = scope.owner.node.container
            if container is not None and container.parallel is parallel:
                return _iteration_field(scope, path)
            scope = scope.owner.scope
        return None

    def _read_variable(self, path: Path) -> JSON:
        cell = self.cells.get(str(path[0])) if path else None
        return read_path(cell.value, path[1:]) if cell is not None else None

    def _read_inputs(self, path: Path) -> JSON:
        self.spend(len(self.inputs))
        return read_path(dict(self.inputs), path)

    def _read_run(self, path: Path) -> JSON:
        graph = self.state.graph
        facts: JSON = {
            "id": self.state.run_id,
            "workflow": graph.workflow_id,
            "version": graph.version,
            "started_at": self.state.started_ms,
        }
        return read_path(facts, path)


def missing(reference: Reference) -> ExpressionError:
    """Returns the error of a strict reference where there is nothing to read."""
    message = f"there is nothing to read at `{reference.text}`"
    mend = "make sure that there is, or leave out the `!`: then it reads null"
    return ExpressionError(message, code=MISSING, mend=mend)


def with_nulls(message: str, nulls: Sequence[str]) -> str:
    """Returns a failure's message; if it is about a null, with the references that were null."""
    if not nulls or _NULL.search(message) is None:
        return message
    names = [f"`{text}`" for text in dict.fromkeys(nulls)]
    shown = ", ".join(names[:MAX_SHOWN_NULLS])
    return f"{message}; {shown} {'is' if len(names) == 1 else 'are'} null"


def _iteration_field(scope: Scope, path: Path) -> JSON:
    """`index`, `iteration`, `item` or `items` of the iteration that `scope` is."""
    if not path or scope.owner is None or scope.owner.iterations is None:
        return None
    match path[0]:
        case "index" | "iteration":
            return scope.index - scope.owner.iterations.first
        case "item":
            return read_path(scope.item, path[1:])
        case "items":
            return read_path(scope.owner.iterations.items, path[1:])
    return None


_READERS: Mapping[str, Callable[[Reading, Path], JSON]] = {
    "input": lambda reading, path: read_path(reading.inputs.get("input"), path),
    "inputs": lambda reading, path: reading._read_inputs(path),
    "workflow": Reading._read_variable,
    "loop": lambda reading, path: reading._read_container(False, path),
    "parallel": lambda reading, path: reading._read_container(True, path),
    "run": Reading._read_run,
}


class Merging:
    """Evaluates the custom merges of variables at one instance; `<input>` is the list of candidates in edge order. All merges
    share the steps of one node. Merges that the log has already `decided` have no limit of steps."""

    __slots__ = ("_reading",)

    def __init__(self, state: State, instance: Instance, now_ms: int, *, decided: bool = False) -> None:
        self._reading = Reading(state, instance, _NOTHING, now_ms)
        if decided:
            self._reading.left = DECIDED

    def __call__(self, expression: Expression, values: Sequence[JSON]) -> JSON:
        self._reading.inputs = {"input": list(values)}
        return expression.evaluate(self._reading)
