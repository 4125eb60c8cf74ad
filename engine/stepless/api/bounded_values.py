"""Keeps responses below MAX_PAGE_BYTES: a value that is too large is replaced by its size, its first characters, its hash and
the URL of the whole value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar, cast
from urllib.parse import quote

from stepless.limits import INLINE_VALUE_BYTES, MAX_PAGE_BYTES, PREVIEW_CHARACTERS
from stepless.model.json import JSON
from stepless.model.stored.encoding import encode
from stepless.runtime.runlog import may_be_large
from stepless.runtime.verbs.reads.values import hash_of, value_bytes

_SPACE: Final = 4_096  # bytes around the answer
_Holder = dict[str, Any]
T = TypeVar("T", bound=Mapping[str, object])
_Place = tuple[_Holder, str]  # a mapping and one of its keys


def bounded(answer: T, fields: Sequence[str], run_url: str, *, within: int = MAX_PAGE_BYTES - _SPACE) -> T:
    """Returns the answer, or a copy whose JSON has at most `within` bytes. Replaces the largest values under `fields` first:
    values inside a field before the field as a whole."""
    if not may_be_large(answer, within // 6) or (over := len(encode(answer)) - within) <= 0:
        return answer
    copy: _Holder = dict(answer)
    for places, least in ((_inside(copy, fields), INLINE_VALUE_BYTES), (iter([(copy, field) for field in fields]), 0)):
        sized = sorted(((len(value_bytes(holder[key])), holder, key) for holder, key in places), key=lambda entry: -entry[0])
        for size, holder, key in sized:
            if over > 0 and size > least:
                over += _replace(holder, key, run_url)
    return cast(T, copy)


def _replace(holder: _Holder, key: str, run_url: str) -> int:
    """Replaces a value by its description if that is smaller; returns the change of size in bytes, 0 or negative."""
    description = _described(value_bytes(holder[key]), run_url)
    change = len(encode(description)) - len(encode(holder[key]))
    if change < 0:
        holder[key] = description
    return min(change, 0)


def _described(data: bytes, run_url: str) -> dict[str, JSON]:
    digest, preview = hash_of(data), data.decode("utf-8", "surrogatepass")[:PREVIEW_CHARACTERS]
    url = f"{run_url}/values/{quote(digest)}"
    return {"large_value": {"size": len(data), "preview": preview, "hash": digest, "url": url}}


def _inside(copy: _Holder, fields: Sequence[str]) -> Iterator[_Place]:
    """The values one step inside the fields. Copies the fields, so that values can be replaced."""
    for field in fields:
        if isinstance(copy[field], dict):
            copy[field] = dict(copy[field])
            yield from ((copy[field], key) for key in copy[field])
