"""Events as bytes and back: nothing is lost, nothing is added, and small things stay small."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepless.core.events import Event, EventType
from stepless.core.stored import codec
from stepless.core.stored.codec import decode_batch, encode_batch
from stepless.errors import DamagedLog, NewerLog
from stepless.model.stored.packing import dump, pack, unpack

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)
keys = st.sampled_from(["output", "index", "attempt", "reason", "error", "delay_ms", "text", "blobs"])
payloads = st.dictionaries(keys, values)


@st.composite
def batches(draw: st.DrawFn) -> list[Event]:
    first, at_ms = draw(st.integers(1, 10**6)), draw(st.integers(0, 2 * 10**12))
    events = []
    for number in range(draw(st.integers(1, 6))):
        at_ms += draw(st.integers(-5, 10**5))  # a clock may step back
        instance = draw(st.sampled_from(["", "a", "x@l[2]", "x@m[0]@l[1]"]))
        parent = draw(st.integers(0, 10**6))
        events.append(Event(first + number, draw(st.sampled_from(EventType)), at_ms, instance, parent, draw(payloads)))
    return events


@given(batches())
def test_a_batch_comes_back_as_it_was(events: list[Event]) -> None:
    assert decode_batch(encode_batch(events), events[0].sequence) == events


@given(values)
def test_a_value_comes_back_packed_or_not(value: Any) -> None:
    assert unpack(pack(dump([value]))) == [value]


@pytest.mark.parametrize("value", [2**80, -(2**64), "\ud800", 0.1, 1e308, "\u0000", {"": [[]]}])
def test_odd_values_keep_their_exact_type(value: Any) -> None:
    assert unpack(pack(dump([value]))) == [value]


def test_a_large_batch_is_compressed_where_that_pays() -> None:
    event = Event(1, EventType.NODE_COMPLETED, 1, "a", 0, {"output": ["the same words again"] * 1_000})
    data = pack(encode_batch([event]))
    assert len(data) < 1_000
    assert decode_batch(data, 1) == [event]


def test_a_completion_with_half_a_kilobyte_costs_hardly_more_than_its_result() -> None:
    """3.2: envelopes stay small, so that the result and the next start share one write unit."""
    done = Event(4, EventType.NODE_COMPLETED, 1_700_000_000_000, "score", 3, {"output": "x" * 500})
    start = Event(5, EventType.NODE_STARTED, 1_700_000_000_000, "pay", 4, {"index": 2})
    assert len(encode_batch([done, start])) < 600


@pytest.mark.parametrize("data", [
    b"", b"[", b"[]", b"[1]", b"[1,7]", b"[1,[]]", b"[1,[5,0]]", b"[1,[[],0]]", b'["x",["H",0]]', b'[1,["H",0,"",0,7]]', b"{}",
    b"\x00", b"x\x9cgarbage", pack(dump([1, *[["H", 0]] * 400]))[:-7],
])  # fmt: skip
def test_a_damaged_batch_is_told_with_its_place(data: bytes) -> None:
    with pytest.raises(DamagedLog) as told:
        decode_batch(data, 17)
    assert "17" in told.value.place
    assert told.value.of("run_1").place == "run_1#17"


@pytest.mark.parametrize(("data", "what"), [
    (b'[1,["s",0,"a"],["@",0]]', "event 18 has the unknown type '@'"), (b'[1,["s",0,"a",0,{},2]]', "format 2"),
    (b'[1,["@",0,"",0,{},9]]', "format 9"),
])  # fmt: skip
def test_what_a_newer_release_wrote_is_refused_whole(data: bytes, what: str) -> None:
    with pytest.raises(NewerLog, match=what) as told:
        decode_batch(data, 17)
    assert "deploy a release" in told.value.mend


def test_a_format_stands_where_former_releases_do_not_look() -> None:
    """They read five elements of an event; a batch of a format that is known here says nothing else by its number."""
    plain = [Event(3, EventType.NODE_QUEUED, 1_000, "a", 2, {}), Event(4, EventType.HEARTBEAT, 1_001, "", 0, {})]
    assert decode_batch(b'[1000,["q",0,"a",2,{},1],["H",1]]', 3) == plain
    assert encode_batch(plain) == b'[1000,["q",0,"a",2],["H",1]]'


def test_the_stored_words_are_those_of_every_former_release() -> None:
    """Logs are written with them: a code or a key that came to mean something else would be another history."""
    assert {code: type.value for code, type in codec.WORDS[1].types.items()} == {
        "R": "run.started", "S": "run.status.changed", "C": "run.completed", "F": "run.failed", "X": "run.cancelled",
        "T": "run.timed_out", "V": "run.recovered", "N": "run.continued", "H": "heartbeat", "q": "node.queued",
        "s": "node.started", "w": "node.waiting", "a": "node.resumed", "d": "node.stream.delta", "g": "node.log",
        "r": "node.retried", "c": "node.completed", "f": "node.failed", "x": "node.cancelled", "k": "node.skipped",
        "t": "node.timed_out", "b": "node.blocked", "i": "node.invalidated", "l": "loop.started", "n": "loop.next",
        "e": "loop.completed", "m": "moderation.flagged", "v": "contract.violated", "M": "message.received",
    }  # fmt: skip
    assert codec.WORDS[1].short == {
        "output": "o", "index": "i", "attempt": "a", "handle": "h", "reason": "r", "error": "e", "variables": "v", "total": "t",
    }  # fmt: skip
    done = Event(2, EventType.NODE_COMPLETED, 1_005, "a", 1, {"output": 7, "usage": {"input_tokens": 1}})
    failed = Event(3, EventType.NODE_FAILED, 1_006, "b", 0, {"error": {"code": "odd"}})
    written = b'[1005,["c",0,"a",1,{"o":7,"usage":{"input_tokens":1}}],["f",1,"b",0,{"e":{"code":"odd"}}]]'
    assert encode_batch([done, failed]) == written


@pytest.mark.parametrize("event", [
    Event(1, EventType.HEARTBEAT, 5, "", 0, {}),
    Event(1, EventType.NODE_QUEUED, 5, "a", 0, {}),
    Event(1, EventType.NODE_QUEUED, 5, "a", 2, {}),
    Event(1, EventType.RUN_STARTED, 5, "", 0, {"x": 1}),
    Event(1, EventType.NODE_QUEUED, 5, "a", 2, {"x": 1}),
])  # fmt: skip
def test_the_mark_of_a_writer_changes_the_bytes_and_nothing_else(event: Event) -> None:
    plain, marked = encode_batch([event]), encode_batch([event], writer="w1")
    assert marked not in (plain, encode_batch([event], writer="w2"))
    assert decode_batch(marked, 1) == decode_batch(plain, 1) == [event]
    assert encode_batch([], writer="w1") == encode_batch([])
