"""The workflow document as authors write it: one model tree, which is read, judged and exported as a JSON Schema.

Everything here is about one value at a time: its type, its bounds, its words. What concerns several values at once
(edges, references, exits) is judged by `compile`. Nothing is coerced: `"3"` is no number and `yes` no boolean.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from stepless.limits import (
    DEFAULT_MAX_STEPS,
    DEFAULT_NODE_TIMEOUT_MS,
    MAX_DURATION_MS,
    MAX_ENV_NAMES,
    MAX_EXPRESSION_CHARACTERS,
    MAX_ID_CHARACTERS,
    MAX_MESSAGE_CHARACTERS,
    MAX_RETRY_ATTEMPTS,
    MAX_STEPS,
    MAX_VARIABLES,
)
from stepless.model.durations import DURATION_SCHEMA
from stepless.model.json import JSON, Path, parse_path
from stepless.model.misfits import read_duration_ms
from stepless.model.work import CAUSES
from stepless.model.written import MERGE_ALIASES, RETRIED

RESERVED_IDS: Final = ("loop", "parallel", "workflow", "inputs", "input", "run", "env")
RETRY_CAUSES: Final = (*CAUSES, "outcome_unknown")

_NAME: Final = rf"^[A-Za-z_][A-Za-z0-9_-]{{0,{MAX_ID_CHARACTERS - 1}}}$"
_SLUG: Final = rf"^[a-z0-9][a-z0-9-]{{0,{MAX_ID_CHARACTERS - 1}}}$"


def _tag(value: object) -> str | None:
    """Which of the forms of a field a value is, by its JSON type: so that a fault is told once, not once per form."""
    if isinstance(value, str):
        return "text"
    if isinstance(value, list | tuple):
        return "list"
    return "object" if isinstance(value, Mapping | BaseModel) else None


def _merge_alias(value: object) -> object:
    return MERGE_ALIASES.get(value, value) if isinstance(value, str) else value


def _known_cause(cause: str) -> str:
    if cause not in RETRY_CAUSES:
        facts = {"cause": cause, "known": ", ".join(RETRY_CAUSES)}
        raise PydanticCustomError("unknown_cause", "retry_on knows no cause `{cause}`; it knows {known}", facts)
    return cause


def _path_steps(path: str) -> str:
    parse_key(path)
    return path


def parse_key(key: str) -> Path:
    """The steps of an edge's `key`. Raises `PydanticCustomError`."""
    try:
        return parse_path(key)
    except ValueError as error:
        raise PydanticCustomError("bad_key", "{told}", {"told": str(error)}) from None


Slug = Annotated[str, StringConstraints(pattern=_SLUG)]
NodeId = Annotated[str, StringConstraints(pattern=_NAME)]
VariableName = Annotated[str, StringConstraints(pattern=_NAME)]
EnvName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")]
Text = Annotated[str, StringConstraints(max_length=MAX_MESSAGE_CHARACTERS)]
Word = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Key = Annotated[str, StringConstraints(max_length=1_000), AfterValidator(_path_steps)]
Milliseconds = Annotated[int, Field(ge=0, le=MAX_DURATION_MS)]
PositiveMilliseconds = Annotated[int, Field(ge=1, le=MAX_DURATION_MS)]
Duration = Annotated[
    int,
    BeforeValidator(read_duration_ms),
    WithJsonSchema(dict(DURATION_SCHEMA)),
]
MergeName = Annotated[
    Literal["last", "concat", "array", "object"],
    BeforeValidator(_merge_alias),
    WithJsonSchema({"enum": ["last", "concat", "array", "object", *MERGE_ALIASES]}),
]
Cause = Annotated[str, AfterValidator(_known_cause), WithJsonSchema({"enum": list(RETRY_CAUSES)})]
Schema = dict[str, Any]


class DocumentPart(BaseModel):
    """Base of the tree: unknown fields are refused, no type is taken for another, nothing changes afterwards."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ConditionDocument(DocumentPart):
    """A test of the value that an edge carries; exactly one of the four is given."""

    equals: JSON = None
    """The value is this one, by JSON type and value."""
    contains: JSON = None
    """The text holds this text, the list this item, or the object this key."""
    present: bool = True
    """The value is there (true) or null (false)."""
    truthy: bool = True
    """The value counts as true (true) or as false (false): null, 0, "" and empty lists and objects count as false."""


class AfterDocument(DocumentPart):
    """An incoming edge, written at its target. `from` is `node` or `node.exit`."""

    from_: Word = Field(alias="from")
    """The source, `node` or `node.exit`. Without an exit the edge is taken on success."""
    param: Word = "input"
    """Which input of this node the edge feeds: `<inputs.name>` reads it."""
    key: Key = ""
    """Which part of the source's output it carries, as a path like `body.rows[0].id`. Empty: all of it."""
    condition: ConditionDocument | None = None
    """The edge is taken only if the value that it carries passes this test."""
    merge: MergeName | None = None
    """How this param is merged, instead of the node's own `merge`."""


class EdgeDocument(DocumentPart):
    """An edge. `handle` names the exit of the source that it leaves by."""

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
    condition: ConditionDocument | None = None
    """The edge is taken only if the value that it carries passes this test."""
    merge: MergeName | None = None
    """How this param is merged, instead of the target's own `merge`."""


AfterEntry = Annotated[Annotated[Word, Tag("text")] | Annotated[AfterDocument, Tag("object")], Discriminator(_tag)]
After = Annotated[
    Annotated[Word, Tag("text")] | Annotated[AfterDocument, Tag("object")] | Annotated[list[AfterEntry], Tag("list")],
    Discriminator(_tag),
]


class CustomMerge(DocumentPart):
    """How variables in conflict merge."""

    custom: str = Field(min_length=1, max_length=MAX_EXPRESSION_CHARACTERS)
    """An expression in which `<input>` is the list of candidates, in edge order."""


class JoinDocument(DocumentPart):
    """When a node with several branches runs."""

    mode: Literal["all", "any", "count", "timeout"] = "all"
    """How many branches must arrive: `all`, `any` (one), `count`. `timeout` is short for `all` with `on_timeout: proceed`."""
    count: int | None = Field(default=None, ge=1)
    """With `mode: count`: how many."""
    timeout_ms: PositiveMilliseconds | None = None
    """How long to wait for the branches, counted from the fork that they come from, or from the run's start."""
    on_timeout: Literal["fail", "proceed"] = "fail"
    """After that: `fail` with `join_timeout`, or `proceed` with what has arrived if it is at least `min_success`."""
    errors: Literal["fail-fast", "collect-all", "best-effort"] = "fail-fast"
    """When failed branches make the join impossible: `fail-fast` as soon as that is certain, `collect-all` once all branches have
    settled, `best-effort` then too, but runs if `min_success` arrived."""
    min_success: int = Field(default=1, ge=1)
    """How many branches must have arrived for `best-effort` and for `proceed`."""
    losers: Literal["continue", "cancel"] = "continue"
    """What becomes of nodes that only lead to this join once it runs, or can no longer run: they `continue`, or are ended
    (`cancel`, with the reason `join_satisfied` or `join_unsatisfied`)."""
    vars: Annotated[
        Annotated[Literal["merge-all", "last-write", "first-write"], Tag("text")] | Annotated[CustomMerge, Tag("object")],
        Discriminator(_tag),
    ] = "merge-all"
    """How variables that branches wrote differently become one: `merge-all` with `on_conflict`, `last-write`, `first-write`, or
    an expression."""
    on_conflict: Literal["warn", "error", "first"] = "warn"
    """With `merge-all`: `warn` takes the last in edge order and logs it, `first` takes the first, `error` fails the node."""


class RetryDocument(DocumentPart):
    """How often a failed node is tried again, and when."""

    attempts: int = Field(default=1, ge=1, le=MAX_RETRY_ATTEMPTS)
    """How many tries there are, the first one counted."""
    backoff_ms: Milliseconds = 500
    """The delay before the second try. It doubles with every further try, up to `max_backoff_ms`; what is waited is drawn between
    half of that and all of it."""
    max_backoff_ms: Milliseconds = 8_000
    """No delay is longer, unless the other side asked for more after a `rate_limit`."""
    retry_on: list[Cause] = Field(default_factory=lambda: list(RETRIED), max_length=len(RETRY_CAUSES))
    """Causes of failure after which there is another try; any other failure is final."""


DEFAULT_JOIN: Final = JoinDocument()  # shared: most nodes have no settings of their own
DEFAULT_RETRY: Final = RetryDocument()


class NodeDocument(DocumentPart):
    """What every kind of node has. `with` is judged by the kind."""

    type: Word
    """The node's kind."""
    label: Text | None = None
    """What people are shown, and the key of `merge: object`. The node's id when left out."""
    after: After | None = None
    """The incoming edges: `node`, `node.exit`, an edge with `from`, or a list of these. Without any the node is an entry."""
    with_: dict[str, Any] = Field(default_factory=dict, alias="with")
    """The kind's own parameters. A value may hold references."""
    enabled: bool = True
    """A node that is switched off hands its input on and completes."""
    retry: RetryDocument = Field(default_factory=lambda: DEFAULT_RETRY)
    """How often a failed node is tried again."""
    timeout_ms: PositiveMilliseconds = DEFAULT_NODE_TIMEOUT_MS
    """How long one attempt may run. Time spent waiting does not count."""
    delivery: Literal["at_least_once", "at_most_once"] = "at_least_once"
    """After a crash in the middle of an attempt: run it again with the same token (`at_least_once`), or fail with
    `outcome_unknown` (`at_most_once`)."""
    join: JoinDocument = Field(default_factory=lambda: DEFAULT_JOIN)
    """When a node with several branches runs."""
    merge: MergeName = "last"
    """How several values for one param become one: the `last`, their texts (`concat`), a list (`array`), or an object by
    label."""
    on_parent_failure: Literal["skip", "propagate", "substitute_default"] = "skip"
    """If a failed branch means that the node cannot run: `skip` it, fail it too (`propagate`), or run it with `default` in place
    of what is missing (`substitute_default`)."""
    default: JSON = ""
    """The value for `substitute_default`."""
    input_contract: Schema | None = None
    """JSON Schema (2020-12) that the inputs, an object by param, must keep."""
    output_contract: Schema | None = None
    """JSON Schema (2020-12) that the output must keep."""
    moderation: Literal["off", "input", "output", "both"] = "off"
    """Which side of the node's work the moderator reviews."""
    moderation_on_error: Literal["block", "allow"] = "block"
    """What happens when no moderator can be asked: `block` fails the node, `allow` lets the value pass."""


class BodyDocument(DocumentPart):
    """What a container runs once per turn: a graph with its own entries."""

    nodes: dict[NodeId, NodeDocument]
    """The nodes of one turn, by id."""
    edges: list[EdgeDocument] = Field(default_factory=list)
    """Further edges between them."""


class RateLimitDocument(DocumentPart):
    """How many runs may be started in a time."""

    max: int = Field(ge=1)
    """How many starts."""
    per: Duration
    """In which time."""
    by: Text | None = None
    """A path into the run's inputs, like `body.customer`: each value that stands there has a limit of its own."""


class Document(DocumentPart):
    """What is published under one id."""

    id: Slug
    """What the workflow is known by, across all its versions."""
    name: Text | None = None
    """A name for people."""
    description: Text | None = None
    """A few sentences for people."""
    variables: dict[VariableName, JSON] = Field(default_factory=dict, max_length=MAX_VARIABLES)
    """Run variables with their initial values. `set` writes them, `<workflow.name>` reads them."""
    env: list[EnvName] = Field(default_factory=list, max_length=MAX_ENV_NAMES)
    """The names that `${NAME}` may read: of the environment, then of the secret store. Their values are masked. A node that reads
    one without a value, or with an empty one, fails with `secret_missing`."""
    nodes: dict[NodeId, NodeDocument]
    """The nodes by id."""
    edges: list[EdgeDocument] = Field(default_factory=list)
    """Further edges, with the same meaning as `after`."""
    on_failure: Literal["isolate", "halt", "cancel"] = "isolate"
    """After a failure that nothing handles: independent work goes on (`isolate`), nothing new is started (`halt`), or what is
    under way is cancelled too (`cancel`)."""
    max_steps: int = Field(default=DEFAULT_MAX_STEPS, ge=1, le=MAX_STEPS)
    """How many nodes one run may start, turns of loops counted each."""
    timeout_ms: Duration | None = Field(default=None, alias="timeout")
    """How long a run may take. Time spent paused does not count."""
    concurrency: int | None = Field(default=None, ge=1)
    """How many runs of the workflow may be live at once; a start beyond that is refused."""
    rate_limit: RateLimitDocument | None = None
    """How many runs may be started in a time. When nobody can count, the start is let through."""
    numbered: bool = False
    """Whether its runs are counted: each has a number then, from 1, that people know it by. A start costs one more write. A
    number may be missing, and none comes twice."""
