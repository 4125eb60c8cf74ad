"""Puts the events of runs on an EventBridge bus, in as few requests as its limits allow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from stepless.limits import EXPORT_TIMEOUT_MS, MAX_BUS_ENTRIES, MAX_BUS_REQUEST_BYTES
from stepless.model.work import NodeFailure
from stepless.ports import Announcement, Aws, Meter

_TIME_BYTES: Final = 14  # of an entry's `Time`, as EventBridge counts it
_REFUSED: Final = frozenset({"MalformedDetail", "InvalidArgument"})  # a repetition would be refused as well


class EventBridgeAnnouncer:
    """The port `Announcer` over `events:PutEvents`. Entries that a request refuses for a time are put again with those after
    them; EventBridge itself keeps no order."""

    def __init__(self, aws: Aws, meter: Meter, *, bus: str, source: str) -> None:
        self._aws = aws
        self._meter = meter
        self._bus = bus
        self._source = source

    async def announce(self, events: Sequence[Announcement]) -> int:
        """See `Announcer.announce`."""
        done = 0
        for some in self._batches(events):
            try:
                settled = await self._put(some)
            except NodeFailure:
                if done:
                    return done
                raise
            done += settled
            if settled < len(some):
                break
        return done

    def _batches(self, events: Sequence[Announcement]) -> Iterator[Sequence[Announcement]]:
        batch: list[Announcement] = []
        size = 0
        for event in events:
            taken = self._size(event)
            if batch and (len(batch) == MAX_BUS_ENTRIES or size + taken > MAX_BUS_REQUEST_BYTES):
                yield batch
                batch, size = [], 0
            batch.append(event)
            size += taken
        if batch:
            yield batch

    def _size(self, event: Announcement) -> int:
        return _TIME_BYTES + len(self._source) + len(event.type) + len(event.detail.encode())

    async def _put(self, some: Sequence[Announcement]) -> int:
        """How many of the first entries were put, or refused for good. Raises `NodeFailure` if the first was neither."""
        entries: list[Any] = [
            {
                "Time": datetime.fromtimestamp(event.at_ms / 1000, UTC).isoformat(),
                "Source": self._source, "DetailType": event.type, "Detail": event.detail, "EventBusName": self._bus,
            }
            for event in some
        ]  # fmt: skip
        answer = await self._aws.call("events", "PutEvents", {"Entries": entries}, token=some[0].id, timeout_ms=EXPORT_TIMEOUT_MS)
        results: Any = answer.get("Entries", []) if isinstance(answer, Mapping) else []
        for number, (event, result) in enumerate(zip(some, results, strict=False)):
            code = result.get("ErrorCode")
            if code in _REFUSED:
                self._meter.report("export.refused", {"event": event.id, "code": str(code)})
            elif code:
                if number:
                    return number
                raise NodeFailure("provider_error", str(code), f"EventBridge did not accept {event.id}")
        return min(len(some), len(results))
