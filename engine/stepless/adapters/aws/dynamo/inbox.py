"""Stores the inboxes of runs in DynamoDB. A conditional put stores each signal once; single use needs no other rule.

A signal that was taken stays, so that it is not stored again, and each read of the inbox reads it, too. A run may get any number
of messages. So where MAX_TAKEN_BESIDE signals that were taken lie beside those that wait, a message that is taken moves to
another key, which costs one unit more than the mark. Each message is looked up under that key before it is stored. One that is
sent again in the instant of the move is stored again, and a process that dies during the move leaves what it has not deleted.
Whoever reads such an inbox therefore looks up each message that waits, and deletes those that were moved. Their copies were
stored before, so a reader that sees the one sees the other.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import Any

from stepless.adapters.aws.dynamo.table import item_keys
from stepless.adapters.aws.dynamo.table.access import TableAccess
from stepless.adapters.aws.dynamo.table.wire import Item, each
from stepless.adapters.bounds import check_signal, inbox_full
from stepless.limits import MAX_INBOX_SIGNALS, MAX_KNOWN_ENDS, MAX_TAKEN_BESIDE
from stepless.ports import MESSAGE, Signal

_WAITING = "pk = :pk AND begins_with(sk, :v)"
_NOT_TAKEN = "attribute_not_exists(y)"
_FEW = 10  # up to this many signals are marked one by one, which needs no read


class Allowance:
    """How many signals this process may put into an inbox before it counts the inbox again: half of what was free at the last
    count. Counts are therefore rare. When several processes fill one inbox, it exceeds its limit by at most their halves."""

    def __init__(self) -> None:
        self._left: OrderedDict[str, int] = OrderedDict()
        self._lock = Lock()

    def take(self, run_id: str) -> bool:
        with self._lock:
            left = self._left.get(run_id, 0)
            if left > 0:
                self._left[run_id] = left - 1
            return left > 0

    def counted(self, run_id: str, waiting: int) -> None:
        with self._lock:
            self._left.pop(run_id, None)
            self._left[run_id] = (MAX_INBOX_SIGNALS - waiting) // 2
            if len(self._left) > MAX_KNOWN_ENDS:
                self._left.popitem(last=False)


class Inbox(TableAccess):
    """A signal: `k` kind, `i` identity, `b` body, `c` created, `y` once it is taken. `_crowded` names the runs whose inbox had
    `most_beside` taken signals when this process last read it."""

    _allowance: Allowance
    _crowded: OrderedDict[str, None]
    most_beside = MAX_TAKEN_BESIDE

    def put_signal(self, run_id: str, signal: Signal) -> Signal:
        check_signal(run_id, signal)
        pk, sk = item_keys.run(run_id), item_keys.signal(signal.kind, signal.identity)
        if signal.kind == MESSAGE and (moved := self._wire.get(pk, item_keys.taken_signal(signal.kind, signal.identity))):
            return _signal(moved)
        if not self._allowance.take(run_id):
            waiting = len(self._waiting(run_id)[0])
            if waiting >= MAX_INBOX_SIGNALS:
                existing = self._wire.get(pk, sk)
                if existing is None:
                    raise inbox_full(run_id)
                return _signal(existing)
            self._allowance.counted(run_id, waiting)
        item: dict[str, Any] = {"k": signal.kind, "i": signal.identity, "b": signal.body, "c": signal.created_ms}
        item |= {"pk": pk, "sk": sk} | ({"y": 1} if signal.taken else {})
        written = self._wire.put(item, "attribute_not_exists(pk)")
        return signal if written.done or written.item is None else _signal(written.item)

    def get_signal(self, run_id: str, kind: str, identity: str) -> Signal | None:
        pk = item_keys.run(run_id)
        item = self._wire.get(pk, item_keys.signal(kind, identity))
        if item is None and kind == MESSAGE:
            item = self._wire.get(pk, item_keys.taken_signal(kind, identity))
        return _signal(item) if item is not None else None

    def read_inbox(self, run_id: str) -> Sequence[Signal]:
        items, is_crowded = self._waiting(run_id)
        waiting = map(_signal, self._without_moved(item_keys.run(run_id), items) if is_crowded else items)
        return sorted(waiting, key=lambda signal: (signal.created_ms, signal.kind, signal.identity))

    def take_signals(self, run_id: str, signals: Sequence[Signal]) -> None:
        """Marks signals as taken. Many are read and written back in batches: one by one, thousands would outlast a lease."""
        pk = item_keys.run(run_id)
        if run_id in self._crowded:
            self._move(pk, [item_keys.signal(signal.kind, signal.identity) for signal in signals if signal.kind == MESSAGE])
            signals = [signal for signal in signals if signal.kind != MESSAGE]
        names = dict.fromkeys(item_keys.signal(signal.kind, signal.identity) for signal in signals)
        if len(names) > _FEW:
            items = self._wire.get_many([(pk, sk) for sk in names])
            self._wire.put_many([{**item, "y": 1} for item in items.values()])
            return
        for sk in names:
            self._wire.update(pk, sk, "SET y = :y", {"y": 1}, "attribute_exists(pk)")

    def _move(self, pk: str, names: Sequence[str]) -> None:
        """Moves signals that are taken out of the inbox. They are stored under their new keys first: a process that dies before
        they are deleted leaves signals that the next session takes again."""
        items = self._wire.get_many([(pk, sk) for sk in dict.fromkeys(names)])
        self._wire.put_many([{**item, "sk": item_keys.taken_signal(item["k"], item["i"]), "y": 1} for item in items.values()])
        self._wire.delete_many(items)

    def _without_moved(self, pk: str, items: Sequence[Item]) -> Sequence[Item]:
        """Returns what waits without what has been taken and moved, which it deletes."""
        names = {(pk, item_keys.taken_signal(item["k"], item["i"])): item["sk"] for item in items if item["k"] == MESSAGE}
        moved = {names[key] for key in self._wire.get_many([*names])}
        self._wire.delete_many((pk, sk) for sk in moved)
        return [item for item in items if item["sk"] not in moved]

    def _waiting(self, run_id: str) -> tuple[Sequence[Item], bool]:
        """What waits in an inbox, and whether it has so many taken signals that messages move out of it, now and for ever."""
        values, taken = {"pk": item_keys.run(run_id), "v": "IN#"}, list[int]()
        waiting = [*each(self._wire.query(_WAITING, values, filter=_NOT_TAKEN, left_out=taken))]
        self._crowded.pop(run_id, None)
        if is_crowded := sum(taken) >= self.most_beside:
            self._crowded[run_id] = None
            if len(self._crowded) > MAX_KNOWN_ENDS:
                self._crowded.popitem(last=False)
        return waiting, is_crowded


def _signal(item: Item) -> Signal:
    return Signal(item["k"], item["i"], item["b"], item["c"], "y" in item)
