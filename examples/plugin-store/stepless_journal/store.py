"""The store: a memory store in every process, updated from one journal of all changes.

A method that changes something is applied in memory, and then its name and arguments are written to the journal. Every process
replays the same calls in the same order, and the effect of a call depends only on its arguments and the state. So all processes
have the same state. A refused call is not written.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Final

from stepless.adapters.memory.store import MemoryStore
from stepless.ports import AuditEntry, Batch, Lease, RunHead, Signal
from stepless_journal.journal import Journal

READS: Final = (
    "get_version", "get_attached", "newest_version", "list_workflows", "list_entries", "get_claim", "get_run", "list_runs",
    "list_due", "list_expired", "list_audit",
    "read_log", "get_snapshot", "get_signal", "read_inbox", "read_line",
)  # fmt: skip
WRITES: Final = (
    "put_version", "claim", "count", "replace_claim", "release_claim", "create_run", "take_lease", "update_run", "touch_run",
    "append", "put_snapshot", "put_signal", "take_signals", "keep_run", "mark_erased", "erase_run", "put_audit",
    "join_line", "leave_line",
)  # fmt: skip
_SHAPES: Final = {shape.__name__: shape for shape in (AuditEntry, Batch, Lease, RunHead, Signal)}


class JournalStore(MemoryStore):
    """See `stepless.ports.Store`."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.journal = Journal(path)

    def check(self) -> None:
        self.journal.check()

    def close(self) -> None:
        self.journal.close()

    def catch_up(self) -> None:
        """Applies the changes of other processes. Call it only inside `journal.alone()`."""
        for line in self.journal.news():
            verb, arguments, named = json.loads(line)
            getattr(MemoryStore, verb)(self, *_unpacked(arguments), **_unpacked(named))

    def record(self, line: bytes) -> None:
        """Writes an applied call. If that fails, discards the memory; the next call reads the journal again."""
        try:
            self.journal.append(line)
        except BaseException:
            self.journal.end = 0
            super().__init__()
            raise


def _reading(name: str) -> Callable[..., Any]:
    verb = getattr(MemoryStore, name)

    @wraps(verb)
    def read(self: JournalStore, *arguments: Any, **named: Any) -> Any:
        with self.journal.alone():
            self.catch_up()
            return verb(self, *arguments, **named)

    return read


def _writing(name: str) -> Callable[..., Any]:
    verb = getattr(MemoryStore, name)

    @wraps(verb)
    def write(self: JournalStore, *arguments: Any, **named: Any) -> Any:
        self.journal.check()
        with self.journal.alone():
            self.catch_up()
            answer = verb(self, *arguments, **named)
            self.record(json.dumps([name, _packed(arguments), _packed(named)], separators=(",", ":")).encode())
            return answer

    return write


for _name in READS:
    setattr(JournalStore, _name, _reading(_name))
for _name in WRITES:
    setattr(JournalStore, _name, _writing(_name))


def _packed(value: Any) -> Any:
    """The value as JSON: bytes and the tuples of the ports become objects with one key."""
    if isinstance(value, bytes):
        return {"bytes": b64encode(value).decode()}
    if type(value).__name__ in _SHAPES:
        return {type(value).__name__: [_packed(item) for item in value]}
    if isinstance(value, dict):
        return {"named": {name: _packed(item) for name, item in value.items()}}
    if isinstance(value, list | tuple | set | frozenset):
        return [_packed(item) for item in value]
    return value


def _unpacked(value: Any) -> Any:
    if isinstance(value, list):
        return [_unpacked(item) for item in value]
    if not isinstance(value, dict):
        return value
    ((shape, content),) = value.items()
    if shape == "bytes":
        return b64decode(content)
    if shape == "named":
        return {name: _unpacked(item) for name, item in content.items()}
    return _SHAPES[shape](*_unpacked(content))
