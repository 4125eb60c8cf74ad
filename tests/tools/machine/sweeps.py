"""How much of a long search the suite does: a part of it, or the whole where STEPLESS_SWEEPS is `whole` (`make check-sweeps`).
`make test` does a part of what `make check` does."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest

WHOLE = os.environ.get("STEPLESS_SWEEPS") == "whole"


def at_most(part: int, whole: int) -> int:
    return whole if WHOLE else part


def first_quick(values: Iterable[Any], quick: int = 1) -> list[Any]:
    """The parameters of a test, of which `make test` has the first `quick` and `make check` all."""
    rest = pytest.mark.check
    rows = [value if isinstance(value, tuple) else (value,) for value in values]
    return [pytest.param(*row, marks=() if place < quick else rest) for place, row in enumerate(rows)]
