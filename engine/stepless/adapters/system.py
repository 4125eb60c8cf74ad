"""The machine's own clock and environment."""

from __future__ import annotations

import os
import time


class SystemClock:
    """The system's UTC clock, which an administrator or a time server may set back."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000


class SteadyClock:
    """Counts on whatever happens to the system's clock, from an instant of its own: for delays within this process."""

    def now_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000


class EnvSecrets:
    """Environment variables, read anew at each call. A variable that is set to nothing is the empty text."""

    def get(self, name: str) -> str | None:
        return os.environ.get(name)
