"""The page of a resume link: its question, its content, and what it permits a browser."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from typing import Any

import pytest
from answer_page import DAY_MS, HTML, JSON, Page, link_for

from stepless.api.pages.answer_page import document, form, headers
from stepless.model.texts.company import Company

pytestmark = pytest.mark.anyio


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
        assert "<h1>Pay 12 to Ada?</h1>" in text and "expired" in text and "The question is still open" in text
        assert Page(text).all("form") == []
    await door.stranger.post(open_link, json={"decision": "rejected", "by": "Grace"})
    text = (await door.stranger.get(link, headers=HTML)).text
    assert "Rejected" in text and "Grace" in text and "still open" not in text
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


DETAILS: list[dict[str, Any]] = [
    {"label": "Amount", "value": "<begin.amount>", "currency": "EUR"},
    {"label": "Order", "value": "A-17", "link": "https://shop.example/orders/A-17"},
    {"label": EVIL, "value": EVIL, "link": "javascript:alert(1)"},
    {"label": "At", "value": "2026-01-31T12:00:00Z", "format": "time"},
    {"value": f"**{EVIL}**\n- [x](javascript:alert(1))\n- [rules](https://shop.example/rules)", "format": "markdown"},
]


def detailed(door: Any) -> dict[str, Any]:
    with_ = {"message": "Pay?", "details": DETAILS, "asked_by": "Grace"}
    question = {"type": "approval", "after": "begin", "with": with_}
    return {**door.ASK, "name": "Payments", "nodes": {**door.ASK["nodes"], "question": question}}


async def test_the_page_says_what_is_decided_and_lets_one_script_format_it(door: Any) -> None:
    run_id = await door.start(detailed(door), {"text": "x", "amount": 1250.5})
    link = (await door.paused(run_id))["pauses"][0]["resume"]
    answer = await door.stranger.get(link, headers=HTML)
    page = Page(answer.text)
    assert page.all("data") == [{"class": "shown", "value": "1250.5", "data-currency": "EUR"}]
    assert page.all("time") == [{"class": "shown", "datetime": "2026-01-31T12:00:00Z"}]
    assert "1,250.50 EUR" in answer.text and "Payments · asked by Grace" in answer.text
    assert [one["href"] for one in page.all("a")] == ["https://shop.example/orders/A-17", "https://shop.example/rules"]
    assert all(one["rel"] == "noopener noreferrer" for one in page.all("a"))
    script = re.search(r"<script>(.*?)</script>", answer.text, re.DOTALL)
    assert script is not None and page.all("script") == [{}] and page.all("img") == []
    digest = b64encode(sha256(script[1].encode()).digest()).decode()
    policy = answer.headers["content-security-policy"]
    assert f"script-src 'sha256-{digest}';" in policy and "unsafe" not in policy
    said = (await door.stranger.get(link, headers=JSON)).json()
    assert (said["details"][0]["text"], said["details"][2]["link"], said["asked_by"]) == ("1,250.50 EUR", None, "Grace")


async def test_the_outcome_comes_first_and_offers_nothing_else(door: Any) -> None:
    run_id = await door.start(detailed(door), {"text": "x", "amount": 1})
    link = (await door.paused(run_id))["pauses"][0]["resume"]
    answer = await door.stranger.post(link, data={"decision": "approved", "by": "Ada"}, headers=HTML)
    assert answer.text.index("Thank you.") < answer.text.index("<h1>Pay?") < answer.text.index("You can close this page.")
    assert Page(answer.text).all("form") == Page(answer.text).all("button") == []


def test_the_page_has_the_name_the_logo_and_the_colour_of_the_company() -> None:
    company = Company("Acme & Sons", "https://acme.example/logo.svg", "#ffcc00")
    html = document("Pay?", ["<h1>Pay?</h1>"], company)
    assert "Acme &amp; Sons" in html and Page(html).all("img") == [{"src": company.logo, "alt": ""}]
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)
    assert style is not None and "color: #000000; background: #ffcc00" in style[1]
    digest = b64encode(sha256(style[1].encode()).digest()).decode()
    policy = headers(company, html)["content-security-policy"]
    assert f"style-src 'sha256-{digest}'" in policy and "img-src https://acme.example/logo.svg;" in policy
