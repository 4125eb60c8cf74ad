"""How much of a long search the suite does: a part of it, or the whole where STEPLESS_SWEEPS is `whole` (`make check-sweeps`)."""

from __future__ import annotations

import os

WHOLE = os.environ.get("STEPLESS_SWEEPS") == "whole"


def at_most(part: int, whole: int) -> int:
    return whole if WHOLE else part
