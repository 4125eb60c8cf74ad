"""Defines the port for a database of runs and drafts: what one machine opens, and one process serves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from stepless.model.stored.damage import Damage
from stepless.ports.drafts import Drafts
from stepless.ports.store import Blobs, Store, Together


def nothing_to_close() -> None:
    """Does nothing: the `close` of an `OpenStore` without connections."""


class Record(NamedTuple):
    """One stored row or item as it is: where it is, its parts by name, and those that are not of the type that was written."""

    table: str
    key: str
    parts: Mapping[str, Any]
    faults: Sequence[Damage] = ()


class Inspection(Protocol):
    """Everything that is stored, unchecked."""

    def records(self) -> Iterator[Record]: ...

    def faults(self) -> Iterator[Damage]:
        """Yields what the store itself finds damaged, in addition to its records."""
        ...


@dataclass(frozen=True, slots=True)
class OpenStore:
    """The open parts of a database of runs. `together` is None where it saves nothing. `near` is true if a call of the
    store takes well under a millisecond, as in a file: then a request may call it in the event loop, without a thread. `drafts`
    is None where the database keeps no drafts: then the verbs of drafts raise `Refused` (drafts_not_kept), and all others work.
    `inspection` reads what is stored as it is, for `stepless doctor`; None where that is not possible."""

    store: Store
    blobs: Blobs
    together: Together | None = None
    close: Callable[[], None] = nothing_to_close
    near: bool = False
    drafts: Drafts | None = None
    inspection: Inspection | None = None


class RunDatabase(Protocol):
    """A database of runs, such as a file or what a URL names. Only `open` opens it."""

    def hold(self, now_ms: int) -> AbstractContextManager[object]:
        """Gives one process at a time the right to execute the runs of this database, until the block ends or the process dies.

        Raises `Conflict` (file_held) while another process has it, with the fact `holder`, a text that names that process.
        Raises `StoreUnusable` for a database that cannot be held.
        """
        ...

    def open(self) -> OpenStore:
        """Opens or creates the database; needs no hold. Raises `StoreUnusable` when a retry will not help."""
        ...
