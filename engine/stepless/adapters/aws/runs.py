"""Headers and leases: each change is one conditional update.

`d2`, the sort key in the index of what somebody looks at, is never later than `d`, when somebody should look. It follows only
when `d` is brought forward or the run is parked: a lease that is taken or renewed moves `d` back and forth, and a moved index
key costs twice. Whoever lists what is due reads the headers and sees `d`; an active run costs a sweep one read.
"""

from __future__ import annotations

from dataclasses import replace
from secrets import token_bytes
from typing import Final

from stepless.adapters.aws import keys
from stepless.adapters.aws.heads import ENDED, heads_of, item_of, put_inputs
from stepless.adapters.aws.part import Part
from stepless.adapters.aws.wire import Value
from stepless.adapters.bounds import check_text
from stepless.errors import LeaseLost
from stepless.ports import Lease, RunHead

_FREE: Final = "attribute_exists(pk) AND (attribute_not_exists(o) OR o = :o OR l <= :now)"
_TAKE: Final = "SET o = :o, l = :until, d = :until, n = n + :one"
_HELD: Final = "n = :n AND attribute_exists(o)"
_INDEXED: Final = "d2 <= :until"
_INDEX: Final = ", g2 = :g, d2 = :until"


class Runs(Part):
    """`create_run` knows its own write again by a word in it."""

    _started: set[str]

    def create_run(self, head: RunHead) -> bool:
        check_text(head.run_id, head.workflow_id, head.version, head.status)
        keys.check_length(head.run_id, head.workflow_id)
        if head.workflow_id not in self._started:  # once per process and workflow: listings find the workflow by it
            self._wire.put({"pk": keys.STARTED, "sk": head.workflow_id})
            self._started.add(head.workflow_id)
        nonce = token_bytes(9)
        item = item_of(head, put_inputs(self._wire, head), keys.shard(head.run_id, self._shards), nonce)
        written = self._wire.put(item, "attribute_not_exists(pk)")
        return written.done or (written.item is not None and written.item["k"] == nonce)

    def get_run(self, run_id: str) -> RunHead | None:
        item = self._wire.get(keys.run(run_id), keys.HEAD)
        return heads_of(self._wire, [item])[0] if item is not None else None

    def take_lease(self, run_id: str, owner: str, now_ms: int, until_ms: int) -> Lease | None:
        check_text(owner)
        pk = keys.run(run_id)
        values: dict[str, Value] = {"o": owner, "now": now_ms, "until": until_ms, "one": 1}
        taken = self._wire.update(pk, keys.HEAD, _TAKE, values, f"{_FREE} AND {_INDEXED}", "UPDATED_NEW")
        if not taken.done:
            standing = taken.item
            if standing is None or (standing.get("o", owner) != owner and standing["l"] > now_ms):
                return None
            values |= {"g": keys.shard(run_id, self._shards)}
            taken = self._wire.update(pk, keys.HEAD, _TAKE + _INDEX, values, _FREE, "UPDATED_NEW")
        return Lease(run_id, owner, taken.item["n"], until_ms) if taken.done and taken.item else None

    def update_run(
        self, lease: Lease, now_ms: int, *, status: str | None = None, sequence: int | None = None,
        due_ms: int | None = None, until_ms: int | None = None, release: bool = False,
    ) -> Lease:
        values: dict[str, Value] = {"u": now_ms, "n": lease.epoch}
        change, condition = "SET u = :u", "n = :n"
        if status is not None:
            change, values = change + ", st = :st", values | {"st": status}
        if sequence is not None:
            change, values = change + ", q = :q", values | {"q": sequence}
        if release:
            change, values = self._released(lease, change, values, status, due_ms)
        elif until_ms is None:
            change, condition = change + ", d = l", _HELD
        else:
            change, condition = f"{change}, l = :until, d = :until", f"{_HELD} AND {_INDEXED}"
            values |= {"until": until_ms}
        pk = keys.run(lease.run_id)
        written = self._wire.update(pk, keys.HEAD, change, values, condition, "ALL_NEW")
        if condition.endswith(_INDEXED) and not written.done and written.item and written.item["n"] == lease.epoch:
            values |= {"g": keys.shard(lease.run_id, self._shards)}
            written = self._wire.update(pk, keys.HEAD, change + _INDEX, values, _HELD, "ALL_NEW")
        if not written.done or written.item is None:
            raise LeaseLost("the lease was taken over", place=f"run {lease.run_id!r}")
        return replace(lease, until_ms=0 if release else written.item["d"])

    def _released(
        self, lease: Lease, change: str, values: dict[str, Value], status: str | None, due_ms: int | None
    ) -> tuple[str, dict[str, Value]]:
        if due_ms is None and status in ENDED:
            return f"{change} REMOVE o, l, d, g2, d2", values
        shard = keys.shard(lease.run_id, self._shards)
        if due_ms is None:
            return f"{change}, g2 = :g, d2 = :d2 REMOVE o, l, d", values | {"g": shard, "d2": keys.NEVER_DUE}
        return f"{change}, g2 = :g, d = :d2, d2 = :d2 REMOVE o, l", values | {"g": shard, "d2": due_ms}

    def touch_run(self, run_id: str, due_ms: int) -> bool:
        values: dict[str, Value] = {"d": due_ms, "g": keys.shard(run_id, self._shards)}
        later = "attribute_exists(pk) AND (attribute_not_exists(d) OR d > :d)"
        written = self._wire.update(keys.run(run_id), keys.HEAD, "SET d = :d, g2 = :g, d2 = :d", values, later)
        return written.done or written.item is not None
