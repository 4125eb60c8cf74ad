"""Stores headers and leases in DynamoDB: each change is one conditional update.

`d` is the instant at which the run is due; `d2` is the sort key of the index of due runs (GSI 2), and is never later than `d`.
`d2` is written only when `d` becomes earlier or the run is parked: taking and renewing a lease moves `d` back and forth, and
changing an index key costs two writes. A listing of due runs reads `d` from the headers, so an active run costs a sweep one read.
A run that is parked without a due instant is not in the index: leaving and entering it cost one write each.
"""

from __future__ import annotations

from secrets import token_bytes
from typing import Final

from stepless.adapters.aws.dynamo.headers import heads_of, item_of, put_inputs
from stepless.adapters.aws.dynamo.table import item_keys
from stepless.adapters.aws.dynamo.table.access import TableAccess
from stepless.adapters.aws.dynamo.table.wire import Value
from stepless.adapters.bounds import check_text
from stepless.errors import LeaseLost, StoreUnavailable
from stepless.model.runs.statuses import ENDED
from stepless.ports import RECEIVER, SUCCESSOR, Lease, RunHead

_FREE: Final = "attribute_exists(pk) AND attribute_not_exists(er) AND (attribute_not_exists(o) OR o = :o OR l <= :now)"
_UNOWNED: Final = "attribute_exists(pk) AND attribute_not_exists(er) AND attribute_not_exists(o)"
_TAKE: Final = "SET o = :o, l = :until, d = :until, n = n + :one, "
_UNTOUCHED: Final = " REMOVE y"
_TOUCHES: Final = 20  # tries of one touch or release; a try fails only because another caller's touch succeeded
_HELD: Final = "n = :n AND attribute_exists(o)"
_INDEXED: Final = "d2 <= :until"
_INDEX: Final = "g2 = :g, d2 = :until"
_ENTER: Final = "g2 = if_not_exists(g2, :g), d2 = if_not_exists(d2, :until)"
_ENTERED: Final = f"(attribute_not_exists(d2) OR {_INDEXED})"
_DUE: Final = "SET d = :d, g2 = :g, d2 = :d"
_LATER: Final = "attribute_exists(pk) AND attribute_not_exists(er) AND (attribute_not_exists(d) OR d > :d)"
_UNKNOWN: Final = "(attribute_not_exists(y) OR y > :d)"
# (Whether `d` is later than the touch, whether the lease's `y` is): the change and its condition.
_TOUCH: Final = {
    (True, True): (f"{_DUE}, y = :d", f"{_LATER} AND {_UNKNOWN}"),
    (True, False): (_DUE, _LATER),
    (False, True): ("SET y = :d", f"attribute_exists(o) AND {_UNKNOWN}"),
}


class Runs(TableAccess):
    """`create_run` writes random bytes, by which it recognizes its own earlier write after a lost response."""

    _started: set[str]

    def create_run(self, head: RunHead) -> bool:
        check_text(head.run_id, head.workflow_id, head.version, head.status)
        item_keys.check_length(head.run_id, head.workflow_id)
        if head.workflow_id not in self._started:  # once per process and workflow: listings read the workflows from it
            self._wire.put({"pk": item_keys.STARTED, "sk": head.workflow_id})
            self._started.add(head.workflow_id)
        nonce = token_bytes(9)
        item = item_of(head, put_inputs(self._wire, head), item_keys.shard(head.run_id, self._shards.writers), nonce)
        written = self._wire.put(item, "attribute_not_exists(pk)")
        return written.done or (written.item is not None and written.item.get("k") == nonce)

    def get_run(self, run_id: str) -> RunHead | None:
        item = self._wire.get(item_keys.run(run_id), item_keys.HEAD)
        return heads_of(self._wire, [item])[0] if item is not None else None

    def take_lease(self, run_id: str, owner: str, now_ms: int, until_ms: int) -> Lease | None:
        check_text(owner)
        pk = item_keys.run(run_id)
        shard = item_keys.shard(run_id, self._shards.writers)
        values: dict[str, Value] = {"o": owner, "now": now_ms, "until": until_ms, "one": 1, "g": shard}
        taken = self._wire.update(pk, item_keys.HEAD, _TAKE + _ENTER + _UNTOUCHED, values, f"{_FREE} AND {_ENTERED}", "ALL_NEW")
        if not taken.done:
            existing = taken.item
            if existing is None or "er" in existing or (existing.get("o", owner) != owner and existing["l"] > now_ms):
                return None
            taken = self._wire.update(pk, item_keys.HEAD, _TAKE + _INDEX + _UNTOUCHED, values, _FREE, "ALL_NEW")
        if not taken.done or taken.item is None:
            return None
        return Lease(run_id, owner, taken.item["n"], until_ms, taken.item.get("w", b""), taken.item.get("c", ""))

    def grant_lease(self, run_id: str, until_ms: int) -> bool:
        shard = item_keys.shard(run_id, self._shards.writers)
        values: dict[str, Value] = {"o": RECEIVER, "until": until_ms, "one": 1, "g": shard}
        taken = self._wire.update(item_keys.run(run_id), item_keys.HEAD, _TAKE + _INDEX + _UNTOUCHED, values, _UNOWNED)
        existing = taken.item or {}
        return taken.done or (existing.get("o"), existing.get("l")) == (RECEIVER, until_ms)  # an earlier try succeeded unseen

    def update_run(
        self, lease: Lease, now_ms: int, *, status: str | None = None, sequence: int | None = None, meta: bytes | None = None,
        due_ms: int | None = None, until_ms: int | None = None, release: bool = False, spent: bytes | None = None,
        waits: str | None = None, exported: str | None = None, expires_ms: int | None = None, grant_ms: int | None = None,
    ) -> Lease:
        values: dict[str, Value] = {"u": now_ms, "n": lease.epoch}
        change, condition = "SET u = :u", "n = :n"
        if status is not None:
            ended = status in ENDED
            told = ", st = :st" * (release or not ended)  # the index of due runs has `st`, and a write to it costs a unit
            change, values = f"{change}{told}{', e = :st' * ended}", values | {"st": status}
        if sequence is not None:
            change, values = change + ", q = :q", values | {"q": sequence}
        more: dict[str, Value | None] = {"w": spent, "p": expires_ms, "m": meta, "a": waits or None, "c": exported}
        for name, value in more.items():
            if value is not None:
                change, values = f"{change}, {name} = :{name}", values | {name: value}
        if release:
            self._release(lease, change, values, due_ms, ", a" * (waits == ""))
            return lease._replace(until_ms=0)
        if grant_ms is not None:
            return self._pass_on(lease, change, values, lease.passed_on(grant_ms, spent, exported), " REMOVE a" * (waits == ""))
        if until_ms is None:
            change, condition = change + ", d = l", _HELD
        else:
            change, condition = f"{change}, l = :until, d = :until", f"{_HELD} AND {_INDEXED}"
            values |= {"until": until_ms}
        pk, gone = item_keys.run(lease.run_id), " REMOVE a" * (waits == "")
        written = self._wire.update(pk, item_keys.HEAD, change + gone, values, condition, "ALL_NEW")
        if condition.endswith(_INDEXED) and not written.done and written.item and written.item["n"] == lease.epoch:
            values |= {"g": item_keys.shard(lease.run_id, self._shards.writers)}
            written = self._wire.update(pk, item_keys.HEAD, f"{change}, {_INDEX}{gone}", values, _HELD, "ALL_NEW")
        if not written.done or written.item is None:
            raise _lost(lease)
        return lease._replace(until_ms=written.item["d"])

    def _pass_on(self, lease: Lease, change: str, values: dict[str, Value], passed: Lease, gone: str) -> Lease:
        """One write, as for a renewal: the index of due runs is changed only if the run is in it at a later instant, or not."""
        change += ", o = :o, l = :until, d = :until, n = :next"
        values |= {"o": SUCCESSOR, "until": passed.until_ms, "next": passed.epoch}
        pk = item_keys.run(lease.run_id)
        for condition in (f"{_HELD} AND {_INDEXED}", _HELD):
            written = self._wire.update(pk, item_keys.HEAD, change + gone, values, condition)
            existing = written.item or {}
            if written.done or (existing.get("o"), existing.get("n"), existing.get("l")) == passed[1:4]:  # an earlier try
                return passed
            change, values = f"{change}, {_INDEX}", values | {"g": item_keys.shard(lease.run_id, self._shards.writers)}
        raise _lost(lease)

    def _release(self, lease: Lease, change: str, values: dict[str, Value], due_ms: int | None, gone: str) -> None:
        """Releases the lease. If another process has made the run due earlier in the meantime, releases it with that instant.
        `gone` are attributes to remove in addition to the lease's."""
        pk = item_keys.run(lease.run_id)
        for _ in range(_TOUCHES):
            freed, arguments = self._freed(lease, change, values, due_ms)
            arguments |= {"y": item_keys.NEVER_DUE if due_ms is None else due_ms}
            unmoved = f"{_HELD} AND (attribute_not_exists(y) OR y >= :y)"
            written = self._wire.update(pk, item_keys.HEAD, freed + gone, arguments, unmoved)
            existing = written.item
            if not written.done and (existing is None or existing["n"] != lease.epoch):
                raise _lost(lease)
            if written.done or existing is None or "o" not in existing:  # no owner: an earlier try succeeded unseen
                return
            due_ms = existing["y"]
        raise _busy(lease.run_id)

    def _freed(
        self, lease: Lease, change: str, values: dict[str, Value], due_ms: int | None
    ) -> tuple[str, dict[str, Value]]:
        if due_ms is None:
            return f"{change} REMOVE o, l, y, d, g2, d2", dict(values)
        shard = item_keys.shard(lease.run_id, self._shards.writers)
        return f"{change}, g2 = :g, d = :d2, d2 = :d2 REMOVE o, l, y", values | {"g": shard, "d2": due_ms}

    def touch_run(self, run_id: str, due_ms: int) -> bool:
        """Usually one write. Under a lease, a second write may follow, for whichever of `d` and `y` is still to change."""
        pk, shard = item_keys.run(run_id), item_keys.shard(run_id, self._shards.writers)
        later = unknown = True
        for _ in range(_TOUCHES):
            change, condition = _TOUCH[later, unknown]
            values: dict[str, Value] = {"d": due_ms, **({"g": shard} if later else {})}
            written = self._wire.update(pk, item_keys.HEAD, change, values, condition)
            existing = written.item
            if written.done or existing is None or "er" in existing:
                return written.done
            later = existing.get("d", item_keys.NEVER_DUE) > due_ms
            unknown = "o" in existing and existing.get("y", item_keys.NEVER_DUE) > due_ms
            if not later and not unknown:
                return True
        raise _busy(run_id)


def _lost(lease: Lease) -> LeaseLost:
    return LeaseLost("the lease was taken over", place=f"run {lease.run_id!r}")


def _busy(run_id: str) -> StoreUnavailable:
    return StoreUnavailable("other processes keep changing the run's due instant", place=f"run {run_id!r}", mend="try again")
