"""Derives entity keys from positions in the origin, so that every opening yields the same keys. What is added in a draft gets
random keys of the same form."""

from __future__ import annotations

from hashlib import sha256
from json import dumps
from typing import Final

from stepless.drafts.rules.fractional_index import DIGITS

KEY_CHARACTERS: Final = 10


def derived_key(epoch: str, kind: str, *place: str | int | tuple[str, ...]) -> str:
    """Returns ten base-62 characters of SHA-256 over the epoch and the place."""
    text = dumps([epoch, kind, *place], ensure_ascii=True, separators=(",", ":"))
    number = int.from_bytes(sha256(text.encode()).digest(), "big")
    made = ""
    for _ in range(KEY_CHARACTERS):
        number, digit = divmod(number, len(DIGITS))
        made += DIGITS[digit]
    return made
