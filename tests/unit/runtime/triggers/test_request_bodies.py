"""Bodies as senders write them: no byte is replaced, and nothing is decompressed without a limit."""

from __future__ import annotations

import encodings
import gzip
import zlib
from base64 import b64encode
from typing import Any

import pytest

from stepless.errors import InvalidRequest
from stepless.limits import MAX_FORM_FIELDS, MAX_REQUEST_BYTES
from stepless.runtime.triggers.request_bodies import decoded, fields_of, form_of

EVERY_BYTE = bytes(range(256))
XML = '<?xml version="1.0" encoding="utf-16"?><a>ü</a>'


def body_of(data: bytes, kind: str | None, encoding: str = "") -> tuple[Any, str | None]:
    headers = {"content-type": kind} if kind is not None else {}
    found = decoded({**headers, "content-encoding": encoding} if encoding else headers, data)
    return found.body, found.charset


def refusal(data: bytes, kind: str, encoding: str = "") -> tuple[int, str]:
    with pytest.raises(InvalidRequest) as refused:
        body_of(data, kind, encoding)
    return refused.value.http_status, refused.value.code


@pytest.mark.parametrize(("data", "kind", "body", "charset"), [
    (b"", "application/json", None, None),
    (b'{"a": 1}', None, {"a": 1}, "utf-8"),
    (b'{"a": 1}', "application/json; charset=utf-8", {"a": 1}, "utf-8"),
    ('{"a": "ü"}'.encode("utf-16"), "application/json; charset=utf-16", {"a": "ü"}, "utf-16"),
    ('{"a": "ü"}'.encode("utf-16-be"), 'application/json;charset="UTF-16BE"', {"a": "ü"}, "utf-16-be"),
    ('{"a": "ü"}'.encode("latin-1"), "application/json; charset=iso-8859-1", {"a": "ü"}, "iso8859-1"),
    ('{"a": "ü"}'.encode(), "application/json; charset=iso-8859-1", {"a": "ü"}, "utf-8"),
    ("Straße".encode("latin-1"), "text/plain; charset=ISO-8859-1", "Straße", "iso8859-1"),
    ("Straße €".encode("cp1252"), "text/plain; charset=windows-1252", "Straße €", "cp1252"),
    ("日本".encode("shift_jis"), "text/plain; charset=Shift_JIS", "日本", "shift_jis"),
    ("Straße".encode(), "text/plain; charset=unheard-of", "Straße", "utf-8"),
    ("Straße".encode(), "text/plain; charset=base64", "Straße", "utf-8"),
    ("Straße".encode(), "text/plain", "Straße", "utf-8"),
    ("Straße".encode("latin-1"), "text/plain", b64encode("Straße".encode("latin-1")).decode(), None),
    (EVERY_BYTE, "image/png", b64encode(EVERY_BYTE).decode(), None),
    (b"\xff", "text/plain; charset=utf-16", "/w==", None),
    (XML.encode("utf-16"), "application/xml", b64encode(XML.encode("utf-16")).decode(), None),
    (XML.encode("utf-16"), "application/xml; charset=utf-16", XML, "utf-16"),
    (b"a=1&b=%C3%BC&b=2", "application/x-www-form-urlencoded", "a=1&b=%C3%BC&b=2", "utf-8"),
    (b'{"a":1}\n{"a":2}\n', "application/x-ndjson", '{"a":1}\n{"a":2}\n', "utf-8"),
])  # fmt: skip
def test_a_body_arrives_whole(data: bytes, kind: str | None, body: Any, charset: str | None) -> None:
    assert body_of(data, kind) == (body, charset)


@pytest.mark.parametrize(("data", "encoding"), [
    (gzip.compress(b'{"a": 1}', mtime=0), "gzip"),
    (gzip.compress(b'{"a"', mtime=0) + gzip.compress(b": 1}", mtime=0), "x-gzip"),
    (zlib.compress(b'{"a": 1}'), "deflate"),
    (zlib.compress(b'{"a": 1}', wbits=-15), "deflate"),
    (gzip.compress(zlib.compress(b'{"a": 1}'), mtime=0), "deflate, gzip"),
    (b'{"a": 1}', "gzip"),  # a proxy has decompressed it
    (b'{"a": 1}', "identity"),
    (b'{"a": 1}', "UTF-8"),
])  # fmt: skip
def test_a_compressed_body_is_decompressed(data: bytes, encoding: str) -> None:
    assert body_of(data, "application/json", encoding) == ({"a": 1}, "utf-8")


def test_names_of_charsets_that_callers_invent_are_not_kept() -> None:
    before = len(encodings._cache)  # type: ignore[attr-defined]
    for number in range(100):
        assert body_of("ü".encode(), f"text/plain; charset=invented-{number}") == ("ü", "utf-8")
    assert len(encodings._cache) == before  # type: ignore[attr-defined]


def test_what_cannot_be_decompressed_is_refused_or_arrives_as_bytes() -> None:
    whole = gzip.compress(b'{"a": 1}', mtime=0)
    for damaged in (whole[:-9], whole[:-3], whole[:12] + b"\xff" * 20, whole + b"junk"):
        assert refusal(damaged, "application/json", "gzip") == (415, "unsupported_media_type")
    assert refusal(gzip.compress(b"", mtime=0) * 5_000, "text/plain", "gzip") == (415, "unsupported_media_type")
    assert refusal(b"\x0b\x02", "application/json", "br") == (415, "unsupported_media_type")
    assert refusal(b"{}", "application/json", ", ".join(["gzip"] * 6)) == (415, "unsupported_media_type")
    assert body_of(b"\x0b\x02", "text/plain", "br") == ("CwI=", None)


@pytest.mark.parametrize("data", [
    gzip.compress(b"0" * 50_000_000, mtime=0),
    gzip.compress(b"0" * (MAX_REQUEST_BYTES + 1), mtime=0),
    gzip.compress(b"0" * (MAX_REQUEST_BYTES // 2), mtime=0) * 3,
], ids=["huge", "a byte more", "members"])  # fmt: skip
def test_a_body_that_grows_beyond_the_limit_is_refused(data: bytes) -> None:
    assert refusal(data, "text/plain", "gzip") == (413, "body_too_large")


@pytest.mark.parametrize("kind", ["application/json; charset=utf-16", "application/json; charset=utf-32-le"])
def test_json_that_is_no_text_in_its_charset_is_refused(kind: str) -> None:
    assert refusal(b'{"a"', kind) == (400, "invalid_json")
    assert refusal(b"{", kind) == (400, "invalid_json")


@pytest.mark.parametrize(("text", "fields"), [
    ("", {}),
    ("a=1&b=2", {"a": "1", "b": "2"}),
    ("tag=a&tag=b&x=&y=", {"tag": ["a", "b"], "x": "", "y": ""}),
    ("ids[]=1&ids[]=2", {"ids[]": ["1", "2"]}),
    ("q=%C3%BC+%20", {"q": "ü  "}),
    ("q=%FF&caf%E9=1", {"q": "ÿ", "café": "1"}),
])  # fmt: skip
def test_a_field_that_comes_twice_is_a_list(text: str, fields: dict[str, Any]) -> None:
    assert fields_of(text) == fields
    assert form_of({"content-type": "application/x-www-form-urlencoded"}, text.encode()) == fields


def test_a_form_is_read_in_its_charset() -> None:
    kind = "application/x-www-form-urlencoded; charset=shift_jis"
    assert form_of({"content-type": kind}, b"q=%93%FA%96%7B") == {"q": "日本"}


def test_a_form_has_a_limit_of_fields() -> None:
    for text in ("&".join(["a=1"] * (MAX_FORM_FIELDS + 1)), "a=1&" * (MAX_FORM_FIELDS + 1)):
        with pytest.raises(InvalidRequest) as refused:
            fields_of(text)
        assert (refused.value.http_status, refused.value.code) == (400, "invalid_form")


def part(head: str, content: bytes) -> bytes:
    return b"--X\r\n" + head.encode() + b"\r\n\r\n" + content + b"\r\n"


def test_a_multipart_form_has_fields_and_files() -> None:
    named = 'Content-Disposition: form-data; name="{}"'.format
    data = b"preamble\r\n" + b"".join([
        part(named("who"), "Jürgen".encode()), part(named("tag"), b"a"), part(named("tag"), b"x--X"),
        part(named('a\\"b'), b""),
        part(named("old") + "\r\nContent-Type: text/plain; charset=iso-8859-1", "ü".encode("latin-1")),
        part(named("doc") + '; filename="ü.bin"\r\nContent-Type: application/octet-stream', EVERY_BYTE),
    ]) + b"--X--\r\nepilogue"
    file = {"filename": "ü.bin", "content_type": "application/octet-stream", "content": b64encode(EVERY_BYTE).decode()}
    for boundary in ("X", '"X"'):
        assert form_of({"content-type": f"multipart/form-data; boundary={boundary}"}, data) == {
            "who": "Jürgen", "tag": ["a", "x--X"], 'a"b': "", "old": "ü", "doc": file,
        }  # fmt: skip


@pytest.mark.parametrize("data", [
    b"", b"--X", b"--X\r\n", part("Content-Disposition: form-data", b"") + b"--X--", b"--X\r\nno end of header\r\n--X--",
    part('Content-Disposition: form-data; name="a"', b"cut"), b"--X--\r\n--X"
])  # fmt: skip
def test_a_multipart_form_that_cannot_be_parsed_has_no_fields(data: bytes) -> None:
    assert form_of({"content-type": "multipart/form-data; boundary=X"}, data) is None


def test_a_multipart_form_has_a_limit_of_parts() -> None:
    data = part('Content-Disposition: form-data; name="a"', b"") * (MAX_FORM_FIELDS + 1) + b"--X--"
    with pytest.raises(InvalidRequest):
        form_of({"content-type": "multipart/form-data; boundary=X"}, data)
