"""One damaged attribute of an item in DynamoDB: the engine starts over the table, everything else works, and the check of the
store names the place."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final, NamedTuple

import pytest
from damage_walk import diagnosed_in, walk
from dynamo_table import DirectClient, Table
from everything_stored import Filled, fill, serving
from sweeps import WHOLE

from stepless.adapters.aws.dynamo.drafts import DynamoDrafts
from stepless.adapters.aws.dynamo.inspection import DynamoInspection
from stepless.adapters.aws.dynamo.store import DynamoStore
from stepless.adapters.aws.dynamo.table.item_checks import kind_of
from stepless.adapters.aws.dynamo.table.layout import KEY_TYPES
from stepless.adapters.memory.blobs import MemoryBlobs
from stepless.ports import OpenStore

PARTS: Final = 8
EVERY: Final = 45
HARMS: Final[dict[str, Any]] = {
    "gone": None, "text": {"S": "damaged"}, "empty": {"S": ""}, "number": {"N": "7"}, "fraction": {"N": "1.5"},
    "huge": {"N": "9" * 30}, "bytes": {"B": b"\xff\xfe\x80"}, "no-bytes": {"B": b""}, "list": {"B": b"[]"},
}  # fmt: skip
PLAUSIBLE: Final = frozenset({"text", "empty", "number", "gone", "list", "no-bytes", "bytes"})  # where the type is right


class Attribute(NamedTuple):
    pk: str
    sk: str
    name: str
    harm: str


class TablePlace:
    """Where the engine keeps its runs: a table in this process, and blobs in memory."""

    def __init__(self, table: Table, blobs: MemoryBlobs) -> None:
        self.table, self.blobs = table, blobs

    def hold(self, now_ms: int) -> AbstractContextManager[object]:
        return nullcontext()

    def open(self) -> OpenStore:
        client = DirectClient(self.table)
        store, drafts = DynamoStore(client, "t", shards=2, at_once=1), DynamoDrafts(client, "t", at_once=1)
        return OpenStore(store, self.blobs, drafts=drafts, inspection=DynamoInspection(client, "t"))

    def damaged(self, attribute: Attribute) -> TablePlace | None:
        """The same with one damaged attribute; None where DynamoDB would not store it, or nothing changes."""
        typed = HARMS[attribute.harm]
        if typed is not None and attribute.name in KEY_TYPES and not typed.get(KEY_TYPES[attribute.name]):
            return None
        copy = Table()
        for item in DirectClient(self.table).scan()["Items"]:
            kept = dict(item)
            if (item["pk"]["S"], item["sk"]["S"]) == attribute[:2]:
                if kept.pop(attribute.name) == typed:
                    return None
                kept |= {} if typed is None else {attribute.name: typed}
            DirectClient(copy).put_item(Item=kept)
        return TablePlace(copy, self.blobs)


def attributes(place: TablePlace, filled: Filled) -> Iterator[Attribute]:
    """Every harm to every attribute of every item, but for those of the workflows that must work."""
    mine = ("#asked", "#other", filled.runs["asked"])
    for item in DirectClient(place.table).scan()["Items"]:
        pk, sk = item["pk"]["S"], item["sk"]["S"]
        if kind_of(pk, sk) is None or any(name in pk for name in mine) or pk.startswith("HASH#"):
            continue
        for name in item.keys() - {"pk", "sk"}:
            for harm in HARMS:
                yield Attribute(pk, sk, name, harm)


@pytest.fixture(scope="module")
def stored() -> tuple[TablePlace, Filled]:
    place = TablePlace(Table(), MemoryBlobs())

    async def make() -> Filled:
        async with serving(place) as engine:
            return await fill(engine)

    return place, asyncio.run(make())


def test_nothing_is_damaged_in_a_sound_table(stored: tuple[TablePlace, Filled]) -> None:
    assert diagnosed_in(stored[0].open()) == []


@pytest.mark.parametrize("part", range(PARTS) if WHOLE else [0])
def test_one_damaged_attribute_harms_nothing_else(stored: tuple[TablePlace, Filled], part: int) -> None:
    place, filled = stored
    found = sorted(attributes(place, filled))
    tried = 0
    for attribute in found[part::PARTS] if WHOLE else found[:: len(found) // EVERY]:
        copy = place.damaged(attribute)
        if copy is not None:
            tried += 1
            diagnoses = diagnosed_in(copy.open())
            assert diagnoses or attribute.harm in PLAUSIBLE, attribute
            assert asyncio.run(walk(copy, filled)) == [], attribute
    assert tried > 10
