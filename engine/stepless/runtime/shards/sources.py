"""Reads the rows of a source: all of them for its plan, those of one shard, and the items that they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import orjson

from stepless.compile.reading.strict_json import strict_json
from stepless.core.shards.rows import Row, RowOpen, csv_rows, json_rows, keyed
from stepless.errors import InvalidRequest
from stepless.limits import MAX_ROW_BYTES
from stepless.model.json import JSON
from stepless.model.stored.packing import dump, load
from stepless.ports import ObjectChanged, ObjectRefused, Objects, Seen
from stepless.runtime.shards.plans import Plan
from stepless.runtime.shards.records import value_of
from stepless.runtime.world import World

UNREADABLE: Final = "source_unreadable"
CHANGED: Final = "source_changed"
LISTING: Final = "objects"
_LONG: Final = re.compile(rb"[0-9]{19}")  # an integer that orjson may round
_DEEP: Final = 64  # fewer brackets than this cannot be nested too deeply
Item: TypeAlias = "bytes | Mapping[str, str]"  # encoded, or the error that it fails with
_NEEDED: Final = {"s3": "install the extra `aws`", "file": "use `s3`: only a server on one machine has a folder"}


class NodeRefused(Exception):
    """The node fails with this code and message."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


@dataclass(frozen=True, slots=True)
class Source:
    """Where the rows are. `etag` and `size` are those that were planned; the rows begin at the byte `begin`, in the line `line`.
    What cannot be read at any place again, a compressed source or a listing, is copied beside the plan: `pages` are the first
    byte and the blob of each page."""

    place: str
    bucket: str
    name: str
    format: str
    header: bool = True
    delimiter: str = ","
    etag: str = ""
    size: int = 0
    packed: bool = False
    begin: int = 0
    line: int = 1
    columns: Sequence[str] | None = None
    pages: Sequence[Sequence[Any]] = ()

    @property
    def shown(self) -> str:
        return f"s3://{self.bucket}/{self.name}" if self.place == "s3" else self.name

    @property
    def seen(self) -> Seen:
        return Seen(self.name, self.size, self.etag)

    @property
    def is_copied(self) -> bool:
        return self.packed or self.format == LISTING


def objects_of(world: World, place: str) -> Objects:
    """Returns the port for a place. Raises `ObjectRefused` where there is none."""
    if place not in world.objects:
        raise ObjectRefused(f"this server cannot reach `{place}`: {_NEEDED[place]}")
    return world.objects[place]()


def pieces_of(world: World, source: Source, first: int, end: int) -> Iterator[bytes]:
    """Yields the bytes of the source from `first` to before `end`. Raises `ObjectChanged`, `ObjectRefused`."""
    if not source.is_copied:
        yield from objects_of(world, source.place).read(source.bucket, source.seen, first, end)
        return
    for at, key in source.pages[max(0, sum(page[0] <= first for page in source.pages) - 1) :]:
        if at >= end:
            return
        data = value_of(world, key, "page of the plan")
        yield data[max(0, first - at) : end - at]


def rows_in(source: Source, pieces: Iterable[bytes], first: int, number: int) -> Iterator[Row]:
    """Yields the rows of bytes that begin with a row. Raises `RowOpen`."""
    if source.format == "csv":
        return csv_rows(pieces, source.delimiter, first, number)
    return json_rows(pieces, first, number)


def items_between(
    world: World, source: Source, begin: Sequence[int], end: int, number: int
) -> list[Item]:
    """Returns the items of a shard, each encoded, or the error that it fails with. Raises `ObjectChanged`, also if there are not
    as many as were planned, `ObjectRefused`."""
    first, line = begin
    try:
        rows = rows_in(source, pieces_of(world, source, first, end), first, line)
        items = [item_of(source, row) for row in rows]
    except RowOpen as error:
        raise ObjectChanged(source.name) from error
    if len(items) != number:
        raise ObjectChanged(source.name)
    return items


def shard_items(world: World, plan: Plan, number: int) -> Sequence[Item]:
    """Returns the items of a shard, each encoded, or the error that it fails with. Raises `ObjectChanged`, `ObjectRefused`."""
    begin, end = plan.range_of(number)
    if plan.source is not None:
        mark, following = plan.marks[number : number + 2]
        return items_between(world, Source(**plan.source), mark, following[0], end - begin)
    first, key = max((page for page in plan.pages if page[0] <= begin), key=lambda page: page[0])
    return value_of(world, key, "page of items").split(b"\n")[begin - first : end - first]


def item_of(source: Source, row: Row) -> Item:
    """Returns the item of a row, encoded, or the error that it fails with."""
    if (size := row.end - row.first) > MAX_ROW_BYTES:
        return _failed(row, "item_too_large", f"the row takes {size:,} bytes; {MAX_ROW_BYTES:,} is the limit")
    try:
        return dump(_csv_value(source, row) if source.format == "csv" else _json_value(row))
    except ValueError as error:
        return _failed(row, "bad_row", str(error))


def parsed(line: Item) -> tuple[JSON, Mapping[str, str] | None]:
    """Returns an item, or the error that it fails with."""
    if isinstance(line, Mapping):
        return None, line
    if len(line) > MAX_ROW_BYTES:
        message = f"the item takes {len(line):,} bytes; {MAX_ROW_BYTES:,} is the limit"
        return None, {"code": "item_too_large", "message": message}
    return load(line), None


def _csv_value(source: Source, row: Row) -> JSON:
    if not row.text:
        raise ValueError("the row is not UTF-8")
    if source.columns is None:
        return row.content
    if (value := keyed(row.content, source.columns)) is None:
        raise ValueError(f"the row has {len(row.content):,} fields, and the header {len(source.columns):,}")
    return value


def _json_value(row: Row) -> JSON:
    line: bytes = row.content
    try:
        rare = line.count(b"[") + line.count(b"{") > _DEEP or _LONG.search(line)
        return strict_json(line, "the row") if rare else orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise ValueError(f"the row is not JSON: {error.msg}") from error
    except InvalidRequest as error:
        raise ValueError(error.message) from error


def _failed(row: Row, code: str, message: str) -> dict[str, str]:
    return {"code": code, "message": f"line {row.number:,}: {message}"}
