"""Signed resume tokens (docs/run/security.md#what-is-signed)."""

from __future__ import annotations

import hmac
import json
from base64 import urlsafe_b64encode
from hashlib import sha256
from string import ascii_letters
from typing import Any

import pytest

from stepless.errors import Forbidden, Gone
from stepless.runtime.access.tokens import Claims, Key, Signer, parse_keys

OLD, NEW = Key("old", b"0" * 32), Key("new", b"1" * 32)
CLAIMS = Claims("run_1", "w@l[2]", 1_000, exit="approved", approver="Ada ✓")


def test_a_token_gives_back_what_was_signed() -> None:
    assert Signer([NEW]).verify(Signer([NEW]).sign(CLAIMS), 999) == CLAIMS


def test_it_expires_at_its_instant() -> None:
    signer = Signer([NEW])
    with pytest.raises(Gone) as told:
        signer.verify(signer.sign(CLAIMS), 1_000)
    assert told.value.code == "token_expired"


def test_no_single_character_may_be_changed_added_or_left_out() -> None:
    signer = Signer([NEW])
    token = signer.sign(CLAIMS)
    for place, character in enumerate(token):
        other = ascii_letters[(ascii_letters.find(character) + 1) % len(ascii_letters)]
        before, after = token[:place], token[place + 1 :]
        for forged in (before + other + after, before + after, f"{before}!{character}{after}"):
            with pytest.raises(Forbidden):
                signer.verify(forged, 0)


@pytest.mark.parametrize("token", ["", ".", "a.b", "e30.", "é.é", "x" * 5_000, "bnVsbA.bnVsbA", "W10.W10", "Ww.Ww"])
def test_what_never_was_a_token_is_refused_without_a_hint(token: str) -> None:
    with pytest.raises(Forbidden) as told:
        Signer([NEW]).verify(token, 0)
    assert told.value.facts == {} and told.value.code == "invalid_token"


@pytest.mark.parametrize(
    "changed",
    [
        {"r": 1}, {"r": None}, {"r": ["run_1"]}, {"r": ""}, {"r": "\ud800"}, {"p": {}}, {"p": 3}, {"p": "\udfff"}, {"x": "1000"},
        {"x": None}, {"x": 1e3}, {"x": True}, {"x": [1]}, {"e": 1}, {"e": ["approved"]}, {"a": {"name": "Ada"}}, {"k": ["new"]},
        {"k": None},
    ],
)  # fmt: skip
def test_a_genuine_signature_under_odd_claims_is_refused_like_a_forgery(changed: dict[str, Any]) -> None:
    fields = {"k": "new", "r": "run_1", "p": "w", "x": 1_000, **changed}
    with pytest.raises(Forbidden) as told:
        Signer([NEW]).verify(signed(json.dumps(fields).encode()), 0)
    assert told.value.code == "invalid_token"


@pytest.mark.parametrize("body", [b"[]", b"null", b'"k"', b"7", b"{}", b"no JSON", b"\xff", b"[" * 100_000])
def test_a_genuine_signature_under_no_claims_is_refused(body: bytes) -> None:
    with pytest.raises(Forbidden):
        Signer([NEW]).verify(signed(body), 0)


def signed(body: bytes) -> str:
    """A token whose signature holds, whatever it says."""
    parts = (body, hmac.new(NEW.secret, body, sha256).digest())
    return ".".join(urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)


def test_an_expired_forgery_is_a_forgery() -> None:
    with pytest.raises(Forbidden):
        Signer([NEW]).verify(Signer([Key("new", b"guess")]).sign(CLAIMS), 10**15)


def test_after_a_rotation_old_links_hold_and_new_ones_are_signed_anew() -> None:
    before, during, after = Signer([OLD]), Signer([NEW, OLD]), Signer([NEW])
    assert during.verify(before.sign(CLAIMS), 0) == CLAIMS
    assert after.verify(during.sign(CLAIMS), 0) == CLAIMS
    with pytest.raises(Forbidden):
        after.verify(before.sign(CLAIMS), 0)


def test_a_secret_for_another_purpose_signs_no_token() -> None:
    signer = Signer([NEW])
    assert signer.derive("a") != signer.derive("b") == Signer([NEW, OLD]).derive("b")


@pytest.mark.parametrize(("text", "ids"), [
    ("", []), ("a:x", ["a"]), ("b:y, a:x", ["b", "a"]), ("a:x:y", ["a"]), ("a", []), (":x", []),
    ('{"b": "y", "a": "x"}', ["b", "a"]),
])  # fmt: skip
def test_keys_are_read_newest_first(text: str, ids: list[str]) -> None:
    assert [key.id for key in parse_keys(text)] == ids
