"""Large values in one S3 bucket, by content."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from threading import Lock
from typing import Any, Final

from botocore.exceptions import ClientError

from stepless.adapters.aws.errors import LOST, MISSING, code_of, translated

_KNOWN: Final = 1_000  # values that this process stored or saw: they need not be sent again


class S3Blobs:
    """Objects `{prefix}{SHA-256}`; nothing here ever changes or deletes one. The role needs GetObject, PutObject, and ListBucket:
    without the last one S3 calls a missing object forbidden."""

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
