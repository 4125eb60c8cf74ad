"""Computes fractional indexes: texts that sort, with space for another one between any two.

A text of base-62 digits is read as a fraction: `V` is about a half, `V5` a little more. No text ends with the digit 0, since then
nothing would fit between it and the same text without that digit. Texts compare by code point, in Python as in JavaScript.
"""

from __future__ import annotations

from typing import Final

DIGITS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_BASE: Final = len(DIGITS)


def is_order(text: object) -> bool:
    """Returns whether a value is such a text."""
    return isinstance(text, str) and text != "" and not text.endswith("0") and all(digit in DIGITS for digit in text)


def between(low: str | None, high: str | None) -> str:
    """Returns a text between two others; None is the beginning or the end. Raises `ValueError` unless `low` < `high`.

    Behind the last one it counts upwards in the first digit that has room, so that a list to which things are added at its end
    has short texts: one more digit for 61 additions.
    """
    if low is not None and high is not None and low >= high:
        raise ValueError(f"nothing is between {low!r} and {high!r}")
    made = ""
    low = low or ""
    place = 0
    while True:
        floor = DIGITS.index(low[place]) if place < len(low) else 0
        ceiling = DIGITS.index(high[place]) if high is not None and place < len(high) else _BASE
        if high is None and place < len(low):
            if floor + 1 < _BASE:
                return made + DIGITS[floor + 1]
        elif ceiling - floor > 1:
            return made + DIGITS[(floor + ceiling) // 2]
        made += DIGITS[floor]
        if ceiling > floor:
            high = None  # what follows is below it already
        place += 1


def spread(count: int) -> list[str]:
    """Returns `count` texts in order, evenly apart and equally long but for zeros at the end."""
    width = 1
    while _BASE**width < 2 * (count + 1):
        width += 1
    step = _BASE**width // (count + 1)
    return [_digits(step * (place + 1), width) for place in range(count)]


def _digits(number: int, width: int) -> str:
    made = ""
    for _ in range(width):
        number, digit = divmod(number, _BASE)
        made = DIGITS[digit] + made
    return made.rstrip("0")
