"""No kind accepts a setting of nodes and ignores it: for every kind and every field beside `with`, the document is refused, or a
run goes another way because of the field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest
from plain_graph import plain

from stepless.compile import check_document, compile_document
from stepless.core.decide import decide
from stepless.core.facts import Begin, Recovered
from stepless.core.state import State
from stepless.model.declaration.validation import NodeDocument
from stepless.model.findings import Severity
from stepless.model.kind import Kind, Nature
from stepless.model.kind_settings import obeys
from stepless.nodes import KINDS
from stepless.testing import simulate

CALL: Final = {"type": "function", "with": {"call": "f.g"}}
BODY: Final = {"nodes": {"i": CALL}}
LEAST: Final[Mapping[str, Mapping[str, Any]]] = {
    "approval": {"message": "m"}, "aws": {"service": "s3", "action": "ListBuckets"}, "code": {"code": "def main(args): return 1"},
    "condition": {"cases": {"yes": "true"}}, "event": {"pattern": {"source": ["a"]}}, "fail": {"code": "odd"},
    "function": {"call": "f.g"}, "http": {"url": "https://example.com"}, "lambda": {"function": "f"}, "llm": {"prompt": "p"},
    "loop": {"times": 1, "body": BODY}, "parallel": {"branches": 1, "body": BODY}, "router": {"routes": {"r": "one"}},
    "schedule": {"rate": "1h"}, "set": {"variables": {"v": 1}}, "transform": {"value": 1}, "wait": {"for": "50ms"},
    "webhook": {"path": "/a", "auth": "none"}, "workflow": {"workflow": "other"}, "receive": {"message": "m"},
    "send": {"message": "m", "to": "run_1"}, "distributed": {"items": [1], "body": BODY},
}  # fmt: skip
ANSWERS: Final = {"approval": "approved", "callback": "source"}
PLACED: Final = ("type", "with", "after")  # `with` is up to each kind (test_every_field)
ENDED: Final = {"ok": {"ms": 50}}


class Scene:
    """A document with a node `k` of the kind behind `a` and `b`, or alone if it is an entry."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.inner = "i" if kind.nature is Nature.CONTAINER else "k"
        self.scripted = kind.nature in (Nature.EFFECT, Nature.CONTAINER)

    def document(self, field: str, value: Any, beside: Mapping[str, Any]) -> dict[str, Any]:
        with_ = LEAST.get(self.kind.name)
        after = {} if self.kind.nature is Nature.ENTRY else {"after": ["a", "b"]}
        k = {"type": self.kind.name, **({"with": with_} if with_ else {}), **after, **beside, field: value}
        nodes = {"k": {name: given for name, given in k.items() if given is not None}}
        nodes = {"a": CALL, "b": CALL, **nodes} if after else nodes
        return {"id": "w", "variables": {"v": 0}, "messages": {"m": {}}, "nodes": nodes}

    def course(self, document: dict[str, Any], work: Any, a: Any = ENDED) -> Any:
        script = {"a": a, "b": {"ok": {"ms": 10}}, **({self.inner: work} if self.scripted else {})}
        handle = ANSWERS.get(self.kind.name)
        signals: list[dict[str, Any]] = []
        if handle is not None:
            signals = [{"at": 200, "resume": "k", "handle": handle, "answer": {}}]
        elif self.kind.receives:
            signals = [{"at": 200, "message": "m", "data": {}}]
        known = {name: entry for name, entry in script.items() if name == self.inner or name in document["nodes"]}
        run = simulate(document, script=known, signals=signals)
        k = run.nodes.get("k")
        return run.status, k and (k.status, k.code, k.inputs), [(event.type, event.at_ms, event.instance) for event in run.log]


def ends_alike(scene: Scene, document: dict[str, Any]) -> Any:
    return scene.course(document, ENDED)


def fails_first(scene: Scene, document: dict[str, Any]) -> Any:
    return scene.course(document, [{"fail": {"ms": 1, "cause": "timeout"}}, ENDED])


def fails_before(scene: Scene, document: dict[str, Any]) -> Any:
    return scene.course(document, ENDED, a={"fail": {"ms": 1, "cause": "config"}})


def is_cut_off(scene: Scene, document: dict[str, Any]) -> Any:
    """What follows when a process dies during the attempt."""
    state = State(compile_document({**document, "nodes": {"k": {**document["nodes"]["k"], "after": []}}}, KINDS), "run")
    decide(state, [Begin({})], 1)
    return [event.type for event in decide(state, [Recovered()], 2).events]


def is_compiled(scene: Scene, document: dict[str, Any]) -> Any:
    """Where the shell obeys the field: its tests show how, and `test_every_field` that it reads it from the graph."""
    return plain(compile_document(document, KINDS), ("warnings", "version"))


Course = Callable[[Scene, dict[str, Any]], Any]
SUBSTITUTES: Final = {"on_parent_failure": "substitute_default", "merge": "array"}
TRIED: Final[Mapping[str, tuple[Any, Mapping[str, Any], Course]]] = {
    "label": ("L", {}, is_compiled),
    "enabled": (False, {}, is_compiled),
    "retry": ({"attempts": 2, "backoff_ms": 0}, {}, fails_first),
    "timeout_ms": (10, {}, ends_alike),
    "delivery": ("at_most_once", {}, is_cut_off),
    "join": ({"mode": "any"}, {}, ends_alike),
    "merge": ("array", {}, ends_alike),
    "on_parent_failure": ("propagate", {}, fails_before),
    "default": ("d", SUBSTITUTES, fails_before),
    "input_contract": ({"required": ["missing"]}, {}, ends_alike),
    "output_contract": ({"const": "another"}, {}, ends_alike),
    "inputs": ({"required": ["missing"]}, {}, ends_alike),
    "moderation": ("input", {}, is_compiled),
    "moderation_on_error": ("allow", {"moderation": "input"}, is_compiled),
    "concurrency": ({"max": 1}, {}, is_compiled),
    "rate": ({"max": 1, "per": "1m"}, {}, is_compiled),
}
"""By field: a value other than its default, the fields beside it, and what differs because of it."""
FOR_PEOPLE: Final = {"at": "the lines of the source, which the console shows"}
FIELDS: Final = [field.alias or name for name, field in NodeDocument.model_fields.items()]


def test_every_setting_is_tried_on_every_kind() -> None:
    missing = set(FIELDS) - TRIED.keys() - FOR_PEOPLE.keys() - set(PLACED)
    assert not missing, "add what differs because of it to TRIED, and who obeys it to stepless.model.kind_settings"


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("field", TRIED)
def test_a_setting_is_refused_or_has_an_effect(kind: str, field: str) -> None:
    scene = Scene(KINDS[kind])
    value, beside, course = TRIED[field]
    exits = KINDS[kind].exits(KINDS[kind].params.model_validate(LEAST.get(kind, {}))) if not KINDS[kind].terminal else ()
    if field == "enabled" and len(exits) > 1:
        value = {"exit": exits[0]}
    without, with_ = scene.document(field, None, beside), scene.document(field, value, beside)
    refused = {finding.path for finding in check_document(with_, KINDS) if finding.severity is Severity.ERROR}
    if not obeys(KINDS[kind], field):
        assert f"nodes.k.{field}" in refused, f"`{field}` is accepted for a {kind}, and ignored"
        return
    assert refused == set()
    assert course(scene, without) != course(scene, with_), f"`{field}` of a {kind} changes nothing: obey it, or refuse it"


@pytest.mark.parametrize("moderation", ["output", "both"])
@pytest.mark.parametrize(("kind", "beside"), [("workflow", {}), ("lambda", {"with": {"function": "f", "mode": "callback"}})])
def test_an_output_that_no_attempt_puts_out_is_not_moderated(kind: str, beside: dict[str, Any], moderation: str) -> None:
    document = Scene(KINDS[kind]).document("moderation", moderation, beside)
    (found,) = [finding for finding in check_document(document, KINDS) if finding.severity is Severity.ERROR]
    assert (found.code, found.path) == ("idle_setting", "nodes.k.moderation")
