"""The name that was probably meant: for the mend of a finding."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches
from itertools import islice
from typing import Final

_LOOKED_AT: Final = 2_000  # names: a suggestion must stay cheap in a document with a thousand faults
_COMPARED: Final = 64  # names; comparing costs some microseconds each
_LISTED: Final = 8


def did_you_mean(name: str, known: Collection[str], *, what: str = "") -> str:
    """`Did you mean …?` when a known name resembles `name`; else `Known {what} are …`; empty when nothing is known.

    Resemblance after Ratcliff and Obershelp, as `difflib` has it, to names of about the same length that start or end alike.
    """
    looked_at = islice(known, _LOOKED_AT)
    near = get_close_matches(name, list(islice((other for other in looked_at if _alike(name, other)), _COMPARED)), n=1)
    if near:
        return f"Did you mean `{near[0]}`?"
    return f"Known {what} are {listed(known)}." if what and known else ""


def _alike(name: str, other: str) -> bool:
    if not name or not other or abs(len(name) - len(other)) > 2:
        return False
    return name[0] == other[0] or name[-1] == other[-1] or name.lower() == other.lower()


def listed(names: Collection[str], limit: int = _LISTED) -> str:
    """`a`, `b`, `c` and 7 more."""
    shown = ", ".join(f"`{name}`" for name in islice(names, limit))
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"
