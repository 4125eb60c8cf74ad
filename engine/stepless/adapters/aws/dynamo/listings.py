"""Lists runs: reads keys from an index, merges its partitions, then reads and filters the headers themselves.

GSI 1 holds every run for ever, under its workflow: a listing reads the partitions of one workflow, or of all workflows that ever
had a run. The index holds the status of ended runs only, so that a pause writes nothing to it. A listing by any other status, or
by what runs wait for, reads the headers of all runs that have not ended. Due runs are few, and all in GSI 2: a listing of due
runs reads that whole index instead.
Indexes lag behind the table by a moment: a listing may miss a run that was just created or changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import merge
from itertools import chain, islice
from typing import Final, TypeVar

from stepless.adapters.aws.dynamo.headers import heads_of
from stepless.adapters.aws.dynamo.table import item_keys
from stepless.adapters.aws.dynamo.table.access import TableAccess
from stepless.adapters.aws.dynamo.table.layout import BY_AGE, BY_DUE
from stepless.adapters.aws.dynamo.table.wire import GET_AT_ONCE, Item, Value, each
from stepless.adapters.bounds import page_size
from stepless.model.runs.statuses import ENDED
from stepless.model.stored.cursors import decode_cursor, encode_cursor
from stepless.ports import ERASED, Page, RunFilter, RunHead

T = TypeVar("T")

_DUE_PAGE: Final = 1_000  # index rows per request of a sweep
_FILTERED_PAGE: Final = 1_000  # index rows that a filter examines per request; a row takes about 200 bytes


class Listings(TableAccess):
    """Lists runs newest first, or longest overdue first."""

    def list_runs(self, filter: RunFilter, *, limit: int = 100, cursor: str | None = None) -> Page[RunHead]:
        limit, found = page_size(limit), list[RunHead]()
        end = item_keys.age(*decode_cursor(cursor, int, str)) if cursor is not None else item_keys.LAST
        start = item_keys.age(max(0, filter.since_ms or 0))
        ages = self._with_due(filter, start, end) if filter.due else self._aged(filter, start, end, limit)
        for heads in self._heads(ages, limit + 1):
            found += (head for head in heads if _fits(head, filter))
            if len(found) > limit:
                break
        items = tuple(found[:limit])
        return Page(items, encode_cursor(items[-1].created_ms, items[-1].run_id) if len(found) > limit else None)

    def list_due(self, now_ms: int, *, limit: int = 100, after: tuple[int, str] | None = None) -> Sequence[RunHead]:
        """Reads until no unread run can be longer overdue than those found: no run is due earlier than its index key."""
        limit, due = page_size(limit), list[RunHead]()
        shards = map(str, range(self._shards.readers))
        rows = merge(*self._in_parallel(lambda shard: self._overdue(shard, now_ms, limit), shards), key=_due)
        while chunk := list(islice(rows, GET_AT_ONCE)):
            heads = self._read([row["pk"] for row in chunk])
            overdue = (head for head in heads if head.due_ms is not None and head.due_ms <= now_ms)
            due += (head for head in overdue if after is None or (head.due_ms or 0, head.run_id) > after)
            due = sorted(due, key=lambda head: (head.due_ms, head.run_id))[:limit]
            if len(due) == limit and (due[-1].due_ms or 0) <= _due(chunk[-1]):
                break
        return due

    def each_due(self, now_ms: int, part: tuple[int, int] = (0, 1)) -> Iterator[Sequence[RunHead]]:
        """A part holds whole shards, which are read one after the other."""
        number, parts = part
        for shard in range(number, self._shards.readers, parts):
            values: dict[str, Value] = {"g": str(shard), "now": now_ms}
            for rows in self._wire.query("g2 = :g AND d2 <= :now", values, index=BY_DUE, page=_DUE_PAGE):
                for start in range(0, len(rows), GET_AT_ONCE):
                    heads = self._read([row["pk"] for row in rows[start : start + GET_AT_ONCE]])
                    yield [head for head in heads if head.due_ms is not None and head.due_ms <= now_ms]

    def due_parts(self) -> int:
        return self._shards.readers

    # -- the indexes ----------------------------------------------------------------------------------------------

    def _aged(self, filter: RunFilter, start: str, end: str, limit: int) -> Iterator[str]:
        workflows = [filter.workflow_id] if filter.workflow_id is not None else self._with_runs()
        partitions = [item_keys.by_workflow(name, str(shard)) for name in workflows for shard in range(self._shards.readers)]
        page = _FILTERED_PAGE if filter.status or filter.waiting else max(4, 2 * limit // max(1, len(partitions)))
        condition, values = "g1 = :g AND t1 BETWEEN :start AND :end", {"start": start, "end": end}
        wanted = "attribute_not_exists(e)" if filter.status is not None or filter.waiting is not None else None
        if filter.status in ENDED:
            wanted, values = "e = :e", values | {"e": filter.status}

        def ages(partition: str) -> Iterator[str]:
            pages = self._wire.query(
                condition, values | {"g": partition}, index=BY_AGE, ascending=False, page=page, filter=wanted
            )
            return (item["t1"] for item in each(pages) if item["t1"] < end)

        return merge(*self._in_parallel(lambda partition: _first_fetched(ages(partition)), partitions), reverse=True)

    def _with_due(self, filter: RunFilter, start: str, end: str) -> Iterator[str]:
        by_workflow, by_status = filter.workflow_id is not None, filter.status is not None
        condition = "attribute_exists(g1) AND t1 >= :start AND t1 < :end"
        condition += " AND begins_with(g1, :g1)" * by_workflow + " AND st = :st" * by_status

        def ages(shard: str) -> list[str]:
            values: dict[str, Value] = {"g2": shard, "start": start, "end": end}
            if filter.workflow_id is not None:
                values |= {"g1": item_keys.by_workflow(filter.workflow_id, "")}  # its shard may be from a smaller count
            if filter.status is not None:
                values |= {"st": filter.status}
            return [item["t1"] for item in each(self._wire.query("g2 = :g2", values, index=BY_DUE, filter=condition))]

        found = self._in_parallel(ages, map(str, range(self._shards.readers)))
        return iter(sorted({age for some in found for age in some}, reverse=True))

    def _overdue(self, shard: str, now_ms: int, limit: int) -> Iterator[Item]:
        values: dict[str, Value] = {"g": shard, "now": now_ms}
        return _first_fetched(each(self._wire.query("g2 = :g AND d2 <= :now", values, index=BY_DUE, page=limit)))

    def _with_runs(self) -> list[str]:
        return [item["sk"] for item in each(self._wire.query("pk = :pk", {"pk": item_keys.STARTED}))]

    # -- the headers ----------------------------------------------------------------------------------------------

    def _heads(self, ages: Iterator[str], first: int) -> Iterator[list[RunHead]]:
        """Headers in the order of `ages`: a batch of `first` headers, then smaller batches."""
        size = first
        while some := list(islice(ages, size)):
            yield self._read([item_keys.run(item_keys.run_of(age)) for age in some])
            size = min(first, GET_AT_ONCE)

    def _read(self, partitions: list[str]) -> list[RunHead]:
        wanted = [(partition, item_keys.HEAD) for partition in dict.fromkeys(partitions)]
        items = self._wire.get_many(wanted)
        return heads_of(self._wire, [items[key] for key in wanted if key in items])


def _fits(head: RunHead, filter: RunFilter) -> bool:
    """Whether a header passes the filters that an index does not hold, or may hold with old values."""
    waits = filter.waiting is None or filter.waiting in head.waits.split()
    named = filter.workflow_id in (None, head.workflow_id) and filter.status in (None, head.status)
    return waits and named and head.status != ERASED and not (filter.due and head.due_ms is None)


def _due(row: Item) -> int:
    return int(row["d2"])


def _first_fetched(rows: Iterator[T]) -> Iterator[T]:
    """The same rows, with the first one fetched now."""
    return chain(list(islice(rows, 1)), rows)
