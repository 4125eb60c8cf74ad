"""Previews an expression against an earlier run, and lists the names that a node can read.

The engine's own evaluator does it, with its limits. The values are those of the log, in which secrets are masked; `${NAME}` reads
as `***`, and so does whatever is computed from it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any, Final, NamedTuple

from stepless.core.history.call_parameters import bounded, veiled
from stepless.core.history.outputs import Outputs, Settled
from stepless.core.history.reference_preview import Remembered
from stepless.core.values.inputs import merged
from stepless.core.values.masking import HIDDEN
from stepless.drafts.operations.run_values import Former, FormerRuns
from stepless.drafts.operations.value_schemas import Shape, contract_shape, shape_of
from stepless.drafts.operations.verbs import At, DraftVerbs
from stepless.drafts.rules.document import to_document
from stepless.drafts.rules.document.layout import path_of
from stepless.drafts.rules.document.values import decoded
from stepless.drafts.rules.state import State, prefix_of, tail_of
from stepless.errors import ExpressionError, NotFound
from stepless.limits import MAX_EVALUATED_CHARACTERS, MAX_SCOPE_NODES, MAX_WARM_READABLE_NAMES
from stepless.model.findings import Severity
from stepless.model.json import JSON, read_path
from stepless.model.kind import ERROR

_RESULT: Final = "value"


class Asked(NamedTuple):
    """An expression, or a text with references. `place` is the field of the node that it is for, such as `with.url`."""

    source: str
    is_expression: bool
    place: str = "with"


class Fault(NamedTuple):
    """Why there is no value. `offset` and `length` locate it in the source, in characters."""

    code: str
    message: str
    mend: str
    offset: int
    length: int


class Evaluated(NamedTuple):
    """`value` holds one value, or nothing if there is a `fault` or if the value is too large; then `preview` has its first
    characters as JSON. `nulls` are references that read null since their path leads nowhere, `unread` those to what the run has
    no value of."""

    at: At
    former: Former | None
    value: Sequence[JSON] = ()
    preview: str | None = None
    fault: Fault | None = None
    nulls: Sequence[str] = ()
    unread: Sequence[str] = ()


class Root(NamedTuple):
    """A name that a reference may start with. `what` is node, turn, inputs, input, workflow or run. `certain`: it has a value
    whenever the node runs. `shape` is None if nothing is known of the values."""

    name: str
    what: str
    detail: str
    certain: bool
    shape: Shape | None
    key: str | None = None


class Scope(NamedTuple):
    at: At
    former: Former | None
    roots: Sequence[Root]
    env: Sequence[str]


class _Seen(NamedTuple):
    """A draft as of an item, read for its sights."""

    parsed: Any
    keys: Mapping[str, str]  # of blocks, by path


class Evaluating:
    """Thread-safe. Methods raise `NotFound` (unknown_draft; unknown_node for a key that is no block of the draft, or one that
    cannot be read; unknown_run) and what reading a run raises."""

    def __init__(self, verbs: DraftVerbs) -> None:
        self._verbs = verbs
        self._runs = FormerRuns(verbs.world)
        self._seen: OrderedDict[tuple[str, int, int], _Seen] = OrderedDict()
        self._lock = Lock()

    def evaluate(self, workflow_id: str, key: str, asked: Asked, run_id: str | None) -> Evaluated:
        """Returns the value of a source in the scope of a block, over a run: without an id over the last one."""
        from stepless.expressions import compile_expression, compile_template  # imported late: only drafts evaluate here

        at = self._verbs.at(workflow_id)
        readable = self._readable(at, key)
        former = self._runs.read(workflow_id, run_id)
        try:
            compiled: Any = (compile_expression if asked.is_expression else compile_template)(asked.source, readable.knows)
            for reference in compiled.references:
                found = [one for one in readable.findings(asked.place, [reference]) if one.severity is Severity.ERROR]
                if found:
                    fault = Fault(found[0].code, found[0].message, found[0].mend, reference.offset, len(reference.text))
                    return Evaluated(at, former, fault=fault)
            reading = Remembered(_values(readable, former, _pins(at.state)), self._verbs.now_ms())
            value = compiled.evaluate(reading) if asked.is_expression else compiled.render(reading)
        except ExpressionError as error:
            start = max(0, asked.source.find(error.source))  # of a long source, an error has a part
            return Evaluated(at, former, fault=Fault(error.code, error.message, error.mend, start + error.offset, 0))
        if any(reference.env for reference in compiled.references):
            value = HIDDEN if asked.is_expression else veiled(asked.source, value)
        shown, previews = bounded({_RESULT: value}, MAX_EVALUATED_CHARACTERS)
        return Evaluated(at, former, tuple(shown.values()), previews.get(_RESULT), None, reading.nulls, reading.unread)

    def scope(self, workflow_id: str, key: str, run_id: str | None) -> Scope:
        """Returns the names that a block may read: at most MAX_SCOPE_NODES nodes, the nearest first."""
        at = self._verbs.at(workflow_id)
        readable = self._readable(at, key)
        former = self._runs.read(workflow_id, run_id)
        pins = _pins(at.state)
        values = _values(readable, former, pins)
        keys = self._survey(at).keys
        roots = []
        for one in readable.before[:MAX_SCOPE_NODES]:
            shape = shape_of(values[one.name]) if one.name in values else contract_shape(one.contract) if one.contract else None
            roots.append(Root(one.name, "node", one.kind, one.certain, shape, keys.get(one.path)))
        for iteration in readable.iterations:
            items: dict[str, JSON] = {"item": None, "items": []} if iteration.has_items else {}
            known = values.get(iteration.name, {"index": 0, "iteration": 0, **items})
            roots.append(Root(iteration.name, "turn", f"iteration of {iteration.path.partition('@')[0]}", True, shape_of(known)))
        inputs = values.get("inputs")
        params = dict.fromkeys([feed.param for feed in readable.feeds] or ["input"])
        given = dict.fromkeys(params) | (inputs if isinstance(inputs, dict) else {})
        if "input" in given:
            roots.append(Root("input", "input", "what its edges bring", True, shape_of(given["input"])))
        roots.append(Root("inputs", "inputs", "by param", True, shape_of(given)))
        if readable.variables:
            roots.append(Root("workflow", "workflow", "variables", True, shape_of(values["workflow"])))
        roots.append(Root("run", "run", "this run", True, shape_of(values.get("run", dict.fromkeys(_run_fields())))))
        return Scope(at, former, roots, list(readable.env))

    def _readable(self, at: At, key: str) -> Any:
        from stepless.compile.readable_names import readable_names_of

        parsed = self._survey(at).parsed
        known = prefix_of(key) == "block" and key in at.state
        readable = readable_names_of(parsed, path_of(at.state, key)) if known and parsed is not None else None
        if readable is None:
            message = "the draft has no such node" if not known else "this node cannot be read: see the findings of the draft"
            raise NotFound(message, code="unknown_node", place=key[:80], mend="use the key of a block")
        return readable

    def _survey(self, at: At) -> _Seen:
        name = at.head.workflow_id, at.head.epoch, at.seq
        with self._lock:
            found = self._seen.get(name)
        if found is not None:
            return found
        from stepless.compile.canonical import json_findings
        from stepless.compile.readable_names import surveyed

        document = to_document(at.state)
        parsed = None if list(json_findings(document)) else surveyed(document, self._verbs.world.kinds)
        keys = {"@".join(reversed(path_of(at.state, key))): key for key in at.state if prefix_of(key) == "block"}
        with self._lock:
            self._seen[name] = made = _Seen(parsed, keys)
            while len(self._seen) > MAX_WARM_READABLE_NAMES:
                self._seen.popitem(last=False)
        return made


def _run_fields() -> Sequence[str]:
    from stepless.compile.readable_names import RUN_FIELDS

    return RUN_FIELDS


def _pins(state: State) -> Mapping[str, JSON]:
    """The pinned outputs, by path."""
    made: dict[str, JSON] = {}
    for key in state:
        if prefix_of(key) == "pin" and (block := f"block/{tail_of(key)}") in state:
            made["@".join(reversed(path_of(state, block)))] = decoded((state.get(key) or {}).get("output"))
    return made


# -- values ------------------------------------------------------------------------------------------------------------


def _values(readable: Any, former: Former | None, pins: Mapping[str, JSON]) -> dict[str, JSON]:
    """What references read, by their first name: of nodes, iterations and inputs only what the run has, or a pin."""
    outputs = former.outputs if former is not None else None
    values: dict[str, JSON] = {}
    for one in readable.before:
        if one.path in pins:
            values[one.name] = pins[one.path]
        elif outputs is not None and one.path in outputs.settled:
            values[one.name] = outputs.settled[one.path].readable
    variables = dict(readable.variables)
    if outputs is not None:
        known = outputs.iterations
        values |= {around.name: dict(known[around.path]) for around in readable.iterations if around.path in known}
        values["run"] = dict(outputs.facts)
        variables |= {name: value for name, value in outputs.variables_of(readable.path).items() if name in variables}
    values["workflow"] = variables
    inputs = _inputs(readable, outputs, pins)
    if inputs is not None:
        values["inputs"] = inputs
        if "input" in inputs:
            values["input"] = inputs["input"]
    return values


def _inputs(readable: Any, outputs: Outputs | None, pins: Mapping[str, JSON]) -> dict[str, JSON] | None:
    """The merged inputs of a node by its edges as they are now, without their conditions: over the exits that the run took, or
    over all of them if it took none of these. None where nothing is known."""
    if readable.is_entry:
        return _first_input(readable, outputs, pins)
    fed = [(feed, outputs.settled.get(feed.source) if outputs is not None else None) for feed in readable.feeds]
    taken = [(feed, settled) for feed, settled in fed if feed.source in pins or _left_by(settled) == feed.handle]
    brought: dict[str, list[tuple[Any, JSON]]] = {}
    for feed, settled in taken or fed:
        if feed.source in pins:
            value = pins[feed.source]
        elif settled is not None:
            value = settled.value if settled.error is None else dict(settled.error)
        else:
            continue
        brought.setdefault(feed.param, []).append((feed, read_path(value, feed.key)))
    made = {
        param: merged(values[0][0].merge, [(feed.label, value) for feed, value in values]) if len(values) > 1 else values[0][1]
        for param, values in brought.items()
    }  # fmt: skip
    return made or None


def _left_by(settled: Settled | None) -> str | None:
    """The exit by which a node was left."""
    return None if settled is None else ERROR if settled.error is not None else settled.handle


def _first_input(readable: Any, outputs: Outputs | None, pins: Mapping[str, JSON]) -> dict[str, JSON] | None:
    """The input of an entry: that of the run, the item of the iteration, or the container's own input."""
    outer = readable.around
    if outer is None:
        return None if outputs is None else {"input": outputs.state.inputs}
    if readable.iterations[0].has_items:
        known = None if outputs is None else outputs.iterations.get(outer.path)
        return None if known is None else {"input": known["item"]}
    inputs = _inputs(outer, outputs, pins)
    return {"input": inputs["input"]} if inputs is not None and "input" in inputs else None
