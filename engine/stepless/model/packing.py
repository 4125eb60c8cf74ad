"""JSON as bytes, and back: fast, exact, compressed where that pays. What logs and snapshots are written with."""

from __future__ import annotations

import json
import zlib
from typing import Any, Final

import orjson

_PLAIN: Final = (b"[", b"{", b" ")
_COMPRESS_BYTES: Final = 1024


def dump(value: Any) -> bytes:
    """JSON as bytes.

    orjson writes what it can; integers above 64 bits and lone surrogates are left to the standard library, whose output is
    told by the blank before it, because orjson would read such integers back as floats.
    """
    try:
        return orjson.dumps(value)
    except TypeError:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return b" " + text.encode("utf-8", "surrogatepass")


def pack(plain: bytes) -> bytes:
    """Bytes of JSON, compressed where that pays."""
    if len(plain) <= _COMPRESS_BYTES:
        return plain
    compressed = zlib.compress(plain, 1)
    return compressed if len(compressed) < len(plain) else plain


def unpack(data: bytes) -> Any:
    """The value whose JSON `pack` was given. Raises ValueError for bytes that are damaged."""
    try:
        plain = data if data[:1] in _PLAIN else zlib.decompress(data)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    return json.loads(plain.decode("utf-8", "surrogatepass")) if plain[:1] == b" " else orjson.loads(plain)
