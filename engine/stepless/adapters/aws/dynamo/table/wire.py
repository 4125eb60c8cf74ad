"""Sends requests to one table: takes and returns plain Python values, returns failed conditions, translates all other errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from botocore.exceptions import ClientError

from stepless.adapters.aws.dynamo.table.item_checks import damage_of_item, sound
from stepless.adapters.aws.dynamo.table.layout import PARTITION
from stepless.adapters.aws.errors import LOST, code_of, translated
from stepless.errors import StoreUnavailable
from stepless.model.stored.damage import Damage

Value: TypeAlias = str | int | bytes
Item: TypeAlias = Mapping[str, Any]

GET_AT_ONCE: Final = 100  # keys of one BatchGetItem
PUT_AT_ONCE: Final = 25  # items of one BatchWriteItem
_BATCH_ROUNDS: Final = 20  # requests for one batch, while DynamoDB leaves items unprocessed
_TYPES: Final = {str: "S", int: "N", bytes: "B"}


@dataclass(frozen=True, slots=True)
class Written:
    """The result of a conditional write: `done` with the attributes that it returned, or not done with the existing item (None
    if no item exists)."""

    done: bool
    item: Item | None


class Wire:
    """Reads of the table are strongly consistent; reads of an index cannot be."""

    def __init__(self, client: Any, table: str) -> None:
        self._client = client
        self.table = table

    def get(self, pk: str, sk: str) -> Item | None:
        with translated(self.table):
            answer = self._client.get_item(TableName=self.table, Key=_encoded({"pk": pk, "sk": sk}), ConsistentRead=True)
        return sound(_decoded(answer["Item"])) if "Item" in answer else None

    def get_many(self, keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Item]:
        """Returns the items that exist, by key."""
        found: dict[tuple[str, str], Item] = {}
        for start in range(0, len(keys), GET_AT_ONCE):
            wanted = [_encoded({"pk": pk, "sk": sk}) for pk, sk in keys[start : start + GET_AT_ONCE]]
            for item in self._get_batch(wanted):
                found[item["pk"], item["sk"]] = item
        return found

    def _get_batch(self, wanted: list[dict[str, Any]]) -> Iterator[Item]:
        for _ in range(_BATCH_ROUNDS):
            with translated(self.table):
                answer = self._client.batch_get_item(RequestItems={self.table: {"Keys": wanted, "ConsistentRead": True}})
            yield from (sound(_decoded(item)) for item in answer["Responses"].get(self.table, ()))
            left = answer.get("UnprocessedKeys", {}).get(self.table)
            if not left:
                return
            wanted = left["Keys"]
        raise StoreUnavailable("the table returns only a part of the items", place=self.table, mend="try again later")

    def scan(self) -> Iterator[tuple[Item, Sequence[Damage]]]:
        """Yields every item of the table as it is, with what is damaged in it. Takes half a read unit per 4 KB."""
        request: dict[str, Any] = {"TableName": self.table}
        while True:
            with translated(self.table):
                answer = self._client.scan(**request)
            for typed in answer["Items"]:
                item = _decoded(typed)
                yield item, [*damage_of_item(item)]
            if "LastEvaluatedKey" not in answer:
                return
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def put(
        self, item: Mapping[str, Any], condition: str | None = None, values: Mapping[str, Value] | None = None,
        returns: str = "NONE",
    ) -> Written:
        """Returns the item that was replaced when `returns` is ALL_OLD."""
        arguments = {"Item": _encoded(item), "ReturnValues": returns, **_condition(condition, values)}
        return self._write(self._client.put_item, arguments)

    def put_many(self, items: Sequence[Mapping[str, Any]]) -> None:
        """Puts items without conditions, in any order. After an error, some of them may be stored."""
        self._write_many([{"PutRequest": {"Item": _encoded(item)}} for item in items])

    def delete_many(self, keys: Iterable[tuple[str, str]]) -> None:
        """Deletes items without conditions, in any order. After an error, some of them may be deleted."""
        self._write_many([{"DeleteRequest": {"Key": _encoded({"pk": pk, "sk": sk})}} for pk, sk in keys])

    def _write_many(self, requests: Sequence[dict[str, Any]]) -> None:
        for start in range(0, len(requests), PUT_AT_ONCE):
            wanted: Sequence[dict[str, Any]] = requests[start : start + PUT_AT_ONCE]
            for _ in range(_BATCH_ROUNDS):
                with translated(self.table):
                    answer = self._client.batch_write_item(RequestItems={self.table: wanted})
                wanted = answer.get("UnprocessedItems", {}).get(self.table, [])
                if not wanted:
                    break
            else:
                raise StoreUnavailable("the table accepts only a part of the items", place=self.table, mend="try again later")

    def update(
        self, pk: str, sk: str, expression: str, values: Mapping[str, Value], condition: str | None = None,
        returns: str = "NONE",
    ) -> Written:
        arguments = {"Key": _encoded({"pk": pk, "sk": sk}), "UpdateExpression": expression, "ReturnValues": returns}
        return self._write(self._client.update_item, arguments | _condition(condition, values))

    def delete(self, pk: str, sk: str, condition: str | None = None, values: Mapping[str, Value] | None = None) -> Written:
        return self._write(self._client.delete_item, {"Key": _encoded({"pk": pk, "sk": sk}), **_condition(condition, values)})

    def _write(self, call: Any, arguments: Mapping[str, Any]) -> Written:
        with translated(self.table):
            try:
                answer = call(TableName=self.table, **arguments)
            except ClientError as error:
                if code_of(error) not in LOST:
                    raise
                existing = error.response.get("Item")
                return Written(False, sound(_decoded(existing)) if existing else None)
        found = _decoded(answer.get("Attributes", {}))
        return Written(True, sound(found) if PARTITION in found else found)

    def query(
        self, condition: str, values: Mapping[str, Value], *, index: str | None = None, ascending: bool = True,
        page: int | None = None, filter: str | None = None, only: str | None = None, left_out: list[int] | None = None,
    ) -> Iterator[list[Item]]:
        """Yields all pages; a page may be empty. `only` names the attributes to return. The first request examines `page` items,
        and each further one twice as many as the request before. Adds to `left_out` how many items of each page the filter has
        left out: they are read, and cost as much as the others."""
        request: dict[str, Any] = {
            "TableName": self.table, "KeyConditionExpression": condition, "ScanIndexForward": ascending,
            "ExpressionAttributeValues": _values(values), "ConsistentRead": index is None,
        } | ({"IndexName": index} if index else {}) | ({"FilterExpression": filter} if filter else {}) | (
            {"ProjectionExpression": only} if only else {}
        )
        while True:
            if page is not None:
                request["Limit"], page = page, min(1_000, 2 * page)
            with translated(self.table):
                answer = self._client.query(**request)
            if left_out is not None:
                left_out.append(answer["ScannedCount"] - answer["Count"])
            whole = index is None and only is None
            yield [sound(_decoded(item)) if whole else _decoded(item) for item in answer["Items"]]
            if "LastEvaluatedKey" not in answer:
                return
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def each(pages: Iterable[list[Item]]) -> Iterator[Item]:
    """Yields the items of all pages; requests each page when the one before is used up."""
    for page in pages:
        yield from page


def _condition(condition: str | None, values: Mapping[str, Value] | None) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    if condition:
        arguments = {"ConditionExpression": condition, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    return arguments | ({"ExpressionAttributeValues": _values(values)} if values else {})


def _values(values: Mapping[str, Value]) -> dict[str, Any]:
    return _encoded({f":{name}": value for name, value in values.items()})


def _encoded(item: Mapping[str, Any]) -> dict[str, Any]:
    """An item in DynamoDB's format. Values are texts, integers and bytes; no other type is stored."""
    return {name: {_TYPES[type(value)]: str(value) if type(value) is int else value} for name, value in item.items()}


def _decoded(item: Mapping[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for name, typed in item.items():
        ((type, value),) = typed.items()
        plain[name] = _number(value) if type == "N" else value
    return plain


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:  # no store writes it: `sound` tells the damage
        return float(text)
