"""Limits how often a client may do something. Counted in each process, without a write."""

from __future__ import annotations

from collections import OrderedDict
from time import monotonic

from stepless.limits import MAX_PACED_CLIENTS


class Pace:
    """At most so many in a second, with a second's worth at once."""

    def __init__(self, per_s: float) -> None:
        self._per_s = per_s
        self._left = per_s
        self._at = monotonic()

    def wait_ms(self) -> int:
        """Takes one and returns 0, or returns in how many milliseconds there is one."""
        now = monotonic()
        self._left = min(self._per_s, self._left + (now - self._at) * self._per_s)
        self._at = now
        if self._left < 1:
            return max(1, round((1 - self._left) / self._per_s * 1000))
        self._left -= 1
        return 0


class Paces:
    """The paces of the clients that acted last."""

    def __init__(self, per_s: float) -> None:
        self._per_s = per_s
        self._paces: OrderedDict[tuple[str, ...], Pace] = OrderedDict()

    def wait_ms(self, *client: str) -> int:
        """See `Pace.wait_ms`."""
        pace = self._paces.setdefault(client, Pace(self._per_s))
        self._paces.move_to_end(client)
        if len(self._paces) > MAX_PACED_CLIENTS:
            self._paces.popitem(last=False)
        return pace.wait_ms()
