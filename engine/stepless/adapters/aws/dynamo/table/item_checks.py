"""Checks the items that the table returns: every attribute has the type that was written.

An attribute that is missing or of another type gets a plain value, and the content of the item, its carrier, is replaced by a
stand-in that says where the damage is (`model/stored/damage`). The other modules then never meet a missing attribute.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from stepless.adapters.aws.dynamo.table.layout import EXPIRES, PARTITION, SORT
from stepless.limits import NEVER_MS
from stepless.model.stored.damage import Damage, stand_in

_NAMES: Final = {str: "text", int: "an integer", bytes: "bytes"}
_FAR: Final = 10**18  # later than every instant: an item without a readable expiry stays
_AGE: Final = re.compile(r"\d{15}#.+", re.DOTALL)


class Kind(NamedTuple):
    """The attributes of one kind of item: those that it needs, with what stands for them, and those that it may have, by type.
    `carrier` gets the stand-in."""

    table: str
    needed: Mapping[str, str | int | bytes]
    optional: Mapping[str, type]
    carrier: str = ""
    instants: frozenset[str] = frozenset()


_HEAD: Final = Kind(
    "run",
    {"t1": "", "st": "", "h": "", "u": 0, "m": b"", "q": 0, "n": 0},
    {"g1": str, "w1": str, "k": bytes, "i": bytes, "z": bytes, "r": str, "e": str, "d": int, "g2": str, "d2": int, "o": str,
     "l": int, "w": bytes, "a": str, "c": str, "y": int, "p": int, "er": int},
    "m", frozenset({"u", "p"}),
)  # fmt: skip
_NAMED: Final = frozenset({"g1", "w1"})  # of which a header has one
_BATCH: Final = Kind("batch", {"l": 0, "n": 0, "b": b""}, {"z": int}, "b")
_SNAPSHOT: Final = Kind("snapshot", {"q": 0}, {"b": bytes, "p": int, "r": str}, "b")
_PIECE: Final = Kind("piece", {"b": b""}, {}, "b")
_SIGNAL: Final = Kind("inbox", {"k": "", "i": "", "b": b"", "c": 0}, {"y": int}, "b", frozenset({"c"}))
_VERSION: Final = Kind("version", {"n": 0, "h": "", "c": 0, "r": ""}, {"t": str}, "", frozenset({"c"}))
_CLAIM: Final = Kind("claim", {}, {"v": bytes, "c": int, "e": int, EXPIRES: int}, "v")
_SHARDS: Final = Kind("shards", {"s": 0, "f": 0, "t": 0}, {})
_AUDIT: Final = Kind("audit", {"b": b"", "e": _FAR, EXPIRES: _FAR}, {}, "b")
_DRAFT: Final = Kind(
    "draft", {"n": 0, "o": b"", "b": b"", "q": 0, "c": 0, "w": ""}, {"z": int, "f": int}, "o", frozenset({"c"})
)
_OP: Final = Kind("op", {"b": b"", EXPIRES: 0}, {}, "b")
_STATE: Final = Kind("state", {"b": b"", EXPIRES: 0}, {}, "b")
_ENTITY: Final = Kind("entity", {"q": 0}, {"b": bytes, EXPIRES: int}, "b")
_CONNECTION: Final = Kind(
    "connection", {"w": "", "p": "", "r": "", "k": "", "s": 0, EXPIRES: 0}, {"u": int, "c": str, "n": int}
)
_EXPIRY: Final = Kind("expiry", {"c": 0}, {}, "", frozenset({"c"}))
_BY_PARTITION: Final = {
    "WF": _VERSION, "HASH": _PIECE, "CLAIM": _CLAIM, "SHARDS": _SHARDS, "AUDIT": _AUDIT, "CONN": _CONNECTION, "ROOM": _CONNECTION,
    "EXPIRY": _EXPIRY,
}  # fmt: skip
_OF_RUN: Final = {"HEAD": _HEAD, "LOG": _BATCH, "SNAP": _SNAPSHOT, "IN": _SIGNAL, "TAKEN": _SIGNAL, "VAL": _PIECE}
_OF_DRAFT: Final = {"HEAD": _DRAFT, "OP": _OP, "AT": _STATE}


def kind_of(pk: str, sk: str) -> Kind | None:
    """Returns the kind of an item; None for one whose keys say everything."""
    name, kept = pk.partition("#")[0], sk.partition("#")[0]
    if name == "RUN":
        return _PIECE if sk.startswith("SNAP#") else _OF_RUN.get(kept)
    if name == "DRAFT":
        return _OF_DRAFT.get(kept, _ENTITY)
    return _BY_PARTITION.get(name)


def sound(item: dict[str, Any]) -> dict[str, Any]:
    """Returns a whole item of the table, with plain values for what is damaged."""
    kind = kind_of(item[PARTITION], item[SORT])
    if kind is None:
        return item
    faults = [*_faults(item, kind)]
    if not faults:
        return item
    name, why = faults[0]
    for fault, _ in faults:
        if fault in kind.needed:
            item[fault] = kind.needed[fault]
        else:
            item.pop(fault, None)
    if kind is _HEAD and not _AGE.fullmatch(str(item["t1"])):
        item["t1"] = f"{0:015d}#{item[PARTITION].partition('#')[2]}"
    if kind.carrier:
        item[kind.carrier] = stand_in(_place(kind, name, item), why)
    if kind is _HEAD:
        if not _NAMED & item.keys():
            item["g1"] = "#"
        if not {"i", "z", "r"} & item.keys():
            item["i"] = b"null"
        if "o" in item:
            item.setdefault("l", 0)
    return item


def damage_of_item(item: Mapping[str, Any]) -> Iterator[Damage]:
    """Yields the damage to an item, for `stepless doctor`."""
    kind = kind_of(item[PARTITION], item[SORT])
    for name, why in _faults(item, kind) if kind is not None else ():
        yield Damage(_place(kind, name, item), why) if kind is not None else Damage(name, why)


def _place(kind: Kind, name: str, item: Mapping[str, Any]) -> str:
    return f"{kind.table}: attribute {name} of {item[PARTITION]} {item[SORT]}"


def _faults(item: Mapping[str, Any], kind: Kind) -> Iterator[tuple[str, str]]:
    for name, plain in kind.needed.items():
        if type(value := item.get(name)) is not type(plain):
            yield name, "it is missing" if name not in item else f"it is not {_NAMES[type(plain)]}"
        elif type(value) is int and not _fits(value, name in kind.instants):
            yield name, "it is out of range"
    for name, type_ in kind.optional.items():
        if name in item and type(value := item[name]) is not type_:
            yield name, f"it is not {_NAMES[type_]}"
        elif name in item and type(value) is int and not _fits(value, name in kind.instants):
            yield name, "it is out of range"
    yield from _lacks(item, kind)


def _lacks(item: Mapping[str, Any], kind: Kind) -> Iterator[tuple[str, str]]:
    """What attributes say of each other."""
    if kind is _HEAD and type(item.get("t1")) is str and not _AGE.fullmatch(item["t1"]):
        yield "t1", "it is no instant and id of a run"
    if kind is _HEAD and not _NAMED & item.keys():
        yield "g1", "it is missing"
    for name in sorted(_NAMED & item.keys()) if kind is _HEAD else ():
        if type(item[name]) is str and "#" not in item[name]:
            yield name, "it names no workflow"
    if kind is _HEAD and not {"i", "z", "r"} & item.keys():
        yield "i", "the inputs are missing"
    if kind is _HEAD and "o" in item and "l" not in item:
        yield "l", "it is missing"
    if kind is _CLAIM and not {"v", "c"} & item.keys():
        yield "v", "it is missing"
    if kind is _SNAPSHOT and "b" not in item and not {"p", "r"} <= item.keys():
        yield "b", "it is missing"


def _fits(value: int, is_instant: bool) -> bool:
    return -NEVER_MS <= value <= (NEVER_MS if is_instant else _FAR)
