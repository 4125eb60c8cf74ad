"""Stores in DynamoDB who is connected to which draft session. A connection: `w` its workflow, `p` person, `r` roles, `k` key, `u`
the end of the login, and once it is in the session `c` client, `n` epoch and `s` when it was heard. A member: the same. The
table's TTL deletes what is left behind.

Each verb takes one write unit per record: a visit takes five, and the ticket that it begins with takes one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from stepless.adapters.aws.dynamo.table import item_keys
from stepless.adapters.aws.dynamo.table.layout import EXPIRES
from stepless.adapters.aws.dynamo.table.wire import Item, Value, Wire, each
from stepless.ports import Connection

_THERE: Final = "attribute_exists(pk)"


class DynamoDraftConnections:
    """Shares the table of a `DynamoStore`."""

    def __init__(self, client: Any, table: str) -> None:
        self._wire = Wire(client, table)

    def enter(self, connection: Connection) -> None:
        self._wire.put({"pk": item_keys.connection(connection.id), "sk": item_keys.ONLY, **_fields(connection)})

    def find(self, connection_id: str) -> Connection | None:
        item = self._wire.get(item_keys.connection(connection_id), item_keys.ONLY)
        return _connection(connection_id, item) if item is not None else None

    def join(self, connection: Connection) -> bool:
        item = {"pk": item_keys.connection(connection.id), "sk": item_keys.ONLY, **_fields(connection)}
        if not self._wire.put(item, _THERE).done:
            return False
        self._wire.put({**_member_key(connection), **_fields(connection)})
        return True

    def touch(self, connection: Connection, seen_ms: int) -> None:
        key = _member_key(connection)
        self._wire.update(key["pk"], key["sk"], "SET s = :s", {"s": seen_ms}, _THERE)

    def leave(self, connection: Connection) -> bool:
        self._wire.delete(item_keys.connection(connection.id), item_keys.ONLY)
        key = _member_key(connection)
        return self._wire.delete(key["pk"], key["sk"], _THERE).done

    def members(self, workflow_id: str) -> Sequence[Connection]:
        found = each(self._wire.query("pk = :pk", {"pk": item_keys.draft_session(workflow_id)}))
        return [_connection(item["sk"].partition("#")[2], item) for item in found]


def _member_key(connection: Connection) -> dict[str, str]:
    return {"pk": item_keys.draft_session(connection.workflow_id), "sk": item_keys.connection(connection.id)}


def _fields(connection: Connection) -> dict[str, Value]:
    fields: dict[str, Value] = {
        "w": connection.workflow_id, "p": connection.person, "r": " ".join(connection.roles), "k": connection.key_id,
        "s": connection.seen_ms, EXPIRES: connection.expires_ms // 1000,
    }  # fmt: skip
    if connection.until_ms is not None:
        fields["u"] = connection.until_ms
    return fields | ({"c": connection.client, "n": connection.epoch} if connection.client else {})


def _connection(connection_id: str, item: Item) -> Connection:
    return Connection(
        connection_id, item["w"], item["p"], tuple(item["r"].split()), item[EXPIRES] * 1000, item["k"], item.get("u"),
        item.get("c", ""), item.get("n", 0), item["s"],
    )  # fmt: skip
