"""Fingerprints: what makes two failures the same."""

from __future__ import annotations

import pytest

from stepless.core.history.fingerprint import blanked, fingerprint
from stepless.limits import MAX_FINGERPRINT_CHARACTERS


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("503 from risk for order o-12", "… from risk for order …"),
        ("cannot read 'a b c' of \"x\"", "cannot read … of …"),
        ("user can't pay, it's late", "user can't pay, it's late"),
        ("no such key: 9f2c6a1d-4b7e-8035-c1a9-e64f7d20b853", "no such key: …"),
        ("no such key: deadbeefcafe", "no such key: …"),
        ("defaced", "defaced"),
        ("run_5c9b3c607606162f02b7 has ended", "… has ended"),
        ("took 1,240.5 ms of -3 %", "took … ms of … %"),
        ("expected “tea” but got «milk»", "expected … but got …"),
        ("the value 'is cut before its end…", "the value …"),
        ("items 1, 2, 3 are gone", "items … are gone"),
        ("two\n  lines", "two lines"),
        ("", ""),
    ],
)
def test_what_differs_from_run_to_run_is_blanked(message: str, shown: str) -> None:
    assert blanked(message) == shown


@pytest.mark.parametrize("number", ["7", "17", "123456789", "3.14", "-2"])
def test_numbers_of_any_length_give_one_fingerprint(number: str) -> None:
    base = fingerprint("w", "n", "c", "order 1 was refused")
    assert fingerprint("w", "n", "c", f"order {number} was refused") == base


def test_a_fingerprint_tells_workflow_node_code_and_words_apart() -> None:
    parts = [tuple(each) for each in ("wncm", "vncm", "wocm", "wndm", "wncl")] + [("wn", "", "c", "m")]
    made = [fingerprint(*each) for each in parts]
    assert len(set(made)) == len(parts)
    assert all(len(each) == 16 and set(each) <= set("0123456789abcdef") for each in made)


def test_a_message_that_was_cut_has_the_fingerprint_of_the_whole() -> None:
    words = "the provider has refused this request since the account is not allowed to read the resource at this address now "
    long = f"order 1234567890: {words}" * 2
    cut = long[:159] + "…"
    assert fingerprint("w", "n", "c", cut) == fingerprint("w", "n", "c", long)
    assert len(blanked(long)) <= MAX_FINGERPRINT_CHARACTERS


def test_any_text_has_a_fingerprint() -> None:
    for message in ("\ud800", "\0", "'" * 160, "“" * 160, "…" * 160, "1" * 10_000, "a-" * 5_000):
        assert len(fingerprint("w", "n", "c", message)) == 16
