"""Encodes and decodes cursors of paged listings: the last listed key, as opaque text that is safe in a URL."""

from __future__ import annotations

import base64
import json
from typing import Any

from stepless.errors import InvalidRequest
from stepless.limits import MAX_CURSOR_CHARACTERS


def encode_cursor(*key: str | int) -> str:
    """Returns a cursor that continues after `key`."""
    text = json.dumps(key, ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode_cursor(cursor: str, *shape: type[str] | type[int]) -> tuple[Any, ...]:
    """Returns the key in a cursor; `shape` has the types of its parts. Accepts only what `encode_cursor` wrote; raises
    `InvalidRequest` with the code `invalid_cursor` for any other text."""
    try:
        if len(cursor) > MAX_CURSOR_CHARACTERS:
            raise ValueError("too long")
        padded = cursor + "=" * (-len(cursor) % 4)
        key = tuple(json.loads(base64.b64decode(padded, altchars=b"-_", validate=True)))
        if tuple(map(type, key)) != shape or encode_cursor(*key) != cursor:
            raise ValueError("not of this listing")
        if any(isinstance(part, int) and abs(part) >= 1 << 63 for part in key):
            raise ValueError("out of range")
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidRequest(
            "not a cursor of this listing", code="invalid_cursor", place="cursor", mend="start again without a cursor"
        ) from error
    return key
