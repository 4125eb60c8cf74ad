"""Tests the contract of blob stores."""

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
    key = blobs.put(data, "run_1")
    assert key == f"run_1/{hashlib.sha256(data).hexdigest()}" == blobs.put(data, "run_1")
    assert blobs.get(key) == data


def test_an_unknown_key_answers_nothing(blobs: Blobs) -> None:
    assert blobs.get("none") is None


def test_the_same_value_put_by_many_at_once_is_one(blobs: Blobs, race: Any) -> None:
    assert len(set(race(lambda i: blobs.put(b"same")))) == 1


def test_the_values_of_one_run_are_erased_and_no_others(blobs: Blobs) -> None:
    kept = [blobs.put(b"same"), blobs.put(b"same", "run_12"), blobs.put(b"same", "run_"), blobs.put(b"same", "run_1x")]
    gone = [blobs.put(data, "run_1") for data in (b"same", b"other")]
    for _ in range(2):
        blobs.erase("run_1")
        assert [blobs.get(key) for key in gone] == [None, None]
        assert [blobs.get(key) for key in kept] == [b"same"] * 4
    assert blobs.get(blobs.put(b"same", "run_1")) == b"same"  # it is stored again, not taken for known


def test_a_run_with_many_values_is_erased_whole(blobs: Blobs) -> None:
    keys = [blobs.put(str(number).encode(), "run_1") for number in range(1_100)]
    blobs.erase("run_1")
    assert {blobs.get(key) for key in (keys[0], keys[500], keys[-1])} == {None}


def test_values_without_a_run_are_listed_and_forgotten_and_no_others(blobs: Blobs) -> None:
    kept = [blobs.put(b"same", "run_1"), blobs.put(b"same", "abc")]
    shared = sorted(blobs.put(str(number).encode()) for number in range(40))
    assert list(blobs.list_shared()) == shared
    assert list(blobs.list_shared(limit=7)) == shared[:7]
    pages, after = list[str](), ""
    while page := blobs.list_shared(after, limit=7):
        pages, after = [*pages, *page], page[-1]
    assert pages == shared
    for _ in range(2):
        blobs.forget(shared[:-1])
    assert [blobs.get(key) for key in shared[:-1]] == [None] * 39
    assert list(blobs.list_shared()) == shared[-1:]
    blobs.forget([])
    for wrong in (kept[0], "run_1", "", shared[0].upper(), f"{shared[0]}/", "../x"):
        with pytest.raises(ValueError, match="shared"):
            blobs.forget([wrong])
    assert [blobs.get(key) for key in kept] == [b"same"] * 2
    assert blobs.get(blobs.put(b"0")) == b"0"  # it is stored again, not taken for known
