"""Stores claims, counters and lines in DynamoDB. A claim or counter is one item; a line is a partition with one item for each
position.

A claim gives a key to the first of several callers that ask at once, until it expires. Two properties of DynamoDB shape the code:

* *TTL deletes late.* An expired item may be there for days. So the expiry `e`, in milliseconds by the caller's clock, decides in
  each condition and after each read, and the TTL attribute only cleans up, an hour later, since clocks differ. A condition that
  tested existence alone would refuse a claim long after it has ended.
* *A response may be lost after the write.* The client then tries again, and its own write refuses the second one. A failed
  condition returns the item as it is: if it has the value that was to be written, the write has succeeded. Another caller with
  the same value cannot be told apart, so values either name their writer or mean the same whoever wrote them.

A counter needs two forms of update, since no expression can say "add, or begin anew if expired": add while it is valid, else
begin. Between the two another caller may have begun it; then the second fails and the first is tried again. Each failure means
that another caller's write has succeeded, so the callers together always make progress, and the bound on the tries is reached
only by starvation.

A line is read in the order of its sort keys, and each read is consistent: a run that has joined a line is seen by every read that
begins afterwards, which the division of slots relies on.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Final

from stepless.adapters.aws.dynamo.table import item_keys
from stepless.adapters.aws.dynamo.table.access import TableAccess
from stepless.adapters.aws.dynamo.table.layout import EXPIRES
from stepless.adapters.aws.dynamo.table.wire import Item, Value, each
from stepless.adapters.bounds import check_text, page_size
from stepless.errors import StoreUnavailable

_TRIES: Final = 20  # a try fails only because another caller's write succeeded
_FREE: Final = "attribute_not_exists(pk) OR e <= :now"


class Claims(TableAccess):
    """`v` is the value, `c` the count, `e` the expiry in milliseconds. `e` alone decides; the TTL attribute only cleans up."""

    def claim(self, key: str, value: bytes, now_ms: int, expires_ms: int | None = None) -> bytes:
        check_text(key)
        item: dict[str, Value] = {"pk": item_keys.claim(key), "sk": item_keys.ONLY, "v": value, **_expiry(expires_ms)}
        written = self._wire.put(item, _FREE, {"now": now_ms})
        return value if written.done or written.item is None else _value(written.item)

    def count(self, key: str, now_ms: int, expires_ms: int) -> int:
        check_text(key)
        pk = item_keys.claim(key)
        begin = f"SET c = :one, e = :e, {EXPIRES} = :x REMOVE v"
        values = {"one": 1, "now": now_ms, "e": expires_ms, "x": _expiry(expires_ms)[EXPIRES]}
        for _ in range(_TRIES):
            added = self._wire.update(
                pk, item_keys.ONLY, "SET c = c + :one", {"one": 1, "now": now_ms}, "e > :now", "UPDATED_NEW"
            )
            if not added.done:
                added = self._wire.update(pk, item_keys.ONLY, begin, values, _FREE, "UPDATED_NEW")
            if added.done and added.item is not None:
                return int(added.item["c"])
        raise StoreUnavailable("other callers keep changing the counter", place=f"counter {key!r}", mend="try again")

    def get_claim(self, key: str, now_ms: int) -> bytes | None:
        item = self._wire.get(item_keys.claim(key), item_keys.ONLY)
        return _value(item) if item is not None and ("e" not in item or item["e"] > now_ms) else None

    def release_claim(self, key: str, value: bytes) -> bool:
        return self._wire.delete(item_keys.claim(key), item_keys.ONLY, "v = :v", {"v": value}).done

    def replace_claim(
        self, key: str, former: bytes | None, value: bytes, now_ms: int, expires_ms: int | None = None
    ) -> bool:
        check_text(key)
        item: dict[str, Value] = {"pk": item_keys.claim(key), "sk": item_keys.ONLY, "v": value, **_expiry(expires_ms)}
        values: dict[str, Value] = {"now": now_ms}
        condition = _FREE
        if former is not None:
            condition, values = "v = :v AND (attribute_not_exists(e) OR e > :now)", values | {"v": former}
        written = self._wire.put(item, condition, values)
        return written.done or (written.item is not None and written.item.get("v") == value)  # its response was lost

    # -- lines ----------------------------------------------------------------------------------------------------

    def join_line(self, line: str, position: str) -> None:
        check_text(line, position)
        self._wire.put({"pk": item_keys.line(line), "sk": position})

    def leave_line(self, line: str, position: str) -> None:
        self._wire.delete(item_keys.line(line), position)

    def read_line(self, line: str, *, limit: int) -> Sequence[str]:
        pages = self._wire.query("pk = :pk", {"pk": item_keys.line(line)}, page=page_size(limit))
        return [item["sk"] for item in islice(each(pages), page_size(limit))]


def _value(item: Item) -> bytes:
    return item["v"] if "v" in item else str(item["c"]).encode()


def _expiry(expires_ms: int | None) -> dict[str, Value]:
    """The TTL is one hour after the expiry: clocks differ, and DynamoDB uses its own."""
    return {} if expires_ms is None else {"e": expires_ms, EXPIRES: expires_ms // 1000 + 3_600}
