"""Reads and writes a run's header as a DynamoDB item.

| attribute | what | | attribute | what |
|---|---|---|---|---|
| g1; w1 if no listing has the run | workflow and shard | | u | updated, ms |
| t1 | created, ms, and run id | | q | sequence |
| st, e | status, and no end before the lease is released; the end, else absent | | d | due, ms; absent: the sweep skips the run |
| g2 | shard; absent like `d` | | d2 | never later than `d` |
| h | version | | n, o, l | lease: epoch, owner, until |
| i, z, r | inputs: plain, compressed, or the hash of a separate item | | m | meta |
| k | random bytes by which the creator recognizes its write | | w | spent; absent: nothing is counted |
| y | the earliest touch since the lease was taken | | a | waits; absent: waits for nothing |
| c | cursors of exporters; absent: nothing is exported | | | |
| p | when an ended run expires, ms | | er | 1 once the run is erased; `st` stays an end, so that the previous release leaves it |

A header is written at least three times, and each write is billed by its size. Inputs that would take the header above 1 KB are
stored in a separate item.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from stepless.adapters.aws.dynamo.table import item_keys
from stepless.adapters.aws.dynamo.table.wire import Item, Value, Wire
from stepless.errors import LimitExceeded
from stepless.limits import MAX_ITEM_BYTES
from stepless.model.runs.statuses import ENDED
from stepless.model.stored.damage import stand_in, told_by
from stepless.ports import ERASED, SHARD, RunHead

_UNLISTED: Final = "w1"  # in place of g1: without that, an item is not in GSI 1
_INLINE_BYTES: Final = 512  # for inputs; the rest of a header takes about 400


def put_inputs(wire: Wire, head: RunHead) -> dict[str, Value]:
    """Returns the attributes for a header's inputs. Large inputs are stored first, under their hash: an item without a header is
    harmless."""
    if len(head.inputs) <= _INLINE_BYTES:
        return {"i": head.inputs}
    packed = zlib.compress(head.inputs)
    if len(packed) <= _INLINE_BYTES:
        return {"z": packed}
    if len(packed) > MAX_ITEM_BYTES:
        message = f"the inputs take {len(packed):,} bytes compressed; at most {MAX_ITEM_BYTES:,} fit into an item"
        raise LimitExceeded(message, place=f"run {head.run_id!r}", mend="start the run with smaller inputs")
    digest = sha256(head.inputs).hexdigest()
    wire.put({"pk": item_keys.run(head.run_id), "sk": item_keys.inputs(digest), "b": packed})
    return {"r": digest}


def item_of(head: RunHead, inputs: Mapping[str, Value], shard: str, nonce: bytes) -> dict[str, Value]:
    """Returns a new header's item. A run with a due instant is in GSI 2, which the sweep reads."""
    item: dict[str, Value] = {
        "pk": item_keys.run(head.run_id), "sk": item_keys.HEAD,
        _UNLISTED if head.run_id.startswith(SHARD) else "g1": item_keys.by_workflow(head.workflow_id, shard),
        "t1": item_keys.age(head.created_ms, head.run_id), "st": head.status, "h": head.version, "u": head.updated_ms,
        "m": head.meta, "q": head.sequence, "n": head.epoch, "k": nonce, **inputs,
    }  # fmt: skip
    if head.owner is not None:
        item |= {"o": head.owner}
    if head.lease_until_ms:
        item |= {"l": head.lease_until_ms}
    if head.spent:
        item |= {"w": head.spent}
    if head.due_ms is not None:
        item |= {"d": head.due_ms, "g2": shard, "d2": head.due_ms}
    if head.status in ENDED:
        item |= {"e": head.status}
    if head.waits:
        item |= {"a": head.waits}
    if head.exported:
        item |= {"c": head.exported}
    if head.expires_ms is not None:
        item |= {"p": head.expires_ms}
    return item


def heads_of(wire: Wire, items: list[Item]) -> list[RunHead]:
    """Headers in the order of their items. Inputs in separate items are fetched together."""
    separate = {(item["pk"], item_keys.inputs(item["r"])) for item in items if "r" in item}
    fetched = wire.get_many(sorted(separate)) if separate else {}
    return [_head(item, fetched) for item in items]


def _head(item: Item, fetched: Mapping[tuple[str, str], Item]) -> RunHead:
    return RunHead(
        run_id=item_keys.run_of(item["t1"]),
        workflow_id=(item[_UNLISTED] if _UNLISTED in item else item["g1"]).rpartition("#")[0],
        version=item["h"],
        status=ERASED if "er" in item else item.get("e", item["st"]),
        created_ms=item_keys.created_of(item["t1"]),
        updated_ms=item["u"],
        inputs=_inputs(item, fetched),
        meta=item["m"],
        sequence=item["q"],
        due_ms=item.get("d"),
        epoch=item["n"],
        owner=item.get("o"),
        lease_until_ms=item.get("l", 0),
        spent=item.get("w", b""),
        waits=item.get("a", ""),
        exported=item.get("c", ""),
        expires_ms=item.get("p"),
    )


def _inputs(item: Item, fetched: Mapping[tuple[str, str], Any]) -> bytes:
    """The inputs; a stand-in if they are damaged."""
    if "i" in item:
        return bytes(item["i"])
    separate = fetched.get((item["pk"], item_keys.inputs(item["r"]))) if "z" not in item else None
    packed = item["z"] if "z" in item else separate["b"] if separate is not None else b""
    try:
        return zlib.decompress(packed)
    except zlib.error as error:
        place = f"run: attribute {'z' if 'z' in item else 'r'} of {item['pk']} {item['sk']}"
        return packed if told_by(packed) else stand_in(place, f"the inputs cannot be unpacked ({error})")
