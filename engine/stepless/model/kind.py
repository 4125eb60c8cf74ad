"""Defines a node kind as the compiler and the core see it: its parameters, its exits, and how it is decided.

A kind is data. `nodes/` holds one file per kind and a table of all kinds; a plug-in adds an entry to that table.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from stepless.limits import DEFAULT_MAX_ITERATIONS
from stepless.model.json import JSON
from stepless.model.runs.span import INTERNAL
from stepless.model.scope import Expression

if TYPE_CHECKING:  # a run does not need pydantic, so it does not import it
    from pydantic import BaseModel

    from stepless.model.findings import Finding

SOURCE = "source"
ERROR = "error"


class Nature(Enum):
    """How an instance of the kind is decided."""

    ENTRY = "entry"  # returns the run's inputs
    PURE = "pure"  # decided within the decision by `evaluate`: no I/O
    EFFECT = "effect"  # dispatched after its start is committed; `nodes` or a plug-in runs it
    PAUSE = "pause"  # suspends its instance by `suspend` until an answer, a timer or a child run
    CONTAINER = "container"  # runs a body once per iteration


class Group(Enum):
    """Where an editor lists the kind, in this order. The value is also the name of its colour."""

    START = "start"
    DO = "do"
    DECIDE = "decide"
    WAIT = "wait"
    SHAPE = "shape"


_GROUPS: Final[Mapping[Nature, Group]] = {
    Nature.ENTRY: Group.START, Nature.EFFECT: Group.DO, Nature.CONTAINER: Group.DECIDE, Nature.PAUSE: Group.WAIT,
    Nature.PURE: Group.SHAPE,
}  # fmt: skip


class Part(Enum):
    """How one field of `with` is compiled. An unlisted field is a TEMPLATE."""

    TEMPLATE = "template"  # any JSON with references
    EXPRESSION = "expression"  # a text is an expression; any other JSON a template
    CASES = "cases"  # mapping of case name to expression, or the word `else`
    LITERAL = "literal"  # used unchanged (schemas, bodies, names)


@dataclass(frozen=True, slots=True)
class Case:
    """One case of a condition; `expression` is None for `else`."""

    name: str
    expression: Expression | None


class Work(Protocol):
    """The values that a pure or pausing kind may read while it is decided."""

    @property
    def params(self) -> Mapping[str, JSON]:
        """The rendered templates of `with`, by field name."""
        ...

    @property
    def literals(self) -> Mapping[str, JSON]:
        """The LITERAL fields of `with`."""
        ...

    @property
    def cases(self) -> tuple[Case, ...]:
        """The compiled CASES, in document order."""
        ...

    @property
    def inputs(self) -> Mapping[str, JSON]:
        """Merged inputs by param."""
        ...

    @property
    def run_inputs(self) -> JSON: ...

    @property
    def now_ms(self) -> int: ...

    def evaluate(self, expression: Expression) -> JSON: ...


class Failing(NamedTuple):
    """A failure that a pure kind decides on: the code, the message (empty: the code in words), and the error that it results
    from, which the run then reports."""

    code: str
    message: str = ""
    cause: JSON = None


@dataclass(slots=True)
class Outcome:
    """The result of a decided instance. Immutable. `handle` None fires no exit: every outgoing edge is pruned. With a `failure`
    the instance fails, and nothing else of the outcome counts."""

    value: JSON = None
    handle: str | None = SOURCE
    variables: Mapping[str, JSON] = field(default_factory=dict)
    respond: JSON = None  # {status, headers, body}: the response to the waiting caller; the first one wins
    halt: bool = False  # ends the run
    break_loop: bool = False  # ends the enclosing loop after this iteration
    failure: Failing | None = None


@dataclass(frozen=True, slots=True)
class Pause:
    """Why an instance waits and how it may resume.

    `reason` is one of human_input, timer, callback, subrun, message. `resume_at_ms` (a timer) completes the instance by `handle`.
    `deadline_ms` ends the wait by the exit `timeout` or, if that is not wired, fails the instance. `exits` are the exits that an
    answer may choose. `fields` is the JSON Schema of the answer's properties. People see `details` (message, approvers…).
    """

    reason: str
    resume_at_ms: int | None = None
    deadline_ms: int | None = None
    handle: str = SOURCE
    exits: tuple[str, ...] = (SOURCE,)
    fields: Mapping[str, JSON] | None = None
    details: Mapping[str, JSON] = field(default_factory=dict)


Check = Callable[["BaseModel", str], "list[Finding]"]


def no_findings(params: BaseModel, path: str) -> list[Finding]:
    return []


def only_source(params: BaseModel) -> tuple[str, ...]:
    return (SOURCE,)


def nothing(written: Mapping[str, JSON]) -> Mapping[str, str]:
    return {}


def never(written: Mapping[str, JSON]) -> bool:
    return False


def unknown_fields(written: Mapping[str, JSON]) -> Collection[str] | None:
    return None


@dataclass(frozen=True, slots=True)
class Bounds:
    """What limits the iterations of one container: how many at once and altogether, what a failed one means, and what is kept of
    them: their results, and the variables that a failed one wrote."""

    window: int = 1
    max_iterations: int = DEFAULT_MAX_ITERATIONS
    truncate: bool = False
    on_error: str = "stop"  # or continue, drop
    max_consecutive_errors: int | None = None
    keeps_results: bool = True
    keeps_writes: bool = False


@dataclass(frozen=True, slots=True)
class ContainerSpec:
    """How a container kind runs its body: with `parallel` up to `window` iterations at once, else one after another.

    `modes` are the fields of `with` of which a node sets exactly one; it says how many iterations there are. A parallel container
    has some of branches, items; another one some of times, items, while, do_while. `bounds` reads the limits from the parameters.
    """

    modes: tuple[str, ...]
    parallel: bool
    bounds: Callable[[Any], Bounds]


@dataclass(frozen=True, slots=True)
class Kind:
    """A node kind.

    `params` is the pydantic model of `with`. For any field the compiler also accepts a text with references, and such a field is
    validated after rendering. `exits` lists the exits of a node with these parameters, in display order and without `error`,
    which every kind has (an entry may violate its contract). `parts` says how each field of `with` is compiled. Exactly one of
    `evaluate` (PURE, ENTRY) and `suspend` (PAUSE) is set; the runtime runs an EFFECT and finds the kind's `run` by name; a
    CONTAINER has a `container`. `check` finds further faults at publication.

    `functions` and `tools` map dotted paths in an unrendered `with` to names. `functions` names the registered callables that
    the node calls (`arguments` is the field with their arguments), `tools` the sibling nodes that its attempts run themselves.
    Only a node of a kind with `is_tool` can be such a tool.

    The rest is what other readers of the table need; tests/contract/test_kinds.py names them. `group` is given where it does not
    follow from the nature. `brief` are the parameters by which people tell a node from others of its kind: the console shows the
    first line of their values. `branches` is the parameter whose keys are exits: such a node is drawn as a choice. `icon` is the
    path of an SVG of 16 by 16, drawn with one line. `span` is the OpenTelemetry kind of the span of an attempt.
    """

    name: str
    nature: Nature
    params: type[BaseModel]
    summary: str
    exits: Callable[[Any], tuple[str, ...]] = only_source
    parts: Mapping[str, Part] = field(default_factory=dict)
    evaluate: Callable[[Work], Outcome] | None = None
    suspend: Callable[[Work], Pause | Outcome] | None = None
    check: Callable[[Any, str], list[Finding]] = no_findings
    functions: Callable[[Mapping[str, JSON]], Mapping[str, str]] = nothing
    arguments: str | None = None
    tools: Callable[[Mapping[str, JSON]], Mapping[str, str]] = nothing
    is_tool: bool = False
    terminal: bool = False  # has no exits at all: respond, end
    container: ContainerSpec | None = None
    calls_runs: bool = False  # its attempts wait for a child run
    distributes: bool = False  # runs its body once per item, in shards
    receives: bool = False  # waits for the message that its field `message` names; `where` reads it as `<message>`
    always_fails: bool = False  # it has no output
    is_answered: Callable[[Mapping[str, JSON]], bool] = never  # whether a node with this `with` returns the answer to a callback
    output_fields: Callable[[Mapping[str, JSON]], Collection[str] | None] = unknown_fields  # none of a list; None: not known
    group: Group | None = None
    brief: tuple[str, ...] = ()
    branches: str | None = None
    icon: str = ""
    span: str = INTERNAL

    @property
    def listed_in(self) -> Group:
        """Where an editor lists the kind."""
        return self.group or _GROUPS[self.nature]

    @property
    def encloses(self) -> bool:
        """Whether an attempt encloses other work: `retry` repeats all of it, and `timeout_ms`, which then has no default, limits
        all of it."""
        return self.calls_runs or self.nature is Nature.CONTAINER


Kinds = Mapping[str, Kind]
