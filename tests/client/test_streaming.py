"""Server-sent events, however their bytes are cut into chunks."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepless.client import ServerError
from stepless.client.streaming import Feed, Frame, Frames
from stepless.limits import MAX_PAGE_BYTES

TEXT = """\
retry: 1000

id: 1
event: a
data: {"x": "ü"}

: a comment

event: heartbeat
data: {}

id:2
data: one
data: two

"""
FRAMES = [
    Frame(None, "", 1000), Frame("1", '{"x": "ü"}', None), Frame(None, "", None), Frame(None, "{}", None),
    Frame("2", "one\ntwo", None),
]  # fmt: skip


@given(cuts=st.lists(st.integers(0, len(TEXT.encode()))), line=st.sampled_from(["\n", "\r\n", "\r"]))
def test_frames_do_not_depend_on_the_chunks(cuts: list[int], line: str) -> None:
    data = TEXT.replace("\n", line).encode()
    frames = Frames()
    found = [frame for begin, end in pairwise([0, *sorted(cuts), len(data)]) for frame in frames.of(data[begin:end])]
    assert found == FRAMES


def test_a_frame_that_broke_off_is_none() -> None:
    assert list(Frames().of(b"id: 1\ndata: {")) == []


def test_a_frame_has_a_bound() -> None:
    frames = Frames()
    with pytest.raises(ServerError):
        for _ in range(MAX_PAGE_BYTES // 100_000 + 1):
            list(frames.of(b"x" * 100_000))


def test_a_server_that_sends_events_again_does_not_double_them() -> None:
    feed, both = Feed(1), b'id: 1\ndata: {"eventId": 1}\n\nid: 2\ndata: {"eventId": 2}\n\n'
    assert [event["eventId"] for event in feed.events(both)] == [2]
    feed.reopen()
    assert list(feed.events(both)) == [] and feed.has_brought and feed.after == 2
