"""Reads the events of a run from chunks of server-sent events, over as many connections as it takes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from stepless.client.contract import EventOut
from stepless.client.errors import ServerError
from stepless.limits import MAX_PAGE_BYTES, STREAM_RETRY_MS

MEDIA_TYPE: Final = "text/event-stream"
_BLANK_LINE: Final = re.compile(rb"\r\n\r\n|\n\n|\r\r")
_LINE: Final = re.compile(r"\r\n|\n|\r")


class Frame(NamedTuple):
    """One event of a stream, as the HTML standard defines it. `retry_ms` is the pause before a reconnect that the server asks
    for."""

    id: str | None
    data: str
    retry_ms: int | None


class Frames:
    """Collects chunks, and yields the frames that are complete. What is left at the end of a stream has broken off."""

    def __init__(self) -> None:
        self._left = b""

    def of(self, chunk: bytes) -> Iterator[Frame]:
        """Yields the frames that this chunk completes. Raises `ServerError` for one larger than any of a Stepless API."""
        searched = max(0, len(self._left) - 3)  # a separator may have begun in the last chunk
        self._left += chunk
        while (blank := _BLANK_LINE.search(self._left, searched)) is not None:
            block, self._left = self._left[: blank.start()], self._left[blank.end() :]
            searched = 0
            yield _frame(block.decode("utf-8", "replace"))
        if len(self._left) > MAX_PAGE_BYTES:
            raise ServerError("the event stream is not that of a Stepless API: an event is too large", code="no_stepless")


class Feed:
    """The events of one run after the event `after`, each once. `retry_s` is the pause before a reconnect that the server asks
    for; `has_brought`: whether this connection has brought an event or a heartbeat."""

    def __init__(self, after: int) -> None:
        self.after = after
        self.reopen()

    def reopen(self) -> None:
        """Begins with a new connection. What the last one has brought of a frame is dropped: the frame comes again."""
        self.retry_s = STREAM_RETRY_MS / 1000
        self.has_brought = False
        self._frames = Frames()

    def events(self, chunk: bytes) -> Iterator[EventOut]:
        """Yields the events that this chunk completes."""
        for frame in self._frames.of(chunk):
            if frame.retry_ms is not None:
                self.retry_s = frame.retry_ms / 1000
            self.has_brought = self.has_brought or bool(frame.data)
            event: EventOut | None = json.loads(frame.data) if frame.id is not None else None
            if event is not None and event["eventId"] > self.after:
                self.after = event["eventId"]
                yield event


def _frame(block: str) -> Frame:
    id, data, retry_ms = None, list[str](), None
    for line in _LINE.split(block):
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id":
            id = value
        elif name == "data":
            data.append(value)
        elif name == "retry" and value.isascii() and value.isdecimal():
            retry_ms = int(value[:9])
    return Frame(id, "\n".join(data), retry_ms)
