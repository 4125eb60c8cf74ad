"""Stores large values in one S3 bucket, keyed by run and content hash."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import Any, Final

from botocore.exceptions import ClientError

from stepless.adapters.aws.errors import LOST, MISSING, code_of, translated
from stepless.adapters.bounds import SHARED, blob_key, check_shared
from stepless.errors import StoreUnavailable

_KNOWN: Final = 1_000  # values that this process has already stored and does not send again


class S3Blobs:
    """Objects are named `{prefix}{run}/{SHA-256}` (in former releases `{prefix}{SHA-256}`), and are never changed. The role needs
    GetObject, PutObject and ListBucket: without ListBucket, S3 answers 403 instead of 404 for a missing object. To erase, it
    needs ListBucket and DeleteObject."""

    def __init__(self, client: Any, bucket: str, *, prefix: str = "blobs/") -> None:
        self._client = client
        self._bucket = bucket
        self._prefix = prefix
        self._known: OrderedDict[str, None] = OrderedDict()
        self._lock = Lock()

    def put(self, data: bytes, run_id: str = "") -> str:
        key = blob_key(data, run_id)
        if key in self._known:
            return key
        with translated(self._bucket):
            try:
                self._client.put_object(Bucket=self._bucket, Key=self._prefix + key, Body=data, IfNoneMatch="*")
            except ClientError as error:
                if code_of(error) not in LOST:
                    raise
        with self._lock:
            self._known[key] = None
            if len(self._known) > _KNOWN:
                self._known.popitem(last=False)
        return key

    def get(self, key: str) -> bytes | None:
        with translated(self._bucket):
            try:
                data: bytes = self._client.get_object(Bucket=self._bucket, Key=self._prefix + key)["Body"].read()
            except ClientError as error:
                if code_of(error) not in MISSING:
                    raise
                return None
        return data

    def list_shared(self, after: str = "", *, limit: int = 1000) -> Sequence[str]:
        """Lists the prefixes of hashes one after the other: the runs between them, whose names begin with other letters, cost no
        request."""
        found: list[str] = []
        for digit in "0123456789abcdef":
            last = self._prefix + after
            while digit >= after[:1] and len(found) < limit:
                wanted = {"Prefix": self._prefix + digit, "StartAfter": last, "MaxKeys": limit}
                with translated(self._bucket):
                    listed = self._client.list_objects_v2(Bucket=self._bucket, **wanted).get("Contents", [])
                if not listed:
                    break
                names = [each["Key"] for each in listed]
                last = names[-1]
                found += [key for key in (name.removeprefix(self._prefix) for name in names) if SHARED.fullmatch(key)]
        return found[:limit]

    def forget(self, keys: Sequence[str]) -> None:
        check_shared(keys)
        if not keys:
            return
        with translated(self._bucket):
            self._delete([self._prefix + key for key in keys])
        with self._lock:
            for key in keys:
                self._known.pop(key, None)

    def _delete(self, names: Sequence[str]) -> None:
        wanted = {"Objects": [{"Key": name} for name in names], "Quiet": True}
        refused = self._client.delete_objects(Bucket=self._bucket, Delete=wanted).get("Errors", [])
        if refused:
            message = f"{len(refused)} objects were not deleted: {refused[0].get('Code')}"
            raise StoreUnavailable(message, place=self._bucket, mend="permit s3:DeleteObject, then try again")

    def erase(self, run_id: str) -> None:
        """Lists the run's objects and deletes them, a page at a time. In a bucket with versions, deletes the newest version."""
        prefix, after = f"{self._prefix}{run_id}/", ""
        with translated(self._bucket):
            while True:
                start = {"StartAfter": after} if after else {}
                found = self._client.list_objects_v2(Bucket=self._bucket, Prefix=prefix, **start).get("Contents", [])
                if not found:
                    break
                self._delete([each["Key"] for each in found])
                after = found[-1]["Key"]
        with self._lock:
            for key in [key for key in self._known if key.startswith(f"{run_id}/")]:
                del self._known[key]
