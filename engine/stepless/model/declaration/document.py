"""Declares every part and field of a document once, with its type, its default and its meaning.

    backoff_ms: Milliseconds = 500
    \"""The delay before the second try.\"""

Everything else about a field follows from its declaration:

* Reading: a part is a view (`model.written`) over the JSON that the author wrote. `retry` and `join` are settings that the
  compiled graph contains unchanged: the named tuples in `policies`, declared in the same way.
* Validation: `model.validation` builds the pydantic models and the JSON Schema. It finds a type by its name in
  `model.field_types`, or in `model.validation` itself where the form in a document differs from the form in code.
* Documentation: the text below a field is its description in the JSON Schema and in docs/write/reference.md.

`compile` checks rules over several values (edges, references, exits).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

from stepless.limits import DEFAULT_MAX_STEPS, DEFAULT_NODE_TIMEOUT_MS
from stepless.model.declaration.messages import MessageView
from stepless.model.declaration.policies import (
    DEFAULT_JOIN,
    DEFAULT_RETRY,
    Delivery,
    JoinRule,
    Merge,
    Moderation,
    OnConflict,
    OnFailure,
    OnModerationError,
    OnParentFailure,
    Retry,
)
from stepless.model.declaration.views import NOTHING, View, field
from stepless.model.json import JSON
from stepless.model.texts.durations import parse_duration_ms, parse_retention_ms

if TYPE_CHECKING:
    from stepless.model.declaration.field_types import (
        Count,
        Duration,
        Env,
        FailureTargets,
        Formula,
        Key,
        Lines,
        NodeLines,
        Params,
        PositiveMilliseconds,
        RatePeriod,
        Retention,
        Schema,
        Slots,
        Slug,
        Source,
        Steps,
        Text,
        Variables,
        Word,
        Words,
    )

RESERVED_IDS: Final = ("loop", "parallel", "workflow", "inputs", "input", "run", "env")
MERGE_ALIASES: Final[Mapping[str, str]] = {"last_write_wins": "last", "json_object": "object"}

After: TypeAlias = JSON  # a text, a mapping, or a list of these
Nodes: TypeAlias = Mapping[str, Mapping[str, JSON]]
Edges: TypeAlias = list[Mapping[str, JSON]]
Parts: TypeAlias = list[Mapping[str, JSON]]
Messages: TypeAlias = Mapping[str, Mapping[str, JSON]]
Concurrency: TypeAlias = "int | ConcurrencyView"
Weight: TypeAlias = int | str
Enabled: TypeAlias = "bool | DisabledView"


def _merge(name: str) -> Merge:
    return Merge(MERGE_ALIASES.get(name, name))


def _retry(raw: Mapping[str, JSON]) -> Retry:
    """Like a view, ignores fields that only a later version of the engine knows."""
    return Retry(**{name: raw[name] for name in Retry._fields if name in raw})


def _join(raw: Mapping[str, JSON]) -> JoinRule:
    return JoinRule(**{name: raw[name] for name in JoinRule._fields if name in raw})


def _targets(raw: JSON) -> tuple[str, ...]:
    given = [raw] if isinstance(raw, str) else raw if isinstance(raw, list) else []
    return tuple(text for text in given if isinstance(text, str))


def _enabled(raw: JSON) -> Enabled:
    return DisabledView(raw) if isinstance(raw, Mapping) else raw is True


class ConditionView(View):
    """A test of the value that an edge carries. Set exactly one of the four fields."""

    __slots__ = ()
    equals: JSON = None
    """The value equals this one, in JSON type and value."""
    contains: JSON = None
    """The text contains this text, the list this item, or the object this key."""
    present: bool = True
    """The value is not null (true), or is null (false)."""
    truthy: bool = True
    """The value is truthy (true) or falsy (false). null, false, 0, "" and empty lists and objects are falsy."""


class AfterView(View):
    """An incoming edge, written at its target. `from` is `node` or `node.exit`."""

    __slots__ = ()
    from_: Word = field(name="from")
    """The source: `node` or `node.exit`. Without an exit, the edge is taken on success."""
    param: Word = "input"
    """The input of this node that receives the value. `<inputs.name>` reads it."""
    key: Key = ""
    """The part of the source's output that the edge carries, as a path like `body.rows[0].id`. Empty: all of it."""
    condition: ConditionView | None = field(None, read=ConditionView)
    """The edge is taken only if the value that it carries passes this test."""
    merge: Merge | None = field(None, read=_merge)
    """How this param is merged; overrides the node's `merge`."""


class EdgeView(View):
    """An edge. `handle` names the exit of the source by which it leaves."""

    __slots__ = ()
    source: Word
    """The node that the edge leaves."""
    target: Word
    """The node that the edge leads to."""
    handle: Word = "source"
    """The exit by which it leaves: `source` on success, `error` on failure, or an exit of the source's kind."""
    param: Word = "input"
    """The input of the target that receives the value. `<inputs.name>` reads it."""
    key: Key = ""
    """The part of the source's output that the edge carries, as a path like `body.rows[0].id`. Empty: all of it."""
    condition: ConditionView | None = field(None, read=ConditionView)
    """The edge is taken only if the value that it carries passes this test."""
    merge: Merge | None = field(None, read=_merge)
    """How this param is merged; overrides the target's `merge`."""


class CustomMergeView(View):
    """How conflicting writes of a variable are merged."""

    __slots__ = ()
    custom: Formula
    """An expression in which `<input>` is the list of candidates, in edge order."""


class ConcurrencyView(View):
    """A limit on how much may happen at once. What finds no free slot waits."""

    __slots__ = ()
    max: Slots
    """The number of slots."""
    by: Formula | None = None
    """An expression, like `<input.customer>`. Each of its values has slots of its own. Of a workflow, it reads `<input>`, the
    run's inputs; of a node, what the node's parameters can read. It cannot read `${NAME}`."""
    weight: Weight = 1
    """How many slots one of them takes: a whole number, or an expression over the same references. More than `max` counts as
    `max`."""


class NodeRateView(View):
    """A limit on how many attempts of a node may begin in a period, in all runs of the workflow. The others wait."""

    __slots__ = ()
    max: Slots
    """The number of attempts. No period ever has more, whenever it begins."""
    per: RatePeriod = field(read=parse_duration_ms)
    """The period, at least a second. The attempts are spread over it evenly."""
    by: Formula | None = None
    """An expression over what the node's parameters can read. Each of its values has a limit of its own. It cannot read
    `${NAME}`."""


class DisabledView(View):
    """A node that is disabled, and has several exits."""

    __slots__ = ()
    exit: Word
    """The exit by which it leaves, with its input as its output."""


class NodeView(View):
    """The fields of every kind of node. The kind validates `with`."""

    __slots__ = ()
    type: Word
    """The node's kind."""
    label: Text | None = None
    """The name shown to people, and the key in `merge: object`. Default: the node's id."""
    after: After | None = None
    """The incoming edges: `node`, `node.exit`, an edge with `from`, or a list of these. A node without incoming edges is an
    entry."""
    with_: Params = field(NOTHING, "with")
    """The kind's own parameters. A value may contain references."""
    enabled: Enabled = field(True, read=_enabled)
    """A disabled node completes with its input as its output. `{exit: name}` disables a node with several exits, and says by
    which one it leaves."""
    retry: Retry = field(DEFAULT_RETRY, read=_retry)
    """How often a failed node is tried again. Only on nodes that call something, and on containers."""
    timeout_ms: PositiveMilliseconds = DEFAULT_NODE_TIMEOUT_MS
    """The time limit of one attempt. Time spent waiting does not count. On a `loop`, a `parallel` or a `workflow` it limits
    everything inside, with all waiting, and has no default."""
    delivery: Delivery = "at_least_once"
    """After a crash in the middle of an attempt: run it again with the same token (`at_least_once`), or fail with
    `outcome_unknown` (`at_most_once`)."""
    join: JoinRule = field(DEFAULT_JOIN, read=_join)
    """When a node with several branches runs."""
    merge: Merge = field(Merge.LAST, read=_merge)
    """How several values for one param are combined: the `last`, their texts joined (`concat`), a list (`array`), or an object by
    label (`object`)."""
    on_parent_failure: OnParentFailure = field(OnParentFailure.SKIP, read=OnParentFailure)
    """What to do if the node cannot run because a branch failed: `skip` it, fail it too (`propagate`), or run it with `default`
    in place of the missing values (`substitute_default`)."""
    default: JSON = ""
    """The value for `substitute_default`."""
    input_contract: Schema | None = None
    """JSON Schema (2020-12) that the inputs, an object by param, must satisfy."""
    output_contract: Schema | None = None
    """JSON Schema (2020-12) that the output must satisfy."""
    inputs: Schema | None = None
    """Of an entry: JSON Schema (2020-12) of the run's inputs. The entry puts them out with the `default` of each property that is
    missing, and fails if they do not satisfy the schema."""
    moderation: Moderation = "off"
    """Whether the moderator reviews the node's `input`, its `output`, or `both`. The output of a child run and the answer to a
    callback are not reviewed here."""
    moderation_on_error: OnModerationError = "block"
    """If no moderator is available: `block` fails the node, `allow` lets the value pass."""
    concurrency: ConcurrencyView | None = field(None, read=ConcurrencyView)
    """How many attempts of this node may run at once, in all runs of the workflow. Further ones wait."""
    rate: NodeRateView | None = field(None, read=NodeRateView)
    """How many attempts of this node may begin in a period, in all runs of the workflow. Further ones wait."""
    at: Lines | None = None
    """Its first and its last line in the source that the document was compiled from (`made_by`). No part of the content hash."""

    @property
    def works(self) -> bool:
        """Whether the node is enabled."""
        return self.enabled is True

    @property
    def leaves_by(self) -> str | None:
        """The exit of a disabled node, where the author named it."""
        enabled = self.enabled
        return enabled.exit if isinstance(enabled, DisabledView) else None


class BodyView(View):
    """The graph that a container runs once per iteration. It has its own entries."""

    __slots__ = ()
    nodes: Nodes
    """The nodes of one iteration, by id."""
    edges: Edges = field(())
    """Further edges between them."""


class RateLimitView(View):
    """A limit on how many runs may start in a period."""

    __slots__ = ()
    max: Count
    """The number of starts."""
    per: Duration = field(read=parse_duration_ms)
    """The period."""
    by: Text | None = None
    """A path into the run's inputs, like `body.customer`. Each value at this path has a separate limit."""


class StartRateView(View):
    """A limit on how many runs may start in a period."""

    __slots__ = ()
    max: Count
    """The number of starts."""
    per: Duration = field(read=parse_duration_ms)
    """The period."""
    by: Formula | None = None
    """An expression over `<input>`, the run's inputs, like `<input.customer>`. Each of its values has a limit of its own."""


class PartSourceView(View):
    """A function that was written into the document where the source awaits it (`@part`)."""

    __slots__ = ()
    file: Text
    """The file, relative to the root of its project."""
    function: Text
    """The name of the function in the file."""
    first: Count
    """The line of the file at which the text begins, from 1."""
    source: Source
    """The text of the function."""
    nodes: NodeLines = field(NOTHING)
    """The first and the last line in this file, by id, of the nodes that come from the function, if it is not in the file of the
    source: their `at` has the lines of the call."""


class MadeByView(View):
    """The source that a document was compiled from. It is for people: runs do not depend on it, and it is no part of the content
    hash, so another source that compiles to the same nodes is no new version."""

    __slots__ = ()
    language: Word
    """The language of the source, such as `python`."""
    file: Text | None = None
    """The file, relative to the root of its project."""
    function: Text | None = None
    """The name of the function in the file."""
    source: Source | None = None
    """The text of the source. The lines of `at` count in the file, from 1."""
    parts: Parts = field(())
    """The functions that the source awaits and that are part of the document."""


class DocumentView(BodyView):
    """A workflow, published under one id."""

    __slots__ = ()
    id: Slug
    """Identifies the workflow, across all its versions."""
    name: Text | None = None
    """A name for people."""
    description: Text | None = None
    """A few sentences for people."""
    variables: Variables = field(NOTHING)
    """Run variables with their initial values. `set` writes them, `<workflow.name>` reads them."""
    env: Env = field(())
    """The names that `${NAME}` may read, from the environment or else from the secret store. Their values are masked. A node that
    reads an unset or empty name fails with `secret_missing`."""
    nodes: Nodes
    """The nodes by id."""
    edges: Edges = field(())
    """Further edges, with the same meaning as `after`."""
    on_failure: OnFailure = field(OnFailure.ISOLATE, read=OnFailure)
    """After an unhandled failure: independent work continues (`isolate`), nothing new starts (`halt`), or running work is
    cancelled too (`cancel`)."""
    on_failure_notify: FailureTargets | None = field(None, read=_targets)
    """Who is notified when a run fails or times out: one target, or a list of up to five. A target is `${NAME}`, a secret with
    the URL of an incoming webhook of Slack or Teams or of any other receiver; `mailto:address`; or the ARN of an SNS topic.
    Replaces the deployment's own setting; with an empty list, no notice is sent."""
    max_steps: Steps = DEFAULT_MAX_STEPS
    """How many nodes one run may start. Each iteration of a loop counts."""
    timeout_ms: Duration | None = field(None, "timeout", parse_duration_ms)
    """The time limit of a run. Time spent paused does not count."""
    concurrency: Concurrency | None = field(None, read=lambda given: given if isinstance(given, int) else ConcurrencyView(given))
    """A number: how many runs of the workflow may be live at once, paused ones included; further starts are refused. An object:
    how many runs may have attempts in progress at once; the attempts of other runs wait."""
    rate: StartRateView | None = field(None, read=StartRateView)
    """A limit on how many runs may start in a period. Further starts are refused. If the counter is unavailable, the start is
    allowed."""
    rate_limit: RateLimitView | None = field(None, read=RateLimitView)
    """The former form of `rate`, in which `by` is a path."""
    key: Formula | None = None
    """An expression over `<input>`, the run's inputs: the key of the run, a text or a number. At most one live run of the
    workflow has a key."""
    on_conflict: OnConflict = field(OnConflict.JOIN, read=OnConflict)
    """What a start does whose key a live run has: `join` returns that run, `refuse` answers with an error, `replace` cancels it
    and begins after its end."""
    messages: Messages = field(NOTHING)
    """The messages that a run may receive, by name. Nodes of the kind `receive` take them."""
    cancel_on: Words = field(())
    """The names of messages that cancel the run."""
    numbered: bool = False
    """Numbers the runs from 1, as a name for people. Each start costs one more write. Numbers are unique, and some may be
    missing."""
    retention_ms: Retention | None = field(None, "retention", parse_retention_ms)
    """How long a run is kept after its end, from `1d` to `3650d`; then it is removed. Without it, the setting of the deployment
    applies, and without that, runs are kept for ever. A change applies to runs that end later."""
    made_by: MadeByView | None = field(None, read=MadeByView)
    """The source that the document was compiled from. No part of the content hash."""

    @property
    def declared_messages(self) -> Iterator[tuple[str, MessageView]]:
        """The messages with their names."""
        return ((name, MessageView(raw)) for name, raw in self.messages.items())
