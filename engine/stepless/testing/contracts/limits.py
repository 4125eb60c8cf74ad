"""Tests the contract of claims and lines, which limits per key need."""

from __future__ import annotations

from typing import Any

import pytest

from stepless.ports import Store


@pytest.mark.parametrize(
    ("kept", "former", "now_ms", "replaced"),
    [
        (None, None, 0, True),
        (None, b"one", 0, False),
        (b"one", b"one", 0, True),
        (b"one", b"one", 99, True),
        (b"one", b"one", 100, False),  # it has expired: there is none
        (b"one", None, 99, False),
        (b"one", None, 100, True),
        (b"one", b"two", 0, False),
        (b"", None, 0, False),
        (b"", b"", 0, True),
    ],
)
def test_a_claim_is_replaced_only_by_those_who_know_it(
    store: Store, kept: bytes | None, former: bytes | None, now_ms: int, replaced: bool
) -> None:
    if kept is not None:
        store.claim("k", kept, 0, expires_ms=100)
    assert store.replace_claim("k", former, b"new", now_ms, 500) is replaced
    assert store.get_claim("k", 200) == (b"new" if replaced else None)
    assert store.get_claim("k", 500) is None


def test_a_claim_is_replaced_once_for_ever_or_until_it_expires(store: Store) -> None:
    store.claim("k", b"one", 0, 100)
    assert store.replace_claim("k", b"one", b"two", 99)
    assert not store.replace_claim("k", b"one", b"three", 99)
    assert store.get_claim("k", 10**12) == b"two"
    assert store.replace_claim("k", b"two", b"three", 10**12, 10**12 + 1)
    assert store.get_claim("k", 10**12) == b"three"
    assert store.get_claim("k", 10**12 + 1) is None


def test_of_twenty_replacements_of_one_value_one_succeeds(store: Store, race: Any) -> None:
    for former in (None, b"x"):
        if former is not None:
            store.replace_claim("k", store.get_claim("k", 0), former, 0, 10**12)
        won = race(lambda i, former=former: store.replace_claim("k", former, b"%d" % i, 0, 10**12))
        assert sorted(won) == [False] * 19 + [True]
        assert store.get_claim("k", 0) == b"%d" % won.index(True)


# -- lines -----------------------------------------------------------------------------------------------------------


def test_a_line_is_read_in_order_from_its_head(store: Store) -> None:
    for place in ("2#b", "1#z", "10#a", "1#a", "1#a", "\uffff", "\U0001f600", "A"):
        store.join_line("l", place)
    store.join_line("other", "0")
    assert list(store.read_line("l", limit=100)) == ["1#a", "1#z", "10#a", "2#b", "A", "\uffff", "\U0001f600"]
    assert list(store.read_line("l", limit=2)) == ["1#a", "1#z"]
    assert list(store.read_line("none", limit=2)) == []


def test_a_place_is_left_once_and_only_itself(store: Store) -> None:
    for place in ("a", "b", "c"):
        store.join_line("l", place)
    for _ in range(2):
        store.leave_line("l", "b")
        store.leave_line("l", "x")
        store.leave_line("none", "a")
        assert list(store.read_line("l", limit=9)) == ["a", "c"]
    store.join_line("l", "b")
    assert list(store.read_line("l", limit=9)) == ["a", "b", "c"]


def test_twenty_join_and_leave_one_line_at_once(store: Store, race: Any) -> None:
    race(lambda i: store.join_line("l", f"{i:02d}"))
    assert list(store.read_line("l", limit=99)) == [f"{i:02d}" for i in range(20)]
    race(lambda i: store.leave_line("l", f"{i:02d}"))
    assert list(store.read_line("l", limit=99)) == []
