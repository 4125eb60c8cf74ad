"""Defines the key of a run: the name by which a business knows it, such as the number of an order."""

from __future__ import annotations

import json
from typing import Final

from stepless.limits import MAX_KEY_BYTES
from stepless.model.json import JSON

_MAX_EXACT: Final = 2**53  # every whole number up to this is a float of its own


def key_of(value: JSON) -> str | None:
    """Returns the key that a value stands for: a text as it is, a number as JSON, where `17.0` is `17`. None if the value is
    neither, or does not have 1 to MAX_KEY_BYTES bytes of UTF-8."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) <= _MAX_EXACT:
        value = int(value)
    text = value if isinstance(value, str) else json.dumps(value)
    try:
        return text if 0 < len(text.encode()) <= MAX_KEY_BYTES else None
    except UnicodeEncodeError:  # it has a lone surrogate
        return None
