"""Defines `@workflow`, which makes an `async def` a workflow that publishing compiles. Nothing is read when its module is
imported."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, ParamSpec, TypeAlias, TypeVar, Unpack, get_args

from typing_extensions import TypedDict

from stepless.compile import compile_document
from stepless.errors import ConfigError, DocumentRefused
from stepless.flow.calling import playable
from stepless.flow.compiler.compiler import Written, compile_function
from stepless.flow.compiler.entries import Trigger, whole_of
from stepless.flow.compiler.explaining import Explanation, explained
from stepless.flow.compiler.facts.types import UNKNOWN, bare
from stepless.flow.compiler.origin import Origin, hints_of, signature_of
from stepless.flow.compiler.refusals import FlowRefused, Remark
from stepless.flow.lifted import evaluator
from stepless.flow.messages import NOTHING, Declaration, Declared, declared, declaring
from stepless.flow.source import origin_of
from stepless.flow.undecorated import as_part
from stepless.flow.words import mark
from stepless.limits import MAX_SOURCE_CHARACTERS
from stepless.model.findings import Finding, Severity
from stepless.model.graph import Graph
from stepless.model.json import JSON
from stepless.nodes import KINDS
from stepless.nodes.function import registry

if TYPE_CHECKING:
    from stepless.flow.compiler.unit import Unit
    from stepless.model.signature import Callables

P = ParamSpec("P")
R = TypeVar("R")
Lift: TypeAlias = Literal["auto", "function", "never"]
Former: TypeAlias = Callable[[str], Mapping[str, JSON] | None]
"""Finds the newest published document of a workflow; None if there is no version of it."""


class FlowOptions(TypedDict, total=False):
    """The options of a workflow: the fields of its document (docs/write/reference.md#the-workflow)."""

    name: str
    env: Sequence[str]
    on_failure_notify: str | Sequence[str]
    max_steps: int
    timeout: str
    concurrency: int | Mapping[str, JSON]
    rate: Mapping[str, JSON]
    numbered: bool
    retention: str
    key: str
    on_conflict: Literal["join", "refuse", "replace"]
    messages: Mapping[str, Declaration]
    cancel_on: Sequence[str]


@dataclass(frozen=True, slots=True)
class Compiled:
    """A flow as a document, and the graph of the document. `warnings` are remarks on lines of the source."""

    document: dict[str, JSON]
    warnings: Sequence[Remark]
    graph: Graph


class Flow(Generic[P, R]):
    """A workflow in Python. Called, it is the coroutine itself; published, it is the document of `document()`."""

    def __init__(
        self, id: str, function: Callable[P, Coroutine[Any, Any, R]], triggers: Sequence[Trigger] = (), lift: Lift = "auto",
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.id: Final = id
        self.function: Final = function
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self._triggers = tuple(triggers)
        self._lift: Lift = lift
        self._options = dict(options or {})

    @property
    def messages(self) -> Declared:
        """The declarations of its messages."""
        return self._declared

    @cached_property
    def _declared(self) -> Declared:
        if "messages" not in self._options:
            return NOTHING
        return declared(self.id, self._options["messages"], self._options.get("cancel_on", ()))

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Coroutine[object, None, R]:
        call = playable(self.function)(*args, **kwargs)
        return call if self.messages is NOTHING else declaring(self.messages, call)

    @property
    def whole(self) -> str | None:
        """The parameter that takes the inputs of a run as they are; None if each takes the field of its name."""
        hints = hints_of(self.function)
        kinds = {name: bare(hints.get(name, UNKNOWN)) for name in signature_of(self.function).parameters}
        return whole_of(kinds, self._triggers)

    def inputs_of(self, given: Mapping[str, Any]) -> Any:
        """Returns the inputs of a run with these arguments, by name."""
        return dict(given) if self.whole is None else given.get(self.whole, {})

    def document(self) -> dict[str, JSON]:
        """Returns the document that publishing stores. Raises `FlowRefused` with every fault of the source."""
        return self.compile().document

    def compile(self, *, lift: Lift | None = None, source: str | None = None, former: Former | None = None) -> Compiled:
        """Reads the source, and registers what it lifts to functions of this process. `lift` replaces the flow's own: how
        expressions that a document cannot say are evaluated (`never` refuses them). `source` is the text of the function, where
        no file has it. With `former`, the result can be published as it is: its nodes have the ids that they had in the newest
        version, and its calls fit the functions of this process. Raises `FlowRefused`, and what `former` raises."""
        origin = origin_of(self.function, source, as_part)
        written = self._written(origin, lift or self._lift)
        self._register(written)
        document, functions = written.document, None
        if former is not None:
            from stepless.flow.matching import matched  # imported late: only publishing matches ids

            newest, functions = former(self.id), registry.signatures()
            document = document if newest is None else matched(document, newest)
        graph = _checked(origin, document, functions)
        warnings = [*written.warnings, *_warnings(origin, document, graph)]
        return Compiled(document, tuple(sorted(warnings)), graph)

    def explain(self, *, source: str | None = None) -> Explanation:
        """Returns line by line what becomes of the source, also of one that is refused. `source` is as in `compile`. Raises
        `FlowRefused` if there is none that can be read."""
        origin = origin_of(self.function, source, as_part)
        readings: list[Unit] = []
        try:
            written = self._written(origin, self._lift, readings)
            graph = _checked(origin, written.document, None)
        except FlowRefused as refused:
            return explained(readings[-1], refused.findings, sorted(readings[-1].warnings))
        return explained(readings[-1], (), sorted([*written.warnings, *_warnings(origin, written.document, graph)]))

    def _written(self, origin: Origin, lift: Lift, readings: list[Unit] | None = None) -> Written:
        fields = self._options if self.messages is NOTHING else {**self._options, "messages": self.messages.fields}
        written = compile_function(
            origin, self.id, self._triggers, fields, lift=lift, messages=self.messages.kinds, part_of=as_part, readings=readings,
        )
        made_by: dict[str, Any] = written.document["made_by"]
        if len(origin.text) > MAX_SOURCE_CHARACTERS:
            del made_by["source"]
        if len(origin.text) + sum(len(part["source"]) for part in made_by.get("parts", ())) > MAX_SOURCE_CHARACTERS:
            made_by.pop("parts", None)
        return written

    def _register(self, written: Written) -> None:
        for expression in written.lifted:
            registry.replace(expression.name, evaluator(expression))

    def register(self) -> None:
        """Registers the expressions that the flow lifts, in a process that runs it without having compiled it."""
        self._register(self._written(origin_of(self.function, None, as_part), self._lift))


mark(Flow, "flow")


def workflow(
    id: str, *, on: Trigger | Sequence[Trigger] = (), lift: Lift = "auto", **options: Unpack[FlowOptions]
) -> Callable[[Callable[P, Coroutine[Any, Any, R]]], Flow[P, R]]:
    """Makes an `async def` the workflow `id`. `on` is what starts its runs in addition to callers (`webhook`, `schedule`,
    `event`). `lift` says how expressions that a document cannot say are evaluated: in the sandbox or in the module's process
    (`auto`), always in the module's process (`function`), or not at all (`never`: they are refused). The rest are fields of the
    document. Raises `ConfigError` for options that do not exist."""
    _check_words(id, lift)
    unknown = sorted(set(options) - FlowOptions.__annotations__.keys())
    if unknown:
        mend = f"it has {', '.join(FlowOptions.__annotations__)}"
        raise ConfigError(f"a workflow has no option `{unknown[0]}`", place=id, mend=mend)
    triggers = (on,) if isinstance(on, Trigger) else tuple(on)
    if not all(isinstance(trigger, Trigger) for trigger in triggers):
        raise ConfigError("`on` is what starts runs", place=id, mend="write webhook(…), schedule(…), event(…) or manual()")

    def make(function: Callable[P, Coroutine[Any, Any, R]]) -> Flow[P, R]:
        flow = Flow(id, function, triggers, lift, options)
        registry.later(f"{id if id[:1].isalpha() else '_' + id}.", str(function.__module__), flow.register)
        return flow

    return make


def _check_words(id: object, lift: object) -> None:
    if not isinstance(id, str):
        name = getattr(id, "__name__", repr(id))
        mend = f'write @workflow("{name.replace("_", "-")}")'
        raise ConfigError("`@workflow` takes the id of the workflow", place=name, mend=mend)
    if lift not in get_args(Lift):
        raise ConfigError(f"`lift` is {lift!r:.40}", place=id, mend=f"it is one of {', '.join(get_args(Lift))}")


def remarks_on(document: Mapping[str, JSON], findings: Iterable[Finding]) -> list[Remark]:
    """Findings on a document that a flow became, as remarks on lines of its source, in their order."""
    lines, made_by = _lines(document["nodes"]), document["made_by"]
    first = min(lines.values(), default=1)
    said = [finding for finding in findings if finding.severity is Severity.ERROR or finding.code not in _EXPECTED]
    return [
        Remark(made_by["file"], lines.get(each.node or "", first), each.code, f"{each.path}: {each.message}", each.mend)
        for each in said
    ]


# -- findings on the document -------------------------------------------------------------------------------------------


def _checked(origin: Origin, document: Mapping[str, JSON], functions: Callables | None) -> Graph:
    """The graph of the document. Raises `FlowRefused` for the errors of its own checks, at the lines of their nodes."""
    try:
        return compile_document(document, KINDS, functions=functions)
    except DocumentRefused as error:
        lines = _lines(document["nodes"])
        raise FlowRefused(sorted(_remark(origin, finding, lines) for finding in error.findings)) from None


def _warnings(origin: Origin, document: Mapping[str, JSON], graph: Graph) -> list[Remark]:
    """The warnings of the document's own checks, at the lines of their nodes."""
    lines = _lines(document["nodes"])
    return [_remark(origin, finding, lines) for finding in graph.warnings if finding.code not in _EXPECTED]


_EXPECTED: Final = frozenset({"no_else", "unused_answer", "unwired_exit"})


def _remark(origin: Origin, finding: Finding, lines: Mapping[str, int]) -> Remark:
    line = lines.get(finding.node or "", origin.line(origin.tree))
    return Remark(origin.file, line, finding.code, f"{finding.path}: {finding.message}", finding.mend)


def _lines(nodes: Mapping[str, Any]) -> dict[str, int]:
    found: dict[str, int] = {}
    for id, node in nodes.items():
        found[id] = node["at"][0]
        body = node.get("with", {}).get("body")
        if node["type"] in ("loop", "parallel") and isinstance(body, Mapping):
            found |= _lines(body["nodes"])
    return found
