"""One DynamoDB table in memory, at the level of its requests. It is as strict as the emulators for the requests of the store.
Where AWS makes no promise, it behaves as badly as AWS may: indexes and reads that are behind, expired items that stay or go.

The contract suite runs the same tests on the store over this table as over the emulators.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final

from botocore.exceptions import ClientError
from dynamo_language import Item, NotUnderstood, Typed, comparable, condition, update, values_in

from stepless.adapters.aws.dynamo.table.layout import EXPIRES, INDEXES, KEY_TYPES, PARTITION, SORT

Key = tuple[str, str]
Request = Mapping[str, Any]
Answer = dict[str, Any]
MAX_ITEM_BYTES: Final = 400 * 1_024
MAX_PAGE_BYTES: Final = 1_048_576
MAX_GETS: Final = 100
MAX_PUTS: Final = 25


class Refusal(Exception):
    """An error response of DynamoDB."""

    def __init__(self, code: str, message: str = "", **more: Any) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.more = more


@dataclass
class Slowness:
    """What the table does where AWS leaves it open. `lag_ms` is drawn for every write: how long indexes, and reads that are not
    consistent, return the former item; `expire` gets every item with a TTL; `takes` says how many of a batch are done."""

    now_ms: Callable[[], float] = lambda: 0.0
    lag_ms: Callable[[], float] = lambda: 0.0
    expire: Callable[[Key, int], None] = lambda key, at_s: None
    takes: Callable[[int], int] = lambda number: number
    wrote: Callable[[Item], None] = lambda item: None
    deleted: Callable[[Key], None] = lambda key: None


@dataclass
class _Index:
    """What an index returns now, and what it will return after its lag."""

    partition: str
    sort: str
    copied: tuple[str, ...]
    rows: dict[Key, Item] = field(default_factory=dict)
    coming: list[tuple[float, Key, Item | None]] = field(default_factory=list)

    def project(self, item: Item) -> Item | None:
        if self.partition not in item or self.sort not in item:
            return None
        return {name: item[name] for name in {PARTITION, SORT, self.partition, self.sort, *self.copied} if name in item}


class Table:
    """`answer` handles one request; it raises `Refusal`. Not thread-safe."""

    def __init__(self, slowness: Slowness | None = None) -> None:
        self._slow = slowness or Slowness()
        self._partitions: dict[str, dict[str, Item]] = {}
        self._sorted: dict[str, list[bytes]] = {}
        self._former: dict[Key, tuple[float, Item | None]] = {}
        self._indexes = {name: _Index(*parts) for name, parts in INDEXES.items()}

    def answer(self, operation: str, request: Request) -> Answer:
        verb = _VERBS.get(operation)
        if verb is None:
            raise Refusal("UnknownOperationException", operation)
        try:
            return verb(self, request)
        except NotUnderstood as error:
            raise Refusal("ValidationException", str(error)) from error

    def item(self, key: Key) -> Item | None:
        """The stored item, whatever a read would return."""
        return self._partitions.get(key[0], {}).get(key[1])

    def partition(self, pk: str) -> list[Item]:
        """The stored items of a partition, whatever a read would return."""
        return list(self._partitions.get(pk, {}).values())

    def expire(self, key: Key, at_s: int) -> None:
        """Deletes an item if it still expires then."""
        item = self.item(key)
        if item is not None and item.get(EXPIRES) == {"N": str(at_s)}:
            self._store(key, None)

    # -- writing --------------------------------------------------------------------------------------------------------

    def _put(self, request: Request) -> Answer:
        item: Item = request["Item"]
        key = _key_of(item)
        _known_values(request, "ConditionExpression")
        standing = self._checked(key, request)
        self._store(key, item)
        return {"Attributes": standing} if standing and request.get("ReturnValues") == "ALL_OLD" else {}

    def _update(self, request: Request) -> Answer:
        key = _key_of(request["Key"], only=True)
        _known_values(request, "ConditionExpression", "UpdateExpression")
        standing = self._checked(key, request)
        change = update(request["UpdateExpression"])
        given = change.given(standing or request["Key"], request.get("ExpressionAttributeValues", {}))
        kept = {name: typed for name, typed in (standing or request["Key"]).items() if name not in change.removed}
        after = {**kept, **given}
        if _key_of(after) != key:
            raise Refusal("ValidationException", "a key may not be changed")
        self._store(key, after)
        match request.get("ReturnValues", "NONE"):
            case "ALL_NEW":
                return {"Attributes": after}
            case "UPDATED_NEW":
                return {"Attributes": given}
            case "NONE":
                return {}
        raise Refusal("ValidationException", "ReturnValues")

    def _delete(self, request: Request) -> Answer:
        key = _key_of(request["Key"], only=True)
        _known_values(request, "ConditionExpression")
        self._checked(key, request)
        self._store(key, None)
        return {}

    def _checked(self, key: Key, request: Request) -> Item | None:
        """The stored item. Raises `Refusal` if the condition does not hold."""
        standing = self.item(key)
        wanted = request.get("ConditionExpression")
        if wanted and not condition(wanted)(standing or {}, request.get("ExpressionAttributeValues", {})):
            returned = request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD" and standing
            more = {"Item": standing} if returned else {}
            raise Refusal("ConditionalCheckFailedException", "The conditional request failed", **more)
        return standing

    def _store(self, key: Key, item: Item | None) -> None:
        if item is not None:
            _check(item)
        lag_ms, now_ms = self._slow.lag_ms(), self._slow.now_ms()
        pk, sk = key
        rows = self._partitions.setdefault(pk, {})
        if lag_ms:
            self._former[key] = (now_ms + lag_ms, rows.get(sk))
        if item is None:
            if rows.pop(sk, None) is not None:
                self._sorted[pk].remove(sk.encode())
                self._slow.deleted(key)
        else:
            if sk not in rows:
                insort(self._sorted.setdefault(pk, []), sk.encode())
            rows[sk] = item
            if EXPIRES in item and item[EXPIRES].get("N", "").isdecimal():  # TTL ignores every other value
                self._slow.expire(key, int(item[EXPIRES]["N"]))
            self._slow.wrote(item)
        for index in self._indexes.values():
            index.coming.append((now_ms + lag_ms, key, index.project(item) if item is not None else None))

    # -- reading --------------------------------------------------------------------------------------------------------

    def _scan(self, request: Request) -> Answer:
        return {"Items": [item for items in self._partitions.values() for item in items.values()]}

    def _get(self, request: Request) -> Answer:
        item = self._read(_key_of(request["Key"], only=True), request.get("ConsistentRead", False))
        return {"Item": item} if item is not None else {}

    def _read(self, key: Key, consistent: bool) -> Item | None:
        until_ms, former = self._former.get(key, (0.0, None))
        return former if not consistent and self._slow.now_ms() < until_ms else self.item(key)

    def _query(self, request: Request) -> Answer:
        _known_values(request, "KeyConditionExpression", "FilterExpression")
        values, index = request.get("ExpressionAttributeValues", {}), request.get("IndexName")
        if index is not None and request.get("ConsistentRead"):
            raise Refusal("ValidationException", "Consistent reads are not supported on global secondary indexes")
        rows = self._index_rows(index) if index else self._table_rows(request)
        wanted = condition(request["KeyConditionExpression"])
        found = [row for row in rows if wanted(row, values)]
        if not request.get("ScanIndexForward", True):
            found.reverse()
        start = request.get("ExclusiveStartKey")
        if start is not None:
            places = [_place(row, index) for row in found]
            if not request.get("ScanIndexForward", True):
                found = [row for row, place in zip(found, places, strict=True) if place < _place(start, index)]
            else:
                found = [row for row, place in zip(found, places, strict=True) if place > _place(start, index)]
        return _page(found, request, values, index)

    def _table_rows(self, request: Request) -> list[Item]:
        """The candidate items of a partition. The partition is the first value: the store always passes it first."""
        pk = next(typed["S"] for name, typed in request["ExpressionAttributeValues"].items() if name == ":pk")
        sks = self._sorted.get(pk, ())
        read = (self._read((pk, sk.decode()), request.get("ConsistentRead", False)) for sk in sks)
        return [item for item in read if item is not None]

    def _index_rows(self, name: str) -> Iterable[Item]:
        index = self._indexes[name]
        now_ms, later = self._slow.now_ms(), []
        held: set[Key] = set()
        for due_ms, key, row in index.coming:
            if due_ms > now_ms or key in held:
                held.add(key)  # changes of one item become visible in their order
                later.append((due_ms, key, row))
            elif row is None:
                index.rows.pop(key, None)
            else:
                index.rows[key] = row
        index.coming = later
        return sorted(index.rows.values(), key=lambda row: _place(row, name))

    # -- batches --------------------------------------------------------------------------------------------------------

    def _get_many(self, request: Request) -> Answer:
        ((table, wanted),) = request["RequestItems"].items()
        keys = wanted["Keys"]
        if not 0 < len(keys) <= MAX_GETS or len({_key_of(key, only=True) for key in keys}) != len(keys):
            raise Refusal("ValidationException", "keys of a batch")
        done = self._slow.takes(len(keys))
        read = (self._read(_key_of(key), wanted.get("ConsistentRead", False)) for key in keys[:done])
        left = {table: {**wanted, "Keys": keys[done:]}} if done < len(keys) else {}
        return {"Responses": {table: [item for item in read if item is not None]}, "UnprocessedKeys": left}

    def _put_many(self, request: Request) -> Answer:
        ((table, puts),) = request["RequestItems"].items()
        changes: list[tuple[Key, Item | None]] = []
        for put in puts:
            item = put["PutRequest"]["Item"] if "PutRequest" in put else None
            changes.append((_key_of(put["DeleteRequest"]["Key"], only=True) if item is None else _key_of(item), item))
        if not 0 < len(changes) <= MAX_PUTS or len({key for key, _ in changes}) != len(changes):
            raise Refusal("ValidationException", "items of a batch")
        done = self._slow.takes(len(changes))
        for key, item in changes[:done]:
            self._store(key, item)
        return {"UnprocessedItems": {table: puts[done:]} if done < len(puts) else {}}


class DirectClient:
    """A client of DynamoDB whose requests go to a table in this process, with the methods that `DynamoStore` needs. Its calls are
    serialised."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._lock = Lock()

    def __getattr__(self, verb: str) -> Callable[..., Answer]:
        operation = "".join(word.capitalize() for word in verb.split("_"))

        def call(**request: Any) -> Answer:
            try:
                with self._lock:
                    return self._table.answer(operation, request)
            except Refusal as error:
                response = {"Error": {"Code": error.code, "Message": error.message}, **error.more}
                raise ClientError(response, operation) from error

        return call


_VERBS: Final[Mapping[str, Callable[[Table, Request], Answer]]] = {
    "PutItem": Table._put, "UpdateItem": Table._update, "DeleteItem": Table._delete, "GetItem": Table._get, "Query": Table._query,
    "BatchGetItem": Table._get_many, "BatchWriteItem": Table._put_many, "Scan": Table._scan,
}  # fmt: skip


def _page(found: list[Item], request: Request, values: Mapping[str, Typed], index: str | None) -> Answer:
    """As many items as one response may hold, then only those that match the filter."""
    limit, size, looked = request.get("Limit", len(found) + 1), 0, list[Item]()
    for row in found:
        size += size_of(row)
        if len(looked) == limit or (looked and size > MAX_PAGE_BYTES):
            break
        looked.append(row)
    wanted = request.get("FilterExpression")
    kept = [row for row in looked if not wanted or condition(wanted)(row, values)]
    if "ProjectionExpression" in request:
        only = request["ProjectionExpression"].split(", ")
        kept = [{name: row[name] for name in only if name in row} for row in kept]
    answer: Answer = {"Items": kept, "Count": len(kept), "ScannedCount": len(looked)}
    if looked and (len(looked) < len(found) or len(looked) == limit):
        last = looked[-1]
        names = {PARTITION, SORT, *(INDEXES[index][:2] if index else ())}
        answer["LastEvaluatedKey"] = {name: last[name] for name in names}
    return answer


def _place(row: Item, index: str | None) -> tuple[Any, ...]:
    if index is None:
        return (comparable(row[SORT]),)
    return (comparable(row[INDEXES[index][1]]), comparable(row[PARTITION]), comparable(row[SORT]))


def _key_of(item: Item, *, only: bool = False) -> Key:
    if PARTITION not in item or SORT not in item or (only and len(item) != 2):
        raise Refusal("ValidationException", "the key does not fit the table's")
    return item[PARTITION]["S"], item[SORT]["S"]


def _known_values(request: Request, *expressions: str) -> None:
    """Every given value is used, and every used value is given, as DynamoDB requires."""
    named = values_in(*(request[name] for name in expressions if request.get(name)))
    if named != set(request.get("ExpressionAttributeValues", {})):
        raise Refusal("ValidationException", f"the values do not fit the expressions: {sorted(named)}")


def _check(item: Item) -> None:
    for name, kind in KEY_TYPES.items():
        if name in item and (kind not in item[name] or item[name][kind] == ""):
            raise Refusal("ValidationException", f"the key {name} is not of type {kind}, or is empty")
    if size_of(item) > MAX_ITEM_BYTES:
        raise Refusal("ValidationException", "Item size has exceeded the maximum allowed size")


def size_of(item: Item) -> int:
    return sum(len(name) + len(value) for name, typed in item.items() for value in typed.values())
