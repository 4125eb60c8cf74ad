"""Reads and writes objects of S3 buckets: the port `Objects` on AWS. Not for the engine's own bucket: that is `blobs.py`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from botocore import exceptions as boto

from stepless.adapters.aws.errors import FAILED, THROTTLED, code_of
from stepless.errors import StoreUnavailable
from stepless.limits import SOURCE_PIECE_BYTES
from stepless.ports.objects import ObjectChanged, ObjectRefused, Seen

_MISSING: Final = frozenset({"NoSuchKey", "404", "NotFound"})
_CHANGED: Final = frozenset({"PreconditionFailed", "412", "InvalidRange", "416", *_MISSING})
_TAKEN: Final = frozenset({"PreconditionFailed", "412"})
_TOLD: Final = {"403": "AccessDenied", "AccessDenied": "AccessDenied", "NoSuchBucket": "there is no such bucket"}


class S3Objects:
    """The objects that the role may reach. It needs GetObject and ListBucket, to write also PutObject, and DeleteObject to end a
    claim."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def look(self, bucket: str, name: str) -> Seen | None:
        with _told(bucket, name):
            try:
                found = self._client.head_object(Bucket=bucket, Key=name)
            except boto.ClientError as error:
                if code_of(error) in _MISSING:
                    return None
                raise
        return Seen(name, int(found["ContentLength"]), str(found["ETag"]))

    def read(self, bucket: str, seen: Seen, first: int, end: int) -> Iterator[bytes]:
        if first >= end:
            return
        with _told(bucket, seen.name):
            try:
                wanted = {"IfMatch": seen.etag, "Range": f"bytes={first}-{end - 1}"}
                body = self._client.get_object(Bucket=bucket, Key=seen.name, **wanted)["Body"]
            except boto.ClientError as error:
                if code_of(error) in _CHANGED:
                    raise ObjectChanged(seen.name) from error
                raise
            try:
                while data := body.read(SOURCE_PIECE_BYTES):
                    yield data
            finally:
                body.close()

    def names(self, bucket: str, prefix: str, after: str) -> Sequence[Seen]:
        with _told(bucket, prefix):
            start = {"StartAfter": after} if after else {}
            listed = self._client.list_objects_v2(Bucket=bucket, Prefix=prefix, **start).get("Contents", [])
        return [Seen(each["Key"], int(each["Size"]), str(each["ETag"])) for each in listed]

    def get(self, bucket: str, name: str, most: int) -> bytes | None:
        with _told(bucket, name):
            try:
                body = self._client.get_object(Bucket=bucket, Key=name)["Body"]
            except boto.ClientError as error:
                if code_of(error) in _MISSING:
                    return None
                raise
            try:
                data: bytes = body.read(most)
                return data
            finally:
                body.close()

    def put(self, bucket: str, name: str, data: bytes, *, only_new: bool) -> bool:
        with _told(bucket, name):
            try:
                self._client.put_object(Bucket=bucket, Key=name, Body=data, **({"IfNoneMatch": "*"} if only_new else {}))
            except boto.ClientError as error:
                if only_new and code_of(error) in _TAKEN:
                    return False
                raise
        return True

    def remove(self, bucket: str, name: str) -> None:
        with _told(bucket, name):
            self._client.delete_object(Bucket=bucket, Key=name)


@contextmanager
def _told(bucket: str, name: str) -> Iterator[None]:
    """Tells errors of boto3 apart: those that a later try may not meet, and those that the author has to mend."""
    try:
        yield
    except boto.ClientError as error:
        code = code_of(error)
        status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
        if code in THROTTLED or code in FAILED or status >= 500:
            raise StoreUnavailable(f"{code} at {error.operation_name}", place=bucket, mend="try again") from error
        raise ObjectRefused(f"s3://{bucket}/{name}: {_TOLD.get(code, code)}") from error
    except (boto.NoCredentialsError, boto.PartialCredentialsError, boto.NoRegionError, boto.ParamValidationError) as error:
        raise ObjectRefused(f"s3://{bucket}/{name}: {error}") from error
    except boto.BotoCoreError as error:
        raise StoreUnavailable(type(error).__name__, place=bucket, mend="try again") from error
