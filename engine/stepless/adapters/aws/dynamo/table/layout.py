"""Defines the table's keys, indexes and TTL attribute, for the template, the tests and the store.

`store` lists the items; the modules of its parts document their attributes. Items are billed by size, attribute names included,
so names are short. No name is one of DynamoDB's reserved words.
"""

from __future__ import annotations

from typing import Any, Final

PARTITION: Final = "pk"
SORT: Final = "sk"
EXPIRES: Final = "x"  # the TTL attribute, seconds since 1970
BY_AGE: Final = "runs-by-age"  # GSI 1
BY_DUE: Final = "runs-by-due"  # GSI 2

# Attribute → type, for every attribute that is a key of the table or an index.
KEY_TYPES: Final = {"pk": "S", "sk": "S", "g1": "S", "t1": "S", "g2": "S", "d2": "N"}
# Index → partition key, sort key, and the attributes that are copied into it in addition to the keys.
INDEXES: Final = {
    BY_AGE: ("g1", "t1", ("e",)),
    BY_DUE: ("g2", "d2", ("g1", "t1", "st")),
}


def create_table_arguments(name: str) -> dict[str, Any]:
    """Returns the arguments of `CreateTable`; `time_to_live_arguments` enables the TTL attribute."""
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": key, "AttributeType": type} for key, type in KEY_TYPES.items()],
        "KeySchema": _schema(PARTITION, SORT),
        "GlobalSecondaryIndexes": [
            {
                "IndexName": index,
                "KeySchema": _schema(partition, sort),
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(copied)},
            }
            for index, (partition, sort, copied) in INDEXES.items()
        ],
    }


def time_to_live_arguments(name: str) -> dict[str, Any]:
    """Returns the arguments of `UpdateTimeToLive`."""
    return {"TableName": name, "TimeToLiveSpecification": {"Enabled": True, "AttributeName": EXPIRES}}


def _schema(partition: str, sort: str) -> list[dict[str, str]]:
    return [{"AttributeName": partition, "KeyType": "HASH"}, {"AttributeName": sort, "KeyType": "RANGE"}]
