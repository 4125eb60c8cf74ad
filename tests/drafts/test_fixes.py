"""The fix of a finding, as an operation: after it the finding is gone and no other one came, and it does nothing once its place
has changed."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import pytest
from invariants import faults

from stepless.compile import check_document
from stepless.drafts.rules.document import from_document, to_document
from stepless.drafts.rules.effects import Set
from stepless.drafts.rules.fixes import fix_of
from stepless.drafts.rules.requests import Operation
from stepless.drafts.rules.resolve import resolve
from stepless.drafts.rules.state import Entities
from stepless.model.findings import Finding
from stepless.nodes import KINDS
from tests.drafts.test_documents import DOCUMENTS

CHOICE = {"type": "condition", "with": {"cases": {"yes": "1 == 1", "no": "else"}}}
HTTP = {"type": "http", "with": {"url": "https://x.test"}}


def state_of(document: dict[str, Any]) -> Entities:
    return Entities(json.loads(json.dumps(from_document(document, "e", lambda name: name in ("loop", "parallel")))))


def found_in(state: Entities) -> tuple[Finding, ...]:
    return check_document(to_document(state), KINDS)


def after(state: Entities, operation: Operation) -> Entities:
    """The state after an operation, which is done whole."""
    made = resolve(state, [operation])
    assert made.outcomes == () or list(made.outcomes) == []
    assert list(faults(made.state)) == []
    return Entities([(key, entity) for key in made.state if (entity := made.state.get(key)) is not None])


def mend(document: dict[str, Any], code: str) -> tuple[str, dict[str, Any]]:
    """The label of the fix of the one finding with this code, and the document after it, which has no other finding."""
    state = state_of(document)
    before = found_in(state)
    (finding,) = [one for one in before if one.code == code]
    operation = fix_of(state, finding)
    assert operation is not None and finding.fix is not None, finding
    made = after(state, operation)
    left = [(one.code, one.path, one.message) for one in found_in(made)]
    assert left == [(one.code, one.path, one.message) for one in before if one is not finding]
    return finding.fix.label, to_document(made)


def nodes(**given: Any) -> dict[str, Any]:
    return {"id": "w", "nodes": given}


def body(**given: Any) -> dict[str, Any]:
    return {"type": "loop", "with": {"times": 2, "body": {"nodes": given}}}


def transform(text: Any, **more: Any) -> dict[str, Any]:
    return {"type": "transform", **more, "with": {"value": text}}


CASES: list[tuple[str, dict[str, Any], str, str, Sequence[Any], Any]] = [
    ("reference", nodes(score=HTTP, b=transform("a <scor.body> <scor.id>, <score.x>", after="score")),
     "unknown_reference", "Use `score`", ["nodes", "b", "with", "value"], "a <score.body> <score.id>, <score.x>"),
    ("reference in a list of objects", nodes(score=HTTP, b=transform([{"x": "<scor.body>"}, {"y": 1}], after="score")),
     "unknown_reference", "Use `score`", ["nodes", "b", "with", "value"], [{"x": "<score.body>"}, {"y": 1}]),
    ("reference in a body", nodes(score=HTTP, each={**body(b=transform("<scor.x>")), "after": "score"}),
     "unknown_reference", "Use `score`", ["nodes", "each", "with", "body", "nodes", "b", "with", "value"], "<score.x>"),
    ("reference under a name with a dot", nodes(score=HTTP, b=transform({"a.b": "<scor.x>"}, after="score")),
     "unknown_reference", "Use `score`", ["nodes", "b", "with", "value", "a.b"], "<score.x>"),
    ("reference in an expression", nodes(score=HTTP, c={**CHOICE, "after": "score", "with": {"cases": {"hit": "<scor.n> > 1"}}}),
     "unknown_reference", "Use `score`", ["nodes", "c", "with", "cases", "hit"], "<score.n> > 1"),
    ("bare word", nodes(score=HTTP, b=transform("a <scor> b", after="score")),
     "doubtful_reference", "Use `<score`", ["nodes", "b", "with", "value"], "a <score> b"),
    ("variable", {**nodes(b=transform("<workflow.sttaus>")), "variables": {"status": 1}},
     "unknown_variable", "Use `status`", ["nodes", "b", "with", "value"], "<workflow.status>"),
    ("variable that is set",
     {**nodes(b={"type": "set", "with": {"variables": {"sttaus": 1, "b": 2}}}), "variables": {"status": 1, "b": 0}},
     "unknown_variable", "Use `status`", ["nodes", "b", "with", "variables"], {"status": 1, "b": 2}),
    ("setting", {**nodes(b=transform("${KEYY}")), "env": ["KEY"]},
     "unlisted_env", "Use `KEY`", ["nodes", "b", "with", "value"], "${KEY}"),
    ("setting that is not listed", {**nodes(b=transform("${KEY}")), "env": ["OTHER"]},
     "unlisted_env", "Add `KEY` to `env`", ["env"], ["OTHER", "KEY"]),
    ("setting without a list", nodes(b=transform("${KEY}")), "unlisted_env", "Add `KEY` to `env`", ["env"], ["KEY"]),
    ("kind", nodes(a={"type": "htpp", "with": HTTP["with"]}), "unknown_kind", "Use `http`", ["nodes", "a", "type"], "http"),
    ("parameter", nodes(a={"type": "http", "with": {"mehtod": "GET", "url": "https://x.test"}}),
     "unknown_field", "Use `method`", ["nodes", "a", "with"], {"method": "GET", "url": "https://x.test"}),
    ("parameter like none", nodes(a={"type": "http", "with": {"zzz": "GET", "url": "https://x.test"}}),
     "unknown_field", "Remove `zzz`", ["nodes", "a", "with"], {"url": "https://x.test"}),
    ("field", nodes(a={**HTTP, "on_parent_failuer": "skip"}),
     "unknown_field", "Use `on_parent_failure`", ["nodes", "a", "on_parent_failure"], "skip"),
    ("field of a field", nodes(a={**HTTP, "retry": {"atempts": 2, "backoff_ms": 5}}),
     "unknown_field", "Use `attempts`", ["nodes", "a", "retry"], {"attempts": 2, "backoff_ms": 5}),
    ("word", nodes(a=HTTP, b={**HTTP, "after": "a", "join": {"mode": "anny"}}),
     "invalid_value", "Use `any`", ["nodes", "b", "join", "mode"], "any"),
    ("word of a parameter", nodes(a={"type": "http", "with": {"url": "https://x.test", "method": "GETT"}}),
     "invalid_value", "Use `GET`", ["nodes", "a", "with", "method"], "GET"),
    ("cause", nodes(a={**HTTP, "retry": {"attempts": 2, "retry_on": ["timeuot"]}}),
     "unknown_cause", "Use `timeout`", ["nodes", "a", "retry", "retry_on", 0], "timeout"),
    ("number as text", nodes(a={**HTTP, "timeout_ms": "500"}), "invalid_value", "Write `500`", ["nodes", "a", "timeout_ms"], 500),
    ("duration for a number", nodes(a={**HTTP, "timeout_ms": "90s"}),
     "invalid_value", "Write `90000`", ["nodes", "a", "timeout_ms"], 90_000),
    ("number for a text", nodes(a={**HTTP, "label": 7}), "invalid_value", 'Write `"7"`', ["nodes", "a", "label"], "7"),
    ("word for a switch", nodes(a={**HTTP, "enabled": "off"}),
     "invalid_value", "Write `false`", ["nodes", "a", "enabled"], False),
    ("short form", nodes(a={**HTTP, "retry": 3}),
     "invalid_value", "Write `{attempts: 3}`", ["nodes", "a", "retry"], {"attempts": 3}),
    ("source", nodes(score=HTTP, b={**HTTP, "after": "scor"}), "unknown_node", "Use `score`", ["nodes", "b", "after"], "score"),
    ("source with an exit", nodes(c=CHOICE, score=HTTP, b={**HTTP, "after": ["scor.error", "c.yes"]}),
     "unknown_node", "Use `score`",
     ["nodes", "b", "after"], ["score.error", "c.yes"]),
    ("source in an object", nodes(score=HTTP, b={**HTTP, "after": {"from": "scor", "param": "x"}}), "unknown_node", "Use `score`",
     ["nodes", "b", "after"], {"from": "score", "param": "x"}),
    ("source in a body", nodes(l=body(score=HTTP, b={**HTTP, "after": "scor"})), "unknown_node", "Use `score`",
     ["nodes", "l", "with", "body", "nodes", "b", "after"], "score"),
    ("end of an edge", {**nodes(score=HTTP, b=HTTP), "edges": [{"source": "b", "target": "scor"}]},
     "unknown_node", "Use `score`", ["edges", 0], {"source": "b", "target": "score"}),
    ("exit", nodes(c=CHOICE, b={**HTTP, "after": ["c.yess", "c.no"]}),
     "unknown_exit", "Use `yes`", ["nodes", "b", "after"], ["c.yes", "c.no"]),
    ("exit of an edge", {**nodes(c=CHOICE, b=HTTP), "edges": [{"source": "c", "target": "b", "handle": "yess"}]},
     "unknown_exit", "Use `yes`", ["edges", 0, "handle"], "yes"),
    ("edge into an entry", nodes(a=HTTP, m={"type": "manual", "after": "a"}),
     "edge_into_entry", "Remove the edge", ["nodes", "m"], {"type": "manual"}),
    ("edge that is there twice", nodes(a=HTTP, b={**HTTP, "after": ["a", "a"]}),
     "doubled_edge", "Remove the edge", ["nodes", "b", "after"], ["a"]),
    ("setting without effect", nodes(a={**HTTP, "default": 1}), "idle_setting", "Remove `default`", ["nodes", "a"], HTTP),
    ("contradiction", nodes(a=HTTP, b={**HTTP, "after": "a", "join": {"mode": "every", "errors": "best-effort"}}),
     "contradiction", "Remove `errors`", ["nodes", "b", "join"], {"mode": "every"}),
    ("missing parameter", nodes(t={"type": "transform"}),
     "missing_field", 'Add `value: ""`', ["nodes", "t", "with"], {"value": ""}),
]


@pytest.mark.parametrize(
    ("document", "code", "label", "place", "value"), [row[1:] for row in CASES], ids=[row[0] for row in CASES],
)
def test_a_fix_takes_its_finding_away_and_brings_no_other(
    document: Any, code: str, label: str, place: Sequence[Any], value: Any,
) -> None:
    said, made = mend(document, code)
    assert said == label
    for step in place:
        made = made[step]
    assert json.dumps(made) == json.dumps(value)


# -- faults that are planted in sound documents ------------------------------------------------------------------------


def typo(name: str, random: Random) -> str:
    """The name with a letter twice."""
    place = random.randrange(1, len(name))
    return name[:place] + name[place - 1] + name[place:]


def inside(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    yield path, value
    for step, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from inside(inner, (*path, step))


def planted(document: dict[str, Any], random: Random) -> Iterator[tuple[str, dict[str, Any]]]:
    """Copies of a document with one fault each, and what it is."""
    for path, value in list(inside(document)):
        made = copy.deepcopy(document)
        holder: Any = made
        for step in path[:-1]:
            holder = holder[step]
        is_node = len(path) > 1 and path[-2] == "nodes" and isinstance(value, dict)
        if is_node and len(str(value.get("type"))) > 3:
            holder[path[-1]]["type"] = typo(value["type"], random)
            yield "kind", made
        elif path[-1:] == ("after",) and isinstance(value, str) and len(value.partition(".")[0]) > 3:
            name, dot, exit_ = value.partition(".")
            holder["after"] = typo(name, random) + dot + exit_
            yield "source", made
            if dot and len(exit_) > 3:
                holder["after"] = f"{name}.{typo(exit_, random)}"
                yield "exit", made
        elif path[-2:-1] == ("with",) and path[-4:-3] == ("nodes",) and len(path[-1]) > 3 and path[-1] != "body":
            new = typo(path[-1], random)
            entries = [(new if name == path[-1] else name, held) for name, held in holder.items()]
            holder.clear()
            holder.update(entries)
            yield "parameter", made
        elif isinstance(value, str) and "with" in path and (name := read_in(value, document)):
            holder[path[-1]] = value.replace(f"<{name}.", f"<{typo(name, random)}.")
            yield "reference", made


def read_in(text: str, document: dict[str, Any]) -> str:
    return next((name for name in document["nodes"] if len(name) > 3 and f"<{name}." in text), "")


@pytest.mark.check
def test_planted_faults_are_mended_to_the_document_before_them() -> None:
    """Whatever is offered takes the finding away and brings none; nearly always it brings back the document."""
    random, seen, exact = Random(7), 0, dict.fromkeys(("kind", "source", "exit", "parameter", "reference"), 0)
    sound = [one for one in DOCUMENTS if isinstance(one.get("nodes"), dict) and not check_document(one, KINDS)]
    for document in random.sample(sound, 60):
        for what, faulty in planted(document, random):
            state = state_of(faulty)
            before = found_in(state)
            for finding in before:
                operation = fix_of(state, finding)
                if operation is None:
                    continue
                seen += 1
                made = after(state, operation)
                assert (finding.code, finding.path) not in [(one.code, one.path) for one in found_in(made)], (what, finding)
                exact[what] += json.dumps(to_document(made)) == json.dumps(document)
    assert seen > 100 and all(count > 0 for count in exact.values()), (seen, exact)


# -- what holds beside others ------------------------------------------------------------------------------------------


def test_a_fix_does_nothing_once_its_place_has_changed() -> None:
    state = state_of(nodes(score=HTTP, b=transform("<scor.x>", after="score")))
    (finding,) = found_in(state)
    operation = fix_of(state, finding)
    assert operation is not None
    place = next(write for write in operation.writes)
    theirs = resolve(state, [Operation((Set(place.key, ("with", "value"), "<score.id>"),))])
    made = resolve(theirs.state, [operation])
    assert [(one.code, one.refused) for one in made.outcomes] == [("changed_since", True)] and not made.effects


def test_a_fix_is_not_offered_where_something_is_in_its_way() -> None:
    state = state_of(nodes(a={"type": "http", "with": {"url": "https://x.test", "ulr": "https://y.test"}}))
    (finding,) = found_in(state)
    assert finding.fix is not None and finding.fix.value == "url" and fix_of(state, finding) is None


def test_a_path_that_can_be_read_in_two_ways_has_no_fix() -> None:
    state = state_of(nodes(score=HTTP, b=transform({"a": {"b": "<scor.x>"}, "a.b": "<scor.x>"}, after="score")))
    assert [fix_of(state, finding) for finding in found_in(state)] == [None]
