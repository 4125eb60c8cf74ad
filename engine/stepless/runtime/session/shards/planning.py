"""Plans the shards of a source: reads it once, from its begin to its end, and notes where rows begin.

A record of the log holds what was found since the last one, so another process goes on from there. A compressed source cannot
be read from its middle: its plan begins anew. What the plan says is a function of the source, whose ETag each read names.
"""

from __future__ import annotations

import zlib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any, Final, NamedTuple

from stepless.core.shards.rows import BOM, Row, RowOpen
from stepless.core.shards.sizes import items_per_shard, shards_of
from stepless.limits import (
    LISTED_AT_ONCE,
    MAX_GZIP_BYTES,
    MAX_ITEM_SHARDS,
    MAX_ROW_BYTES,
    MAX_SHARD_SOURCE_BYTES,
    MAX_SOURCE_COLUMNS,
    MAX_UNPACKED_BYTES,
    PLANNED_AT_ONCE,
    PLANNED_IN_TURN,
    ROW_STEP,
    SOURCE_PIECE_BYTES,
)
from stepless.model.stored.packing import dump
from stepless.ports import ObjectChanged, ObjectRefused
from stepless.runtime.shards.plans import Plan
from stepless.runtime.shards.sources import CHANGED, LISTING, UNREADABLE, NodeRefused, Source, objects_of, pieces_of, rows_in
from stepless.runtime.world import World

_MAGIC: Final = b"\x1f\x8b"


class Sizes(NamedTuple):
    """How much is read, and written down, at once; and how much at most."""

    in_turn: int = PLANNED_IN_TURN
    at_once: int = PLANNED_AT_ONCE
    listed: int = LISTED_AT_ONCE
    shards: int = MAX_ITEM_SHARDS
    shard_bytes: int = MAX_SHARD_SOURCE_BYTES
    gzip_bytes: int = MAX_GZIP_BYTES
    unpacked_bytes: int = MAX_UNPACKED_BYTES


USUAL = Sizes()


class Unplanned(NodeRefused):
    """The items cannot be planned."""


class Planning:
    """The plan of one source, as far as it goes. `append` commits a record. `may_go_on` lets other work have its turn and says
    whether this invocation may go on."""

    def __init__(
        self, world: World, run_id: str, plan: Plan, append: Callable[[Mapping[str, Any]], Awaitable[None]],
        may_go_on: Callable[[], Awaitable[bool]], sizes: Sizes | None = None,
    ) -> None:  # fmt: skip
        self._world, self._run_id, self._plan, self._append, self._may_go_on = world, run_id, plan, append, may_go_on
        self._sizes, self.source = sizes or USUAL, Source(**(plan.source or {}))
        self._step = plan.wanted_size or ROW_STEP
        self._marks: list[list[int]] = []
        self._noted = 0  # of the marks, in the log
        self._pages: list[list[Any]] = []
        self._total, self._end, self._line = 0, 0, 1
        self._after = ""  # the last name of a listing

    def fold(self, record: Mapping[str, Any]) -> None:
        if "source" in record:
            self.source = Source(**record["source"])
            self._marks, self._pages, self._total, self._noted = [], [], 0, 0
            self._end, self._line = self.source.begin, self.source.line
        elif "rows" in record:
            self._total, self._end, self._line, self._after = record["rows"]
            self._marks += record["marks"]
            self._pages += record.get("pages", ())
            self._noted = len(self._marks)

    async def finished(self) -> Plan | None:
        """Reads on. Returns the plan with its shards; None if another invocation must go on. Raises `Unplanned`."""
        try:
            if not self.source.etag or self.source.packed:
                await self._append({"source": asdict(self._found())})
            reading = self._list if self.source.format == LISTING else self._read
            return self._divided() if await reading() else None
        except ObjectChanged as error:
            message = f"{self.source.shown} has changed while it was planned"
            raise Unplanned(CHANGED, message) from error
        except ObjectRefused as error:
            raise Unplanned(UNREADABLE, str(error)) from error
        except RowOpen as error:
            raise Unplanned(UNREADABLE, f"{self.source.shown}: {error}") from error
        except zlib.error as error:
            raise Unplanned(UNREADABLE, f"{self.source.shown} cannot be unpacked: {error}") from error

    # -- what it is ---------------------------------------------------------------------------------------------------

    def _found(self) -> Source:
        """The source with its version, and where its rows begin."""
        source = replace(self.source, pages=())
        if source.format == LISTING:
            objects_of(self._world, source.place).names(source.bucket, source.name, "")  # so a refusal comes first
            return replace(source, etag="-")
        seen = objects_of(self._world, source.place).look(source.bucket, source.name)
        if seen is None:
            raise ObjectRefused(f"there is no {source.shown}")
        source = replace(source, size=seen.size, etag=seen.etag, packed=False)
        packed = b"".join(pieces_of(self._world, source, 0, min(2, seen.size))) == _MAGIC
        if packed and seen.size > self._sizes.gzip_bytes:
            why = "a compressed source is read in one invocation, and the limit is"
            raise ObjectRefused(f"{source.shown} takes {seen.size:,} bytes: {why} {self._sizes.gzip_bytes:,}")
        source = replace(source, packed=packed)
        head = b"".join(self._content(source, 0, len(BOM)))
        source = replace(source, begin=len(BOM) if head.startswith(BOM) else 0)
        if source.format != "csv" or not source.header:
            return source
        first = next(iter(rows_in(source, self._content(source, source.begin), source.begin, 1)), None)
        return source if first is None else self._headed(source, first)

    def _headed(self, source: Source, row: Row) -> Source:
        columns: list[str] = row.content
        if not row.text or row.end - row.first > MAX_ROW_BYTES:
            why = f"takes more than {MAX_ROW_BYTES:,} bytes" if row.text else "is not UTF-8"
        elif len(columns) > MAX_SOURCE_COLUMNS:
            why = f"has {len(columns):,} columns; {MAX_SOURCE_COLUMNS:,} is the limit"
        else:
            why = "has one name twice" if len({*columns}) < len(columns) else ""
        if why:
            raise ObjectRefused(f"the header of {source.shown}, in line {row.number:,}, {why}")
        return replace(source, columns=columns, begin=row.end, line=row.following)

    def _content(self, source: Source, first: int, end: int | None = None) -> Iterator[bytes]:
        """The bytes of the source from `first` on, unpacked."""
        if not source.packed:
            yield from pieces_of(self._world, source, first, source.size if end is None else min(end, source.size))
            return
        at = 0
        packed = pieces_of(self._world, replace(source, packed=False), 0, source.size)
        for piece in _unpacked(packed, source, self._sizes.unpacked_bytes):
            yield piece[max(0, first - at) :]
            at += len(piece)
            if end is not None and at >= end:
                return

    # -- where its rows begin -----------------------------------------------------------------------------------------

    async def _read(self) -> bool:
        source = self.source
        content = self._content(source, self._end) if not source.packed else self._copied(source)
        for row in rows_in(source, content, self._end, self._line):
            if self._is_full(row.first, row.number):
                return True
            self._end, self._line = row.end, row.following
            if self._total % self._sizes.in_turn == 0:
                if self._total % self._sizes.at_once == 0 and not source.packed:
                    await self._note()
                if not await self._may_go_on():
                    return await self._leave()
        return True

    async def _leave(self) -> bool:
        if self.source.packed:
            why = "it is compressed, and takes longer than one invocation has"
            raise ObjectRefused(f"{self.source.shown} takes {self.source.size:,} bytes: {why}")
        await self._note()
        return False

    def _is_full(self, first: int, line: int) -> bool:
        """Counts a row. Returns whether it is one more than are wanted. Raises `Unplanned`."""
        plan = self._plan
        if self._total >= plan.max_items:
            if plan.truncate:
                return True
            message = f"{self.source.shown} has more than {plan.max_items:,} rows; `max_items` allows no more"
            raise Unplanned("too_many_items", message)
        if self._total % self._step == 0:
            if plan.wanted_size and len(self._marks) >= self._sizes.shards:
                message = f"shards of {plan.wanted_size:,} items are more than {self._sizes.shards:,}: set a larger `shard`"
                raise Unplanned("out_of_range", message)
            self._marks.append([first, line])
        self._total += 1
        return False

    def _copied(self, source: Source) -> Iterator[bytes]:
        """The content of a compressed source, kept in pages at the same time."""
        at = 0
        for piece in self._content(source, 0):
            self._pages.append([at, self._world.blobs.put(piece, self._run_id)])
            yield piece[max(0, source.begin - at) :]
            at += len(piece)

    async def _list(self) -> bool:
        """Writes down the names of objects as lines of `jsonl`: later, there may be others."""
        source, lines, new = self.source, bytearray(), 0
        first, objects = self._end, objects_of(self._world, source.place)
        full = False
        while not full and (some := objects.names(source.bucket, source.name, self._after)):
            for seen in some:
                if full := self._is_full(self._end, self._line):
                    break
                lines += dump({"key": seen.name, "size": seen.size, "etag": seen.etag}) + b"\n"
                self._end, self._line, self._after = first + len(lines), self._line + 1, seen.name
                new += 1
            goes_on = await self._may_go_on()
            if new >= self._sizes.listed or len(lines) >= SOURCE_PIECE_BYTES or not goes_on:
                await self._note([[first, self._world.blobs.put(bytes(lines), self._run_id)]] if lines else [])
                first, new = self._end, 0
                lines.clear()
            if not goes_on:
                return False
        if lines:
            await self._note([[first, self._world.blobs.put(bytes(lines), self._run_id)]])
        return True

    async def _note(self, pages: list[list[Any]] | None = None) -> None:
        rows = [self._total, self._end, self._line, self._after]
        marks, self._marks = self._marks[self._noted :], self._marks[: self._noted]  # `fold` adds them
        await self._append({"rows": rows, "marks": marks, **({"pages": pages} if pages else {})})

    # -- the end ------------------------------------------------------------------------------------------------------

    def _divided(self) -> Plan:
        """Divides the rows into shards. Raises `Unplanned`."""
        size = items_per_shard(self._total, self._plan.wanted_size, self._step)
        while (longest := max(self._spans(size), default=0)) > self._sizes.shard_bytes and size > self._step:
            size = max(size // 2 // self._step, 1) * self._step
        if longest > self._sizes.shard_bytes:
            message = f"{size:,} rows take {longest:,} bytes; {self._sizes.shard_bytes:,} is the limit of a shard"
            raise Unplanned("out_of_range", f"{message}: set a smaller `shard`")
        if (shards := shards_of(self._total, size)) > self._sizes.shards:
            message = f"{self._total:,} items in shards of {size:,} are {shards:,} shards; {self._sizes.shards:,} is the limit"
            raise Unplanned("out_of_range", message)
        source = replace(self.source, pages=self._pages)
        marks = [*self._marks[:: size // self._step], [self._end, self._line]]
        return replace(self._plan, total=self._total, size=size, source=asdict(source), marks=marks)

    def _spans(self, size: int) -> Iterator[int]:
        begins = [first for first, _ in self._marks[:: size // self._step]]
        return (end - first for first, end in zip(begins, [*begins[1:], self._end], strict=False))


def _unpacked(packed: Iterator[bytes], source: Source, most: int) -> Iterator[bytes]:
    """Unpacks gzip, of one or several members. Raises `ObjectRefused`, `zlib.error`."""
    total, unpacker = 0, zlib.decompressobj(zlib.MAX_WBITS | 16)
    for piece in packed:
        data = piece
        while data:
            if unpacker.eof:
                unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
            some = unpacker.decompress(data, SOURCE_PIECE_BYTES)
            data = unpacker.unconsumed_tail or unpacker.unused_data
            total += len(some)
            if total > most:
                raise ObjectRefused(f"{source.shown} unpacks to more than {most:,} bytes")
            if some:
                yield some
    while some := unpacker.decompress(unpacker.unconsumed_tail, SOURCE_PIECE_BYTES):
        total += len(some)
        yield some
    if not unpacker.eof:
        raise zlib.error("it ends too early")
