"""What a document may say: each part and field declared once, with its type, its default and its meaning.

    backoff_ms: Milliseconds = 500
    \"""The delay before the second try.\"""

Everything else about a field is made from its declaration, or refers to it:

* how it is read. A part is a view (`model.written`) over the JSON that the author wrote. `retry` and `join` are settings that
  the compiled graph has as they are written: the values in `model.policies`, declared in the same way.
* how it is judged. `model.validation` makes pydantic's models of the declarations, and with them the JSON Schema. A type is
  looked up by its name, in `model.field_types` or, where readers see something else than authors write, in `model.validation`.
* how it is told: the text below it is its meaning in the schema for editors and in docs/reference.md.

What concerns several values at once (edges, references, exits) is judged by `compile`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

from stepless.limits import DEFAULT_MAX_STEPS, DEFAULT_NODE_TIMEOUT_MS
from stepless.model.declaration.policies import (
    DEFAULT_JOIN,
    DEFAULT_RETRY,
    Delivery,
    JoinRule,
    Merge,
    Moderation,
    OnFailure,
    OnModerationError,
    OnParentFailure,
    Retry,
)
from stepless.model.declaration.written import NOTHING, View, field
from stepless.model.durations import parse_duration_ms
from stepless.model.json import JSON

if TYPE_CHECKING:
    from stepless.model.declaration.field_types import (
        Count,
        Duration,
        Env,
        Formula,
        Key,
        Params,
        PositiveMilliseconds,
        Schema,
        Slug,
        Steps,
        Text,
        Variables,
        Word,
    )

RESERVED_IDS: Final = ("loop", "parallel", "workflow", "inputs", "input", "run", "env")
MERGE_ALIASES: Final[Mapping[str, str]] = {"last_write_wins": "last", "json_object": "object"}

After: TypeAlias = JSON  # a text, a mapping, or a list of these
Nodes: TypeAlias = Mapping[str, Mapping[str, JSON]]
Edges: TypeAlias = list[Mapping[str, JSON]]


def _merge(name: str) -> Merge:
    return Merge(MERGE_ALIASES.get(name, name))


def _retry(raw: Mapping[str, JSON]) -> Retry:
    """Like a view, it ignores fields that only a later version of the engine knows."""
    return Retry(**{name: raw[name] for name in Retry._fields if name in raw})


def _join(raw: Mapping[str, JSON]) -> JoinRule:
    return JoinRule(**{name: raw[name] for name in JoinRule._fields if name in raw})


class ConditionView(View):
    """A test of the value that an edge carries; exactly one of the four is given."""

    __slots__ = ()
    equals: JSON = None
    """The value is this one, by JSON type and value."""
    contains: JSON = None
    """The text holds this text, the list this item, or the object this key."""
    present: bool = True
    """The value is there (true) or null (false)."""
    truthy: bool = True
    """The value counts as true (true) or as false (false): null, 0, "" and empty lists and objects count as false."""


class AfterView(View):
    """An incoming edge, written at its target. `from` is `node` or `node.exit`."""

    __slots__ = ()
    from_: Word = field(name="from")
    """The source, `node` or `node.exit`. Without an exit the edge is taken on success."""
    param: Word = "input"
    """Which input of this node the edge feeds: `<inputs.name>` reads it."""
    key: Key = ""
    """Which part of the source's output it carries, as a path like `body.rows[0].id`. Empty: all of it."""
    condition: ConditionView | None = field(None, read=ConditionView)
    """The edge is taken only if the value that it carries passes this test."""
    merge: Merge | None = field(None, read=_merge)
    """How this param is merged, instead of the node's own `merge`."""


class EdgeView(View):
    """An edge. `handle` names the exit of the source that it leaves by."""

    __slots__ = ()
    source: Word
    """The node that the edge leaves."""
    target: Word
    """The node that it leads to."""
    handle: Word = "source"
    """The exit it leaves by: `source` on success, `error` on failure, or an exit of the source's kind."""
    param: Word = "input"
    """Which input of the target the edge feeds: `<inputs.name>` reads it."""
    key: Key = ""
    """Which part of the source's output it carries, as a path like `body.rows[0].id`. Empty: all of it."""
    condition: ConditionView | None = field(None, read=ConditionView)
    """The edge is taken only if the value that it carries passes this test."""
    merge: Merge | None = field(None, read=_merge)
    """How this param is merged, instead of the target's own `merge`."""


class CustomMergeView(View):
    """How variables in conflict merge."""

    __slots__ = ()
    custom: Formula
    """An expression in which `<input>` is the list of candidates, in edge order."""


class NodeView(View):
    """What every kind of node has. `with` is judged by the kind."""

    __slots__ = ()
    type: Word
    """The node's kind."""
    label: Text | None = None
    """What people are shown, and the key of `merge: object`. The node's id when left out."""
    after: After | None = None
    """The incoming edges: `node`, `node.exit`, an edge with `from`, or a list of these. Without any the node is an entry."""
    with_: Params = field(NOTHING, "with")
    """The kind's own parameters. A value may hold references."""
    enabled: bool = True
    """A node that is switched off hands its input on and completes."""
    retry: Retry = field(DEFAULT_RETRY, read=_retry)
    """How often a failed node is tried again."""
    timeout_ms: PositiveMilliseconds = DEFAULT_NODE_TIMEOUT_MS
    """How long one attempt may run. Time spent waiting does not count."""
    delivery: Delivery = "at_least_once"
    """After a crash in the middle of an attempt: run it again with the same token (`at_least_once`), or fail with
    `outcome_unknown` (`at_most_once`)."""
    join: JoinRule = field(DEFAULT_JOIN, read=_join)
    """When a node with several branches runs."""
    merge: Merge = field(Merge.LAST, read=_merge)
    """How several values for one param become one: the `last`, their texts (`concat`), a list (`array`), or an object by
    label."""
    on_parent_failure: OnParentFailure = field(OnParentFailure.SKIP, read=OnParentFailure)
    """If a failed branch means that the node cannot run: `skip` it, fail it too (`propagate`), or run it with `default` in place
    of what is missing (`substitute_default`)."""
    default: JSON = ""
    """The value for `substitute_default`."""
    input_contract: Schema | None = None
    """JSON Schema (2020-12) that the inputs, an object by param, must keep."""
    output_contract: Schema | None = None
    """JSON Schema (2020-12) that the output must keep."""
    moderation: Moderation = "off"
    """Which side of the node's work the moderator reviews."""
    moderation_on_error: OnModerationError = "block"
    """What happens when no moderator can be asked: `block` fails the node, `allow` lets the value pass."""


class BodyView(View):
    """What a container runs once per turn: a graph with its own entries."""

    __slots__ = ()
    nodes: Nodes
    """The nodes of one turn, by id."""
    edges: Edges = field(())
    """Further edges between them."""


class RateLimitView(View):
    """How many runs may be started in a time."""

    __slots__ = ()
    max: Count
    """How many starts."""
    per: Duration = field(read=parse_duration_ms)
    """In which time."""
    by: Text | None = None
    """A path into the run's inputs, like `body.customer`: each value that stands there has a limit of its own."""


class DocumentView(BodyView):
    """What is published under one id."""

    __slots__ = ()
    id: Slug
    """What the workflow is known by, across all its versions."""
    name: Text | None = None
    """A name for people."""
    description: Text | None = None
    """A few sentences for people."""
    variables: Variables = field(NOTHING)
    """Run variables with their initial values. `set` writes them, `<workflow.name>` reads them."""
    env: Env = field(())
    """The names that `${NAME}` may read: of the environment, then of the secret store. Their values are masked. A node that reads
    one without a value, or with an empty one, fails with `secret_missing`."""
    nodes: Nodes
    """The nodes by id."""
    edges: Edges = field(())
    """Further edges, with the same meaning as `after`."""
    on_failure: OnFailure = field(OnFailure.ISOLATE, read=OnFailure)
    """After a failure that nothing handles: independent work goes on (`isolate`), nothing new is started (`halt`), or what is
    under way is cancelled too (`cancel`)."""
    max_steps: Steps = DEFAULT_MAX_STEPS
    """How many nodes one run may start, turns of loops counted each."""
    timeout_ms: Duration | None = field(None, "timeout", parse_duration_ms)
    """How long a run may take. Time spent paused does not count."""
    concurrency: Count | None = None
    """How many runs of the workflow may be live at once; a start beyond that is refused."""
    rate_limit: RateLimitView | None = field(None, read=RateLimitView)
    """How many runs may be started in a time. When nobody can count, the start is let through."""
    numbered: bool = False
    """Whether its runs are counted: each has a number then, from 1, that people know it by. A start costs one more write. A
    number may be missing, and none comes twice."""
