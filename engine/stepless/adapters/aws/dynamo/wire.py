"""Requests to one table: plain Python values in and out, lost conditions as answers, every other error translated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from botocore.exceptions import ClientError

from stepless.adapters.aws.errors import LOST, code_of, translated
from stepless.errors import StoreUnavailable

Value: TypeAlias = str | int | bytes
Item: TypeAlias = Mapping[str, Any]

GET_AT_ONCE: Final = 100  # keys of one BatchGetItem
PUT_AT_ONCE: Final = 25  # items of one BatchWriteItem
_BATCH_ROUNDS: Final = 20  # of one batch that keeps leaving some out
_TYPES: Final = {str: "S", int: "N", bytes: "B"}


@dataclass(frozen=True, slots=True)
class Written:
    """How a conditional write went: `done` and the new values of what it changed, or not done and the item that stands there
    (None: there is none)."""

    done: bool
    item: Item | None


class Wire:
    """Every read of the table is strongly consistent; those of an index cannot be."""

    def __init__(self, client: Any, table: str) -> None:
        self._client = client
        self.table = table

    def get(self, pk: str, sk: str) -> Item | None:
        with translated(self.table):
            answer = self._client.get_item(TableName=self.table, Key=_encoded({"pk": pk, "sk": sk}), ConsistentRead=True)
        return _decoded(answer["Item"]) if "Item" in answer else None

    def get_many(self, keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Item]:
        """The items that exist, by key."""
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
            yield from map(_decoded, answer["Responses"].get(self.table, ()))
            left = answer.get("UnprocessedKeys", {}).get(self.table)
            if not left:
                return
            wanted = left["Keys"]
        raise StoreUnavailable("the table keeps answering only a part", place=self.table, mend="try again later")

    def put(
        self, item: Mapping[str, Any], condition: str | None = None, values: Mapping[str, Value] | None = None,
        returns: str = "NONE",
    ) -> Written:
        """Answers the item that was replaced when `returns` is ALL_OLD."""
        given = {"Item": _encoded(item), "ReturnValues": returns, **_condition(condition, values)}
        return self._write(self._client.put_item, given)

    def put_many(self, items: Sequence[Mapping[str, Any]]) -> None:
        """Puts items, unconditionally, in any order; after an error some of them are there."""
        for start in range(0, len(items), PUT_AT_ONCE):
            wanted = [{"PutRequest": {"Item": _encoded(item)}} for item in items[start : start + PUT_AT_ONCE]]
            for _ in range(_BATCH_ROUNDS):
                with translated(self.table):
                    answer = self._client.batch_write_item(RequestItems={self.table: wanted})
                wanted = answer.get("UnprocessedItems", {}).get(self.table, [])
                if not wanted:
                    break
            else:
                raise StoreUnavailable("the table keeps taking only a part", place=self.table, mend="try again later")

    def update(
        self, pk: str, sk: str, expression: str, values: Mapping[str, Value], condition: str, returns: str = "NONE"
    ) -> Written:
        given = {"Key": _encoded({"pk": pk, "sk": sk}), "UpdateExpression": expression, "ReturnValues": returns}
        return self._write(self._client.update_item, given | _condition(condition, values))

    def delete(self, pk: str, sk: str, condition: str | None = None, values: Mapping[str, Value] | None = None) -> Written:
        return self._write(self._client.delete_item, {"Key": _encoded({"pk": pk, "sk": sk}), **_condition(condition, values)})

    def _write(self, call: Any, given: Mapping[str, Any]) -> Written:
        with translated(self.table):
            try:
                answer = call(TableName=self.table, **given)
            except ClientError as error:
                if code_of(error) not in LOST:
                    raise
                standing = error.response.get("Item")
                return Written(False, _decoded(standing) if standing else None)
        return Written(True, _decoded(answer.get("Attributes", {})))

    def query(
        self, condition: str, values: Mapping[str, Value], *, index: str | None = None, ascending: bool = True,
        page: int | None = None, filter: str | None = None,
    ) -> Iterator[list[Item]]:
        """Page after page, to the end; a page may be empty. `page` is how many items the first one looks at, each further one
        at twice as many."""
        given: dict[str, Any] = {
            "TableName": self.table, "KeyConditionExpression": condition, "ScanIndexForward": ascending,
            "ExpressionAttributeValues": _values(values), "ConsistentRead": index is None,
        } | ({"IndexName": index} if index else {}) | ({"FilterExpression": filter} if filter else {})
        while True:
            if page is not None:
                given["Limit"], page = page, min(1_000, 2 * page)
            with translated(self.table):
                answer = self._client.query(**given)
            yield [_decoded(item) for item in answer["Items"]]
            if "LastEvaluatedKey" not in answer:
                return
            given["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def each(pages: Iterable[list[Item]]) -> Iterator[Item]:
    """Item after item; the next page is asked for when the one before is used up."""
    for page in pages:
        yield from page


def _condition(condition: str | None, values: Mapping[str, Value] | None) -> dict[str, Any]:
    given: dict[str, Any] = {}
    if condition:
        given = {"ConditionExpression": condition, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    return given | ({"ExpressionAttributeValues": _values(values)} if values else {})


def _values(values: Mapping[str, Value]) -> dict[str, Any]:
    return _encoded({f":{name}": value for name, value in values.items()})


def _encoded(item: Mapping[str, Any]) -> dict[str, Any]:
    """Texts, integers and bytes; nothing else is ever stored."""
    return {name: {_TYPES[type(value)]: str(value) if type(value) is int else value} for name, value in item.items()}


def _decoded(item: Mapping[str, Any]) -> Item:
    plain: dict[str, Any] = {}
    for name, typed in item.items():
        ((type, value),) = typed.items()
        plain[name] = int(value) if type == "N" else value
    return plain
