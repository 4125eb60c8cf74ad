"""Recognises one failure in many runs: a message without what differs from run to run, and a fingerprint of it."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Final

from stepless.limits import MAX_FINGERPRINT_CHARACTERS

BLANK: Final = "…"
"""What stands for a blanked part."""

_QUOTES: Final = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»"}
_QUOTED: Final = re.compile(
    "|".join(rf"(?<!\w){opening}[^{opening}{closing}]*(?:{closing}(?!\w)|…\Z)" for opening, closing in _QUOTES.items())
)
_WORD: Final = re.compile(r"[\w-]+(?:[.:@/][\w-]+)*")
_HEXADECIMAL: Final = frozenset("0123456789abcdefABCDEF-")
_BLANKS: Final = re.compile(rf"{BLANK}(?:[ .,:/%@-]*{BLANK})+")


def blanked(message: str) -> str:
    """Returns the message with `…` for quoted texts, numbers and ids: words with a digit in them, and hexadecimal words of eight
    or more characters. At most MAX_FINGERPRINT_CHARACTERS, on one line."""
    text = _QUOTED.sub(BLANK, " ".join(message.split()))
    text = _WORD.sub(lambda found: BLANK if _differs(found[0]) else found[0], text)
    text = _BLANKS.sub(BLANK, text)
    if len(text) <= MAX_FINGERPRINT_CHARACTERS:
        return text
    return text[: MAX_FINGERPRINT_CHARACTERS - 1].rstrip(BLANK + " ") + BLANK


def fingerprint(workflow: str, node: str, code: str, message: str) -> str:
    """Returns 16 hexadecimal digits, the same for failures that differ only in what `blanked` blanks."""
    parts = (workflow, node, code, blanked(message))
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _differs(word: str) -> bool:
    return any(letter.isdigit() for letter in word) or (len(word) >= 8 and set(word) <= _HEXADECIMAL)
