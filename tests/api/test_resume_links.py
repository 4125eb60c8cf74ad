"""Resume links that are invalid, and those that are limited to an exit or a person."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from typing import Any

import pytest
from answer_page import ASKS, DAY_MS, HTML, JSON, Page, link_for

from stepless.runtime.access.tokens import Claims, Key, Signer

pytestmark = pytest.mark.anyio


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
