"""Reads every item of the table for `stepless doctor`, under the names that its checks know, without changing the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from stepless.adapters.aws.dynamo.table import item_keys
from stepless.adapters.aws.dynamo.table.item_checks import kind_of
from stepless.adapters.aws.dynamo.table.layout import EXPIRES
from stepless.adapters.aws.dynamo.table.wire import Item, Wire
from stepless.model.stored.damage import Damage
from stepless.ports import Record


class DynamoInspection:
    """Reads the table of a `DynamoStore`: half a read unit per 4 KB."""

    def __init__(self, client: Any, table: str) -> None:
        self._wire = Wire(client, table)

    def records(self) -> Iterator[Record]:
        for item, faults in self._wire.scan():
            yield _record(item, faults)

    def faults(self) -> Iterator[Damage]:
        """Returns nothing: DynamoDB keeps its items whole."""
        return iter(())


def _record(item: Item, faults: Sequence[Damage]) -> Record:
    pk, sk = item["pk"], item["sk"]
    kind, (group, _, name) = kind_of(pk, sk), pk.partition("#")
    named = {"ENTRY": "entry", item_keys.PUBLISHED: "workflow"}
    table = kind.table if kind is not None else named.get(group, group.lower())
    parts = {} if faults else _parts(table, name, sk, item)
    return Record(table, f"{name or pk}/{sk}" if table not in ("claim", "run") else name, parts, faults)


def _parts(table: str, name: str, sk: str, item: Item) -> dict[str, Any]:
    """The parts of an item by the names of the columns of the same record in SQLite."""
    match table:
        case "run":
            return {"run_id": name}
        case "version":
            return {"workflow_id": name, "number": item["n"]}
        case "inbox":
            return {"run_id": name, "kind": item["k"], "identity": item["i"], "body": item["b"], "created_ms": item["c"]}
        case "snapshot":
            return {"run_id": name}
        case "claim":
            return {"value": item["v"] if "v" in item else str(item["c"]).encode()}
        case "audit":
            return {"at_ms": item_keys.created_of(sk), "id": item_keys.run_of(sk), "body": item["b"]}
        case "op" | "state":
            return {"room": name, "data": item["b"], "expires_ms": item[EXPIRES]}
        case "entity":
            return {"room": name, "key": item_keys.entity_of(sk), "value": item.get("b")}
        case "line":
            return {"place": sk}
        case "workflow" | "entry":
            return {"workflow_id": sk}
    return {}
