"""Answers: what decides a pause, what does not, and the response to each."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest
from answer_page import HTML, JSON, Page

from stepless.errors import InvalidRequest
from stepless.limits import MAX_ANSWER_BYTES

pytestmark = pytest.mark.anyio


async def test_a_form_decides_and_shows_what_was_decided_and_by_whom(door: Any) -> None:
    run_id, link = await door.question()
    form = {"answer.comment": "fine", "answer.amount": "12", "by": "Ada", "decision": "approved"}
    answer = await door.stranger.post(link, data=form, headers=HTML)
    assert answer.status_code == 200 and "Approved" in answer.text and "Ada" in answer.text
    assert Page(answer.text).all("form") == []
    output = (await door.end(run_id))["outputs"]["pay"]
    assert (output["comment"], output["amount"], output["by"], output["decision"]) == ("fine", 12, "Ada", "approved")
    again = await door.stranger.get(link, headers=HTML)
    assert again.status_code == 200 and "Approved" in again.text and Page(again.text).all("form") == []
    assert "Pay the bill?" in again.text  # what was asked stays to be seen


async def test_a_program_decides_with_json(door: Any) -> None:
    run_id, link = await door.question()
    answer = await door.stranger.post(link, json={"decision": "rejected", "answer": {"comment": "no"}, "by": "bot"})
    decided = answer.json()
    assert (answer.status_code, decided["decision"], decided["by"], decided["answer"]) == (
        200,
        "rejected",
        "bot",
        {"comment": "no"},
    )
    assert (await door.end(run_id))["outputs"]["deny"]["comment"] == "no"
    assert (await door.stranger.get(link, headers=JSON)).json()["decided"] == decided


async def test_fields_left_empty_are_left_out(door: Any) -> None:
    run_id, link = await door.question()
    await door.stranger.post(
        link, data={"answer.comment": "", "answer.amount": "", "by": " ", "decision": "approved"}, headers=HTML
    )
    output = (await door.end(run_id))["outputs"]["pay"]
    assert set(output) == {"approved", "decision", "by", "at"} and output["by"].startswith("configured key sha256:")


@pytest.mark.parametrize("html", [False, True])
async def test_of_twenty_answers_at_once_one_decides_and_all_are_told_the_same(door: Any, html: bool) -> None:
    run_id, link = await door.question()

    async def decide(number: int) -> Any:
        decision, by = ("approved", "rejected")[number % 2], f"person-{number}"
        if html:
            return await door.stranger.post(link, data={"decision": decision, "by": by}, headers=HTML)
        return await door.stranger.post(link, json={"decision": decision, "by": by})

    answers = await asyncio.gather(*map(decide, range(20)))
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 19
    winner = next(answer for answer in answers if answer.status_code == 200)
    run = await door.end(run_id)
    (output,) = run["outputs"].values()
    for answer in answers:
        if html:
            assert set(re.findall(r"person-\d+", answer.text)) == {output["by"]}
        else:
            first = answer.json() if answer is winner else answer.json()["first"]
            assert (first["by"], first["decision"]) == (output["by"], output["decision"])
            assert answer is winner or answer.json()["code"] == "already_decided"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"decision": "maybe"}, "answer_invalid"),
        ({"decision": "timeout"}, "answer_invalid"),
        ({}, "answer_invalid"),
        ({"decision": "approved", "answer": {"amount": "twelve"}}, "answer_invalid"),
        ({"decision": "approved", "answer": {"amount": 0}}, "answer_invalid"),
        ({"decision": "approved", "answer": [1]}, "answer_invalid"),
        ({"decision": "approved", "answer": {"comment": "x" * 21}}, "answer_invalid"),
        ({"decision": "approved", "answer": {"coment": "fine"}}, "answer_invalid"),
        ({"decision": "approved", "answer": {"decision": "rejected"}}, "answer_invalid"),
        ({"decision": "approved", "extra": 1}, "invalid_request"),
        ({"decision": "approved", "by": "x" * 201}, "invalid_request"),
        ([], "invalid_request"),
    ],
)
async def test_an_answer_that_does_not_fit_leaves_the_question_open(door: Any, body: Any, code: str) -> None:
    run_id, link = await door.question()
    answer = await door.stranger.post(link, json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert answer.json()["violations"]
    assert (await door.run(run_id))["status"] == "paused"
    assert (await door.stranger.post(link, json={"decision": "approved"})).status_code == 200


async def test_a_form_that_does_not_fit_comes_back_as_it_was_filled_in(door: Any) -> None:
    _, link = await door.question()
    answer = await door.stranger.post(
        link, data={"answer.comment": "hello", "answer.amount": "0", "by": "Ada", "decision": "approved"}, headers=HTML
    )
    page = Page(answer.text)
    assert answer.status_code == 422 and 'role="alert"' in answer.text
    assert [field["value"] for field in page.all("input")] == ["hello", "0", "Ada"]
    assert page.buttons == ["approved", "rejected"]


@pytest.mark.parametrize(("given", "told"), [
    ({"coment": "fine"}, "there is no field `coment`. Did you mean `comment`?"),
    ({"zip": 1}, "there is no field `zip`. Known fields are `comment`, `amount`."),
])  # fmt: skip
async def test_a_field_that_was_not_asked_for_is_refused_with_the_nearest_one(door: Any, given: Any, told: str) -> None:
    run_id, link = await door.question()
    by_link = await door.stranger.post(link, json={"decision": "approved", "answer": given})
    assert (by_link.status_code, by_link.json()["code"], by_link.json()["violations"]) == (422, "answer_invalid", [told])
    with pytest.raises(InvalidRequest) as trusted:
        door.local.service.answer_pause(run_id, "question", "approved", given)
    assert trusted.value.facts["violations"] == [told]
    form = {f"answer.{name}": "1" for name in given} | {"decision": "approved"}
    as_form = await door.stranger.post(link, data=form, headers=JSON)
    assert as_form.status_code == 422 and told in as_form.json()["detail"]
    assert (await door.run(run_id))["status"] == "paused"


async def test_a_question_without_fields_takes_none_and_a_callback_without_fields_takes_any(door: Any) -> None:
    def asked(node: dict[str, Any]) -> dict[str, Any]:
        return {"id": "plain", "nodes": {"question": node, "z": {"type": "end", "after": "question.source"}}} if (
            node["type"] == "callback"
        ) else {"id": "plain", "nodes": {"question": node}}

    _, link = await door.question(document=asked({"type": "approval", "with": {"message": "Go on?"}}))
    refused = await door.stranger.post(link, json={"decision": "approved", "answer": {"why": "x"}})
    assert (refused.status_code, refused.json()["violations"]) == (422, ["there is no field `why`; the question has no fields"])
    _, link = await door.question(document=asked({"type": "callback"}))
    assert (await door.stranger.post(link, json={"answer": {"why": "x"}})).status_code == 200


@pytest.mark.parametrize(
    ("content", "kind", "status", "code"),
    [
        ("{", "application/json", 400, "invalid_json"),
        ('{"decision": "approved", "answer": {"comment": "\\ud83d"}}', "application/json", 400, "invalid_json"),
        ("decision=approved", "text/plain", 415, "unsupported_media_type"),
        ("decision=approved", "", 415, "unsupported_media_type"),
        ("decision=approved&answer.other=1", "application/x-www-form-urlencoded", 422, "invalid_request"),
        ("decision=approved&other=1", "application/x-www-form-urlencoded", 422, "invalid_request"),
        ("&".join(f"answer.f{n}=1" for n in range(200)), "application/x-www-form-urlencoded", 400, "invalid_form"),
        (b"decision=\xff", "application/x-www-form-urlencoded", 400, "invalid_form"),
        (
            json.dumps({"decision": "approved", "answer": {"more": "x" * MAX_ANSWER_BYTES}}),
            "application/json",
            413,
            "answer_too_large",
        ),
        (json.dumps({"decision": "approved", "answer": {"more": "x" * 300_000}}), "application/json", 413, "body_too_large"),
    ],
)
async def test_a_body_that_cannot_be_read_decides_nothing(door: Any, content: Any, kind: str, status: int, code: str) -> None:
    run_id, link = await door.question()
    answer = await door.stranger.post(link, content=content, headers={"accept": "application/json", "content-type": kind})
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert (await door.run(run_id))["status"] == "paused"


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH"])
async def test_only_a_post_decides(door: Any, method: str) -> None:
    _, link = await door.question()
    answer = await door.stranger.request(method, link)
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD, POST")
