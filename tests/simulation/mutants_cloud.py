"""Planted bugs in the adapters of AWS and around them: between two requests, in the handling of a response, in assumptions about
the services."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from episode import Parts
from faults import Weather
from grounds import OnCloud
from weathers import dead_letters, draw_cloud_weather
from workers import Parcel

from stepless.adapters.aws.blobs import S3Blobs
from stepless.adapters.aws.dynamo import claims, headers
from stepless.adapters.aws.dynamo.listings import Listings
from stepless.adapters.aws.dynamo.store import DynamoStore
from stepless.adapters.aws.dynamo.table import item_keys
from stepless.adapters.aws.dynamo.table.wire import PUT_AT_ONCE, Wire, Written
from stepless.limits import LEASE_MS
from stepless.ports import Batch, Lease, Message, RunHead, StoredVersion
from stepless.runtime.world import World


def _wired(wire: type[Wire]) -> type[DynamoStore]:
    class WithWire(DynamoStore):
        def __init__(self, client: Any, table: str, **given: Any) -> None:
            super().__init__(client, table, **given)
            self._wire = wire(client, table)

    return WithWire


# -- between two requests of one verb ---------------------------------------------------------------------------------


class HeaderBeforeItsInputs(DynamoStore):
    """A header names inputs that are not stored yet."""

    def create_run(self, head: RunHead) -> bool:
        later: list[Mapping[str, Any]] = []

        class Later(Wire):
            def put(self, item: Mapping[str, Any], *given: Any, **named: Any) -> Written:
                later.append(item)
                return Written(True, None)

        given = headers.put_inputs(Later(None, ""), head)
        item = headers.item_of(head, given, item_keys.shard(head.run_id, self._shards), b"nonce")
        self._wire.put({"pk": item_keys.STARTED, "sk": head.workflow_id})
        created = self._wire.put(item, "attribute_not_exists(pk)").done
        for beside in later:
            self._wire.put(beside)
        return created


class VersionBeforeItsDocument(DynamoStore):
    """A version is stored before its document."""

    def put_version(self, workflow_id: str, hash: str, document: bytes, *given: Any, **named: Any) -> StoredVersion:
        def promised(whole: bytes) -> str:
            from hashlib import sha256

            return sha256(whole).hexdigest()

        store, self._put_document = self._put_document, promised  # type: ignore[method-assign]
        try:
            version = super().put_version(workflow_id, hash, document, *given, **named)
        finally:
            self._put_document = store  # type: ignore[method-assign]
        store(document)
        return version


# -- botocore's retries -----------------------------------------------------------------------------------------------


class BelievesRepetitions(Wire):
    """A failed condition of a retried request is treated as the effect of its own first attempt."""

    def _write(self, call: Any, given: Mapping[str, Any]) -> Written:
        attempts: list[int] = []

        def observed(**named: Any) -> Any:
            try:
                return call(**named)
            except Exception as error:
                response = getattr(error, "response", {})
                attempts.append(response.get("ResponseMetadata", {}).get("RetryAttempts", 0))
                raise

        written = super()._write(observed, given)
        return Written(True, written.item) if attempts and attempts[0] else written


# -- partial batches --------------------------------------------------------------------------------------------------


class ForgetsWhatWasNotPut(Wire):
    """Items that a batch left out are treated as written."""

    def put_many(self, items: Sequence[Mapping[str, Any]]) -> None:
        from stepless.adapters.aws.dynamo.table.wire import _encoded
        from stepless.adapters.aws.errors import translated

        for start in range(0, len(items), PUT_AT_ONCE):
            puts = [{"PutRequest": {"Item": _encoded(item)}} for item in items[start : start + PUT_AT_ONCE]]
            with translated(self.table):
                self._client.batch_write_item(RequestItems={self.table: puts})


class ForgetsWhatWasNotRead(Wire):
    """Keys that a batch left out are treated as missing."""

    def _get_batch(self, wanted: list[dict[str, Any]]) -> Any:
        from stepless.adapters.aws.dynamo.table.wire import _decoded
        from stepless.adapters.aws.errors import translated

        with translated(self.table):
            answer = self._client.batch_get_item(RequestItems={self.table: {"Keys": wanted, "ConsistentRead": True}})
        yield from map(_decoded, answer["Responses"].get(self.table, ()))


# -- reads that lag behind ------------------------------------------------------------------------------------------------


class ReadsLoosely(Wire):
    """Reads of the table are not consistent."""

    def __init__(self, client: Any, table: str) -> None:
        class Loose:
            def __getattr__(self, verb: str) -> Any:
                method = getattr(client, verb)
                return lambda **given: method(**{**given, "ConsistentRead": False} if "ConsistentRead" in given else given)

        super().__init__(Loose(), table)


class BelievesItsIndex(DynamoStore):
    """A listing returns what the index says, regardless of the headers."""

    def list_runs(self, filter: Any, **given: Any) -> Any:
        page = Listings.list_runs(self, filter._replace(status=None), **given)
        rows = self._wire.query("g1 = :g", {"g": item_keys.by_workflow(filter.workflow_id or "", "0")}, index="runs-by-age")
        ended = {item["t1"]: item.get("e") for rows_of_page in rows for item in rows_of_page}
        kept = (head for head in page.items if _shown(head, ended) in (None, filter.status) or filter.status is None)
        return replace(page, items=tuple(kept))


def _shown(head: RunHead, ended: Mapping[str, Any]) -> Any:
    return ended.get(item_keys.age(head.created_ms, head.run_id))


# -- what expires -----------------------------------------------------------------------------------------------------


class ExpiresAtOnce(DynamoStore):
    """The attribute by which the table deletes claims has the instant of their creation."""

    def claim(self, key: str, value: bytes, now_ms: int, expires_ms: int | None = None) -> bytes:
        item: dict[str, Any] = {"pk": item_keys.claim(key), "sk": item_keys.ONLY, "v": value, **claims._expiry(expires_ms)}
        item |= {"x": now_ms // 1000} if expires_ms is not None else {}
        written = self._wire.put(item, claims._FREE, {"now": now_ms})
        return value if written.done or written.item is None else claims._value(written.item)


class WaitsForTheTable(DynamoStore):
    """An expired claim is valid until the table deletes it."""

    def claim(self, key: str, value: bytes, now_ms: int, expires_ms: int | None = None) -> bytes:
        item: dict[str, Any] = {"pk": item_keys.claim(key), "sk": item_keys.ONLY, "v": value, **claims._expiry(expires_ms)}
        written = self._wire.put(item, "attribute_not_exists(pk)")
        return value if written.done or written.item is None else claims._value(written.item)


# -- objects ----------------------------------------------------------------------------------------------------------


class PutsObjectsLate(S3Blobs):
    """An object is sent only with the next one."""

    def put(self, data: bytes, run_id: str = "") -> str:
        from stepless.adapters.bounds import blob_key

        late, self._late = getattr(self, "_late", None), (data, run_id)
        if late is not None:
            super().put(*late)
        return blob_key(data, run_id)


class TakesMissingForNull(S3Blobs):
    """A missing object is null."""

    def get(self, key: str) -> bytes | None:
        return super().get(key) or json.dumps(None).encode()


# -- clocks -----------------------------------------------------------------------------------------------------------


class FencesByTheClock(DynamoStore):
    """A process whose lease is live by its own clock overwrites an existing batch."""

    def take_lease(self, run_id: str, owner: str, now_ms: int, until_ms: int) -> Lease | None:
        lease = super().take_lease(run_id, owner, now_ms, until_ms)
        self.__dict__.setdefault("_mine", {})[run_id] = lease
        return lease

    def append(self, run_id: str, batch: Batch) -> None:
        lease = self.__dict__.get("_mine", {}).get(run_id)
        if lease is None or lease.epoch != batch.epoch:
            return super().append(run_id, batch)
        key = {"pk": item_keys.run(run_id), "sk": item_keys.log(batch.first)}
        self._wire.put(key | {"l": batch.last, "n": batch.epoch, "b": batch.data})
        return None


# -- messages ---------------------------------------------------------------------------------------------------------


def all_of_them(parcels: Sequence[Parcel], ends: Sequence[BaseException | None]) -> list[Parcel]:
    """An invocation without a response counts as a success of all its messages."""
    return list(parcels)


def rests_for_good(world: World, message: Message) -> None:
    """The run of a dead letter is never checked again."""
    now_ms = world.clock.now_ms()
    lease = world.store.take_lease(message.run_id, "consumer", now_ms, now_ms)
    if lease is not None:
        world.store.update_run(lease, now_ms, due_ms=None, release=True)


# -- publishing and webhooks --------------------------------------------------------------------------------------------


class HooksAreCounted(DynamoStore):
    """The claim of a delivery is lost when its request dies: each attempt starts a run."""

    def claim(self, key: str, value: bytes, now_ms: int, expires_ms: int | None = None) -> bytes:
        return value if ":delivery:" in key else super().claim(key, value, now_ms, expires_ms)


class KeepsDroppedPaths(DynamoStore):
    """A path that a version dropped is not released."""

    def release_claim(self, key: str, value: bytes) -> bool:
        return True


# -- weathers ---------------------------------------------------------------------------------------------------------


def lagging(random: Random) -> Weather:
    return Weather(until_ms=120_000, latency=0.5, lag=0.9)


def partial(random: Random) -> Weather:
    return Weather(until_ms=120_000, latency=0.3, partial=0.9)


def mortal(random: Random) -> Weather:
    """Processes die; there are no other faults."""
    return Weather(until_ms=120_000, rate=0.05, faults=["crash after", "crash before"], latency=0.3)


def deadlier(random: Random) -> Weather:
    """As `mortal`, with six times as many faults."""
    return replace(mortal(random), rate=0.3)


def repeated(random: Random) -> Weather:
    """Responses are lost, and processes freeze for longer than their lease."""
    faults = ["answer lost", "refused", "frozen before"]
    return Weather(until_ms=200_000, rate=0.1, faults=faults, freeze_ms=(70_000,), latency=0.5)


def refusing(random: Random) -> Weather:
    """So many requests are refused that whole invocations fail; no message is lost."""
    return Weather(until_ms=60_000, rate=0.6, faults=["refused"])


def robbed(random: Random) -> Weather:
    return Weather(until_ms=120_000, rate=0.05, faults=["crash after"], missing=0.9, lost=0.3)


def apart(random: Random) -> Weather:
    """Clocks differ by more than a lease's margin, and processes are slow."""
    return Weather(until_ms=200_000, rate=0.03, faults=["frozen before", "frozen after"], freeze_ms=(5_000, 20_000),
                   latency=0.5, skew_ms=LEASE_MS)  # fmt: skip


CLOUD_MUTANTS: Mapping[str, Parts] = {
    "a header before its inputs": Parts(OnCloud, store=HeaderBeforeItsInputs, shape="bulky", weather=mortal),
    "a version before its document": Parts(OnCloud, store=VersionBeforeItsDocument, weather=deadlier),
    "a repeated request believes a conflict": Parts(OnCloud, store=_wired(BelievesRepetitions), weather=repeated),
    "an omitted item is treated as written": Parts(OnCloud, store=_wired(ForgetsWhatWasNotPut), shape="crowd", weather=partial),
    "an omitted item is treated as missing": Parts(OnCloud, store=_wired(ForgetsWhatWasNotRead), shape="crowd", weather=partial),
    "reads are not consistent": Parts(OnCloud, store=_wired(ReadsLoosely), weather=lagging),
    "a listing believes its index": Parts(OnCloud, store=BelievesItsIndex, weather=lagging),
    "claims expire when they are made": Parts(OnCloud, store=ExpiresAtOnce, weather=lagging),
    "claims expire when they are deleted": Parts(OnCloud, store=WaitsForTheTable, weather=lagging),
    "an object after the batch that names it": Parts(OnCloud, blobs=PutsObjectsLate, shape="heavy", weather=mortal),
    "a missing object is null": Parts(OnCloud, blobs=TakesMissingForNull, shape="heavy", weather=robbed),
    "a lease is believed by the clock": Parts(OnCloud, store=FencesByTheClock, weather=apart),
    "a failed message is done with": Parts(OnCloud, acknowledged=all_of_them, weather=refusing, sweeps=False),
    "a dead letter's run is never looked at again": Parts(OnCloud, rests=rests_for_good, weather=dead_letters),
    "each try of a delivery is a run": Parts(OnCloud, store=HooksAreCounted),
    "a dropped path is kept": Parts(OnCloud, store=KeepsDroppedPaths),
}
CLOUD_WEATHERS = (lagging, partial, mortal, repeated, refusing, robbed, apart, draw_cloud_weather)
