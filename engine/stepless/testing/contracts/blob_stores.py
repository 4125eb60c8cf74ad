"""The contract of blob stores."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from stepless.ports import Blobs


@pytest.mark.parametrize("data", [b"", b"\x00\xff", b"x" * 6_000_000])
def test_a_value_comes_back_by_the_hash_of_its_bytes(blobs: Blobs, data: bytes) -> None:
    key = blobs.put(data)
    assert key == hashlib.sha256(data).hexdigest() == blobs.put(data)
    assert blobs.get(key) == data


def test_an_unknown_key_answers_nothing(blobs: Blobs) -> None:
    assert blobs.get("none") is None


def test_the_same_value_put_by_many_at_once_is_one(blobs: Blobs, race: Any) -> None:
    assert len(set(race(lambda i: blobs.put(b"same")))) == 1
