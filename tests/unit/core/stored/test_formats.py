"""A release writes only what the release before it reads; a new format waits for one release."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stepless.core.events import Event, EventType
from stepless.core.stored.codec import WORDS, Words, decode_batch, encode_batch
from stepless.core.stored.formats import FORMATS, FORMER, Format, Formats
from stepless.errors import DamagedLog, NewerLog

EVENTS = [
    Event(7, EventType.NODE_COMPLETED, 1_000, "a", 5, {"output": 1}),
    Event(8, EventType.NODE_STARTED, 1_002, "b", 7, {"index": 1}),
    Event(9, EventType.HEARTBEAT, 1_003, "", 0, {}),
]


def breaches(former: Format, this: Format) -> list[str]:
    """What would be wrong with a release after the former one."""
    found = []
    if this.writes > former.reads:
        found.append("writes what the former release cannot read")
    if this.reads < max(former.writes, former.reads):
        found.append("cannot read what the former release may have written")
    if this.writes > this.reads:
        found.append("cannot read what it writes")
    return found


@pytest.mark.parametrize(
    ("former", "this", "count"),
    [
        (Format(1, 1), Format(1, 1), 0),
        (Format(1, 1), Format(1, 2), 0),  # a new format waits
        (Format(1, 2), Format(2, 2), 0),  # a release later it is written
        (Format(1, 2), Format(2, 3), 0),
        (Format(1, 1), Format(2, 2), 1),
        (Format(2, 2), Format(1, 1), 1),
        (Format(1, 2), Format(3, 2), 2),
    ],
)
def test_the_gate(former: Format, this: Format, count: int) -> None:
    assert len(breaches(former, this)) == count


@pytest.mark.parametrize("part", Formats._fields)
def test_this_release_keeps_to_the_gate(part: str) -> None:
    assert breaches(getattr(FORMER, part), getattr(FORMATS, part)) == []


def test_there_are_words_for_every_format_that_is_read() -> None:
    assert sorted(WORDS) == list(range(1, FORMATS.log.reads + 1))


def second() -> Words:
    """A format 2, in which every code means something else than in format 1."""
    codes = list(WORDS[1].codes.values())
    return Words(dict(zip(WORDS[1].codes, [*codes[1:], codes[0]], strict=True)), {"output": "i", "index": "o"})


BOTH = {1: WORDS[1], 2: second()}


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("start", [0, 1, 2])
def test_a_release_that_knows_a_format_reads_it_and_writes_the_former_one(start: int, count: int) -> None:
    some = (EVENTS * 2)[start : start + count]
    events = [replace(event, sequence=7 + place) for place, event in enumerate(some)]
    for data in (encode_batch(events, formats=BOTH), encode_batch(events, 2, BOTH)):
        assert decode_batch(data, 7, BOTH) == events
    assert encode_batch(events, formats=BOTH) == encode_batch(events) != encode_batch(events, 2, BOTH)


def test_a_release_that_does_not_know_it_refuses_the_batch_and_misreads_nothing() -> None:
    data = encode_batch(EVENTS, 2, BOTH)
    with pytest.raises(NewerLog, match="format 2"):
        decode_batch(data, 7)
    for number in (b"0", b"-1", b'"2"', b"[2]"):
        with pytest.raises(DamagedLog):
            decode_batch(data.replace(b",2]", b",%s]" % number, 1), 7)
