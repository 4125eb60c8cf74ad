"""Defines where a `distributed` node reads its items from, and where it puts its results: `source` and `into`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal

from stepless.limits import MAX_SOURCE_PLACE_CHARACTERS
from stepless.model.findings import Finding
from stepless.model.json import JSON
from stepless.nodes.params import Params, stored_secrets

_OPEN: Final = re.compile(r"<[A-Za-z_]|\$\{|\{\{")  # a run fills in the text
_FORMATS: Final = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}


class S3SourceParams(Params):
    """An object of S3, or all whose keys begin alike."""

    bucket: str
    """The bucket."""
    key: str | None = None
    """The key of the object that has the rows."""
    prefix: str | None = None
    """Each object whose key begins with this is an item: {key, size, etag}."""


class SourceParams(Params):
    """Where the items are: exactly one of `s3` and `file`."""

    s3: S3SourceParams | None = None
    """An object of S3, or a prefix."""
    file: str | None = None
    """The path of a file below the folder that the server serves. Only where the server runs on one machine."""
    format: Literal["jsonl", "csv", "objects"] | None = None
    """One item for each line of JSON (`jsonl`), for each row (`csv`), or for each object below a prefix (`objects`). Default: by
    the ending of the name. A file that gzip has compressed is unpacked."""
    header: bool = True
    """Of `csv`: whether the first row names the columns. Then an item is an object of texts, else a list of texts."""
    delimiter: str = ","
    """Of `csv`: the character between two fields."""


class S3SinkParams(Params):
    """Objects of S3 whose keys begin alike."""

    bucket: str
    """The bucket."""
    prefix: str
    """The beginning of the keys, such as `orders/<run.id>/`."""


class IntoParams(Params):
    """Where the results go: exactly one of `s3` and `file`."""

    s3: S3SinkParams | None = None
    """A prefix of S3."""
    file: str | None = None
    """The path of a folder below the one that the server serves. It is made if there is none."""
    format: Literal["jsonl"] = "jsonl"
    """One line of JSON for each item: {index, result} or {index, error}."""


def check_places(source: SourceParams | None, into: IntoParams | None, path: str) -> Iterator[Finding]:
    """Yields what is wrong with `source` and `into`."""
    if isinstance(source, SourceParams):  # not a text with a reference
        yield from stored_secrets(source.model_dump(), f"{path}.source", "shards")
        yield from _one_place(source, f"{path}.source")
        yield from _format_faults(source, f"{path}.source")
        if isinstance(source.s3, S3SourceParams) and (source.s3.key is None) == (source.s3.prefix is None):
            yield _out(f"{path}.source.s3", "exactly one of `key` and `prefix` is required", "Set one of them.")
    if isinstance(into, IntoParams):
        yield from stored_secrets(into.model_dump(), f"{path}.into", "shards")
        yield from _one_place(into, f"{path}.into")


def _one_place(given: SourceParams | IntoParams, path: str) -> Iterator[Finding]:
    if (given.s3 is None) == (given.file is None):
        yield _out(path, "exactly one of `s3` and `file` is required", "Set one of them.")
    s3 = {} if not isinstance(given.s3, Params) else given.s3.model_dump(exclude_none=True)
    for name, text in {**{f"s3.{name}": text for name, text in s3.items()}, "file": given.file}.items():
        if isinstance(text, str) and not (len(text) <= MAX_SOURCE_PLACE_CHARACTERS and (text or name == "s3.prefix")):
            message = f"`{name}` has {len(text):,} characters, and 1 to {MAX_SOURCE_PLACE_CHARACTERS:,} are allowed"
            yield _out(f"{path}.{name}", message, "Correct it.")
    file = given.file
    if isinstance(file, str) and not _OPEN.search(file) and (file.startswith("/") or re.search(r"(^|/)\.", file)):
        message = "the path is not below the served folder, or is hidden"
        yield _out(f"{path}.file", message, "Write a path below it, without `..`.")


def _format_faults(source: SourceParams, path: str) -> Iterator[Finding]:
    lists = isinstance(source.s3, S3SourceParams) and source.s3.prefix is not None
    if source.format is None and not lists and (name := _name_of(source)) is not None and format_of(source) is None:
        message = f"the ending of {name!r:.100} does not tell the format"
        yield _out(f"{path}.format", message, "Set `format: jsonl` or `format: csv`.")
    if source.format is not None and (source.format == "objects") != lists:
        yield _out(f"{path}.format", "`format: objects` and `prefix` belong together", "Set both, or neither.")
    delimiter = source.delimiter
    if not _OPEN.search(delimiter) and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in "\"\r\n"):
        message = f"{delimiter!r:.20} is not one ASCII character that can divide fields"
        yield _out(f"{path}.delimiter", message, "Use one, such as `;`.")


def _name_of(source: SourceParams) -> str | None:
    name = source.s3.key if isinstance(source.s3, S3SourceParams) else source.file
    return name if isinstance(name, str) and not _OPEN.search(name) else None


def format_of(source: SourceParams) -> str | None:
    """Returns the format: as it is given, or by the ending of the name; None for an unknown one."""
    if source.format is not None:
        return source.format
    if source.s3 is not None and source.s3.prefix is not None:
        return "objects"
    name = ((source.s3.key if source.s3 is not None else source.file) or "").lower().removesuffix(".gz")
    return next((format for ending, format in _FORMATS.items() if name.endswith(ending)), None)


def planned_source(source: SourceParams | None) -> dict[str, JSON] | None:
    """Returns a source as a plan holds it, before it is read."""
    if source is None:
        return None
    place, bucket, name = "file", "", source.file
    if source.s3 is not None:
        place, bucket, name = "s3", source.s3.bucket, source.s3.prefix if source.s3.key is None else source.s3.key
    return {"place": place, "bucket": bucket, "name": name, "format": format_of(source), "header": source.header,
            "delimiter": source.delimiter}  # fmt: skip


def planned_into(into: IntoParams | None) -> dict[str, str] | None:
    """Returns a sink as a plan holds it: keys begin with its name."""
    if into is None:
        return None
    if into.s3 is not None:
        return {"place": "s3", "bucket": into.s3.bucket, "name": into.s3.prefix}
    folder = (into.file or "").rstrip("/")
    return {"place": "file", "bucket": "", "name": f"{folder}/"}


def _out(path: str, message: str, mend: str) -> Finding:
    return Finding("out_of_range", path, message, mend)
