"""Stores large values in one S3 bucket, keyed by content hash."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from threading import Lock
from typing import Any, Final

from botocore.exceptions import ClientError

from stepless.adapters.aws.errors import LOST, MISSING, code_of, translated

_KNOWN: Final = 1_000  # values that this process has already stored and does not send again


class S3Blobs:
    """Objects are named `{prefix}{SHA-256}`, and are never changed or deleted. The role needs GetObject, PutObject and
    ListBucket: without ListBucket, S3 answers 403 instead of 404 for a missing object."""

    def __init__(self, client: Any, bucket: str, *, prefix: str = "blobs/") -> None:
        self._client = client
        self._bucket = bucket
        self._prefix = prefix
        self._known: OrderedDict[str, None] = OrderedDict()
        self._lock = Lock()

    def put(self, data: bytes) -> str:
        key = hashlib.sha256(data).hexdigest()
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
