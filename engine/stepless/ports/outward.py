"""Defines the ports to systems outside that receive the events of runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Announcement(NamedTuple):
    """One event of a run for systems outside. `id` is the same in every repetition. `detail` is a JSON object."""

    id: str
    type: str
    at_ms: int
    detail: str


class Announcer(Protocol):
    async def announce(self, events: Sequence[Announcement]) -> int:
        """Delivers events, in order where the system keeps an order. Returns how many of the first ones need no further try:
        delivered, or refused for good and reported. Later ones may be delivered too. Raises `NodeFailure` if that is none."""
        ...
