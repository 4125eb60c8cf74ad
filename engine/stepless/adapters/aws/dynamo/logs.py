"""Stores logs and snapshots in DynamoDB.

An append is one conditional put, which fails if a batch with the same first event exists. The put decides races, but does not
check that the log ends just before the batch. A store that has read or written the previous batch knows that it does, for ever,
since logs only grow. Before its first append to any other run, the store reads the log's end once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from hashlib import sha256
from threading import Lock
from typing import Any, Final

from stepless.adapters.aws.dynamo.table import item_keys
from stepless.adapters.aws.dynamo.table.access import TableAccess
from stepless.adapters.aws.dynamo.table.wire import Item, each
from stepless.adapters.bounds import check_batch, check_text
from stepless.errors import AppendConflict
from stepless.limits import MAX_BATCH_BYTES, MAX_ITEM_BYTES, MAX_KNOWN_ENDS
from stepless.ports import Batch

_BEFORE: Final = "pk = :pk AND sk BETWEEN :log AND :first"
_TRIES: Final = 3  # of reading a snapshot that is being replaced


class Ends:
    """Remembers the last known event number of the runs that were read or written most recently."""

    def __init__(self) -> None:
        self._lasts: OrderedDict[str, int] = OrderedDict()
        self._lock = Lock()

    def learn(self, run_id: str, last: int) -> None:
        with self._lock:
            self._lasts[run_id] = max(last, self._lasts.pop(run_id, 0))
            if len(self._lasts) > MAX_KNOWN_ENDS:
                self._lasts.popitem(last=False)

    def known(self, run_id: str, last: int) -> bool:
        with self._lock:
            return last == 0 or self._lasts.get(run_id) == last


class Logs(TableAccess):
    """A batch: `l` its last event, `n` the writer's epoch, `b` its bytes. A snapshot: `q` its sequence, `b` its bytes, or `p`
    the number of its pieces and `r` their hash."""

    _ends: Ends

    def append(self, run_id: str, batch: Batch) -> None:
        check_text(run_id)
        check_batch(run_id, batch)
        if not self._ends.known(run_id, batch.first - 1) and self._end_before(run_id, batch.first) != batch.first - 1:
            raise AppendConflict(f"the log does not end at {batch.first - 1}", place=f"run {run_id!r}")
        key = {"pk": item_keys.run(run_id), "sk": item_keys.log(batch.first)}
        if not self._wire.put(key | {"l": batch.last, "n": batch.epoch, "b": batch.data}, "attribute_not_exists(pk)").done:
            raise AppendConflict(f"a batch starts at {batch.first} already", place=f"run {run_id!r}")
        self._ends.learn(run_id, batch.last)

    def read_log(self, run_id: str, after: int = 0, *, limit_bytes: int = 4_000_000) -> Sequence[Batch]:
        found, total = list[Batch](), 0
        values = {"pk": item_keys.run(run_id), "from": item_keys.log(after + 1), "to": "LOG$"}
        page = None if limit_bytes > MAX_BATCH_BYTES else 1  # the caller wants one batch
        for item in each(self._wire.query("pk = :pk AND sk BETWEEN :from AND :to", values, page=page)):
            if not found:
                self._add_former(run_id, after, item, found)
                total += sum(len(batch.data) for batch in found)
            total += len(item["b"])
            if found and total > limit_bytes:
                break
            found.append(_batch(item))
        if not found:
            self._add_former(run_id, after, None, found)
        if found:
            self._ends.learn(run_id, found[-1].last)
        return found

    def _add_former(self, run_id: str, after: int, next: Item | None, found: list[Batch]) -> None:
        """Adds the batch that starts at or before `after` if it ends after it."""
        follows = next is not None and _first(next) == after + 1
        if after == 0 or follows or self._ends.known(run_id, after):
            return
        former = self._last_before(run_id, after + 1)
        if former is not None and former["l"] > after:
            found.append(_batch(former))

    def _end_before(self, run_id: str, first: int) -> int:
        former = self._last_before(run_id, first)
        return former["l"] if former else 0

    def _last_before(self, run_id: str, first: int) -> Item | None:
        values = {"pk": item_keys.run(run_id), "log": "LOG#", "first": item_keys.log(first - 1)}
        return next(each(self._wire.query(_BEFORE, values, ascending=False, page=1)), None)

    # -- snapshots ------------------------------------------------------------------------------------------------

    def put_snapshot(self, run_id: str, sequence: int, data: bytes) -> None:
        """Writes one item. A larger snapshot is written in pieces, under their hash, before the item that names them: a process
        that dies in between leaves the former snapshot in place."""
        check_text(run_id)
        pk = item_keys.run(run_id)
        item: dict[str, Any] = {"pk": pk, "sk": item_keys.SNAPSHOT, "q": sequence}
        if len(data) <= MAX_ITEM_BYTES:
            item |= {"b": data}
        else:
            digest = sha256(data).hexdigest()[:16]
            parts = range(0, len(data), MAX_ITEM_BYTES)
            for number, start in enumerate(parts):
                key = {"pk": pk, "sk": item_keys.snapshot_part(sequence, digest, number)}
                self._wire.put(key | {"b": data[start : start + MAX_ITEM_BYTES]})
            item |= {"p": len(parts), "r": digest}
        written = self._wire.put(item, "attribute_not_exists(pk) OR q <= :q", {"q": sequence}, returns="ALL_OLD")
        dropped, kept = (written.item, item) if written.done else (item, written.item)
        if dropped and kept and dropped.get("r") != kept.get("r"):
            for number in range(dropped.get("p", 0)):
                self._wire.delete(pk, item_keys.snapshot_part(dropped["q"], dropped["r"], number))

    def get_snapshot(self, run_id: str) -> tuple[int, bytes] | None:
        pk = item_keys.run(run_id)
        for _ in range(_TRIES):
            item = self._wire.get(pk, item_keys.SNAPSHOT)
            if item is None or "b" in item:
                return (item["q"], item["b"]) if item is not None else None
            values = {"pk": pk, "v": item_keys.snapshot_part(item["q"], item["r"], 0)[:-4]}
            parts = [part["b"] for part in each(self._wire.query("pk = :pk AND begins_with(sk, :v)", values))]
            if len(parts) == item["p"]:
                return item["q"], b"".join(parts)
        return None


def _first(item: Item) -> int:
    return int(item["sk"].removeprefix("LOG#"))


def _batch(item: Item) -> Batch:
    return Batch(_first(item), item["l"], item["b"], item["n"])
