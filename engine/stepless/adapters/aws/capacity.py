"""What requests cost: capacity as DynamoDB itself reports it, and how many requests of which kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil
from threading import Lock
from typing import Any, Final

from stepless.adapters.aws.errors import LOST

_WRITES: Final = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"})
_READS: Final = frozenset({"GetItem", "Query", "Scan", "BatchGetItem", "TransactGetItems"})
_UNIT_BYTES: Final = 1_024


@dataclass(slots=True)
class Usage:
    """`write_units` and `read_units` of the table and its indexes together; `index_units` is how many of the written ones fell
    to indexes; `requests` by `service.Operation`."""

    write_units: float = 0
    read_units: float = 0
    index_units: float = 0
    requests: Counter[str] = field(default_factory=Counter)


class CapacityMeter:
    """Counts what watched clients do. A condition that does not hold is billed by the size of the item that stands there, and
    not reported: that is computed here. Safe to use from several threads."""

    def __init__(self) -> None:
        self._usage = Usage()
        self._lock = Lock()

    def watch(self, client: Any) -> None:
        """Listens to a boto3 client until `forget`."""
        client.meta.events.register("before-parameter-build", _ask, unique_id=f"ask-{id(self)}")
        client.meta.events.register("after-call", self._heard, unique_id=f"heard-{id(self)}")

    def forget(self, client: Any) -> None:
        client.meta.events.unregister("before-parameter-build", unique_id=f"ask-{id(self)}")
        client.meta.events.unregister("after-call", unique_id=f"heard-{id(self)}")

    def taken(self) -> Usage:
        """What was used since the last time that somebody asked."""
        with self._lock:
            usage, self._usage = self._usage, Usage()
        return usage

    def _heard(self, parsed: Mapping[str, Any], model: Any, **_: Any) -> None:
        name = model.name
        consumed = parsed.get("ConsumedCapacity") or ()
        each = [consumed] if isinstance(consumed, Mapping) else consumed
        units = sum(one.get("CapacityUnits", 0) for one in each)
        indexed = sum(index["CapacityUnits"] for one in each for index in one.get("GlobalSecondaryIndexes", {}).values())
        if parsed.get("Error", {}).get("Code") in LOST and name in _WRITES:
            units = max(1, ceil(_size(parsed.get("Item", {})) / _UNIT_BYTES))
        with self._lock:
            usage = self._usage
            usage.requests[f"{model.service_model.service_id.hyphenize()}.{name}"] += 1
            if name in _WRITES:
                usage.write_units += units
                usage.index_units += indexed
            elif name in _READS:
                usage.read_units += units


def _ask(params: dict[str, Any], model: Any, **_: Any) -> None:
    if model.service_model.service_id == "DynamoDB" and model.name in _WRITES | _READS:
        params.setdefault("ReturnConsumedCapacity", "INDEXES")


def _size(item: Mapping[str, Mapping[str, Any]]) -> int:
    """Bytes of an item as it arrives on the wire: names, texts and bytes as they are, a number one byte per two digits."""
    total = 0
    for name, typed in item.items():
        ((type, value),) = typed.items()
        total += len(name.encode()) + (len(value) // 2 + 1 if type == "N" else len(value.encode() if type == "S" else value))
    return total
