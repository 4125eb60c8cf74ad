"""Stores the audit log in DynamoDB. An entry is one item, which the table's TTL deletes: `b` its body, `x` its expiry."""

from __future__ import annotations

from heapq import merge
from itertools import islice

from stepless.adapters.aws.dynamo.table import item_keys
from stepless.adapters.aws.dynamo.table.access import TableAccess
from stepless.adapters.aws.dynamo.table.layout import EXPIRES
from stepless.adapters.aws.dynamo.table.wire import Item, each
from stepless.adapters.bounds import check_text, page_size
from stepless.limits import AUDIT_PERIOD_MS
from stepless.model.stored.cursors import decode_cursor, encode_cursor
from stepless.ports import AuditEntry, Page


class Audit(TableAccess):
    """The entries of AUDIT_PERIOD_MS are in as many partitions as an index has: one takes some 1,000 entries a second."""

    def put_audit(self, entry: AuditEntry, expires_ms: int) -> None:
        check_text(entry.id)
        pk = item_keys.audit(entry.at_ms // AUDIT_PERIOD_MS, item_keys.shard(entry.id, self._shards.writers))
        key = {"pk": pk, "sk": item_keys.age(entry.at_ms, entry.id)}
        self._wire.put(key | {"b": entry.body, "e": expires_ms, EXPIRES: expires_ms // 1000 + 3_600})

    def list_audit(
        self, now_ms: int, since_ms: int, until_ms: int, *, limit: int = 100, cursor: str | None = None
    ) -> Page[AuditEntry]:
        limit = page_size(limit)
        end = decode_cursor(cursor, int, str) if cursor is not None else (until_ms, "")
        found: list[AuditEntry] = []
        first, last = since_ms // AUDIT_PERIOD_MS, end[0] // AUDIT_PERIOD_MS
        for period in range(last, first - 1, -1):
            wanted = limit + 1 - len(found)

            def rows(shard: str, period: int = period, wanted: int = wanted) -> list[Item]:
                values = {"pk": item_keys.audit(period, shard), "from": item_keys.age(since_ms), "to": item_keys.age(*end)}
                pages = self._wire.query("pk = :pk AND sk BETWEEN :from AND :to", values, ascending=False, page=wanted + 1)
                fresh = (row for row in each(pages) if row["e"] > now_ms and row["sk"] < item_keys.age(*end))
                return list(islice(fresh, wanted))

            sorted_rows = merge(*self._in_parallel(rows, map(str, range(self._shards.readers))), key=_sort, reverse=True)
            found += [_entry(row) for row in islice(sorted_rows, wanted)]
            if len(found) > limit:
                break
        items = tuple(found[:limit])
        return Page(items, encode_cursor(items[-1].at_ms, items[-1].id) if len(found) > limit else None)


def _sort(row: Item) -> str:
    return str(row["sk"])


def _entry(row: Item) -> AuditEntry:
    return AuditEntry(item_keys.created_of(row["sk"]), item_keys.run_of(row["sk"]), row["b"])
