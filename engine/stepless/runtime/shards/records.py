"""Reads and writes the logs of shards and distributions: one record, a JSON object, in each batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stepless.errors import DamagedLog
from stepless.limits import LEASE_MS
from stepless.model.stored.packing import dump, pack, unpack
from stepless.ports import Batch, Lease, RunHead, Store
from stepless.runtime.runlog import RunLog
from stepless.runtime.world import World


def value_of(world: World, key: str, what: str, run_id: str = "") -> bytes:
    """Returns a stored value of a node. Raises `DamagedLog`, which says `what` it is, if it is missing."""
    if (data := world.blobs.get(key)) is None:
        raise DamagedLog(f"the {what} {key} is missing", sequence=0, run_id=run_id)
    return data


def renewed(world: World, lease: Lease) -> Lease:
    """Returns the lease of a shard or a distribution at work, extended from now on. Raises `LeaseLost`."""
    now_ms = world.clock.now_ms()
    return world.store.update_run(lease, now_ms, status="running", until_ms=now_ms + LEASE_MS)


def read_records(store: Store, run_id: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yields the number and the content of every record. Raises `DamagedLog`."""
    after = 0
    while batches := store.read_log(run_id, after):
        for batch in batches:
            if batch.first != after + 1 or batch.last != batch.first:
                why = f"records {after + 1:,} to {batch.first - 1:,} are missing"
                raise DamagedLog(why, sequence=after + 1, run_id=run_id)
            try:
                record = unpack(batch.data)
                if not isinstance(record, dict):
                    raise ValueError("it is no object")
            except ValueError as error:
                raise DamagedLog(f"its bytes are not a valid record ({error})", sequence=batch.first, run_id=run_id) from error
            yield batch.first, record
            after = batch.last


class RecordLog:
    """The log of one shard or distribution, for the holder of its lease. `sequence` is the number of the last record."""

    def __init__(self, world: World, lease: Lease) -> None:
        self._world, self._lease = world, lease
        self._log = RunLog(world.store, world.blobs, lease.run_id, lease.epoch)
        self.sequence = 0

    def read(self) -> Iterator[Mapping[str, Any]]:
        for number, record in read_records(self._world.store, self._lease.run_id):
            self.sequence = number
            yield record

    async def append(self, record: Mapping[str, Any]) -> None:
        """Commits a record. Raises `AppendConflict` if another process has written in the meantime."""
        following = self.sequence + 1
        batch = Batch(following, following, pack(dump(record)), self._lease.epoch)
        await self._world.commits.with_retries(lambda: self._log.write([batch]), together=True)
        self.sequence = following


def check_records(world: World, head: RunHead) -> None:
    """Reads the whole log of a shard or distribution. Raises `DamagedLog` if it is damaged, or shorter than the header says."""
    last = sum(1 for _ in read_records(world.store, head.run_id))
    RunLog(world.store, world.blobs, head.run_id).check_end(last, head.sequence)
