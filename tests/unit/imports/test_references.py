"""References, environment variables, text that only looks like either, and secrets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stepless.imports.sim import convert
from stepless.testing import simulate

AGENT = ("agent", "My Agent", {"model": "gpt-4o"})
FORMAT = {"schema": {"type": "object", "properties": {"row": {}, "content": {}}}}
KEY = "sk-proj-" + "a1B2" * 8


@pytest.fixture
def read(tried: Any) -> Any:
    """What a text becomes behind a start, an agent, a structured agent, an api block, code and a condition."""
    blocks = {
        "s": ("start_trigger", "Start", {}),
        "a": AGENT,
        "b": ("agent", "Form", {"model": "m", "responseFormat": FORMAT}),
        "c": ("api", "Call", {"url": "https://a.example"}),
        "f": ("function", "Code", {"code": "x"}),
        "k": ("condition", "Check", {"conditions": [{"id": "e", "title": "else"}]}),
        "q": ("slack", "Beside", {}),
    }
    edges = [("s", "a"), ("a", "b"), ("b", "c"), ("c", "f"), ("f", "k"), ("k", "z", "condition-e"), ("s", "q")]

    def make(text: Any) -> tuple[Any, list[str]]:
        made = tried({**blocks, "z": ("slack", "Z", {"text": text})}, edges)
        noise = ("sim_block_without_equivalent", "sim_code_kept_as_text")
        return made.params("Z")["args"]["text"], [code for code in made.codes if code not in noise]

    return make


@pytest.mark.parametrize(
    ("there", "here"),
    [
        ("<start.a.b>", "<Start.a.b>"),
        ("x <START.a[0].b> y", "x <Start.a[0].b> y"),
        ("<my agent.content>", "<My_Agent.text>"),
        ("<myagent.tokens.prompt>", "<My_Agent.usage.input_tokens>"),
        ("<form.row>", "<Form.object.row>"),
        ("<form.content>", "<Form.object.content>"),
        ("<form.tokens.completion>", "<Form.usage.output_tokens>"),
        ("<call.data.id>", "<Call.body.id>"),
        ("<call.status>", "<Call.status>"),
        ("<code.result.x>", "<Code.x>"),
        ("<code.result>", "<Code>"),
        ("<call.error>", "<Call.error.message>"),
        ("<check.result.x>", "<Code.x>"),
        ("{{KEY}} {{ OTHER }}", "${KEY} ${OTHER}"),
        ("<start.first name.x>", '{{ <Start>["first name"]["x"] }}'),
        ("a <b> <div> </p> 1 < 2 > 0 <= x", "a <b> <div> </p> 1 < 2 > 0 <= x"),
        ("${x} ${ x }", "{{ '$' }}{x} ${ x }"),
        ("{{#if}}", "{{ '{{' }}#if}}"),
        ("<Start> <check>", "<Start> <Code>"),
        ({"a": ["<start.x>"]}, {"a": ["<Start.x>"]}),
    ],
)
def test_a_reference_reads_the_same_here(there: Any, here: Any, read: Any) -> None:
    assert read(there) == (here, [])


@pytest.mark.parametrize(
    ("there", "here", "code"),
    [
        ("<nobody.x>", "{{ '<' }}nobody.x>", "sim_unknown_reference"),
        ("<loop.index>", "{{ '<' }}loop.index>", "sim_reference_outside_container"),
        ("<variable.x>", "{{ '<' }}variable.x>", "sim_unknown_reference"),
        ("<beside.ts>", None, "sim_reference_not_upstream"),
        ("a <beside.ts> b", "a  b", "sim_reference_not_upstream"),
        ("<z.x>", None, "sim_reference_not_upstream"),
        ("<code.stdout>", None, "sim_output_without_equivalent"),
        ("<myagent.model>", None, "sim_output_without_equivalent"),
        ("<check.selectedPath>", None, "sim_output_without_equivalent"),
    ],
)
def test_what_reads_nothing_stays_text_or_is_empty_as_there_and_is_told(there: str, here: Any, code: str, read: Any) -> None:
    assert read(there) == (here, [code])


@pytest.mark.parametrize(
    "text", ["a<b.c>d", "${x}", "{{#if x}}{{/if}}", "<x> {{", "}} <q.w.e> ${Q}", "{{{a}}}", "<input.x> <run.id>"]
)
def test_text_that_looks_like_a_reference_here_is_text(text: str, read: Any, tried: Any) -> None:
    made = tried({"s": ("starter", "Start", {}), "z": ("response", "Z", {"data": text, "dataMode": "json"})}, [("s", "z")])
    assert simulate(made.document).outputs == text


def test_hostile_texts_take_no_time(read: Any) -> None:
    for text in (
        "<" * 10_000,
        "<a.b" * 5_000,
        "<beside.x>" * 2_000,
        "{{" * 10_000,
        "${" * 10_000,
        "<" + "a " * 10_000,
        "eyJ-" * 5_000,
        "sk-" * 5_000,
    ):
        read(text)


# -- secrets ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"apiKey": "abc12345"}, "API_APIKEY"),
        ({"text": f"use {KEY} now"}, None),
        ({"botToken": "xoxb-1234567890-abc"}, None),
        ({"manualCredential": "9XZ3B8KD"}, None),
        ({"params": {"password": "hunter2!"}}, None),
        ({"tools": json.dumps({"apiKey": "abcdefgh1"})}, None),
        ({"url": "https://ann:hunter22@a.example/x?api_key=abcdef123456"}, None),
        ({"code": "const password = 'hunter22';"}, None),
        ({"headers": [{"cells": {"Key": "Authorization", "Value": "Basic abcdef"}}]}, None),
        ({"pem": "-----BEGIN PRIVATE KEY-----\nMII\n"}, None),
        ({"hook": "https://hooks.slack.com/services/T000/B000/abcdefgh"}, None),
        ({"x": "AKIA" + "ABCD1234" * 2}, None),
    ],
)
def test_a_secret_is_never_copied(fields: Any, name: str | None, after_start: Any) -> None:
    made = after_start("slack", "Api", **fields)
    assert "sim_secret" in made.codes
    everything = json.dumps(made.document) + "".join(map(str, made.imported.findings))
    for secret in (
        "abc12345",
        KEY,
        "xoxb-1234567890-abc",
        "9XZ3B8KD",
        "hunter2",
        "abcdefgh",
        "abcdef123456",
        "MII",
        "ABCD1234",
        "Basic abcdef",
    ):
        assert secret not in everything
    assert made.document["env"] == ([name] if name else made.document["env"])


@pytest.mark.parametrize(
    "fields",
    [
        {"apiKey": "{{KEY}}"},
        {"authorization": "Bearer <start.t>"},
        {"maxTokens": "4000"},
        {"authMethod": "oauth"},
        {"pageToken": ""},
        {"text": "the task-force asked for a token"},
        {"keyword": "secretary"},
    ],
)
def test_what_only_sounds_like_a_secret_is_kept(fields: Any, after_start: Any) -> None:
    assert "sim_secret" not in after_start("slack", **fields).codes


def test_the_same_secret_has_the_same_name_everywhere(after_start: Any) -> None:
    made = after_start("slack", "Say", apiKey="abc12345", other={"apiKey": "abc12345"}, token="different1")
    assert made.document["env"] == ["SAY_APIKEY", "SAY_TOKEN"]


def test_secrets_in_variables_and_in_the_description_are_replaced_too() -> None:
    state = {
        "blocks": {"s": {"type": "starter", "name": "S"}},
        "edges": [],
        "metadata": {"description": f"key {KEY}"},
        "variables": [{"name": "password", "value": "hunter22"}],
    }
    imported = convert({"state": state})
    assert KEY not in json.dumps(imported.document)
    assert "hunter22" not in json.dumps(imported.document)
