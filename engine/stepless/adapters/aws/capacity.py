"""Measures what requests cost: the capacity that DynamoDB reports, and the number of requests of each kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import ceil
from threading import Lock
from typing import Any, Final, TypeAlias

from stepless.adapters.aws.errors import LOST
from stepless.model.runs.tally import Tally

OnResponse: TypeAlias = Callable[[str, Tally], None]
"""Called for each response with the operation, as `service.Operation`, and what it is billed for."""

_WRITES: Final = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"})
_READS: Final = frozenset({"GetItem", "Query", "Scan", "BatchGetItem", "TransactGetItems"})
_UNIT_BYTES: Final = 1_024
# What a request to another service is billed for. A schedule that fires sends a message; listing and deleting are free.
_FLAT: Final[Mapping[str, Tally]] = {
    "sqs.SendMessage": Tally(queue_requests=1),
    "sqs.SendMessageBatch": Tally(queue_requests=1),
    "sqs.ReceiveMessage": Tally(queue_requests=1),
    "sqs.DeleteMessage": Tally(queue_requests=1),
    "scheduler.CreateSchedule": Tally(schedules=1, queue_requests=1),
    "s3.PutObject": Tally(blob_writes=1),
    "s3.GetObject": Tally(blob_reads=1),
}
_FREE_WHEN_REFUSED: Final = frozenset({"scheduler.CreateSchedule"})


def watch(client: Any, on_response: OnResponse, listener: object) -> None:
    """Calls `on_response` for every response that a boto3 client gets, until `unwatch` with the same `listener`."""

    def after_call(parsed: Mapping[str, Any], model: Any, **_: Any) -> None:
        name = f"{model.service_model.service_id.hyphenize()}.{model.name}"
        on_response(name, _dynamodb_tally(model.name, parsed) if name.startswith("dynamodb.") else _flat_tally(name, parsed))

    client.meta.events.register("before-parameter-build", _request_capacity, unique_id=f"request-{id(listener)}")
    client.meta.events.register("after-call", after_call, unique_id=f"response-{id(listener)}")


def unwatch(client: Any, listener: object) -> None:
    client.meta.events.unregister("before-parameter-build", unique_id=f"request-{id(listener)}")
    client.meta.events.unregister("after-call", unique_id=f"response-{id(listener)}")


@dataclass(slots=True)
class Usage:
    """What was billed, and the number of `requests` by `service.Operation`."""

    tally: Tally = field(default_factory=Tally)
    requests: Counter[str] = field(default_factory=Counter)


class CapacityMeter:
    """Counts the requests of watched clients, from every caller. Safe to use from several threads."""

    def __init__(self) -> None:
        self._usage = Usage()
        self._lock = Lock()

    def watch(self, client: Any) -> None:
        """Counts the requests of a boto3 client until `unwatch`."""
        watch(client, self._add, self)

    def unwatch(self, client: Any) -> None:
        unwatch(client, self)

    def take(self) -> Usage:
        """Returns the usage since the last call, and resets it."""
        with self._lock:
            usage, self._usage = self._usage, Usage()
        return usage

    def _add(self, name: str, used: Tally) -> None:
        with self._lock:
            self._usage.requests[name] += 1
            self._usage.tally += used


def _request_capacity(params: dict[str, Any], model: Any, **_: Any) -> None:
    if model.service_model.service_id == "DynamoDB" and model.name in _WRITES | _READS:
        params.setdefault("ReturnConsumedCapacity", "INDEXES")


def _dynamodb_tally(operation: str, parsed: Mapping[str, Any]) -> Tally:
    """The units that the response reports. A failed condition is billed by the size of the existing item, which DynamoDB does not
    report: those units are computed here."""
    consumed = parsed.get("ConsumedCapacity") or ()
    each = [consumed] if isinstance(consumed, Mapping) else consumed
    units = sum(one.get("CapacityUnits", 0) for one in each)
    if operation in _READS:
        return Tally(read_units=units)
    if operation not in _WRITES:
        return Tally()
    if parsed.get("Error", {}).get("Code") in LOST:
        return Tally(write_units=max(1, ceil(_size(parsed.get("Item", {})) / _UNIT_BYTES)))
    indexed = sum(index["CapacityUnits"] for one in each for index in one.get("GlobalSecondaryIndexes", {}).values())
    return Tally(write_units=units, index_units=indexed)


def _flat_tally(name: str, parsed: Mapping[str, Any]) -> Tally:
    refused = name in _FREE_WHEN_REFUSED and "Error" in parsed
    return Tally() if refused else _FLAT.get(name, Tally())


def _size(item: Mapping[str, Mapping[str, Any]]) -> int:
    """An item's size in bytes, in DynamoDB's response format: names, texts and bytes at their length, numbers one byte per two
    digits."""
    total = 0
    for name, typed in item.items():
        ((type, value),) = typed.items()
        total += len(name.encode()) + (len(value) // 2 + 1 if type == "N" else len(value.encode() if type == "S" else value))
    return total
