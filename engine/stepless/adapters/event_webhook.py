"""Sends the events of runs to one URL, each as a signed webhook."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from stepless.limits import EXPORT_TIMEOUT_MS
from stepless.ports import Announcement, Clock, Http, HttpRequest


class WebhookAnnouncer:
    """The port `Announcer` over HTTP: one POST per event, in order, with the field names of an EventBridge event. `sign` makes
    the header `X-Signature` of a body at an instant."""

    def __init__(self, http: Http, clock: Clock, *, url: str, source: str, sign: Callable[[bytes, int], str]) -> None:
        self._http = http
        self._clock = clock
        self._url = url
        self._source = source
        self._sign = sign

    async def announce(self, events: Sequence[Announcement]) -> int:
        """See `Announcer.announce`. Any answer but 2xx is a failure."""
        for event in events:
            body = json.dumps(
                {
                    "id": event.id, "source": self._source, "detail-type": event.type,
                    "time": datetime.fromtimestamp(event.at_ms / 1000, UTC).isoformat(timespec="milliseconds"),
                    "detail": json.loads(event.detail),
                },
                ensure_ascii=False, separators=(",", ":"),
            ).encode()  # fmt: skip
            headers = {
                "content-type": "application/json",
                "idempotency-key": event.id,
                "x-signature": self._sign(body, self._clock.now_ms()),
            }
            await self._http.send(HttpRequest("POST", self._url, headers, content=body, timeout_ms=EXPORT_TIMEOUT_MS))
        return len(events)
