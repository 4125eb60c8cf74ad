"""How much of an invocation is left. Measured on a clock that only goes forward."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from stepless.limits import BUDGET_MARGIN_MS


@dataclass(slots=True)
class Budget:
    """An invocation's time. `hard` says that the process is killed when it is over (Lambda): then an attempt is only begun
    if it can end in time. A soft budget only says when to hand over; what is under way drains first."""

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
        """Whether nothing new may be begun."""
        return self.remaining_ms <= (self.margin_ms if self.hard else 0)

    @property
    def room_ms(self) -> int | None:
        """The longest attempt that may still be begun; None when any may."""
        return max(0, int(self.remaining_ms) - self.margin_ms) if self.hard else None
