"""How every block type is converted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stepless.imports.sim.blocks import BLOCKS, ENTRIES
from stepless.testing import simulate


def test_every_row_of_the_tables_makes_a_node_that_compiles(tried: Any) -> None:
    for sort in ENTRIES:
        assert tried({"t": (sort, "T", {}), "n": ("wait", "N", {})}, [("t", "n")]).node("T")
    for sort in BLOCKS:
        assert tried({"t": ("start_trigger", "T", {}), "n": (sort, "N", {})}, [("t", "n")]).node("N")


def test_an_agent_is_an_llm_with_system_prompt_schema_and_settings(after_start: Any) -> None:
    schema = {"type": "object", "properties": {"row": {"type": "array"}}}
    made = after_start(
        "agent",
        systemPrompt="Be kind",
        userPrompt="Say <start.word>",
        model="azure/gpt-4o",
        temperature="0.3",
        maxTokens=50,
        responseFormat=json.dumps({"name": "x", "schema": schema, "strict": True}),
        memoryType="none",
        reasoningEffort="high",
    )
    assert made.node("It")["type"] == "llm"
    assert made.params("It") == {
        "provider": "azure",
        "model": "azure/gpt-4o",
        "system": "Be kind",
        "prompt": "Say <Start.word>",
        "response_schema": {"title": "x", **schema},
        "temperature": 0.3,
        "max_tokens": 50,
    }
    assert made.codes == ["sim_field_ignored"]
    assert "reasoningEffort" in made.messages("sim_field_ignored")


@pytest.mark.parametrize(
    ("format", "schema"),
    [
        ({"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}, {"title": "x", "type": "object"}),
        ({"schema": {"type": "object"}}, {"type": "object"}),
        ({"type": "object", "properties": {}}, {"type": "object", "properties": {}}),
    ],
)
def test_a_response_format_is_read_in_each_of_its_wrappings(format: Any, schema: Any, after_start: Any) -> None:
    assert after_start("agent", model="gpt-4o", responseFormat=format).params("It")["response_schema"] == schema


@pytest.mark.parametrize(
    ("fields", "asked"),
    [
        ({"systemPrompt": "Be kind."}, {"prompt": "Be kind."}),
        ({"messages": [{"role": "system", "content": "Be kind."}]}, {"prompt": "Be kind."}),
        (
            {"systemPrompt": "Be kind.", "messages": [{"role": "system", "content": "Be brief."}]},
            {"system": "Be kind.", "prompt": "Be brief."},
        ),
        (
            {"systemPrompt": "<start.a>", "userPrompt": "<start.b>"},
            {"system": "{{ str(<Start.a>) }}", "prompt": "{{ str(<Start.b>) }}"},
        ),
        ({"userPrompt": "of <start.b>"}, {"prompt": "of <Start.b>"}),
        ({"systemPrompt": {"a": 1}, "userPrompt": "x"}, {"system": '{"a": 1}', "prompt": "x"}),
    ],
)
def test_an_agent_is_asked_texts_and_never_nothing(fields: Any, asked: Any, after_start: Any) -> None:
    made = after_start("agent", model="gpt-4o", **fields).params("It")
    assert {name: made[name] for name in ("system", "prompt", "messages") if name in made} == asked


def test_a_conversation_of_several_turns_stays_one(after_start: Any) -> None:
    said = [
        {"role": "user", "content": "<start.a>"},
        {"role": "assistant", "content": "b"},
        {"role": "attachment", "content": "c"},
    ]
    made = after_start("agent", model="o3", messages=json.dumps(said))
    assert made.params("It")["messages"] == [
        {"role": "user", "content": "{{ str(<Start.a>) }}"}, {"role": "assistant", "content": "b"},
    ]  # fmt: skip
    assert "attachment" in made.messages("sim_field_ignored")


def test_tools_become_functions_that_the_model_may_call(after_start: Any) -> None:
    made = after_start(
        "agent",
        model="grok-4",
        tools=[
            {
                "type": "x",
                "title": "X",
                "operation": "post",
                "params": {"to": "<start.to>", "apiKey": "{{X_KEY}}", "n": ""},
                "isExpanded": True,
            },
            {
                "type": "custom-tool",
                "title": "Add up",
                "schema": {"function": {"name": "add", "description": "a<b", "parameters": {"type": "object"}}},
            },
            {"type": "y", "usageControl": "none"},
            {"type": "z", "usageControl": "force"},
        ],
    )
    assert made.params("It")["tools"] == [
        {"call": "sim.x.post", "args": {"to": "<Start.to>", "apiKey": "${X_KEY}"}},
        {"call": "sim.Add_up", "description": "a<b", "parameters": {"type": "object"}},
        {"call": "sim.z"},
    ]
    assert made.codes.count("sim_tool_without_equivalent") == 3
    assert "switched off" in made.messages("sim_field_ignored")
    assert "nothing makes the model call" in made.messages("sim_field_ignored")


def test_an_api_block_is_a_request_whose_body_keeps_types(after_start: Any) -> None:
    made = after_start(
        "api",
        url="https://a.example/<start.id>",
        method="post",
        timeout="5000",
        body='{"n": <start.n>, "t": "{{TOKEN}}", "s": "a <start.s>"}',
        headers=[{"id": "1", "cells": {"Key": "X-Way", "Value": "<start.way>"}}],
        params=[{"cells": {"Key": "", "Value": "x"}}],
    )
    assert made.params("It") == {
        "method": "POST",
        "url": "https://a.example/<Start.id>",
        "headers": {"X-Way": "{{ str(<Start.way>) }}"},
        "body": {"n": "<Start.n>", "t": "${TOKEN}", "s": "a <Start.s>"},
    }
    assert made.node("It")["timeout_ms"] == 5_000
    assert made.document["env"] == ["TOKEN"]
    assert made.codes == []


def test_code_is_kept_as_text_with_the_values_that_it_reads(after_start: Any) -> None:
    source = "const x = <start.a>; if (x < 3 && y<z.q>1) return `${x}` + {{KEY}} + '{{#if}}' + input.b;"
    made = after_start("function", code=source, language="javascript")
    params = made.params("It")
    assert params["call"] == "sim.It"
    assert params["args"]["values"] == {"<start.a>": "<Start.a>", "{{KEY}}": "${KEY}", "input": "<input>"}
    rendered = simulate(made.document, {"a": 1}, env={"KEY": "k"}).nodes["It"]
    assert rendered.status == "completed"
    assert made.codes == ["sim_code_kept_as_text"]


def test_what_is_only_carried_along_arrives_as_it_was_written(after_start: Any, tried: Any) -> None:
    source = "a<b.c>d ${x} {{y}} <start.q> <It> </div>"
    made = after_start("function", code=source)
    document = {**made.document, "nodes": {**made.document["nodes"]}}
    args = made.params("It")["args"]
    document["nodes"]["It"] = {"type": "transform", "after": "Start", "with": {"value": args["code"]}}
    assert simulate(document).outputs == {"It": source}


def test_a_block_without_a_kind_is_a_function_with_its_inputs_as_args(after_start: Any) -> None:
    made = after_start("slack_v2", text="Hi <start.name>", channel="#a", operation="send", empty="", off=False)
    assert made.node("It")["type"] == "function"
    args = {"text": "Hi <Start.name>", "channel": "#a", "operation": "send", "off": False}
    assert made.params("It") == {"call": "sim.slack_v2", "args": args}
    assert made.codes == ["sim_block_without_equivalent"]
    assert "`sim.slack_v2`" in made.messages("sim_block_without_equivalent")


@pytest.mark.parametrize(
    ("fields", "params"),
    [
        ({"dataMode": "json", "data": '{"a": <start.a>}', "status": "201"}, {"status": 201, "body": {"a": "<Start.a>"}}),
        (
            {
                "builderData": [
                    {"name": "a", "type": "number", "value": "1"},
                    {"name": "b", "type": "object", "value": [{"name": "c", "type": "string", "value": "<start.c>"}]},
                ]
            },
            {"body": {"a": 1, "b": {"c": "<Start.c>"}}},
        ),
        ({"data": "plain <start.a>", "dataMode": "json"}, {"body": "plain <Start.a>"}),
        ({"status": "<start.s>"}, {"status": "<Start.s>", "body": None}),
        ({"status": "101"}, {"body": None}),
    ],
)
def test_a_response_answers_the_caller(fields: Any, params: Any, after_start: Any) -> None:
    made = after_start("response", **fields)
    assert (made.node("It")["type"], made.params("It")) == ("respond", params)


@pytest.mark.parametrize(
    ("fields", "duration"),
    [
        ({"timeValue": "10", "timeUnit": "seconds"}, "10s"),
        ({"timeValue": 2, "timeUnit": "minutes"}, "2m"),
        ({}, "10s"),
        ({"async": True, "timeValue": "3", "timeUnitLong": "days", "timeUnit": "seconds"}, "3d"),
        ({"timeValue": "1.5", "timeUnit": "minutes"}, "90s"),
        ({"timeValue": "<start.n>"}, "<Start.n>s"),
        ({"timeValue": "soon"}, "10s"),
        ({"timeValue": "999999999", "timeUnit": "minutes"}, "10s"),
    ],
)
def test_a_wait_keeps_its_duration(fields: Any, duration: str, after_start: Any) -> None:
    assert after_start("wait", **fields).params("It") == {"for": duration}


def test_a_question_to_a_human_is_an_approval_with_message_and_fields(tried: Any) -> None:
    made = tried(
        {
            "s": ("start_trigger", "Start", {}),
            "n": ("wait", "Next", {}),
            "h": (
                "human_in_the_loop",
                "Ask",
                {
                    "builderData": [{"name": "sum", "type": "number", "value": "<start.sum>"}],
                    "notification": [{"type": "slack"}],
                    "inputFormat": [{"name": "ok", "type": "boolean", "description": "Fine?"}, {"name": "by", "type": "string"}],
                },
            ),
            "m": ("slack", "Say", {"text": "<ask.ok> <ask.submission.ok> <ask.submittedAt> <ask.url>"}),
        },
        [("s", "h"), ("h", "n", "source"), ("h", "m")],
    )
    assert made.params("Ask") == {
        "message": "Ask\nsum: <Start.sum>",
        "fields": {"ok": {"type": "boolean", "description": "Fine?"}},
    }
    assert made.node("Next")["after"] == "Ask.approved"
    assert made.params("Say")["args"]["text"] == "<Ask.ok> <Ask.ok> <Ask.at> "
    assert set(made.codes) >= {
        "sim_approval_answers",
        "sim_field_ignored",
        "sim_field_unreadable",
        "sim_output_without_equivalent",
    }


def test_variables_are_declared_typed_and_set(tried: Any) -> None:
    declared = {
        "v1": {"id": "v1", "name": "my count", "type": "number", "value": "3"},
        "v2": {"name": "list", "type": "array", "value": '["a"]'},
        "v3": {"name": "bad", "type": "number", "value": "many"},
    }
    assigned = [
        {"variableId": "v1", "variableName": "my count", "type": "number", "value": "<start.n>"},
        {"variableName": "list", "type": "array", "value": "[1]"},
        {"variableName": "other", "value": "x"},
    ]
    made = tried(
        {
            "s": ("starter", "Start", {}),
            "v": ("variables", "Set", {"variables": assigned}),
            "f": ("slack", "Say", {"text": "<variable.My Count> <variable.list[0]> <variable.nope>"}),
        },
        [("s", "v"), ("v", "f")],
        variables=declared,
    )
    assert made.document["variables"] == {"my_count": 3, "list": ["a"], "bad": None}
    assert made.params("Set") == {"variables": {"my_count": "<Start.n>", "list": [1]}}
    assert made.params("Say")["args"]["text"] == "<workflow.my_count> <workflow.list[0]> {{ '<' }}variable.nope>"
    assert set(made.codes) == {
        "sim_variable_unreadable",
        "sim_variable_unknown",
        "sim_unknown_reference",
        "sim_block_without_equivalent",
    }


def test_a_child_workflow_is_run_by_the_id_that_is_to_be_mended(after_start: Any) -> None:
    made = after_start("workflow_input", workflowId="0e5c-aa", inputMapping='{"a": "<start.a>"}')
    assert (made.node("It")["type"], made.params("It")) == ("workflow", {"workflow": "0e5c-aa", "inputs": {"a": "<Start.a>"}})
    assert made.codes == ["sim_child_workflow"]


def test_a_note_is_told_of_and_kept_in_the_description(tried: Any) -> None:
    made = tried({"s": ("starter", "Start", {}), "n": ("note", "Setup", {"content": "Connect <x.y> first"})})
    assert made.document["description"] == "Setup: Connect <x.y> first"
    assert made.codes == ["sim_note"]


def test_a_disabled_block_stays_disabled(tried: Any) -> None:
    blocks = {"s": ("starter", "Start", {}), "w": ("wait", "W", {}), "x": ("wait", "X", {})}
    made = tried(blocks, [("s", "w"), ("w", "x")], more={"w": {"enabled": False}})
    assert made.node("W")["enabled"] is False
    assert made.codes == ["sim_disabled_block"]


def test_a_disabled_block_with_several_exits_leaves_by_the_first(tried: Any) -> None:
    cases = '[{"id": "1", "title": "if", "value": "1 < 2"}, {"id": "2", "title": "else", "value": ""}]'
    blocks = {"s": ("starter", "Start", {}), "c": ("condition", "C", {"conditions": cases}), "x": ("wait", "X", {})}
    made = tried(blocks, [("s", "c"), ("c", "x", "condition-1")], more={"c": {"enabled": False}})
    exits = list(made.params("C")["cases"])
    assert made.node("C")["enabled"] == {"exit": exits[0]}


def test_retries_of_a_block_wait_the_same_time_each(tried: Any) -> None:
    blocks = {"s": ("starter", "Start", {}), "x": ("slack", "X", {}), "y": ("wait", "Y", {})}
    retry = {"retry": {"maxAttempts": 4, "waitMs": 250}}
    made = tried(blocks, [("s", "x"), ("x", "y")], more={"x": retry, "y": retry})
    assert made.node("X")["retry"] == {"attempts": 4, "backoff_ms": 250, "max_backoff_ms": 250}
    assert "retry" not in made.node("Y")


@pytest.mark.parametrize(
    ("sort", "fields"),
    [
        ("api", {"url": "not a url"}),
        ("api", {"url": "https://a.example", "headers": {"a b": "c"}}),
        ("agent", {"model": "m", "responseFormat": {"type": "no-type"}}),
    ],
)
def test_what_the_compiler_refuses_becomes_a_function_and_is_told(sort: str, fields: Any, after_start: Any) -> None:
    made = after_start(sort, **fields)
    assert made.node("It")["type"] == "function"
    assert "sim_block_refused" in made.codes
    assert made.params("It")["args"]["refused"] == fields


# -- triggers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "params"),
    [
        ({"scheduleType": "minutes", "minutesInterval": "15"}, {"cron": "*/15 * * * *"}),
        ({"scheduleType": "hourly", "hourlyMinute": "5"}, {"cron": "5 * * * *"}),
        ({"dailyTime": "08:30", "timezone": "Europe/Berlin"}, {"cron": "30 8 * * *", "timezone": "Europe/Berlin"}),
        ({"scheduleType": "weekly", "weeklyDay": "MON", "weeklyDayTime": "17:00"}, {"cron": "0 17 * * MON"}),
        ({"scheduleType": "monthly", "monthlyDay": "31", "monthlyTime": "00:00"}, {"cron": "0 0 31 * *"}),
        ({"scheduleType": "custom", "cronExpression": " 0  9 * * 1-5"}, {"cron": "0 9 * * 1-5"}),
    ],
)
def test_a_schedule_keeps_its_times(fields: Any, params: Any, tried: Any) -> None:
    made = tried({"t": ("schedule", "T", fields)})
    assert (made.node("T")["type"], made.params("T"), made.codes) == ("schedule", params, [])


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"dailyTime": "25:00"},
        {"scheduleType": "minutes", "minutesInterval": "90"},
        {"scheduleType": "custom", "cronExpression": "often"},
        {"dailyTime": "08:00", "timezone": "Mars/Olympus"},
        {"scheduleType": "monthly", "monthlyDay": "32", "monthlyTime": "00:00"},
    ],
)
def test_a_schedule_that_cannot_be_read_is_started_by_hand(fields: Any, tried: Any) -> None:
    made = tried({"t": ("schedule", "T", fields)})
    assert (made.node("T"), made.codes) == ({"type": "manual"}, ["sim_schedule_unreadable"])


def test_a_webhook_has_a_path_of_its_own_and_shows_its_token(tried: Any) -> None:
    blocks = {
        "a": ("generic_webhook", "In", {"requireAuth": True, "token": "{{HOOK}}"}),
        "b": ("webhook", "Open", {}),
        "f": ("slack", "Say", {"text": "<in.data.key>"}),
    }
    made = tried(blocks, [("a", "f"), ("b", "f")])
    assert made.params("In") == {"path": "/try-me/In", "method": "POST", "auth": {"bearer": "${HOOK}"}}
    assert made.params("Open")["auth"] == "none"
    assert made.params("Say")["args"]["text"] == "<In.body.data.key>"
    assert made.codes == ["sim_open_webhook", "sim_block_without_equivalent"]


def test_the_trigger_of_a_service_is_started_by_hand_and_keeps_its_payload(tried: Any) -> None:
    blocks = {
        "t": ("github_v2", "Hub", {"webhookSecret": "{{S}}", "triggerInstructions": "click"}),
        "f": ("slack", "Say", {"a": "<hub.pr.title>"}),
    }
    made = tried(blocks, [("t", "f")], more={"t": {"triggerMode": True}})
    assert made.node("Hub") == {"type": "manual"}
    assert made.params("Say")["args"] == {"a": "<Hub.pr.title>"}
    assert made.codes == ["sim_trigger_without_equivalent", "sim_field_ignored", "sim_block_without_equivalent"]


def test_declared_inputs_of_a_start_are_told(tried: Any) -> None:
    fields = {"inputFormat": [{"name": "email", "type": "string", "value": "x"}, {"name": "", "type": "string"}]}
    assert "email: string" in tried({"s": ("start_trigger", "Start", fields)}).messages("sim_input_format")
    assert tried({"s": ("start_trigger", "Start", {"inputFormat": [{"name": ""}]})}).codes == []
