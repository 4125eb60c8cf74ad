"""The table: its keys, indexes and TTL attribute, for the template, the tests and the store.

`store` draws the items; the modules of its parts say what the attributes mean. Every item costs by its size, names included,
so names are short; none is one of DynamoDB's reserved words.
"""

from __future__ import annotations

from typing import Any, Final

PARTITION: Final = "pk"
SORT: Final = "sk"
EXPIRES: Final = "x"  # the TTL attribute, seconds since 1970: set on claims alone
BY_AGE: Final = "runs-by-age"  # GSI 1
BY_DUE: Final = "runs-by-due"  # GSI 2

# Attribute → type, of everything that is a key somewhere.
KEY_TYPES: Final = {"pk": "S", "sk": "S", "g1": "S", "t1": "S", "g2": "S", "d2": "N"}
# Index → partition key, sort key, and what is copied into it besides the keys.
INDEXES: Final = {
    BY_AGE: ("g1", "t1", ("e",)),
    BY_DUE: ("g2", "d2", ("g1", "t1", "st")),
}


def create_table_arguments(name: str) -> dict[str, Any]:
    """What `CreateTable` wants; the TTL attribute is switched on by `time_to_live_arguments`."""
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
    """What `UpdateTimeToLive` wants."""
    return {"TableName": name, "TimeToLiveSpecification": {"Enabled": True, "AttributeName": EXPIRES}}


def _schema(partition: str, sort: str) -> list[dict[str, str]]:
    return [{"AttributeName": partition, "KeyType": "HASH"}, {"AttributeName": sort, "KeyType": "RANGE"}]
