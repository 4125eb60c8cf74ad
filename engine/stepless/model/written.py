"""What an author wrote, read field by field where it stands: nothing is copied, and nothing is judged.

A view shows a part of a document that is known to fit `model.document`, with the same names, defaults and meanings (a test holds
one against the other). A graph of a hundred thousand nodes is read through views without a second copy of it, and a run that
compiles a version which was judged when it was published does without pydantic.
"""

from __future__ import annotations

from collections.abc import Callable, KeysView, Mapping
from typing import Any, Final, Generic, TypeVar

from stepless.limits import DEFAULT_MAX_STEPS, DEFAULT_NODE_TIMEOUT_MS
from stepless.model.durations import parse_duration_ms
from stepless.model.json import JSON

MERGE_ALIASES: Final[Mapping[str, str]] = {"last_write_wins": "last", "json_object": "object"}
TESTS: Final = ("equals", "contains", "present", "truthy")
NOTHING: Final[Mapping[str, Any]] = {}
RETRIED: Final = ("timeout", "provider_error", "rate_limit")
T = TypeVar("T")


class Field(Generic[T]):
    """What is written under the name of the attribute, as `read` has it; `default` where nothing is."""

    __slots__ = ("default", "name", "read")

    def __init__(self, default: object = None, name: str = "", read: Callable[[Any], Any] | None = None) -> None:
        self.default: Any = default
        self.name = name
        self.read = read

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.name or name

    def __get__(self, view: View, owner: type[View]) -> T:
        raw, name = view.raw, self.name
        if name not in raw:
            return self.default  # type: ignore[no-any-return]
        value: Any = raw[name]
        return value if self.read is None or value is None else self.read(value)  # type: ignore[no-any-return]


class View:
    """A part of a document."""

    __slots__ = ("raw",)

    def __init__(self, raw: Mapping[str, JSON]) -> None:
        self.raw = raw

    @property
    def given(self) -> KeysView[str]:
        """The fields that the author wrote."""
        return self.raw.keys()


def _merge(name: str) -> str:
    return MERGE_ALIASES.get(name, name)


class AfterView(View):
    """See `AfterDocument`. A condition is the mapping that is written: of a test to its operand."""

    __slots__ = ()
    from_ = Field[str](name="from")
    param = Field[str]("input")
    key = Field[str]("")
    condition = Field[Mapping[str, JSON] | None]()
    merge = Field[str | None](read=_merge)


class EdgeView(View):
    """See `EdgeDocument`."""

    __slots__ = ()
    source = Field[str]()
    target = Field[str]()
    handle = Field[str]("source")
    param = Field[str]("input")
    key = Field[str]("")
    condition = Field[Mapping[str, JSON] | None]()
    merge = Field[str | None](read=_merge)


class JoinView(View):
    """See `JoinDocument`. `vars` is a word, or a mapping with the expression `custom`."""

    __slots__ = ()
    mode = Field[str]("all")
    count = Field[int | None]()
    timeout_ms = Field[int | None]()
    on_timeout = Field[str]("fail")
    errors = Field[str]("fail-fast")
    min_success = Field[int](1)
    losers = Field[str]("continue")
    vars = Field[str | Mapping[str, str]]("merge-all")
    on_conflict = Field[str]("warn")


class RetryView(View):
    """See `RetryDocument`."""

    __slots__ = ()
    attempts = Field[int](1)
    backoff_ms = Field[int](500)
    max_backoff_ms = Field[int](8_000)
    retry_on = Field[tuple[str, ...]](RETRIED, read=tuple)


DEFAULT_JOIN: Final = JoinView(NOTHING)  # shared: most nodes have no settings of their own
DEFAULT_RETRY: Final = RetryView(NOTHING)


class NodeView(View):
    """See `NodeDocument`. `after` is a text, a mapping or a list of these."""

    __slots__ = ()
    type = Field[str]()
    label = Field[str | None]()
    after = Field[JSON]()
    with_ = Field[dict[str, JSON]](NOTHING, name="with")
    enabled = Field[bool](True)
    retry = Field[RetryView](DEFAULT_RETRY, read=RetryView)
    timeout_ms = Field[int](DEFAULT_NODE_TIMEOUT_MS)
    delivery = Field[str]("at_least_once")
    join = Field[JoinView](DEFAULT_JOIN, read=JoinView)
    merge = Field[str]("last", read=_merge)
    on_parent_failure = Field[str]("skip")
    default = Field[JSON]("")
    input_contract = Field[Mapping[str, JSON] | None]()
    output_contract = Field[Mapping[str, JSON] | None]()
    moderation = Field[str]("off")
    moderation_on_error = Field[str]("block")


class RateLimitView(View):
    """See `RateLimitDocument`; `per` in milliseconds."""

    __slots__ = ()
    max = Field[int]()
    per = Field[int](read=parse_duration_ms)
    by = Field[str | None]()


class BodyView(View):
    """See `BodyDocument`."""

    __slots__ = ()
    nodes = Field[Mapping[str, Mapping[str, JSON]]](NOTHING)
    edges = Field[list[Mapping[str, JSON]]](())


class DocumentView(BodyView):
    """See `Document`; `timeout_ms` in milliseconds."""

    __slots__ = ()
    id = Field[str]()
    name = Field[str | None]()
    variables = Field[Mapping[str, JSON]](NOTHING)
    env = Field[list[str]](())
    on_failure = Field[str]("isolate")
    max_steps = Field[int](DEFAULT_MAX_STEPS)
    timeout_ms = Field[int | None](name="timeout", read=parse_duration_ms)
    concurrency = Field[int | None]()
    rate_limit = Field[RateLimitView | None](read=RateLimitView)
    numbered = Field[bool](False)
