"""One row per error: the document, the finding's code, a part of its path, words of its text."""

from __future__ import annotations

from typing import Any

import pytest

from stepless.compile import compile_document
from stepless.errors import DocumentRefused, InvalidRequest
from stepless.limits import MAX_COUNTED_FINDINGS, MAX_EDGES, MAX_FINDINGS, MAX_NESTED_CONTAINERS
from stepless.model.declaration.document import RESERVED_IDS
from stepless.model.findings import Severity

LOOP: dict[str, Any] = {"type": "loop", "with": {"times": 2, "body": {"nodes": {"inner": {}}}}}
APPROVAL = {"type": "approval"}
WIRED = {"ok": "ask.approved", "no": "ask.rejected"}
CHOICE = {"type": "condition", "with": {"cases": {"yes": "1 == 1", "no": "else"}}}


def reads(text: str, after: Any = None) -> dict[str, Any]:
    return {"type": "function", "after": after or [], "with": {"args": {"x": text}}}


def container(nodes: Any, kind: str = "loop", **how: Any) -> dict[str, Any]:
    return {"type": kind, "with": {**(how or {"items": [1]}), "body": {"nodes": nodes}}}


ERRORS: list[tuple[str, Any, str, str, str]] = [
    # -- shape
    ("misspelt field", {"a": {"on_parent_failuer": "skip"}},
     "unknown_field", "nodes.a.on_parent_failuer", "Did you mean `on_parent_failure`?"),
    ("misspelt field of a part", {"a": {"retry": {"atempts": 2}}}, "unknown_field", "nodes.a.retry.atempts", "`attempts`"),
    ("misspelt field of an entry in after", {"a": {}, "b": [{"from": "a", "parm": "x"}]},
     "unknown_field", "nodes.b.after.0.parm", "`param`"),
    ("node that is a number", {"a": 7}, "invalid_value", "nodes.a", "object"),
    ("after that is a number", {"a": {"after": 7}}, "invalid_value", "nodes.a.after", "none of its forms"),
    ("text for a number", {"a": {"timeout_ms": "5"}}, "invalid_value", "nodes.a.timeout_ms", "integer"),
    ("misspelt word", {"a": {"join": {"mode": "cuont"}}}, "invalid_value", "nodes.a.join.mode", "Did you mean `count`?"),
    ("no attempt", {"a": {"retry": {"attempts": 0}}}, "invalid_value", "nodes.a.retry.attempts", "attempts"),
    ("unknown cause", {"a": {"retry": {"retry_on": ["timeuot"]}}},
     "unknown_cause", "retry.retry_on.0", "`timeuot` is not a cause of failure"),
    ("malformed id", {"1st node": {}}, "malformed_id", "nodes.1st node", "1st node"),
    ("id with a dot", {"a.b": {}}, "malformed_id", "nodes.a.b", "a.b"),
    ("bad key", {"a": {}, "b": {"after": {"from": "a", "key": "x..y"}}}, "invalid_value", "nodes.b.after.key", "dotted path"),
    # -- ids, kinds, bodies
    *((f"id {name}", {name: {}}, "reserved_id", f"nodes.{name}", name) for name in RESERVED_IDS),
    ("unknown kind", {"a": {"type": "functon"}}, "unknown_kind", "nodes.a.type", "Did you mean `function`?"),
    ("no nodes", {}, "empty_body", "nodes", "nodes"),
    ("empty body", {"l": container({})}, "empty_body", "nodes.l.with.body.nodes", "empty"),
    ("no body", {"l": {"type": "loop", "with": {"times": 2}}}, "missing_field", "nodes.l.with.body", "body"),
    ("shadowed id", {"a": {}, "l": container({"a": {}})}, "shadowed_id", "nodes.l.with.body.nodes.a", "nodes.a"),
    ("id of the own container", {"l": container({"l": {}})}, "shadowed_id", "nodes.l.with.body.nodes.l", "`l`"),
    ("entry in a body", {"l": container({"m": {"type": "manual"}})}, "entry_in_body", "body.nodes.m", "manual"),
    ("two modes", {"l": container({"a": {}}, times=2, items=[1])},
     "exactly_one", "nodes.l.with", "`times`, `items`, `while`, `do_while`"),
    ("no mode", {"p": {"type": "parallel", "with": {"body": {"nodes": {"a": {}}}}}},
     "exactly_one", "nodes.p.with", "none is set"),
    ("misfit inside a body", {"l": container({"a": {"labl": "x"}})},
     "unknown_field", "nodes.l.with.body.nodes.a.labl", "`label`"),
    # -- edges
    ("unknown source", {"a": {}, "b": "aa"}, "unknown_node", "nodes.b.after", "Did you mean `a`?"),
    ("self edge", {"a": "a"}, "self_edge", "nodes.a.after", "itself"),
    ("cycle", {"a": "c", "b": "a", "c": "b"}, "cycle", "nodes.a", "a → b → c → a"),
    ("cycle behind an entry", {"s": {}, "a": ["s", "b"], "b": "a", "z": "b"}, "cycle", "nodes.a", "a → b → a"),
    ("edge into an entry", {"a": {}, "m": {"type": "manual", "after": "a"}}, "edge_into_entry", "nodes.m.after", "manual"),
    ("edge into a body", {"a": {}, "l": LOOP, "b": "inner"}, "unknown_node", "nodes.b.after", "in another body"),
    ("edge out of a body", {"a": {}, "l": container({"b": "a"})}, "unknown_node", "body.nodes.b.after", "in another body"),
    ("unknown exit", {"c": CHOICE, "a": "c.yess"}, "unknown_exit", "nodes.a.after", "Did you mean `yes`?"),
    ("success of a condition", {"c": CHOICE, "a": "c"}, "unknown_exit", "nodes.a.after", "`yes`, `no`, `error`"),
    ("edge from an end", {"e": {"type": "end"}, "a": "e"}, "no_exit", "nodes.a.after", "no exit"),
    ("condition with two tests", {"a": {}, "b": {"after": {"from": "a", "condition": {"equals": 1, "present": True}}}},
     "bad_condition", "nodes.b.after", "exactly one"),
    ("condition without a test", {"a": {}, "b": {"after": {"from": "a", "condition": {}}}},
     "bad_condition", "nodes.b.after", "exactly one"),
    # -- joins
    ("count too large", {"a": {}, "b": {"after": "a", "join": {"mode": "count", "count": 2}}},
     "out_of_range", "nodes.b.join.count", "1 branch."),
    ("count of doubled edges", {"a": {}, "b": {"after": ["a", "a.error"], "join": {"mode": "count", "count": 2}}},
     "out_of_range", "join.count", "1"),
    ("count missing", {"a": {}, "b": {"after": "a", "join": {"mode": "count"}}}, "missing_count", "nodes.b.join", "`count`"),
    ("min_success too large", {"a": {}, "b": {"after": "a", "join": {"errors": "best-effort", "min_success": 2}}},
     "out_of_range", "nodes.b.join.min_success", "min_success"),
    ("timeout without time", {"a": {}, "b": {"after": "a", "join": {"mode": "timeout"}}},
     "missing_timeout", "nodes.b.join", "timeout_ms"),
    ("timeout that fails", {"a": {}, "b": {"after": "a", "join": {"mode": "timeout", "timeout_ms": 5, "on_timeout": "fail"}}},
     "contradiction", "nodes.b.join.on_timeout", "proceeds"),
    # -- policies
    ("retry of a wait", {"ask": {**APPROVAL, "retry": {"attempts": 2}}, **WIRED}, "idle_setting", "nodes.ask.retry", "loop"),
    ("timeout of a wait", {"ask": {**APPROVAL, "timeout_ms": 5}, **WIRED}, "idle_setting", "ask.timeout_ms", "`with.timeout`"),
    ("retry of a pure node", {"c": {**CHOICE, "retry": {"attempts": 2}}}, "idle_setting", "nodes.c.retry", "no attempts"),
    ("timeout of a pure node", {"c": {**CHOICE, "timeout_ms": 5}}, "idle_setting", "nodes.c.timeout_ms", "no attempts"),
    ("retry of an entry", {"m": {"type": "manual", "retry": {"attempts": 2}}}, "idle_setting", "nodes.m.retry", "no attempts"),
    ("delivery of a container", {"l": {**LOOP, "delivery": "at_most_once"}}, "idle_setting", "nodes.l.delivery", "its body"),
    ("moderation of a container", {"l": {**LOOP, "moderation": "both"}}, "idle_setting", "nodes.l.moderation", "its body"),
    ("moderation of a pure node", {"c": {**CHOICE, "moderation": "input"}}, "idle_setting", "nodes.c.moderation", "condition"),
    ("join of an entry", {"m": {"type": "manual", "join": {"mode": "any"}}}, "idle_setting", "nodes.m.join", "no edge leads"),
    ("merge of an entry", {"m": {"type": "manual", "merge": "array"}}, "idle_setting", "nodes.m.merge", "no edge leads"),
    ("disabled with several exits", {"c": {**CHOICE, "enabled": False}}, "disabled_without_exit", "nodes.c.enabled",
     "`enabled: {exit: yes}`"),
    ("disabled approval", {"ask": {**APPROVAL, "enabled": False}, **WIRED}, "disabled_without_exit", "nodes.ask.enabled",
     "`approved`, `rejected`"),
    ("disabled by an unknown exit", {"c": {**CHOICE, "enabled": {"exit": "yess"}}}, "unknown_exit", "nodes.c.enabled.exit",
     "Did you mean `yes`?"),
    ("disabled without a name", {"a": {"enabled": {}}}, "missing_field", "nodes.a.enabled.exit", "exit"),
    ("enabled by a text", {"a": {"enabled": "no"}}, "invalid_value", "nodes.a.enabled", "true or false"),
    # -- `with`
    ("unknown parameter", {"a": {"type": "function", "with": {"arg": {}}}},
     "unknown_field", "nodes.a.with.arg", "Did you mean `args`?"),
    ("parameter of another type", {"a": {"type": "function", "with": {"times": "x"}}},
     "invalid_value", "nodes.a.with.times", "integer"),
    ("literal with a reference", {"l": container({"a": {}}, times=1, on_error="<run.id>")},
     "invalid_value", "nodes.l.with.on_error", "'stop'"),
    ("number of a container with a reference", {"l": container({"a": {}}, times=1, max_iterations="<run.id>")},
     "invalid_value", "nodes.l.with.max_iterations", "integer"),
    ("undeclared variable", {"s": {"type": "set", "with": {"variables": {"sttaus": 1}}}},
     "unknown_variable", "with.variables.sttaus", "`status`"),
    ("bad expression", {"c": {"type": "condition", "with": {"cases": {"hit": "1 ==", "r": "else"}}}},
     "expression_syntax", "cases.hit", "case `hit`"),
    ("attribute access", {"c": {"type": "condition", "with": {"cases": {"h": "'x'.upper() == 'X'"}}}},
     "expression_forbidden", "cases.h", "character 1"),
    ("unknown function", {"c": {"type": "condition", "with": {"cases": {"h": "system('x')"}}}},
     "unknown_function", "cases.h", "system"),
    ("bad expression in text", {"a": reads("n: {{ 1 + }}")}, "expression_syntax", "nodes.a.with.args.x", "character"),
    ("bad while", {"l": container({"a": {}}, **{"while": "1 +"})}, "expression_syntax", "nodes.l.with.while", "character"),
    ("bad custom merge", {"a": {"join": {"vars": {"custom": "1 +"}}}},
     "expression_syntax", "nodes.a.join.vars.custom", "character"),
    ("bad contract", {"a": {"input_contract": {"type": "objekt"}}}, "invalid_schema", "nodes.a.input_contract", "input_contract"),
    ("bad answer field", {"ask": {"type": "approval", "with": {"fields": {"n": {"type": "txt"}}}}},
     "invalid_schema", "with.fields.n.type", "fields"),
    # -- references
    ("unknown name", {"a": reads("<ordr.id>")}, "unknown_reference", "nodes.a.with.args.x", "ordr"),
    ("not upstream", {"a": {}, "b": reads("<a.x>")}, "not_upstream", "nodes.b.with.args.x", "Add `a` to the `after` of `b`"),
    ("downstream", {"a": reads("<b.x>"), "b": "a"}, "not_upstream", "nodes.a.with.args.x", "not upstream"),
    ("itself", {"a": reads("<a.x>")}, "not_upstream", "nodes.a.with.args.x", "reads itself"),
    ("own results", {"l": container({"a": {}}, do_while="<l.x>")},
     "not_upstream", "nodes.l.with.do_while", "reads itself"),
    ("inner from outside", {"l": LOOP, "b": reads("<inner.x>", "l")}, "inner_node_read", "nodes.b.with.args.x", "`<l>`"),
    ("inner of inner", {"l": container({"m": container({"deep": {}}), "b": reads("<deep.x>", "m")})},
     "inner_node_read", "nodes.b.with", "`<m>`"),
    ("beside the container", {"a": {}, "l": container({"b": reads("<a.x>")})},
     "not_upstream", "body.nodes.b.with.args.x", "`after` of `l`"),
    ("loop outside", {"a": reads("<loop.index>")}, "outside_loop", "nodes.a.with.args.x", "outside a loop"),
    ("loop in a parallel", {"p": container({"a": reads("<loop.index>")}, "parallel")}, "outside_loop", "nodes.a.with", "loop"),
    ("parallel outside", {"a": reads("<parallel.item>")}, "outside_parallel", "nodes.a.with.args.x", "parallel"),
    ("items of the loop itself", {"l": container({"a": {}}, items="<loop.items>")}, "outside_loop", "nodes.l.with.items", "loop"),
    ("item between iterations", {"l": container({"a": {}}, **{"while": "<loop.item> == 1"})},
     "unknown_turn_field", "nodes.l.with.while", "between two iterations"),
    ("unknown turn field", {"l": container({"a": reads("<loop.itm>")})}, "unknown_turn_field", "nodes.a.with", "`item`"),
    ("container from inside", {"l": container({"a": reads("<l.results>")})}, "unknown_turn_field", "nodes.a.with", "from inside"),
    ("unknown variable", {"a": reads("<workflow.sttaus>")}, "unknown_variable", "nodes.a.with.args.x", "Did you mean `status`?"),
    ("unlisted env", {"a": reads("Bearer ${KEYY}")}, "unlisted_env", "nodes.a.with.args.x", "Did you mean `KEY`?"),
    ("unknown run field", {"a": reads("<run.ip>")}, "unknown_run_field", "nodes.a.with.args.x", "`started_at`"),
]


@pytest.mark.parametrize(("nodes", "code", "path", "told"), [row[1:] for row in ERRORS], ids=[row[0] for row in ERRORS])
def test_a_fault_is_found_alone_with_its_place_and_its_mend(judge: Any, nodes: Any, code: str, path: str, told: str) -> None:
    findings = judge(nodes, variables={"status": 1}, env=["KEY"])
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    assert [(finding.code, finding.path) for finding in errors] == [(code, errors[0].path)]
    assert path in errors[0].path and told in str(errors[0])


WARNINGS: list[tuple[Any, str, str]] = [
    ({"ask": APPROVAL, "ok": "ask.approved"}, "unwired_exit", "ask.rejected"),
    ({"ask": {**APPROVAL, "with": {"timeout": "2d"}}, **WIRED}, "unwired_exit", "wait_timeout"),
    ({"a": {}, "b": ["a", "a"]}, "doubled_edge", "twice"),
    ({"a": {"default": 1}}, "idle_setting", "substitute_default"),
    ({"a": {}, "b": {"after": "a", "join": {"count": 1}}}, "idle_setting", "`mode: count`"),
    ({"a": {}, "b": {"after": "a", "join": {"on_timeout": "proceed"}}}, "idle_setting", "timeout_ms"),
    ({"a": {"type": "function", "retry": {"backoff_ms": 1}}}, "idle_setting", "`attempts` is 1"),
    ({"a": {"type": "function", "moderation_on_error": "allow"}}, "idle_setting", "`moderation` is off"),
    ({"a": {}, "b": reads("<inputs.prompt>", "a")}, "unfed_param", "`prompt`"),
    ({"p": container({"e": {"type": "end", "with": {"break": True}}}, "parallel")}, "break_outside_loop", "no loop"),
]


@pytest.mark.parametrize(("nodes", "code", "told"), WARNINGS)
def test_a_doubtful_document_is_published_with_a_warning(judge: Any, link: Any, nodes: Any, code: str, told: str) -> None:
    (finding,) = judge(nodes)
    assert (finding.code, finding.severity) == (code, Severity.WARNING) and told in str(finding)
    assert link(nodes).warnings == (finding,)


@pytest.mark.parametrize("nodes", [
    {"m": {"type": "manual"}, "h": "m.error"},
    {"ask": {**APPROVAL, "with": {"fields": {"n": {"type": "string"}}}}, **WIRED},
    {"a": {}, "h": "a.onError"},
    {"a": {}, "b": {"after": {"from": "a", "condition": {"equals": None}}}},
    {"a": {}, "b": reads("<a.error>", "a.error")},
    {"a": {}, "b": "a", "c": reads("<a.x> and <input>", "b")},
    {"a": {}, "l": {**container({"b": reads("<a.x> <loop.item> <l.index>")}), "after": "a"}},
    {"l": container({"p": container({"a": reads("<loop.index> <parallel.item.x> <l.item> <p.items>")}, "parallel")})},
    {"l": container({"a": {}}, **{"while": "<loop.index> < 3"})},
    {"l": LOOP, "m": container({"inner": {}})},
    {"a": reads("a < b, <div>, <word>, <run.id>")},
    {"a": {"type": "function", "with": {"times": "<input.n>"}}},
    {"a": {"type": "function", "with": {"times": "{{ 1 + 1 }}"}}},
    {"a": {"type": "llm", "with": {"prompt": [{"role": "<input.role>", "text": "<input>"}]}}},
    {"a": {"type": "function", "enabled": False, "timeout_ms": 1, "merge": "json_object",
           "retry": {"attempts": 2, "retry_on": ["outcome_unknown", "moderation"]}}},
    {"l": {**LOOP, "retry": {"attempts": 2}, "timeout_ms": 5}, "p": {**container({"b": {}}, "parallel"), "timeout_ms": 5}},
    {"c": {**CHOICE, "enabled": {"exit": "no"}}, "a": "c.yes"},
    {"ask": {**APPROVAL, "enabled": {"exit": "approved"}}, **WIRED},
    {"a": {"enabled": {"exit": "source"}}},
    {"a": {}, "b": {"after": "a", "join": {"vars": {"custom": "sum(<input>)"}}}},
])
def test_a_good_document_has_no_findings(judge: Any, nodes: Any) -> None:
    assert judge(nodes) == ()


@pytest.mark.parametrize(("edge", "path", "told"), [
    ({"source": "ghost", "target": "a"}, "edges.1", "ghost"),
    ({"source": "a", "target": "ghost"}, "edges.1", "ghost"),
    ({"source": "a"}, "edges.1.target", "`target` is missing"),
    ({"source": "a", "target": "b", "handle": "left"}, "edges.1", "left"),
    ({"source": "a", "target": "b", "hndle": "x"}, "edges.1.hndle", "handle"),
])
def test_a_faulty_edge_is_named_by_its_place_in_edges(judge: Any, edge: Any, path: str, told: str) -> None:
    (finding,) = judge({"a": {}, "b": {}}, edges=[{"source": "a", "target": "b", "handle": "error"}, edge])
    assert finding.path == path and told in str(finding)


@pytest.mark.parametrize(("more", "path", "told"), [
    ({"id": "Upper"}, "id", "lower case"),
    ({"max_steps": 0}, "max_steps", "max_steps"),
    ({"timeout": 5}, "timeout", "unit"),
    ({"timeout": "5 parsecs"}, "timeout", "not a duration"),
    ({"on_failure": "hold"}, "on_failure", "halt"),
    ({"env": ["1X"]}, "env.0", "pattern"),
    ({"variables": {"a.b": 1}}, "variables.a.b", "a.b"),
    ({"colour": "red"}, "colour", "no field"),
    ({"rate_limit": {"max": 5}}, "rate_limit.per", "missing"),
])
def test_a_fault_of_the_document_itself(judge: Any, more: Any, path: str, told: str) -> None:
    (finding,) = judge({"a": {}}, **more)
    assert finding.path == path and told in str(finding)


def test_all_faults_are_told_at_once_in_document_order(judge: Any) -> None:
    findings = judge({
        "z": {"type": "teleport"},
        "a": {"retry": {"attempts": 0}, "after": "ghost"},
        "l": container({"inner": "nowhere", "b": reads("<workflow.x>")}),
        "1 2": {},
    }, edges=[{"source": "a", "target": "gone"}], timeout=3)
    assert [finding.path for finding in findings] == [
        "nodes.z.type", "nodes.a.retry.attempts", "nodes.a.after", "nodes.l.with.body.nodes.inner.after",
        "nodes.l.with.body.nodes.b.with.args.x", "nodes.1 2", "edges.0", "timeout",
    ]


def test_what_could_not_be_read_gives_no_false_alarm(judge: Any) -> None:
    join = {"after": ["a", "1st"], "join": {"mode": "count", "count": 2}}
    findings = judge({"1st": {}, "a": {"after": ["1st", 7]}, "b": reads("<a.x>"), "j": join})
    assert {finding.code for finding in findings} == {"malformed_id", "invalid_value"}


def test_findings_are_counted_beyond_the_limit(judge: Any, kinds: Any) -> None:
    findings = judge({f"n{n}": f"ghost{n}" for n in range(MAX_FINDINGS + 7)})
    assert len(findings) == MAX_FINDINGS + 1 and "7 more" in str(findings[-1])
    with pytest.raises(DocumentRefused) as caught:
        compile_document({"id": "d", "nodes": {f"n{n}": {"type": "join", "after": "x"} for n in range(MAX_FINDINGS + 7)}}, kinds)
    assert len(caught.value.findings) == MAX_FINDINGS + 1


def test_containers_are_nested_up_to_a_bound(judge: Any) -> None:
    def nested(depth: int) -> dict[str, Any]:
        nodes: dict[str, Any] = {"a": {}}
        for level in range(depth):
            nodes = {f"l{level}": container(nodes)}
        return nodes

    assert judge(nested(MAX_NESTED_CONTAINERS)) == ()
    assert [finding.code for finding in judge(nested(MAX_NESTED_CONTAINERS + 1))] == ["nested_too_deep"]


def test_registered_functions_are_known_when_they_are_given(judge: Any) -> None:
    nodes = {"a": {"type": "function", "with": {"call": "payments.refnd"}}}
    assert judge(nodes) == ()
    (finding,) = judge(nodes, functions=["payments.refund"])
    assert finding.code == "unknown_callable" and "Did you mean `payments.refund`?" in str(finding)
    assert judge(nodes, functions=["payments.refnd"]) == ()


def test_an_unknown_entry_is_the_callers_fault(link: Any) -> None:
    with pytest.raises(InvalidRequest) as caught:
        link({"alpha": {}}, entries=["alpa"])
    assert caught.value.code == "unknown_entry" and "`alpha`" in str(caught.value)


@pytest.mark.parametrize(("document", "told"), [
    ({"id": "d", "nodes": {"a": {"type": "function", "with": {"args": {"x": {1, 2}}}}}}, "args.x: a set is not JSON"),
    ({"id": "d", "nodes": {1: {"type": "join"}}}, "the key 1 is not text"),
    ({"id": "d", "nodes": {"a": {"type": "function", "with": {"args": {"x": float("nan")}}}}}, "nan is not a number"),
    ({"id": "d\ud800", "nodes": {}}, "surrogate"),
])
def test_what_is_no_json_is_refused(kinds: Any, document: Any, told: str) -> None:
    with pytest.raises(DocumentRefused) as caught:
        compile_document(document, kinds)
    assert told in str(caught.value)


def test_a_value_inside_itself_is_refused(kinds: Any) -> None:
    circle: dict[str, Any] = {}
    circle["x"] = [circle, circle]
    with pytest.raises(DocumentRefused) as caught:
        compile_document({"id": "d", "nodes": circle}, kinds)
    assert "nested deeper" in str(caught.value)


def test_a_join_in_a_row_of_joins_may_not_cancel_without_bound(judge: Any) -> None:
    cancel = {"join": {"losers": "cancel"}}
    findings = judge({f"n{n}": {"after": f"n{n - 1}", **cancel} if n else cancel for n in range(1_500)})
    assert [finding.code for finding in findings] == ["too_many_losers"]


def test_edges_are_bounded(judge: Any) -> None:
    (finding,) = judge({"a": {}, "b": ["a"] * (MAX_EDGES + 1)})
    assert finding.code == "too_many_edges" and str(MAX_EDGES) in str(finding)


def test_a_document_full_of_faults_is_refused_without_looking_for_all_of_them(judge: Any) -> None:
    findings = judge({f"n{n}": {"type": "functon", "after": f"ghost{n}"} for n in range(5_000)})
    assert len(findings) == MAX_FINDINGS + 1 and f"at least {MAX_COUNTED_FINDINGS - MAX_FINDINGS} more" in str(findings[-1])


@pytest.mark.parametrize("name", ["STEPLESS_SIGNING_KEYS", "STEPLESS_API_KEY", "stepless_anything", "STEPLESS_"])
def test_a_workflow_cannot_name_a_setting_of_the_engine(kinds: Any, name: str) -> None:
    with pytest.raises(DocumentRefused) as refused:
        compile_document({"id": "w", "env": ["KEY", name], "nodes": {"a": {"type": "join"}}}, kinds)
    assert [(finding.code, finding.path) for finding in refused.value.findings] == [("reserved_env", "env.1")]


def test_other_names_are_the_authors(kinds: Any) -> None:
    compile_document({"id": "w", "env": ["MY_STEPLESS_KEY", "STEPLESSLY", "STEP"], "nodes": {"a": {"type": "join"}}}, kinds)


LOOP = {"type": "loop", "after": "a", "with": {"items": "[int(${PIN})]", "body": {"nodes": {"x": {"type": "join"}}}}}
JOIN = {"type": "join", "after": "a", "join": {"vars": {"custom": "<input>[0] if ${PIN} else 1"}}}


@pytest.mark.parametrize(("node", "place"), [(LOOP, "with.items"), (JOIN, "join.vars.custom")], ids=["items", "merge"])
def test_what_is_worked_out_again_from_the_log_reads_no_secret(kinds: Any, node: dict[str, Any], place: str) -> None:
    with pytest.raises(DocumentRefused) as refused:
        compile_document({"id": "w", "env": ["PIN"], "nodes": {"a": {"type": "manual"}, "l": node}}, kinds)
    assert [(finding.code, finding.path) for finding in refused.value.findings] == [("secret_out_of_reach", f"nodes.l.{place}")]
