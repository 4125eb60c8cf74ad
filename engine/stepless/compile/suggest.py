"""Suggests the name that an author probably meant, for the fix of a finding."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches
from itertools import islice
from typing import Final

_MAX_CANDIDATES: Final = 2_000  # names: a suggestion must be cheap in a document with a thousand faults
_MAX_COMPARED: Final = 64  # names; each comparison takes some microseconds
_MAX_LISTED: Final = 8


def did_you_mean(name: str, known: Collection[str], *, what: str = "") -> str:
    """Returns `Did you mean …?` if a known name resembles `name`, otherwise `Known {what} are …`; empty if `known` is empty.

    Resemblance is that of Ratcliff and Obershelp, as implemented by `difflib`. Only names of about the same length with the same
    first or last character are compared.
    """
    near = nearest(name, known)
    if near is not None:
        return f"Did you mean `{near}`?"
    return f"Known {what} are {listed(known)}." if what and known else ""


def nearest(name: str, known: Collection[str]) -> str | None:
    """Returns the known name that `did_you_mean` suggests, None if there is none."""
    candidates = (other for other in islice(known, _MAX_CANDIDATES) if _alike(name, other))
    return next(iter(get_close_matches(name, list(islice(candidates, _MAX_COMPARED)), n=1)), None)


def _alike(name: str, other: str) -> bool:
    if not name or not other or abs(len(name) - len(other)) > 2:
        return False
    return name[0] == other[0] or name[-1] == other[-1] or name.lower() == other.lower()


def listed(names: Collection[str], limit: int = _MAX_LISTED) -> str:
    """Returns a text such as `a`, `b`, `c` and 7 more."""
    shown = ", ".join(f"`{name}`" for name in islice(names, limit))
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"
