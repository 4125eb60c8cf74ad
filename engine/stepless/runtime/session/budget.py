"""Measures how much time an invocation has left, by a monotonic clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from stepless.limits import BUDGET_MARGIN_MS


@dataclass(slots=True)
class Budget:
    """The time of an invocation. `hard` means that the process is killed when the time is over (Lambda): an attempt is started
    only if it can end in time. A soft budget decides when to hand over; running attempts finish first."""

    total_ms: float
    hard: bool = False
    margin_ms: int = BUDGET_MARGIN_MS
    clock: Callable[[], float] = monotonic
    _started: float = 0.0

    def start(self) -> Budget:
        self._started = self.clock()
        return self

    @property
    def remaining_ms(self) -> float:
        return self.total_ms - (self.clock() - self._started) * 1000

    @property
    def over(self) -> bool:
        """Whether the time is used up, so that no attempt may be started."""
        return self.total_ms - (self.clock() - self._started) * 1000 <= (self.margin_ms if self.hard else 0)

    def fits(self, timeout_ms: int) -> bool:
        """Returns whether an attempt with this timeout may still be started."""
        spare_ms = self.spare_ms
        return spare_ms is None or timeout_ms <= spare_ms

    @property
    def leaving_ms(self) -> float:
        """How long a session may wait before it leaves, so that enough time is left for the release of its lease."""
        return max(0.0, self.remaining_ms - self.margin_ms / 2) if self.hard else self.margin_ms

    @property
    def spare_ms(self) -> int | None:
        """The longest attempt that may still be started; None if there is no limit."""
        return max(0, int(self.remaining_ms) - self.margin_ms) if self.hard else None
