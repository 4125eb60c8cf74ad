"""Node by node: what becomes of parameters, conditions, expressions and connections of n8n."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

START: tuple[str, str, dict[str, Any]] = ("Start", "manualTrigger", {})
EDIT = "set@3.4"


def fields(value: Any, sort: str = "string") -> dict[str, Any]:
    return {"assignments": {"assignments": [{"name": "a", "value": value, "type": sort}]}}


@pytest.mark.parametrize("given, made", [
    ("={{ $json.a.b }}", "<Start.a.b>"), ("={{ $json }}", "<Start>"), ("={{ $json['a b'] }}", '{{ <Start>["a b"] }}'),
    ("={{ $json.list[0]?.id }}", "<Start.list[0].id>"), ('={{ $node["Start"].json.a }}', "<Start.a>"),
    ("={{ $input.item.json.a }}", "<Start.a>"),
    ("={{ $('Start').first().json.a }}", "<Start.a>"), ("=Dear {{ $json.name }}!", "Dear <Start.name>!"),
    ("{{ $json.a }}", "{{ '{{' }} $json.a }}"),
    ("<Start.a>", "{{ '<' }}Start.a>"), ("={{ $json.a + 1 }}", "{{ <Start.a> + 1 }}"),
    ("={{ $json.a ? 'y' : 'n' }}", '{{ "y" if <Start.a> else "n" }}'),
    ("={{ $json.names.length }}", "{{ len(<Start.names>) }}"), ("={{ $json.a ?? 5 }}", "{{ default(<Start.a>, 5) }}"),
    ("={{ '$json.a' }}", '{{ "\\x24json.a" }}'), ("={{ {a: $json.x, 'b': [1]} }}", '{{ {"a": <Start.x>, "b": [1]} }}'),
    ("={{ $env.REGION }}", "{{ ${REGION} }}"), ("={{ $execution.id }}", "<run.id>"), ("={{ $now }}", "{{ now() }}"),
    ("={{ $workflow.name }}", '{{ "Try" }}'), ("={{ $json.name.toLowerCase() }}", "{{ lower(<Start.name>) }}"),
])  # fmt: skip
def test_expressions(single: Callable[..., Any], given: str, made: str) -> None:
    done = single(EDIT, fields(given))
    assert done.params("X")["value"] == {"a": made}
    assert done.codes == []


@pytest.mark.parametrize("given, code", [
    ("={{ $json.a.map(x => x.id) }}", "n8n_expression_untranslated"),
    ("={{ $jmespath($json, 'a') }}", "n8n_expression_untranslated"),
    ("={{ $('Nowhere').item.json.a }}", "n8n_reference_unknown"), ("={{ $('Later').item.json.a }}", "n8n_reference_not_upstream"),
    ("={{ $json.a == '5' }}", "n8n_expression_loose"),
])  # fmt: skip
def test_what_cannot_be_translated_is_told(tried: Callable[..., Any], given: str, code: str) -> None:
    done = tried([START, ("X", EDIT, fields(given)), ("Later", "noOp", {})], [("Start", "X"), ("X", "Later")])
    assert done.codes == [code]
    found = next(finding for finding in done.findings if finding.code == code)
    assert (found.path, found.node) == ("nodes.1.parameters.assignments", "X") and found.mend != ""
    made = done.params("X")["value"]["a"]
    assert ("not translated" in made) if code == "n8n_expression_untranslated" else made is None or code == "n8n_expression_loose"


def v2(operation: str, sort: str = "string", left: Any = "={{ $json.a }}", right: Any = "x", **options: Any) -> dict[str, Any]:
    condition = {"leftValue": left, "rightValue": right, "operator": {"type": sort, "operation": operation}}
    return {"conditions": {"options": options, "conditions": [condition], "combinator": "and"}}


@pytest.mark.parametrize("given, made", [
    (v2("equals"), '<Start.a> == "x"'), (v2("notContains"), 'not contains(<Start.a>, "x")'),
    (v2("regex"), 'matches(<Start.a>, "x")'),
    (v2("equals", caseSensitive=False), 'lower(<Start.a>) == lower("x")'), (v2("gte", "number", right="5"), "<Start.a> >= 5"),
    (v2("true", "boolean", right=""), "<Start.a> == true"), (v2("exists", "object"), "<Start.a> != null"),
    (v2("notEmpty", "array"), '<Start.a> not in [null, "", [], {}]'), (v2("lengthGt", "array", right=2), "len(<Start.a>) > 2"),
    (v2("after", "dateTime", right="2026-01-01"), 'date(<Start.a>) > date("2026-01-01")'),
    (v2("equals", left="=a{{ $json.a }}"), '(join(["a", str(<Start.a>)], "")) == "x"'),
    ({"conditions": {"number": [{"value1": "={{ $json.n }}", "operation": "larger", "value2": 3}], "boolean": [
        {"value1": "={{ $json.b }}", "value2": True}]}, "combineOperation": "any"}, "(<Start.n> > 3) or (<Start.b> == true)"),
])  # fmt: skip
def test_conditions(single: Callable[..., Any], given: dict[str, Any], made: str) -> None:
    done = single("if@2", given)
    assert done.params("X")["cases"] == {"then": made, "otherwise": "else"}
    assert done.codes == []


def test_a_condition_without_equivalent_takes_no_exit(single: Callable[..., Any]) -> None:
    done = single("if@2", v2("soundsLike"))
    assert done.codes == ["n8n_condition_untranslated"] and "not translated" in done.params("X")["cases"]["then"]


def test_a_switch_has_an_exit_for_each_output(tried: Callable[..., Any]) -> None:
    rules = {"values": [{**v2("equals"), "renameOutput": True, "outputKey": "Paid"}, v2("equals", right="y")]}
    ends: list[Any] = [(name, "noOp", {}) for name in ("A", "B", "C")]
    edges = [("Start", "S"), ("S", "A", 0), ("S", "B", 1), ("S", "C", 2)]
    done = tried([START, ("S", "switch@3", {"rules": rules, "options": {"fallbackOutput": "extra"}}), *ends], edges)
    assert done.params("S")["cases"] == {"paid": '<Start.a> == "x"', "output-1": '<Start.a> == "y"', "otherwise": "else"}
    assert [done.node(name)["after"] for name in "ABC"] == ["S.paid", "S.output-1", "S.otherwise"]
    former = {"dataType": "number", "value1": "={{ $json.n }}",
        "rules": {"rules": [{"operation": "equal", "value2": 1, "output": 1}]}}
    old = tried([START, ("S", "switch", {**former, "fallbackOutput": 3}), *ends], edges)
    cases = old.params("S")["cases"]
    assert list(cases.items())[:2] == [("output-1", "<Start.n> == 1"), ("output-3", "true")] and cases["output-2"] == "false"


@pytest.mark.parametrize("rule, cron", [
    ({"field": "minutes", "minutesInterval": 15}, "*/15 * * * *"),
    ({"field": "hours", "hoursInterval": 6, "triggerAtMinute": 5}, "5 */6 * * *"),
    ({}, "0 0 * * *"), ({"field": "weeks", "triggerAtDay": [1, 5], "triggerAtHour": 7}, "0 7 * * 1,5"),
    ({"field": "months", "triggerAtDayOfMonth": 3, "monthsInterval": 3}, "0 0 3 */3 *"),
    ({"field": "cronExpression", "expression": "0 30 4 * * *"}, "30 4 * * *"),
    ({"field": "seconds", "secondsInterval": 5}, ""), ({"field": "minutes", "minutesInterval": 7}, ""),
    ({"field": "days", "daysInterval": 2}, ""),
    ({"field": "cronExpression", "expression": "nonsense"}, ""),
])  # fmt: skip
def test_schedules(tried: Callable[..., Any], rule: dict[str, Any], cron: str) -> None:
    done = tried([("Night", "scheduleTrigger@1.2", {"rule": {"interval": [rule]}})])
    assert done.node("Night") == ({"type": "schedule", "with": {"cron": cron}} if cron else {"type": "manual"})
    assert done.codes == ([] if cron else ["n8n_schedule_unreadable"])


@pytest.mark.parametrize("version, given, made", [
    ("3.4", {"includeOtherFields": True}, '{{ merge(<Start>, {"a": "x" }) }}'), ("3.4", {}, {"a": "x"}),
    ("2", {"keepOnlySet": True}, {"a": "x"}),
    ("2", {}, '{{ merge(<Start>, {"a": "x" }) }}'),
])  # fmt: skip
def test_fields_are_set(single: Callable[..., Any], version: str, given: dict[str, Any], made: Any) -> None:
    own = fields("x") if version == "3.4" else {"values": {"string": [{"name": "a", "value": "x"}]}}
    assert single(f"set@{version}", {**own, **given}).params("X")["value"] == made


def test_json_texts_have_values_and_parts_of_texts(single: Callable[..., Any]) -> None:
    text = '={"n": {{ $json.n }}, "who": "{{ $json.who }}", "t": "to {{ $json.who }} \\"now\\"", "l": [{{ $json.a }}, 1]}'
    done = single(EDIT, {"mode": "raw", "jsonOutput": text})
    assert done.params("X")["value"] == {"n": "<Start.n>", "who": "{{ str(<Start.who>) }}", "t": 'to <Start.who> "now"',
        "l": ["<Start.a>", 1]}
    assert single(EDIT, {"mode": "raw", "jsonOutput": "={ not json"}).codes == ["n8n_field_unreadable"]


def test_requests(single: Callable[..., Any]) -> None:
    sent = {"url": "https://a.example.com", "method": "POST", "sendBody": True, "contentType": "form-urlencoded",
    "bodyParameters": {
        "parameters": [{"name": "a", "value": "1 2"}, {"name": "b", "value": "ü"}]}}  # fmt: skip
    params = single("httpRequest@4.2", sent).params("X")
    assert (params["body"], params["headers"]) == ("a=1+2&b=%C3%BC", {"Content-Type": "application/x-www-form-urlencoded"})
    for sort in ("multipart-form-data", "binaryData"):
        done = single("httpRequest@4.2", {**sent, "contentType": sort})
        assert (done.params("X")["call"], done.codes) == ("n8n.httpRequest", ["n8n_node_without_equivalent"])
    lax = single("httpRequest@4.2", {"url": "https://a.example.com", "options": {"response": {"response": {"neverError": True}}}})
    assert lax.params("X")["expect_status"] == ["2xx", "3xx", "4xx", "5xx"]
    wrong = single("httpRequest@4.2", {"url": "nowhere at all"})
    assert wrong.codes == ["n8n_node_refused"] and wrong.params("X")["args"]["refused"]["url"] == "nowhere at all"


def test_a_response_is_read_where_it_is(tried: Callable[..., Any]) -> None:
    for options, given, made in (
        ({}, "$json.id", "<H.body.id>"), ({"fullResponse": True}, "$json.statusCode", "<H.status>"),
        ({"fullResponse": True}, "$json.body.id", "<H.body.id>"),
        ({"responseFormat": "text"}, "$json.data", "<H.body>"),
    ):  # fmt: skip
        request = {"url": "https://a.example.com", "options": {"response": {"response": options}}}
        done = tried([START, ("H", "httpRequest@4.2", request), ("X", EDIT, fields(f"={{{{ {given} }}}}"))],
            [("Start", "H"), ("H", "X")])
        assert done.params("X")["value"]["a"] == made


@pytest.mark.parametrize("version, given, made", [
    ("1.1", {}, {"for": "5s"}), ("1", {}, {"for": "3600s"}), ("1", {"amount": 2, "unit": "days"}, {"for": "172800s"}),
    ("1", {"resume": "specificTime", "dateTime": "={{ $json.at }}"}, {"until": "<Start.at>"}), ("1", {"resume": "webhook"}, {}),
])  # fmt: skip
def test_waits(single: Callable[..., Any], version: str, given: dict[str, Any], made: dict[str, Any]) -> None:
    done = single(f"wait@{version}", given)
    assert done.params("X") == made and done.node("X")["type"] == ("wait" if made else "callback")


def test_connections_that_cannot_be_kept_are_told(tried: Callable[..., Any]) -> None:
    nodes = [START, ("A", "noOp", {}), ("B", "noOp", {}), ("T", "formTrigger", {}), ("C", "set@3.4", {})]
    done = tried(nodes, [("Start", "A"), ("A", "B"), ("B", "A"), ("A", "T"), ("A", "B", 3), ("A", "Gone"), ("Start", "C"),
        ("A", "C")])
    assert sorted(done.codes) == sorted([
        "n8n_edge_in_circle", "n8n_edge_into_trigger", "n8n_edge_exit_unknown", "n8n_edge_unreadable",
        "n8n_trigger_without_equivalent",
        "n8n_several_branches",
    ])  # fmt: skip


def test_branches_that_exclude_each_other_meet_without_a_finding(tried: Callable[..., Any]) -> None:
    done = tried([START, ("I", "if@2", v2("equals")), ("A", "noOp", {}), ("B", "noOp", {}),
        ("C", EDIT, fields("={{ $json.a }}"))],
                 [("Start", "I"), ("I", "A", 0), ("I", "B", 1), ("A", "C"), ("B", "C")])  # fmt: skip
    assert done.codes == [] and done.node("C")["after"] == ["A", "B"] and done.params("C")["value"] == {"a": "<input.a>"}


def test_loops(tried: Callable[..., Any]) -> None:
    nodes = [START, ("L", "splitInBatches@3", {"batchSize": 10}), ("A", EDIT, fields("={{ $json.a }}")),
    ("B", EDIT, fields("={{ $('A').item.json.a }}")),
             ("D", EDIT, fields("={{ $('B').item.json.a }}"))]  # fmt: skip
    done = tried(nodes, [("Start", "L"), ("L", "D", 0), ("L", "A", 1), ("A", "B"), ("B", "L")])
    assert done.codes == ["n8n_loop_items", "n8n_loop_batches", "n8n_inner_node_read"]
    body = done.params("L")["body"]["nodes"]
    assert done.params("L")["items"] == "<Start>" and list(body) == ["A", "B"]
    assert body["A"]["with"]["value"] == {"a": "<loop.item.a>"} and body["B"]["with"]["value"] == {"a": "<A.a>"}
    old = tried([START, ("L", "splitInBatches", {}), ("A", "noOp", {}), ("D", "noOp", {})],
    [("Start", "L"), ("L", "A", 0), ("A", "L"), ("L", "D", 1)])
    assert list(old.params("L")["body"]["nodes"]) == ["A"] and old.node("D")["after"] == "L"
    empty = tried([START, ("L", "splitInBatches@3", {})], [("Start", "L")])
    assert {"n8n_loop_empty", "n8n_loop_open"} <= set(empty.codes)


def test_settings_and_policies_of_nodes(tried: Callable[..., Any]) -> None:
    on = {"onError": "continueRegularOutput", "retryOnFail": True}
    done = tried([START, ("X", "httpRequest@4.2", {"url": "https://a.example.com", "also": on}),
        ("Y", "noOp", {"also": {"disabled": True}})],
                 [("Start", "X"), ("X", "Y")], settings={"timezone": "Europe/Berlin", "new": 5},
                 pinData={"X": [{"json": {}}]})  # fmt: skip
    assert done.node("Y") == {"type": "join", "after": [{"from": "X", "key": "body"}, "X.error"], "enabled": False}
    assert done.node("X")["retry"] == {"attempts": 3, "backoff_ms": 1000, "max_backoff_ms": 1000}
    assert {"n8n_setting_ignored", "n8n_pinned_data", "n8n_disabled_node", "n8n_continues"} <= set(done.codes)
