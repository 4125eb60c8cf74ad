from __future__ import annotations

import json

import pytest

from stepless.api import replies
from stepless.limits import MAX_PAGE_BYTES


def test_half_a_character_goes_out_as_its_escape() -> None:
    value = {"cut \ud83d": ["ä\ud83d"]}
    data = replies.encode(value)
    assert data == b'{"cut \\ud83d":["\xc3\xa4\\ud83d"]}' and json.loads(data) == value


def test_a_page_holds_at_least_one_item_and_then_no_more_than_fit() -> None:
    half = "x" * (MAX_PAGE_BYTES // 2 - 3_000)
    assert len(replies.fitting([half * 3, half], lambda item: item)) == 1
    assert len(replies.fitting([half, half, half], lambda item: item)) == 2
    assert replies.fitting([], lambda item: item) == []


@pytest.mark.parametrize("encoded", [[], [b"1"], [b"1", b"2"]])
def test_a_page_is_json(encoded: list[bytes]) -> None:
    body = replies.page("items", encoded, cursor=None, ended=True).body
    assert json.loads(bytes(body)) == {"items": [int(item) for item in encoded], "cursor": None, "ended": True}
