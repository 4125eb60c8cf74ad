"""Reads the machine's clocks and environment variables."""

from __future__ import annotations

import os
import time


class SystemClock:
    """The system's UTC clock, which an administrator or a time server may set back."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000


class SteadyClock:
    """A monotonic clock with an arbitrary start, unaffected by changes to the system's clock. For delays within this process."""

    def now_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000


class EnvSecrets:
    """Environment variables, read at each call. An empty variable is the empty text."""

    def get(self, name: str) -> str | None:
        return os.environ.get(name)
