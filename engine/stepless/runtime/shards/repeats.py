"""Plans a rerun of a `distributed` node: which of its shards run again, and what each of them takes over.

A shard with nothing to run is taken over as it ended. Any other one begins with a record that commits the former ends of the
items that stay, so from there on it is a shard like all others. An item whose effect may have happened keeps its former token.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from stepless.core.events import EventType
from stepless.core.outcomes import UNKNOWN
from stepless.core.shards.progress import POISONED, End, Progress, chunk, tokens_of
from stepless.errors import NotFound, StoreUnavailable
from stepless.limits import CHUNK_INLINE_BYTES, ENDS_COPIED_AT_ONCE
from stepless.model.json import JSON
from stepless.model.runs.statuses import ENDED
from stepless.model.stored.packing import dump, pack, unpack
from stepless.ports import ERASED, SHARD
from stepless.runtime.runlog import RunLog
from stepless.runtime.shards.plans import Plan, ShardEnd, place_of, plan_of
from stepless.runtime.shards.records import read_records
from stepless.runtime.world import World

GONE: Final = "run_erased"
_IN_DOUBT: Final = UNKNOWN | {POISONED}


class FormerGone(NotFound):
    """The former run was removed, or is being removed."""

    def __init__(self, run_id: str) -> None:
        super().__init__(f"what the items of {run_id} returned is not there any more", code=GONE, mend="rerun it from the start")


@dataclass(frozen=True)
class Former:
    """A distribution that has ended, or `may_run`: its plan, and how its shards ended. Not all have, if it was stopped."""

    world: World
    run_id: str
    may_run: bool = False

    @cached_property
    def plan(self) -> Plan:
        head = self.world.store.get_run(self.run_id)
        if head is None or head.status == ERASED:
            raise FormerGone(self.run_id)
        if head.status not in ENDED and not self.may_run:  # it ends soon: the run of its node has ended
            raise StoreUnavailable(f"the items of {self.run_id} are still ending", code="run_not_ended", run_id=self.run_id)
        try:
            return plan_of(self.world, self.run_id, place_of(head).plan)
        except KeyError as error:
            raise FormerGone(self.run_id) from error

    @cached_property
    def ends(self) -> Mapping[int, ShardEnd]:
        ends: dict[int, ShardEnd] = {}
        for _, record in read_records(self.world.store, self.run_id):
            for end in map(ShardEnd.read, record.get("ended", ())):
                ends.setdefault(end.number, end)
        return ends

    def shards_again(self, items: Collection[int] | None) -> list[int]:
        """The shards that have something to run: `items` (None: what has failed), and what has not ended."""
        asked = None if items is None else {index // self.plan.size for index in items}
        return [number for number in range(self.plan.shards) if self._runs_again(number, asked)]

    def _runs_again(self, number: int, asked: Collection[int] | None) -> bool:
        first, following = self.plan.range_of(number)
        end = self.ends.get(number)
        if end is None or end.completed + end.failed < following - first:
            return True
        return end.failed > 0 if asked is None else number in asked

    def shard(self, number: int) -> tuple[Progress, list[Any]]:
        """How far a shard has come, and its rows in the form of chunks: by its log or, where this run took it over, by its
        results. Raises `FormerGone`."""
        first, following = self.plan.range_of(number)
        progress = Progress(following - first)
        for _, record in read_records(self.world.store, self.plan.shard_id(number)):
            progress.fold(record)
        if progress.sequence:
            chunks = [unpack(self.read(held)) if isinstance(held, str) else held for held in progress.rows]
            return progress, [row for rows in chunks for row in rows]
        end = self.ends.get(number)
        if end is None:
            return progress, []
        if end.completed + end.failed < progress.total:  # its log says which ones
            raise FormerGone(self.run_id)
        progress.completed, progress.failed, progress.ended = end.completed, end.failed, bytearray(b"\1" * progress.total)
        return progress, list(self._rows_of(end, first))

    def _rows_of(self, end: ShardEnd, first: int) -> Iterator[list[Any]]:
        """The rows of a shard by its results. Those of failed items are in both lists."""
        seen = set[int]()
        for row in (*self.lines(end.part), *self.lines(end.failures)):
            if row["index"] not in seen:
                seen.add(row["index"])
                place = row["index"] - first
                yield [place, row["result"]] if "result" in row else [place, None, row["error"]]

    def lines(self, digest: str) -> Iterator[dict[str, Any]]:
        """The rows of a part or of a list of failures."""
        yield from map(json.loads, self.read(self.key(digest)).splitlines() if digest else ())

    def copied(self, key: str, run_id: str) -> str:
        """Copies a value of the former run to another one. Its hash stays. Raises `FormerGone`."""
        return self.world.blobs.put(self.read(key), run_id)

    def read(self, key: str) -> bytes:
        if (data := self.world.blobs.get(key)) is None:
            raise FormerGone(self.run_id)
        return data

    def key(self, digest: str) -> str:
        return f"{self.run_id}/{digest}"


def distribution_of(world: World, run_id: str, instance: str) -> str | None:
    """Returns the distribution of the last attempt of a node. None if the node has not begun, or is of another kind."""
    found: str | None = None
    for event in RunLog(world.store, world.blobs, run_id).read():
        if event.type is EventType.NODE_WAITING and event.instance == instance and event.data.get("reason") == "subrun":
            found = str(event.data["details"]["run"])
    return found if found is not None and found.startswith(SHARD) else None


def repeated_plan(former: Former, run_id: str, items: Sequence[int] | None, **own: Any) -> Plan:
    """Returns the plan of a rerun, with the same items in the same shards. `own` are the run, the instance and the token."""
    plan = former.plan
    pages = [(first, former.copied(key, run_id)) for first, key in plan.pages]
    source = plan.source and {**plan.source, "pages": [[at, former.copied(key, run_id)] for at, key in plan.source["pages"]]}
    return replace(
        plan, pages=pages, source=source, former=former.run_id, former_run=plan.run, again=items,
        only=former.shards_again(items), **own,
    )  # fmt: skip


def taken_ends(plan: Plan, run_id: str, world: World, known: Collection[int]) -> list[str]:
    """Returns the ends of some shards that a rerun takes over as they are, without those that are `known`; their results are
    copied. Empty if there are none left. Raises `FormerGone`."""
    former, only, texts = Former(world, plan.former), frozenset(plan.only or ()), list[str]()
    for number in range(plan.shards):
        if number in only or number in known:
            continue
        end = former.ends[number]
        for digest in (end.part, end.failures):
            if digest:
                former.copied(former.key(digest), run_id)
        texts.append(end.text)
        if len(texts) == ENDS_COPIED_AT_ONCE:
            break
    return texts


def takeover(world: World, plan: Plan, number: int, run_id: str) -> dict[str, Any] | None:
    """Returns the record with which a shard of a rerun begins; its results are stored below `run_id`. None if it takes nothing
    over. Raises `FormerGone`."""
    former = Former(world, plan.former)
    first, _ = plan.range_of(number)
    progress, rows = former.shard(number)
    failed = {row[0]: row[2] for row in rows if len(row) > 2}
    again = set(failed) if plan.again is None else {index - first for index in plan.again}
    stay = [place for place, ended in enumerate(progress.ended) if ended and place not in again]
    doubted = {*progress.in_doubt(), *(place for place in failed if place in again and failed[place]["code"] in _IN_DOUBT)}
    tokens = {place: progress.tokens.get(place, (former.plan.run, former.plan.used)) for place in doubted}
    if not stay and not tokens:
        return None
    kept = [row for row in rows if row[0] not in again]
    record = chunk(0, [End(place, error=failed.get(place)) for place in stay], _held(world, kept, run_id))
    return {**record, **({"tokens": tokens_of(tokens)} if tokens else {})}


def _held(world: World, rows: Sequence[JSON], run_id: str) -> Sequence[JSON] | str:
    packed = pack(dump(rows))
    return world.blobs.put(packed, run_id) if len(packed) > CHUNK_INLINE_BYTES else rows
