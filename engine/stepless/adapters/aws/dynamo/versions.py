"""Stores published versions in DynamoDB. Documents are separate items, keyed by content: a search for a hash reads small rows
only."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Sequence
from hashlib import sha256
from itertools import islice
from typing import Final, TypeVar

from stepless.adapters.aws.dynamo.table import item_keys
from stepless.adapters.aws.dynamo.table.access import TableAccess
from stepless.adapters.aws.dynamo.table.wire import Item, each
from stepless.adapters.bounds import check_text, page_size
from stepless.errors import StoreUnavailable, VersionMoved
from stepless.limits import MAX_ITEM_BYTES, MAX_VERSION
from stepless.model.stored.cursors import decode_cursor, encode_cursor
from stepless.model.stored.damage import stand_in, told_by
from stepless.ports import Page, PublishedVersion, StoredVersion, Version

V = TypeVar("V", bound=Version)
_TRIES: Final = 100  # to take the next number while other processes publish
_ROWS: Final = "pk = :pk AND begins_with(sk, :v)"


class Versions(TableAccess):
    """Publishing writes the document first, and what is attached to it, then its row, whose number is taken by a conditional put.
    A process that dies in between leaves a document that the next publication reuses. In a row, `r` names the document and `t`
    what is attached, which a release before this one does not read."""

    def put_version(
        self, workflow_id: str, hash: str, document: bytes, now_ms: int, entries: Collection[str] = (),
        *, attached: bytes | None = None, expected: int | None = None, replace: bool = False,
    ) -> StoredVersion:
        check_text(workflow_id, hash)
        item_keys.check_length(workflow_id)
        for kind in entries:
            self._wire.put({"pk": item_keys.with_entry(kind), "sk": workflow_id})
        pk, stored, attachment, listed = item_keys.workflow(workflow_id), "", "", False
        for _ in range(_TRIES):
            newest = self._row(workflow_id)
            if newest is not None and newest["h"] == hash:
                self._attach(pk, newest, attached)
                if replace:
                    digest = self._put_document(document)
                    self._wire.update(pk, item_keys.version(newest["n"]), "SET r = :r", {"r": digest})
                    return StoredVersion(workflow_id, newest["n"], hash, document, newest["c"])
                return self._version(workflow_id, newest)
            standing = newest["n"] if newest else 0
            if expected not in (None, standing):
                raise VersionMoved(workflow_id, expected, standing)
            stored = stored or self._put_document(document)
            if not listed:
                self._wire.put({"pk": item_keys.PUBLISHED, "sk": workflow_id})
                listed = True
            number = standing + 1
            row = {"pk": pk, "sk": item_keys.version(number), "n": number, "h": hash, "c": now_ms, "r": stored}
            if attached is not None:
                row["t"] = attachment = attachment or self._put_document(attached)
            if self._wire.put(row, "attribute_not_exists(pk)").done:
                return StoredVersion(workflow_id, number, hash, document, now_ms)
        message = "other processes keep publishing the workflow"
        raise StoreUnavailable(message, place=f"workflow {workflow_id!r}", mend="publish again")

    def _attach(self, pk: str, row: Item, attached: bytes | None) -> None:
        if attached is not None and row.get("t") != (digest := sha256(attached).hexdigest()):
            self._put_document(attached)
            self._wire.update(pk, item_keys.version(row["n"]), "SET t = :t", {"t": digest})

    def get_attached(self, workflow_id: str, number: int) -> bytes | None:
        row = self._wire.get(item_keys.workflow(workflow_id), item_keys.version(number))
        return self._document(row["t"]) if row is not None and "t" in row else None

    def get_version(self, workflow_id: str, number: int | None = None, *, hash: str | None = None) -> StoredVersion | None:
        if number is not None:
            row = self._wire.get(item_keys.workflow(workflow_id), item_keys.version(number))
        else:
            row = self._row(workflow_id, hash)
        return self._version(workflow_id, row) if row is not None and hash in (None, row["h"]) else None

    def list_versions(self, workflow_id: str, *, before: int | None = None, limit: int = 100) -> Sequence[PublishedVersion]:
        """Returns one request for the rows, and one for what is attached to up to GET_AT_ONCE of them."""
        limit, last = page_size(limit), MAX_VERSION if before is None else before - 1
        if last < 1:
            return []
        values = {"pk": item_keys.workflow(workflow_id), "a": item_keys.version(1), "b": item_keys.version(last)}
        pages = self._wire.query("pk = :pk AND sk BETWEEN :a AND :b", values, ascending=False, page=limit)
        rows = list(islice(each(pages), limit))
        attached = self._documents({row["t"] for row in rows if "t" in row})
        return [PublishedVersion(workflow_id, row["n"], row["h"], row["c"], attached.get(row.get("t", ""))) for row in rows]

    def newest_version(self, workflow_id: str) -> Version | None:
        row = self._row(workflow_id)
        return Version(workflow_id, row["n"], row["h"]) if row is not None else None

    def list_workflows(self, *, limit: int = 100, cursor: str | None = None) -> Page[StoredVersion]:
        return self._each_of(item_keys.PUBLISHED, self.get_version, limit, cursor)

    def list_entries(self, kind: str, *, limit: int = 100, cursor: str | None = None) -> Page[Version]:
        return self._each_of(item_keys.with_entry(kind), self.newest_version, limit, cursor)

    def _each_of(self, pk: str, read: Callable[[str], V | None], limit: int, cursor: str | None) -> Page[V]:
        """The results of `read` for each of the workflows that a partition names."""
        limit, names = page_size(limit), list[str]()
        after = decode_cursor(cursor, str)[0] if cursor is not None else None
        condition, values = "pk = :pk", {"pk": pk}
        if after:
            condition, values = "pk = :pk AND sk > :sk", values | {"sk": after}
        for item in each(self._wire.query(condition, values, page=limit + 1)):
            names.append(item["sk"])
            if len(names) > limit:
                break
        items = tuple(version for version in self._in_parallel(read, names[:limit]) if version is not None)
        return Page(items, encode_cursor(names[limit - 1]) if len(names) > limit else None)

    def _row(self, workflow_id: str, hash: str | None = None) -> Item | None:
        """The newest row, or the newest with this hash."""
        values = {"pk": item_keys.workflow(workflow_id), "v": "V#"}
        if hash is None:
            pages = self._wire.query(_ROWS, values, ascending=False, page=1)
        else:
            pages = self._wire.query(_ROWS, values | {"h": hash}, ascending=False, filter="h = :h")
        return next(each(pages), None)

    def _version(self, workflow_id: str, row: Item) -> StoredVersion:
        return StoredVersion(workflow_id, row["n"], row["h"], self._document(row["r"]), row["c"])

    # -- documents ------------------------------------------------------------------------------------------------

    def _put_document(self, document: bytes) -> str:
        """Stores the pieces and returns the hash. The first piece is written last: if it exists, all pieces exist."""
        digest, packed = sha256(document).hexdigest(), zlib.compress(document)
        pieces = [packed[start : start + MAX_ITEM_BYTES] for start in range(0, len(packed), MAX_ITEM_BYTES)]
        for number, piece in reversed([*enumerate(pieces)]):
            self._wire.put({"pk": item_keys.document(digest), "sk": f"{number:04d}", "b": piece})
        return digest

    def _documents(self, digests: Collection[str]) -> dict[str, bytes]:
        """The documents of these digests. Those of more than one piece take a request of their own."""
        found = self._wire.get_many([(item_keys.document(digest), "0000") for digest in sorted(digests)])
        firsts = {digest: found.get((item_keys.document(digest), "0000")) for digest in digests}
        return {
            digest: self._document(digest)
            if first is None or len(first["b"]) == MAX_ITEM_BYTES
            else _unpacked(digest, first["b"])
            for digest, first in firsts.items()
        }

    def _document(self, digest: str) -> bytes:
        pieces = [item["b"] for item in each(self._wire.query("pk = :pk", {"pk": item_keys.document(digest)}))]
        return _unpacked(digest, b"".join(pieces))


def _unpacked(digest: str, packed: bytes) -> bytes:
    """The bytes of a document, or of what is attached to one; a stand-in if they are damaged."""
    try:
        return zlib.decompress(packed)
    except zlib.error as error:
        told = told_by(packed)
        why = f"it cannot be unpacked ({error})" if packed else "it is missing"
        return packed if told else stand_in(f"piece: attribute b of {item_keys.document(digest)}", why)
