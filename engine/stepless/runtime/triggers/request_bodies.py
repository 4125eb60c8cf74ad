"""Decodes the bodies of webhook requests. Nothing is replaced: bytes that are no text arrive as base64.

The charset is that of the Content-Type, else UTF-8. Contents are not searched for it: a parser of XML, say, reads the declaration
itself, from the bytes.
"""

from __future__ import annotations

import codecs
import re
import zlib
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from encodings.aliases import aliases
from typing import Final
from urllib.parse import parse_qsl

from stepless.compile.reading.strict_json import strict_json
from stepless.errors import InvalidRequest
from stepless.limits import MAX_FORM_FIELDS, MAX_REQUEST_BYTES
from stepless.model.json import JSON

_FORM: Final = "application/x-www-form-urlencoded"
_MULTIPART: Final = "multipart/form-data"
_UTF8: Final = "utf-8"
_CHARSETS: Final = re.compile(
    r"utf-8|utf-16(-[bl]e)?|utf-32(-[bl]e)?|ascii|iso8859-\d+|cp\d+|koi8-\w|mac-\w+|gb2312|gbk|gb18030|hz|big5\w*|shift_jis\w*|"
    r"euc_\w+|iso2022_\w+|johab|kz1048|tis-620|ptcp154"
)
"""Of Python's codecs those that are charsets: others decompress, or decode escapes."""

_NAMES: Final = frozenset({*aliases, *aliases.values(), "koi8_u", "cp874"})
_MAX_CHARSET_CHARACTERS: Final = 40
_PARAMETER: Final = re.compile(r';\s*([\w*-]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^;]*)')
_MAGIC: Final = b"\x1f\x8b"
_UNSUPPORTED: Final = frozenset({"br", "zstd", "compress", "x-compress", "dcb", "dcz"})
_MAX_CODINGS: Final = 5  # in one Content-Encoding
_MAX_MEMBERS: Final = 100  # of one gzip file
_DAMAGED: Final = "the body does not have the encoding that its Content-Encoding names"


@dataclass(frozen=True, slots=True)
class Decoded:
    """`body` is the parsed JSON, a text, or base64; None if there is none. `charset` is the charset that it was decoded by, and
    None for base64. `data` are the bytes without their Content-Encoding."""

    body: JSON
    charset: str | None
    data: bytes


def decoded(headers: Mapping[str, str], raw: bytes) -> Decoded:
    """Returns the body of a request. Raises `InvalidRequest`: 400 (invalid_json), 413 (body_too_large), and 415
    (unsupported_media_type) for a damaged Content-Encoding, and for JSON in one that is not supported."""
    if not raw:
        return Decoded(None, None, raw)
    data, encoding = _without_encoding(headers.get("content-encoding", ""), raw)
    kind, parameters = _content_type(headers)
    charset = _charset(parameters.get("charset"))
    if kind in ("", "application/json") or kind.endswith("+json"):
        if encoding:
            raise _undecodable(f"the Content-Encoding {encoding} of the body is not supported")
        return _json(data, charset)
    text = _text(data, charset) if not encoding else None
    if text is None:
        return Decoded(b64encode(data).decode(), None, data)
    return Decoded(text, charset, data)


def form_of(headers: Mapping[str, str], data: bytes) -> JSON:
    """Returns the fields of a form by name: a text, or a list if a field comes more than once. A file of a multipart form is
    `{filename, content_type, content}` with its bytes as base64. None for any other body, and for a form that cannot be parsed.
    Raises `InvalidRequest` (invalid_form) for more than MAX_FORM_FIELDS."""
    kind, parameters = _content_type(headers)
    if kind == _FORM:
        return fields_of(data.decode("latin-1"), _charset(parameters.get("charset")))
    if kind != _MULTIPART or not parameters.get("boundary"):
        return None
    try:
        return _listed(_parts(data, parameters["boundary"].encode()))
    except ValueError:
        return None


def fields_of(text: str, charset: str = _UTF8) -> dict[str, JSON]:
    """Returns the fields of a query or a form, whose bytes `text` has as ISO-8859-1: a text each, or a list of texts if a field
    comes more than once. A field that is no text in `charset` is read as ISO-8859-1. Raises `InvalidRequest` (invalid_form) for
    more than MAX_FORM_FIELDS."""
    if not text:
        return {}
    try:
        pairs = parse_qsl(text, keep_blank_values=True, encoding="latin-1", max_num_fields=MAX_FORM_FIELDS)
    except ValueError as error:
        raise _too_many_fields() from error
    return _listed((_readable(name, charset), _readable(value, charset)) for name, value in pairs)


def _readable(text: str, charset: str) -> str:
    if text.isascii() and charset == _UTF8:
        return text
    found = _text(text.encode("latin-1"), charset)
    return text if found is None else found


def _listed(pairs: Iterable[tuple[str, JSON]]) -> dict[str, JSON]:
    fields: dict[str, list[JSON]] = {}
    for name, value in pairs:
        fields.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in fields.items()}


# -- charsets ---------------------------------------------------------------------------------------------------------


def _content_type(headers: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
    """The media type in lower case, and its parameters."""
    given = headers.get("content-type", "")
    return given.partition(";")[0].strip().lower(), _parameters(given) if ";" in given else {}


def _parameters(header: str) -> Mapping[str, str]:
    found = {}
    for name, value in _PARAMETER.findall(header):
        text = value.strip()
        found[name.lower()] = re.sub(r"\\(.)", r"\1", text[1:-1]) if text.startswith('"') else text
    return found


def _charset(name: str | None) -> str:
    """The name of a charset as Python has it; UTF-8 for none and for one that is not known."""
    if name is None or name.lower() == _UTF8:
        return _UTF8
    known = re.sub(r"[^a-z0-9]+", "_", name[:_MAX_CHARSET_CHARACTERS].lower())
    if known not in _NAMES:  # `codecs.lookup` keeps every name that it was ever asked for
        return _UTF8
    found = codecs.lookup(known).name
    return found if _CHARSETS.fullmatch(found) else _UTF8


def _text(data: bytes, charset: str) -> str | None:
    """The text of the bytes; None if they are none in this charset."""
    try:
        text = data.decode(charset)
    except (UnicodeError, ValueError):
        return None
    return text


def _json(data: bytes, charset: str) -> Decoded:
    """JSON is UTF-8, and a charset that a sender names as well is true only if the bytes are not. UTF-16 and UTF-32 are."""
    if charset.startswith(("utf-16", "utf-32")) or (charset != _UTF8 and _text(data, _UTF8) is None):
        text = _text(data, charset)
        if text is None:
            message = f"the body is not text in the charset {charset}, which its Content-Type names"
            raise InvalidRequest(message, code="invalid_json", mend="send JSON in UTF-8")
        return Decoded(strict_json(text), charset, data)
    return Decoded(strict_json(data), _UTF8, data)


# -- Content-Encoding -------------------------------------------------------------------------------------------------


def _without_encoding(header: str, data: bytes) -> tuple[bytes, str]:
    """The bytes without gzip and deflate, and the encoding that they still have. A body that a proxy has decompressed already,
    and names that are no encoding, are left alone."""
    if not header:
        return data, ""
    codings = [name.strip().lower() for name in header.split(",")]
    if len(codings) > _MAX_CODINGS:
        raise _undecodable("the body has too many encodings")
    for coding in reversed(codings):
        if coding in _UNSUPPORTED:
            return data, coding
        if coding in ("gzip", "x-gzip") and data.startswith(_MAGIC):
            data = _inflated(data, 16 + zlib.MAX_WBITS)
        elif coding == "deflate":
            data = _inflated(data, zlib.MAX_WBITS if data[:1] == b"\x78" else -zlib.MAX_WBITS)
    return data, ""


def _inflated(data: bytes, bits: int) -> bytes:
    """The decompressed bytes, at most MAX_REQUEST_BYTES."""
    found = b""
    for _ in range(_MAX_MEMBERS):
        if not data.strip(b"\0"):
            return found
        stream = zlib.decompressobj(bits)
        try:
            found += stream.decompress(data, MAX_REQUEST_BYTES + 1 - len(found))
        except zlib.error as error:
            raise _undecodable(_DAMAGED) from error
        if len(found) > MAX_REQUEST_BYTES:
            message = f"the decompressed body has more than {MAX_REQUEST_BYTES:,} bytes"
            raise InvalidRequest(message, code="body_too_large", status=413, mend="send less")
        if not stream.eof:
            raise _undecodable(_DAMAGED)
        data = stream.unused_data  # of gzip, a further member
    raise _undecodable("the body has too many parts that are compressed separately")


def _undecodable(message: str) -> InvalidRequest:
    return InvalidRequest(message, code="unsupported_media_type", status=415, mend="send it as it is, or with gzip")


def _too_many_fields() -> InvalidRequest:
    return InvalidRequest(f"a form has at most {MAX_FORM_FIELDS} fields", code="invalid_form", mend="send fewer fields")


# -- multipart forms --------------------------------------------------------------------------------------------------


def _parts(data: bytes, boundary: bytes) -> Iterator[tuple[str, JSON]]:
    """The fields of a multipart form (RFC 7578). Raises `ValueError` if it is none."""
    pieces = (b"\r\n" + data).split(b"\r\n--" + boundary)
    if len(pieces) > MAX_FORM_FIELDS + 2:
        raise _too_many_fields()
    if len(pieces) < 2 or not pieces[-1].startswith(b"--"):
        raise ValueError("the form has no end")
    for piece in pieces[1:-1]:
        padding, line_end, rest = piece.partition(b"\r\n")
        if padding.strip(b" \t") or not line_end:
            raise ValueError("a part does not begin with a line")
        head, content = (b"", rest[2:]) if rest.startswith(b"\r\n") else _split(rest)
        yield _field(_part_headers(head), content)


def _split(part: bytes) -> tuple[bytes, bytes]:
    head, blank, content = part.partition(b"\r\n\r\n")
    if not blank:
        raise ValueError("a part has no end of its header")
    return head, content


def _part_headers(head: bytes) -> Mapping[str, str]:
    text = _text(head, _UTF8)
    lines = (head.decode("latin-1") if text is None else text).split("\r\n")
    named = (line.partition(":") for line in lines)
    return {name.strip().lower(): value.strip() for name, _, value in named}


def _field(headers: Mapping[str, str], content: bytes) -> tuple[str, JSON]:
    disposition = _parameters(headers.get("content-disposition", ""))
    if "name" not in disposition:
        raise ValueError("a part has no name")
    kind, parameters = _content_type(headers)
    text = _text(content, _charset(parameters.get("charset"))) if "filename" not in disposition else None
    if text is not None:
        return disposition["name"], text
    file = {"filename": disposition.get("filename"), "content_type": kind or None, "content": b64encode(content).decode()}
    return disposition["name"], file
