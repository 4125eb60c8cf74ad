"""The workflow document as authors write it: one model tree, which is read, judged and exported as a JSON Schema.

Everything here is about one value at a time: its type, its bounds, its words. What concerns several values at once
(edges, references, exits) is judged by `compile`. Nothing is coerced: `"3"` is no number and `yes` no boolean.
"""

from __future__ import annotations

import re
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
from stepless.model.durations import parse_duration_ms
from stepless.model.json import JSON
from stepless.model.work import CAUSES

RESERVED_IDS: Final = ("loop", "parallel", "workflow", "inputs", "input", "run", "env")
RETRY_CAUSES: Final = (*CAUSES, "moderation", "outcome_unknown")
_RETRIED: Final = ("timeout", "provider_error", "rate_limit")
MERGE_ALIASES: Final[Mapping[str, str]] = {"last_write_wins": "last", "json_object": "object"}

_NAME: Final = rf"^[A-Za-z_][A-Za-z0-9_-]{{0,{MAX_ID_CHARACTERS - 1}}}$"
_SLUG: Final = rf"^[a-z0-9][a-z0-9-]{{0,{MAX_ID_CHARACTERS - 1}}}$"


def _tag(value: object) -> str | None:
    """Which of the forms of a field a value is, by its JSON type: so that a fault is told once, not once per form."""
    if isinstance(value, str):
        return "text"
    if isinstance(value, list | tuple):
        return "list"
    return "object" if isinstance(value, Mapping | BaseModel) else None


def _duration(value: object) -> int:
    if not isinstance(value, str):
        raise PydanticCustomError("duration", "should be text with a unit, like 90s, 15m, 2h, 3d or PT2H")
    try:
        return parse_duration_ms(value)
    except ValueError as error:
        raise PydanticCustomError("duration", "{told}", {"told": str(error)}) from None


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


_KEY_STEP: Final = re.compile(r"(?:^|(?<!^)\.)([^.\[\]]+)|\[(-?[0-9]{1,9})\]")


def parse_key(key: str) -> tuple[str | int, ...]:
    """The steps of an edge's `key`: `body.rows[0].id`; none for the empty text. Raises `PydanticCustomError`."""
    steps: list[str | int] = []
    at = 0
    while at < len(key):
        step = _KEY_STEP.match(key, at)
        if step is None:
            raise PydanticCustomError("bad_key", "{key} is no dotted path like body.rows[0].id", {"key": repr(key)})
        steps.append(step[1] if step[1] is not None else int(step[2]))
        at = step.end()
    return tuple(steps)


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
    BeforeValidator(_duration),
    WithJsonSchema({"type": "string", "pattern": r"^([0-9]+(ms|s|m|h|d)|P.+)$", "examples": ["90s", "15m", "2h", "3d", "PT2H"]}),
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
    contains: JSON = None
    present: bool = True
    truthy: bool = True


class AfterDocument(DocumentPart):
    """An incoming edge, written at its target. `from` is `node` or `node.exit`."""

    from_: Word = Field(alias="from")
    param: Word = "input"
    key: Key = ""
    condition: ConditionDocument | None = None
    merge: MergeName | None = None


class EdgeDocument(DocumentPart):
    """An edge. `handle` names the exit of the source that it leaves by."""

    source: Word
    target: Word
    handle: Word = "source"
    param: Word = "input"
    key: Key = ""
    condition: ConditionDocument | None = None
    merge: MergeName | None = None


AfterEntry = Annotated[Annotated[Word, Tag("text")] | Annotated[AfterDocument, Tag("object")], Discriminator(_tag)]
After = Annotated[
    Annotated[Word, Tag("text")] | Annotated[AfterDocument, Tag("object")] | Annotated[list[AfterEntry], Tag("list")],
    Discriminator(_tag),
]


class CustomMerge(DocumentPart):
    """How variables in conflict merge: an expression in which `<input>` is the list of candidates, in edge order."""

    custom: str = Field(min_length=1, max_length=MAX_EXPRESSION_CHARACTERS)


class JoinDocument(DocumentPart):
    """When a node with several branches runs. `mode: timeout` is short for `all` with `on_timeout: proceed`."""

    mode: Literal["all", "any", "count", "timeout"] = "all"
    count: int | None = Field(default=None, ge=1)
    timeout_ms: PositiveMilliseconds | None = None
    on_timeout: Literal["fail", "proceed"] = "fail"
    errors: Literal["fail-fast", "collect-all", "best-effort"] = "fail-fast"
    min_success: int = Field(default=1, ge=1)
    losers: Literal["continue", "cancel"] = "continue"
    vars: Annotated[
        Annotated[Literal["merge-all", "last-write", "first-write"], Tag("text")] | Annotated[CustomMerge, Tag("object")],
        Discriminator(_tag),
    ] = "merge-all"
    on_conflict: Literal["warn", "error", "first"] = "warn"


class RetryDocument(DocumentPart):
    """`attempts` counts the first try; a failure whose cause is not in `retry_on` is final."""

    attempts: int = Field(default=1, ge=1, le=MAX_RETRY_ATTEMPTS)
    backoff_ms: Milliseconds = 500
    max_backoff_ms: Milliseconds = 8_000
    retry_on: list[Cause] = Field(default_factory=lambda: list(_RETRIED), max_length=len(RETRY_CAUSES))


DEFAULT_JOIN: Final = JoinDocument()  # shared: most nodes have no settings of their own
DEFAULT_RETRY: Final = RetryDocument()


class NodeDocument(DocumentPart):
    """What every kind of node has. `with` is judged by the kind."""

    type: Word
    label: Text | None = None
    after: After | None = None
    with_: dict[str, Any] = Field(default_factory=dict, alias="with")
    enabled: bool = True
    retry: RetryDocument = Field(default_factory=lambda: DEFAULT_RETRY)
    timeout_ms: PositiveMilliseconds = DEFAULT_NODE_TIMEOUT_MS
    delivery: Literal["at_least_once", "at_most_once"] = "at_least_once"
    join: JoinDocument = Field(default_factory=lambda: DEFAULT_JOIN)
    merge: MergeName = "last"
    on_parent_failure: Literal["skip", "propagate", "substitute_default"] = "skip"
    default: JSON = ""
    input_contract: Schema | None = None
    output_contract: Schema | None = None
    moderation: Literal["off", "input", "output", "both"] = "off"
    moderation_on_error: Literal["block", "allow"] = "block"


class BodyDocument(DocumentPart):
    """What a container runs once per turn: a graph with its own entries."""

    nodes: dict[NodeId, NodeDocument]
    edges: list[EdgeDocument] = Field(default_factory=list)


class RateLimitDocument(DocumentPart):
    """At most `max` starts per `per`, counted apart for each value of `by`."""

    max: int = Field(ge=1)
    per: Duration
    by: Text | None = None


class Document(DocumentPart):
    """A workflow. Durations are milliseconds once read."""

    id: Slug
    name: Text | None = None
    description: Text | None = None
    variables: dict[VariableName, JSON] = Field(default_factory=dict, max_length=MAX_VARIABLES)
    env: list[EnvName] = Field(default_factory=list, max_length=MAX_ENV_NAMES)
    nodes: dict[NodeId, NodeDocument]
    edges: list[EdgeDocument] = Field(default_factory=list)
    on_failure: Literal["isolate", "halt"] = "isolate"
    max_steps: int = Field(default=DEFAULT_MAX_STEPS, ge=1, le=MAX_STEPS)
    timeout_ms: Duration | None = Field(default=None, alias="timeout")
    concurrency: int | None = Field(default=None, ge=1)
    rate_limit: RateLimitDocument | None = None
