"""Tests the contract of the inbox: each signal is stored once, taken once, and never lost."""

from __future__ import annotations

from typing import Any

import pytest

from stepless.errors import LimitExceeded
from stepless.limits import MAX_INBOX_SIGNALS, MAX_SIGNAL_BYTES, MAX_TAKEN_BESIDE
from stepless.ports import MESSAGE, Signal, Store


def signal(identity: str = "p1", created_ms: int = 0, body: bytes = b"{}", kind: str = "resume") -> Signal:
    return Signal(kind, identity, body, created_ms)


def test_a_signal_is_put_once(store: Store) -> None:
    first, second = signal(body=b"yes"), signal(body=b"no")
    assert store.put_signal("r", first) == first
    assert store.put_signal("r", second) == first == store.get_signal("r", "resume", "p1")
    for run_id, other in (("r2", second), ("r", signal("p2", body=b"no")), ("r", signal(kind="cancel", body=b"no"))):
        assert store.put_signal(run_id, other) == other
    assert store.get_signal("r", "resume", "none") is None


def test_of_twenty_answers_one_wins_and_all_are_told_it(store: Store, race: Any) -> None:
    answers = race(lambda i: store.put_signal("r", signal(body=b"%d" % i, created_ms=i)))
    assert {*answers} == {store.get_signal("r", "resume", "p1")}
    assert len(store.read_inbox("r")) == 1


def test_the_inbox_is_read_oldest_first(store: Store) -> None:
    signals = [signal(f"p{i}", created_ms) for i, created_ms in enumerate((30, 10, 20, 10))]
    for item in signals:
        store.put_signal("r", item)
    store.put_signal("other", signal())
    assert [item.identity for item in store.read_inbox("r")] == ["p1", "p3", "p2", "p0"]
    assert [*store.read_inbox("none")] == []


def test_taken_signals_stay_readable_and_still_refuse_a_second(store: Store) -> None:
    one, two = signal("p1"), signal("p2")
    for item in (one, two):
        store.put_signal("r", item)
    store.take_signals("r", [])
    for _ in range(2):
        store.take_signals("r", [one, signal("unknown")])
    assert [*store.read_inbox("r")] == [two]
    assert store.get_signal("r", "resume", "p1") == one._replace(taken=True) == store.put_signal("r", signal("p1", body=b"late"))
    assert store.get_signal("r", "resume", "unknown") is None


def test_many_signals_taken_at_once_are_those_that_are_there(store: Store) -> None:
    many = [store.put_signal("r", signal(f"p{number:03}", number)) for number in range(30)]
    store.take_signals("r", [*many[:28], many[0], signal("unknown")])
    assert [*store.read_inbox("r")] == many[28:]
    assert store.get_signal("r", "resume", "p007") == many[7]._replace(taken=True)
    assert store.get_signal("r", "resume", "unknown") is None


def test_messages_that_were_taken_are_known_however_many_there_are(store: Store) -> None:
    taken = [signal(f"m{number:03}", number, b"%d" % number, MESSAGE) for number in range(2 * MAX_TAKEN_BESIDE + 5)]
    waiting = signal("m000", kind="resume")
    store.put_signal("r", waiting)
    for message in taken:
        assert store.put_signal("r", message) == message
        assert [*store.read_inbox("r")] == sorted([waiting, message], key=lambda one: (one.created_ms, one.kind))
        for _ in range(2):
            store.take_signals("r", [message, signal("unknown", kind=MESSAGE)])
    for message in taken:
        assert store.get_signal("r", MESSAGE, message.identity) == message._replace(taken=True)
        assert store.put_signal("r", message._replace(body=b"again")) == message._replace(taken=True)
    assert [*store.read_inbox("r")] == [waiting]
    assert store.get_signal("r", MESSAGE, "unknown") is None


def test_a_signal_has_a_largest_size(store: Store) -> None:
    largest = signal(body=b"x" * MAX_SIGNAL_BYTES)
    assert store.put_signal("r", largest) == largest
    with pytest.raises(LimitExceeded):
        store.put_signal("r", signal("p2", body=b"x" * (MAX_SIGNAL_BYTES + 1)))


def test_an_inbox_has_a_largest_number_of_waiting_signals(store: Store) -> None:
    for i in range(MAX_INBOX_SIGNALS):
        store.put_signal("r", signal(f"p{i}"))
    with pytest.raises(LimitExceeded):
        store.put_signal("r", signal("more"))
    assert store.get_signal("r", "resume", "more") is None
    assert store.put_signal("r", signal("p0", body=b"again")) == signal("p0")
    store.take_signals("r", [signal("p7")])
    assert store.put_signal("r", signal("more")) == signal("more")
