"""What requests cost: capacity as DynamoDB itself reports it, and how many requests of which kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import ceil
from threading import Lock
from typing import Any, Final, TypeAlias

from stepless.adapters.aws.errors import LOST
from stepless.model.tally import Tally

Heard: TypeAlias = Callable[[str, Tally], None]
"""Told of each answer: the request as `service.Operation`, and what it is billed for."""

_WRITES: Final = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"})
_READS: Final = frozenset({"GetItem", "Query", "Scan", "BatchGetItem", "TransactGetItems"})
_UNIT_BYTES: Final = 1_024
# What a request of another service adds. A schedule that fires sends a message; listing and deleting schedules is free.
_FLAT: Final[Mapping[str, Tally]] = {
    "sqs.SendMessage": Tally(queue_requests=1),
    "sqs.ReceiveMessage": Tally(queue_requests=1),
    "sqs.DeleteMessage": Tally(queue_requests=1),
    "scheduler.CreateSchedule": Tally(schedules=1, queue_requests=1),
    "s3.PutObject": Tally(blob_writes=1),
    "s3.GetObject": Tally(blob_reads=1),
}
_FREE_WHEN_REFUSED: Final = frozenset({"scheduler.CreateSchedule"})


def watch(client: Any, heard: Heard, listener: object) -> None:
    """Tells `heard` of every answer that a boto3 client gets, until `forget` with the same `listener`."""

    def answered(parsed: Mapping[str, Any], model: Any, **_: Any) -> None:
        name = f"{model.service_model.service_id.hyphenize()}.{model.name}"
        heard(name, _table(model.name, parsed) if name.startswith("dynamodb.") else _flat(name, parsed))

    client.meta.events.register("before-parameter-build", _ask, unique_id=f"ask-{id(listener)}")
    client.meta.events.register("after-call", answered, unique_id=f"heard-{id(listener)}")


def forget(client: Any, listener: object) -> None:
    client.meta.events.unregister("before-parameter-build", unique_id=f"ask-{id(listener)}")
    client.meta.events.unregister("after-call", unique_id=f"heard-{id(listener)}")


@dataclass(slots=True)
class Usage:
    """What was billed, and how many `requests` of which kind, by `service.Operation`."""

    tally: Tally = field(default_factory=Tally)
    requests: Counter[str] = field(default_factory=Counter)


class CapacityMeter:
    """Counts what watched clients do, whoever asks. Safe to use from several threads."""

    def __init__(self) -> None:
        self._usage = Usage()
        self._lock = Lock()

    def watch(self, client: Any) -> None:
        """Listens to a boto3 client until `forget`."""
        watch(client, self._heard, self)

    def forget(self, client: Any) -> None:
        forget(client, self)

    def taken(self) -> Usage:
        """What was used since the last time that somebody asked."""
        with self._lock:
            usage, self._usage = self._usage, Usage()
        return usage

    def _heard(self, name: str, used: Tally) -> None:
        with self._lock:
            self._usage.requests[name] += 1
            self._usage.tally += used


def _ask(params: dict[str, Any], model: Any, **_: Any) -> None:
    if model.service_model.service_id == "DynamoDB" and model.name in _WRITES | _READS:
        params.setdefault("ReturnConsumedCapacity", "INDEXES")


def _table(operation: str, parsed: Mapping[str, Any]) -> Tally:
    """Units as the answer tells them. A condition that does not hold is billed by the size of the item that stands there, and
    not reported: that is computed here."""
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


def _flat(name: str, parsed: Mapping[str, Any]) -> Tally:
    refused = name in _FREE_WHEN_REFUSED and "Error" in parsed
    return Tally() if refused else _FLAT.get(name, Tally())


def _size(item: Mapping[str, Mapping[str, Any]]) -> int:
    """Bytes of an item as it arrives on the wire: names, texts and bytes as they are, a number one byte per two digits."""
    total = 0
    for name, typed in item.items():
        ((type, value),) = typed.items()
        total += len(name.encode()) + (len(value) // 2 + 1 if type == "N" else len(value.encode() if type == "S" else value))
    return total
