"""The name that was probably meant: for the mend of a finding."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches
from itertools import islice
from typing import Final

_COMPARED: Final = 2_000  # names; comparing costs some microseconds each
_LISTED: Final = 8


def did_you_mean(name: str, known: Collection[str], *, what: str = "") -> str:
    """`Did you mean …?` when a known name resembles `name`; else `Known {what} are …`; empty when nothing is known.

    Resemblance after Ratcliff and Obershelp, as `difflib` has it. Beyond some thousand names only the first are compared.
    """
    candidates = list(islice(known, _COMPARED))
    near = get_close_matches(name, candidates, n=1)
    if not near:
        near = [candidate for candidate in candidates if candidate.lower() == name.lower()][:1]
    if near:
        return f"Did you mean `{near[0]}`?"
    return f"Known {what} are {listed(known)}." if what and known else ""


def listed(names: Collection[str], limit: int = _LISTED) -> str:
    """`a`, `b`, `c` and 7 more."""
    shown = ", ".join(f"`{name}`" for name in islice(names, limit))
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"
