"""Encodes JSON as it is sent, instead of a framework."""

from __future__ import annotations

import json
from typing import Any


def encode(value: Any) -> bytes:
    """Returns compact JSON in UTF-8. An unpaired surrogate, which values of a run may contain, is written as its escape."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "backslashreplace")
