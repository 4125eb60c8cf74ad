from __future__ import annotations

import asyncio
import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from html.parser import HTMLParser
from typing import Any

import pytest

from stepless.api.page import form
from stepless.errors import InvalidRequest
from stepless.limits import MAX_ANSWER_BYTES
from stepless.runtime.access.tokens import Claims, Key, Signer

pytestmark = pytest.mark.anyio

HTML = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
JSON = {"accept": "application/json"}
ASKS = {"accept": "application/json", "content-type": "application/json"}
DAY_MS = 86_400_000


class Page(HTMLParser):
    """The tags of a page, with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    @property
    def buttons(self) -> list[str | None]:
        """What the buttons that can be pressed say."""
        return [button["value"] for button in self.all("button") if "disabled" not in button]

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


async def link_for(door: Any, run_id: str, **claims: Any) -> str:
    now_ms = door.local.world.clock.now_ms()
    return "/resume/" + door.local.service.signer.sign(
        Claims(run_id, **{"pause": "question", "expires_ms": now_ms + DAY_MS, **claims})
    )


# -- looking ----------------------------------------------------------------------------------------------------------


async def test_the_page_asks_the_question_with_a_form(door: Any) -> None:
    _, link = await door.question()
    answer = await door.stranger.get(link, headers=HTML)
    page = Page(answer.text)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "Pay the bill?" in answer.text and "Ask a human" in answer.text
    assert page.all("form") == [{"method": "post"}]
    assert page.buttons == ["approved", "rejected"]
    assert [(field["type"], field["name"]) for field in page.all("input")] == [
        ("text", "answer.comment"),
        ("number", "answer.amount"),
        ("text", "by"),
    ]
    assert page.all("script") == [] and page.all("html") == [{"lang": "en"}]


async def test_the_enter_key_presses_no_button(door: Any) -> None:
    _, link = await door.question()
    first = Page((await door.stranger.get(link, headers=HTML)).text).all("button")[0]
    assert set(first) == {"disabled", "hidden"}  # a form sends itself by its first button, unless that is disabled


async def test_a_program_is_told_the_same_as_json(door: Any) -> None:
    _, link = await door.question()
    question = (await door.stranger.get(link, headers=JSON)).json()
    assert (question["message"], question["exits"], question["decided"]) == ("Pay the bill?", ["approved", "rejected"], None)
    assert set(question["fields"]) == {"comment", "amount"}


@pytest.mark.parametrize("accept", [HTML, JSON])
async def test_nothing_of_the_run_but_the_question_is_shown(door: Any, accept: dict[str, str]) -> None:
    run_id = await door.start(door.ASK, {"text": "the bill", "salary": "confidential"})
    link = (await door.paused(run_id))["pauses"][0]["resume"]
    answer = await door.stranger.get(link, headers=accept)
    assert "confidential" not in answer.text and run_id not in answer.text


@pytest.mark.parametrize("accept", [HTML, JSON])
async def test_the_page_may_load_run_and_frame_nothing(door: Any, accept: dict[str, str]) -> None:
    _, link = await door.question()
    headers = (await door.stranger.get(link, headers=accept)).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy and "form-action 'self'" in policy and "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy and "script-src" not in policy
    assert (headers["referrer-policy"], headers["x-frame-options"], headers["cache-control"]) == (
        "no-referrer",
        "DENY",
        "no-store",
    )
    assert headers["x-content-type-options"] == "nosniff"


async def test_the_style_is_the_one_that_the_policy_allows(door: Any) -> None:
    _, link = await door.question()
    answer = await door.stranger.get(link, headers=HTML)
    style = re.search(r"<style>(.*?)</style>", answer.text, re.DOTALL)
    assert style is not None
    digest = b64encode(sha256(style[1].encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in answer.headers["content-security-policy"]
    assert "prefers-color-scheme: dark" in style[1]


async def test_a_hundred_looks_decide_nothing(door: Any) -> None:
    run_id, link = await door.question()
    before = (await door.run(run_id))["sequence"]
    for method in ("GET", "HEAD", "GET"):
        answer = await door.stranger.request(method, link, headers={**HTML, "purpose": "prefetch"})
        assert answer.status_code == 200
    run = await door.run(run_id)
    assert (run["status"], run["sequence"]) == ("paused", before)
    assert door.local.world.store.get_signal(run_id, "resume", "question") is None


EVIL = "\"><script>alert(1)</script><img src=x onerror=alert(1)>'{{ 7*7 }}"


async def test_no_word_of_the_question_becomes_markup(door: Any) -> None:
    fields = {
        EVIL[:40]: {"type": "string", "title": EVIL, "description": EVIL, "default": EVIL},
        "pick": {"enum": [EVIL, 1], "default": EVIL},
        "long": {"type": "string", "maxLength": 900, "default": "</textarea>" + EVIL},
    }
    with_ = {"message": "Pay <begin.text>?", "fields": fields}
    document = {
        **door.ASK,
        "name": EVIL,
        "nodes": {**door.ASK["nodes"], "question": {"type": "approval", "label": EVIL, "after": "begin", "with": with_}},
    }
    _, link = await door.question(EVIL, document)
    for answer in (
        await door.stranger.get(link, headers=HTML),
        await door.stranger.post(link, data={"by": EVIL, "decision": EVIL}, headers=HTML),
    ):
        page = Page(answer.text)
        assert page.all("script") == page.all("img") == [] and "alert(1)" in answer.text
        assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    answer = await door.stranger.post(link, data={"by": EVIL, "decision": "approved"}, headers=HTML)
    assert answer.status_code == 200 and Page(answer.text).all("script") == []


def test_an_exit_is_no_markup_either() -> None:
    tags = Page(form([], [EVIL], EVIL, asks_who=True)).tags
    assert [tag for tag, _ in tags] == ["form", "button", "div", "label", "span", "input", "div", "button"]


# -- deciding ---------------------------------------------------------------------------------------------------------


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
    assert (set(output), output["by"]) == ({"decision", "by", "at"}, None)


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
    assert (refused.status_code, refused.json()["violations"]) == (422, ["there is no field `why`; the question asks for none"])
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


# -- links that do not hold -------------------------------------------------------------------------------------------


async def test_not_one_character_of_a_link_may_be_changed(door: Any) -> None:
    run_id, link = await door.question()
    token = link.removeprefix("/resume/")
    told = set()
    for place, character in enumerate(token):
        for other in {"A", "b", "-", "_", "."} - {character}:
            changed = token[:place] + other + token[place + 1 :]
            answer = await door.stranger.post(f"/resume/{changed}", content=b'{"decision": "approved"}', headers=ASKS)
            told.add((answer.status_code, answer.content))
    assert len(told) == 1 and {status for status, _ in told} == {403}
    assert (await door.run(run_id))["status"] == "paused"


def forged(claims: Mapping[str, Any]) -> str:
    return urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()


async def test_foreign_and_forged_links_are_told_nothing(door: Any) -> None:
    run_id, link = await door.question()
    token = link.removeprefix("/resume/")
    claims = Claims(run_id, "question", door.local.world.clock.now_ms() + DAY_MS)
    tokens = [
        Signer([Key("new", b"another-secret")]).sign(claims),
        Signer([Key("unknown", b"newest-secret")]).sign(claims),
        Signer([Key("new", b"another-secret")]).sign(Claims("run_none", "question", 0)),
        forged({"k": "new", "r": run_id, "p": "question", "x": 2**60}) + "." + token.partition(".")[2],
        token + "A", token + "=", token.replace(".", ".."), token.partition(".")[0], ".x", "x" * 3_000,
        urlsafe_b64encode(b"[" * 1_400).decode().rstrip("=") + ".AAAA",
        forged({"k": ["new"]}) + ".AAAA",
    ]  # fmt: skip
    told = set()
    for token in tokens:
        for answer in (
            await door.stranger.get(f"/resume/{token}", headers=JSON),
            await door.stranger.post(f"/resume/{token}", headers=JSON),
        ):
            told.add((answer.status_code, answer.content))
    assert len(told) == 1 and {status for status, _ in told} == {403}
    page = await door.stranger.get(f"/resume/{tokens[0]}", headers=HTML)
    assert page.status_code == 403 and run_id not in page.text and page.headers["cache-control"] == "no-store"


async def test_a_key_that_was_rotated_out_of_signing_still_opens(door: Any) -> None:
    run_id, _ = await door.question()
    old = Signer([Key("old", b"older-secret")]).sign(Claims(run_id, "question", door.local.world.clock.now_ms() + DAY_MS))
    assert (await door.stranger.get(f"/resume/{old}", headers=JSON)).status_code == 200


@pytest.mark.parametrize("accept", [HTML, JSON])
async def test_an_expired_link_is_gone(door: Any, accept: dict[str, str]) -> None:
    run_id, _ = await door.question()
    link = await link_for(door, run_id, expires_ms=door.local.world.clock.now_ms() - 1)
    for answer in (await door.stranger.get(link, headers=accept), await door.stranger.post(link, headers=accept)):
        assert answer.status_code == 410
        assert accept is HTML or answer.json()["code"] == "token_expired"


@pytest.mark.parametrize("accept", [HTML, JSON])
async def test_a_link_into_a_run_that_is_over_says_so(door: Any, accept: dict[str, str]) -> None:
    run_id, link = await door.question()
    await door.ask.post(f"/runs/{run_id}/cancel")
    await door.end(run_id)
    for answer in (await door.stranger.get(link, headers=accept), await door.stranger.post(link, headers=accept)):
        assert answer.status_code == 410
        assert accept is HTML or answer.json()["code"] == "run_ended"


async def test_a_link_for_one_exit_and_one_person_leaves_no_choice(door: Any) -> None:
    run_id, _ = await door.question()
    link = await link_for(door, run_id, exit="approved", approver="ada@example.com")
    page = Page((await door.stranger.get(link, headers=HTML)).text)
    assert page.buttons == ["approved"]
    assert "by" not in [field["name"] for field in page.all("input")]
    assert (await door.stranger.post(link, json={"decision": "rejected"})).status_code == 422
    decided = (await door.stranger.post(link, json={"by": "mallory"})).json()
    assert (decided["decision"], decided["by"]) == ("approved", "ada@example.com")


async def test_a_callback_is_answered_by_another_system(door: Any) -> None:
    document = {
        "id": "calls",
        "nodes": {
            "begin": {"type": "manual"},
            "wait": {"type": "callback", "after": "begin"},
            "got": {"type": "transform", "after": "wait", "with": {"value": "<wait>"}},
        },
    }
    run_id, link = await door.question(document=document)
    page = Page((await door.stranger.get(link, headers=HTML)).text)
    assert page.buttons == ["source"]
    assert (await door.stranger.post(link, json={"answer": {"job": 7}})).status_code == 200
    assert (await door.end(run_id))["outputs"] == {"got": {"job": 7}}


# -- what people see --------------------------------------------------------------------------------------------------

BOUNDED: dict[str, Any] = {
    "amount": {"type": "integer", "exclusiveMinimum": 0, "maximum": 500, "multipleOf": 5},
    "rate": {"type": "number", "minimum": 0.5, "exclusiveMaximum": 2},
    "code": {"type": "string", "minLength": 2, "maxLength": 4, "pattern": "^[A-Z]", "description": "As on the letter"},
    "why": {"type": "string", "minLength": 3, "maxLength": 900},
    "sure": {"type": "boolean", "title": "Are you sure?"},
}
BOUNDED_ASK: dict[str, Any] = {
    "id": "bounded",
    "nodes": {
        "begin": {"type": "manual"},
        "question": {"type": "approval", "label": "Ask a human", "after": "begin",
                     "with": {"message": "Pay 12 to Ada?\nIt is the third bill.", "fields": BOUNDED}},
    },
}  # fmt: skip


async def test_the_question_is_the_heading_and_the_title(door: Any) -> None:
    _, link = await door.question(document=BOUNDED_ASK)
    text = (await door.stranger.get(link, headers=HTML)).text
    assert "<h1>Pay 12 to Ada?</h1>" in text and "<title>Pay 12 to Ada?</title>" in text
    assert "It is the third bill." in text and "Ask a human" in text


async def test_fields_carry_their_bounds(door: Any) -> None:
    _, link = await door.question(document=BOUNDED_ASK)
    page = Page((await door.stranger.get(link, headers=HTML)).text)
    inputs = {field["name"]: field for field in (*page.all("input"), *page.all("textarea"))}
    kept = ("min", "max", "step", "minlength", "maxlength", "pattern")
    bounds = {name: {key: value for key, value in field.items() if key in kept} for name, field in inputs.items()}
    assert bounds == {
        "answer.amount": {"min": "1", "max": "500", "step": "5"},
        "answer.rate": {"min": "0.5", "max": "2", "step": "any"},
        "answer.code": {"minlength": "2", "maxlength": "4", "pattern": ".*(?:^[A-Z]).*"},
        "answer.why": {"minlength": "3", "maxlength": "900"},
        "answer.sure": {},
        "by": {"maxlength": "200"},
    }
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {label["for"] for label in page.all("label")} == {field["id"] for field in inputs.values()}


async def test_what_is_wrong_stands_beside_its_field(door: Any) -> None:
    _, link = await door.question(document=BOUNDED_ASK)
    form = {"answer.amount": "0", "answer.code": "Ab", "answer.why": "x", "decision": "approved"}
    answer = await door.stranger.post(link, data=form, headers=HTML)
    page = Page(answer.text)
    fields = {field["name"]: field for field in (*page.all("input"), *page.all("textarea"))}
    assert [name for name, field in fields.items() if field.get("aria-invalid") == "true"] == ["answer.amount", "answer.why"]
    told = dict(re.findall(r'<p class="fault" id="([^"]+)">([^<]+)</p>', answer.text))
    for name in ("answer.amount", "answer.why"):
        (fault,) = [id for id in str(fields[name]["aria-describedby"]).split() if id in told]
        assert told.pop(fault)
    assert told == {}
    assert fields["answer.code"]["aria-describedby"] == f"{fields['answer.code']['id']}-hint"


async def test_an_answer_is_thanked_for_and_shown(door: Any) -> None:
    _, link = await door.question(document=BOUNDED_ASK)
    form = {"answer.amount": "15", "answer.why": "<b>because</b>", "answer.sure": "true", "by": "Ada", "decision": "approved"}
    text = (await door.stranger.post(link, data=form, headers=HTML)).text
    assert "Thank you" in text and "Approved" in text and "Ada" in text and "<h1>Pay 12 to Ada?</h1>" in text
    assert re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", text) == [
        ("amount", "15"), ("why", "&lt;b&gt;because&lt;/b&gt;"), ("Are you sure?", "Yes")
    ]  # fmt: skip
    again = (await door.stranger.get(link, headers=HTML)).text
    assert "Approved" in again and "Ada" in again and "Thank you" not in again


async def test_an_expired_link_says_what_it_was_about_and_what_became_of_it(door: Any) -> None:
    run_id, open_link = await door.question(document=BOUNDED_ASK)
    now_ms = door.local.world.clock.now_ms()
    link = await link_for(door, run_id, expires_ms=now_ms - DAY_MS)
    for method in ("GET", "POST"):
        text = (await door.stranger.request(method, link, headers=HTML)).text
        assert "<h1>Pay 12 to Ada?</h1>" in text and "expired" in text and "Nobody has answered yet" in text
        assert Page(text).all("form") == []
    await door.stranger.post(open_link, json={"decision": "rejected", "by": "Grace"})
    text = (await door.stranger.get(link, headers=HTML)).text
    assert "Rejected" in text and "Grace" in text and "Nobody has answered" not in text
    problem = (await door.stranger.get(link, headers=JSON)).json()
    assert (problem["code"], problem["first"]["decision"], problem["first"]["by"]) == ("token_expired", "rejected", "Grace")


async def test_an_expired_link_is_judged_before_what_is_sent_to_it(door: Any) -> None:
    run_id, _ = await door.question()
    link = await link_for(door, run_id, expires_ms=door.local.world.clock.now_ms() - 1)
    answer = await door.stranger.post(link, json={"nonsense": 1})
    assert (answer.status_code, answer.json()["code"]) == (410, "token_expired")


async def test_a_link_into_a_run_that_is_over_says_what_it_was_about_and_since_when(door: Any) -> None:
    run_id, link = await door.question(document=BOUNDED_ASK)
    await door.ask.post(f"/runs/{run_id}/cancel")
    await door.end(run_id)
    text = (await door.stranger.get(link, headers=HTML)).text
    assert "<h1>Pay 12 to Ada?</h1>" in text and "This was not answered" in text and "<time datetime=" in text


def _luminance(colour: str) -> float:
    digits = colour * 2 if len(colour) == 3 else colour
    parts = [int(digits[start : start + 2], 16) / 255 for start in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
async def test_borders_and_words_can_be_seen(door: Any, dark: bool) -> None:
    _, link = await door.question()
    style = (await door.stranger.get(link, headers=HTML)).text.partition("<style>")[2]
    colours = [dict(re.findall(r"--(\w+): #([0-9a-f]+)", block)) for block in re.findall(r":root \{(.*?)\}", style, re.DOTALL)]
    found = {**colours[0], **(colours[1] if dark else {})}
    small = {name: _contrast(found[name], found["paper"]) for name in ("line", "accent", "alarm")}
    words = {name: _contrast(found[name], found["paper"]) for name in ("ink", "quiet", "alarm", "accent")}
    assert min(small.values()) >= 3 and min(words.values()) >= 4.5
