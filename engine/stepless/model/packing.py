"""JSON as bytes, and back: fast, exact, compressed where that pays. What logs and snapshots are written with."""

from __future__ import annotations

import json
import zlib
from typing import Any, Final

import orjson

_PLAIN: Final = (b"[", b"{", b" ")
_COMPRESS_BYTES: Final = 1024
_LEVEL: Final = 5  # a seventh smaller than 1 for half a microsecond per event; 6 takes longer and gives nothing


def dump(value: Any) -> bytes:
    """JSON as bytes.

    orjson writes what it can; integers above 64 bits and lone surrogates are left to the standard library, whose output is
    told by the blank before it, because orjson would read such integers back as floats.
    """
    try:
        data = orjson.dumps(value)
        # orjson's bytes lie in the whole buffer that they were written into: whoever keeps a short text keeps 4 KB
        return bytes(memoryview(data)) if len(data) <= _COMPRESS_BYTES else data
    except TypeError:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return b" " + text.encode("utf-8", "surrogatepass")


def pack(plain: bytes) -> bytes:
    """Bytes of JSON, compressed where that pays."""
    if len(plain) <= _COMPRESS_BYTES:
        return plain
    # a window no larger than the text: for its largest one zlib clears a quarter of a megabyte, five times a short text's work
    window = min(len(plain).bit_length(), zlib.MAX_WBITS)
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, window, min(window - 6, zlib.DEF_MEM_LEVEL))
    compressed = packer.compress(plain) + packer.flush()
    return compressed if len(compressed) < len(plain) else plain


def unpack(data: bytes) -> Any:
    """The value whose JSON `pack` was given. Raises ValueError for bytes that are damaged."""
    try:
        plain = data if data[:1] in _PLAIN else zlib.decompress(data)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    return json.loads(plain.decode("utf-8", "surrogatepass")) if plain[:1] == b" " else orjson.loads(plain)
