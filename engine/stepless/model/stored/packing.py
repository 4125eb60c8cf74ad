"""Encodes JSON as bytes and decodes it, for logs and snapshots: fast, exact, and compressed where that saves space."""

from __future__ import annotations

import json
import zlib
from typing import Any, Final

import orjson

_PLAIN: Final = (b"[", b"{", b" ")
PACK_BYTES: Final = 1024  # longer texts are compressed where that makes them smaller
_LEVEL: Final = 5  # a seventh smaller than 1 for half a microsecond per event; 6 takes longer and gives nothing


def dump(value: Any) -> bytes:
    """Encodes a value as JSON bytes.

    orjson encodes most values. The standard library encodes integers above 64 bits and lone surrogates; a leading space marks
    its output, because orjson would decode such integers as floats.
    """
    try:
        data = orjson.dumps(value)
        # orjson returns its whole write buffer: without a copy, a short text keeps 4 KB in memory
        return bytes(memoryview(data)) if len(data) <= PACK_BYTES else data
    except TypeError:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return b" " + text.encode("utf-8", "surrogatepass")


def pack(plain: bytes) -> bytes:
    """Compresses JSON bytes where that makes them smaller."""
    if len(plain) <= PACK_BYTES:
        return plain
    # a window no larger than the text: for the largest window zlib clears 256 KB, five times the work of a short text
    window = min(len(plain).bit_length(), zlib.MAX_WBITS)
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, window, min(window - 6, zlib.DEF_MEM_LEVEL))
    compressed = packer.compress(plain) + packer.flush()
    return compressed if len(compressed) < len(plain) else plain


def unpack(data: bytes) -> Any:
    """Decodes the value from packed bytes. Raises ValueError for damaged bytes."""
    try:
        plain = data if data[:1] in _PLAIN else zlib.decompress(data)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    return load(plain)


def load(plain: bytes) -> Any:
    """Decodes the value that `dump` has encoded. Raises ValueError."""
    return json.loads(plain.decode("utf-8", "surrogatepass")) if plain[:1] == b" " else orjson.loads(plain)
