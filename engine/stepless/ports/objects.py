"""Defines the port of named bytes outside of the store: the sources and sinks of `distributed` nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol


class Seen(NamedTuple):
    """An object as it stood. `etag` is another one after every change."""

    name: str
    size: int
    etag: str


class ObjectChanged(Exception):
    """The object is not the one that was asked for: it was written or removed since."""


class ObjectRefused(Exception):
    """The object cannot be reached; the message says why. A retry does not help."""


class Objects(Protocol):
    """Objects of S3, or files below a folder; those are in the bucket "". Every method may raise `ObjectRefused`."""

    def look(self, bucket: str, name: str) -> Seen | None:
        """Returns the object; None if there is none."""
        ...

    def read(self, bucket: str, seen: Seen, first: int, end: int) -> Iterator[bytes]:
        """Yields the bytes from `first` to before `end`, in pieces. Raises `ObjectChanged`."""
        ...

    def names(self, bucket: str, prefix: str, after: str) -> Sequence[Seen]:
        """Returns some objects whose names begin with `prefix` and are above `after`, by name; none if there are no more."""
        ...

    def get(self, bucket: str, name: str, most: int) -> bytes | None:
        """Returns an object of at most `most` bytes, or its beginning; None if there is none."""
        ...

    def put(self, bucket: str, name: str, data: bytes, *, only_new: bool) -> bool:
        """Stores an object, whole or not at all. With `only_new` returns False if there is one already, which stays."""
        ...

    def remove(self, bucket: str, name: str) -> None: ...
