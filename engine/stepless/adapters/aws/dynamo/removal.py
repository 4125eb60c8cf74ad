"""Removes runs from the table, and finds expired runs.

The update that ends a run stores when it expires (`p` of the header), in a write that is made anyway. No index holds that
instant: a row for it would cost one more write per run. Instead `list_expired` reads GSI 1 from its oldest row on. An item of the
partition EXPIRY says for each workflow and retention how far (`w{shard}`) the rows have been read: all rows before are removed,
or are not to be found there. This is exact for runs that took at most SHORT_RUN_MS: such a run that was created one retention,
SHORT_RUN_MS and EXPIRY_SLACK_MS ago is over. Longer ones are in GSI 2, at one more unit: their `due_ms` is their `expires_ms`.

DynamoDB's own TTL is not used for headers. It would delete a header without its log, which could then never be found.

To remove a run costs what DynamoDB charges for a deletion: a unit per KB of each item, and one for the header's row in GSI 1. A
chain of ten takes 13, and reading its keys 1 to 2 read units. An expired run costs half a read unit to find.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from stepless.adapters.aws.dynamo.headers import heads_of
from stepless.adapters.aws.dynamo.table import item_keys
from stepless.adapters.aws.dynamo.table.access import TableAccess
from stepless.adapters.aws.dynamo.table.layout import BY_AGE
from stepless.adapters.aws.dynamo.table.wire import GET_AT_ONCE, Item, Value, each
from stepless.adapters.bounds import check_text, page_size
from stepless.errors import LeaseLost, StoreUnavailable
from stepless.limits import EXPIRY_LOOK_MS, EXPIRY_SLACK_MS, SHORT_RUN_MS
from stepless.ports import Lease, RunHead

_ROUNDS: Final = 20  # of reading and deleting a run's items: another process may write one meanwhile
_MARK: Final = "SET er = :one, u = :u, m = :m, i = :null, d = :d, g2 = :g, d2 = :d REMOVE o, l, y, z, r, w, a, c, p"


class Removal(TableAccess):
    """`_expected` are the announcements that this process has made; `_looked` says when it reads a workflow's rows next."""

    _expected: set[str]
    _looked: dict[str, int]

    # -- what is over -----------------------------------------------------------------------------------------------

    def expect_expiry(self, workflow_id: str, retention_ms: int, now_ms: int) -> None:
        check_text(workflow_id)
        sort = item_keys.expiry(retention_ms, workflow_id)
        if sort not in self._expected:  # once per process, workflow and retention
            since = max(0, now_ms - SHORT_RUN_MS - EXPIRY_SLACK_MS)
            self._wire.update(item_keys.EXPIRY, sort, "SET c = if_not_exists(c, :c)", {"c": since})
            self._expected.add(sort)

    def list_expired(self, now_ms: int, *, limit: int = 100) -> Sequence[RunHead]:
        """Reads the rows of a workflow again at once while it finds expired runs there, otherwise after EXPIRY_LOOK_MS."""
        limit, found = page_size(limit), list[RunHead]()
        for entry in each(self._wire.query("pk = :pk", {"pk": item_keys.EXPIRY})):
            before_ms = now_ms - item_keys.retention_of_expiry(entry["sk"]) - SHORT_RUN_MS - EXPIRY_SLACK_MS
            if before_ms <= entry["c"] or self._looked.get(entry["sk"], 0) > now_ms:
                continue
            here = list[RunHead]()
            for shard in range(self._shards.readers):
                if len(found) + len(here) < limit:
                    here += self._expired(entry, str(shard), before_ms, now_ms, limit - len(found) - len(here))
            self._looked[entry["sk"]] = 0 if here else now_ms + EXPIRY_LOOK_MS
            found += here
        return found

    def _expired(self, entry: Item, shard: str, before_ms: int, now_ms: int, limit: int) -> list[RunHead]:
        """The expired runs of one partition of GSI 1. Stores how far the rows before the first of them reach."""
        mark = entry.get(f"w{shard}") or item_keys.age(entry["c"])
        passed, found = mark, list[RunHead]()
        for rows in self._ended_rows(item_keys.workflow_of_expiry(entry["sk"]), shard, mark, before_ms):
            items = self._wire.get_many([(item_keys.run(item_keys.run_of(row)), item_keys.HEAD) for row in rows])
            for row in rows:
                item = items.get((item_keys.run(item_keys.run_of(row)), item_keys.HEAD))
                if item is not None and "er" not in item and item.get("p", now_ms + 1) <= now_ms:
                    found += heads_of(self._wire, [item])
                elif not found:
                    passed = row
            if len(found) >= limit:
                break
        if passed != mark:
            values = {"t": passed}
            self._wire.update(item_keys.EXPIRY, entry["sk"], f"SET w{shard} = :t", values, "attribute_exists(pk)")
        return found[:limit]

    def _ended_rows(self, workflow_id: str, shard: str, mark: str, before_ms: int) -> Iterator[list[str]]:
        values = {"g": item_keys.by_workflow(workflow_id, shard), "start": mark, "end": item_keys.age(before_ms + 1)}
        pages = self._wire.query(
            "g1 = :g AND t1 BETWEEN :start AND :end", values, index=BY_AGE, page=GET_AT_ONCE, filter="attribute_exists(e)"
        )
        for page in pages:
            ages = [row["t1"] for row in page if row["t1"] != mark]
            for start in range(0, len(ages), GET_AT_ONCE):
                yield ages[start : start + GET_AT_ONCE]

    def keep_run(self, run_id: str, until_ms: int) -> bool:
        values: dict[str, Value] = {"d": until_ms, "g": item_keys.shard(run_id, self._shards.writers)}
        change, condition = "SET p = :d, d = :d, d2 = :d, g2 = :g", "attribute_exists(p) AND attribute_not_exists(o)"
        return self._wire.update(item_keys.run(run_id), item_keys.HEAD, change, values, condition).done

    # -- what is removed --------------------------------------------------------------------------------------------

    def mark_erased(self, lease: Lease, now_ms: int, meta: bytes, due_ms: int) -> None:
        pk, shard = item_keys.run(lease.run_id), item_keys.shard(lease.run_id, self._shards.writers)
        values: dict[str, Value] = {"one": 1, "u": now_ms, "m": meta, "null": b"null", "d": due_ms, "g": shard, "n": lease.epoch}
        written = self._wire.update(pk, item_keys.HEAD, _MARK, values, "n = :n AND attribute_exists(o)")
        existing = written.item
        mine = existing is not None and "er" in existing and (existing["n"], existing["m"]) == (lease.epoch, meta)
        if not written.done and not mine:  # an earlier try may have succeeded unseen
            raise LeaseLost("the lease was taken over", place=f"run {lease.run_id!r}")

    def erase_run(self, run_id: str, due_ms: int | None = None) -> None:
        """Reads the keys of the run's items and deletes them, the header last. If it stays, batches of the log are emptied
        instead: a late append finds them as before."""
        pk = item_keys.run(run_id)
        for _ in range(_ROUNDS):
            items = [*each(self._wire.query("pk = :pk", {"pk": pk}, only="pk, sk, l, n, er, z"))]
            head = next((item for item in items if item["sk"] == item_keys.HEAD), None)
            rest = [item for item in items if item["sk"] != item_keys.HEAD]
            if due_ms is None or head is None:
                self._wire.delete_many((pk, item["sk"]) for item in rest)
                left: Sequence[Item] = rest
            else:
                if "er" not in head:
                    return
                left = self._empty(pk, rest)
            if not left:
                break
        else:
            raise StoreUnavailable("other processes keep writing to the run", place=f"run {run_id!r}", mend="try again")
        if head is not None and due_ms is None:
            self._wire.delete(pk, item_keys.HEAD)
        elif head is not None and due_ms is not None:
            values: dict[str, Value] = {"d": due_ms, "g": item_keys.shard(run_id, self._shards.writers)}
            self._wire.update(pk, item_keys.HEAD, "SET d = :d, d2 = :d, g2 = :g", values, "attribute_exists(er)")

    def overwrite_removed(self) -> bool:
        """Returns True: DynamoDB gives no deleted bytes to any reader, but for the table's backups."""
        return True

    def _empty(self, pk: str, items: Sequence[Item]) -> Sequence[Item]:
        """Empties the batches among the items (`z` marks those that are empty) and deletes the others. Returns what it
        changed."""
        left = [item for item in items if "z" not in item]
        batches: list[dict[str, Any]] = [
            {"pk": pk, "sk": item["sk"], "l": item["l"], "n": item["n"], "b": b"", "z": 1} for item in left if "l" in item
        ]
        self._wire.put_many(batches)
        self._wire.delete_many((pk, item["sk"]) for item in left if "l" not in item)
        return left
