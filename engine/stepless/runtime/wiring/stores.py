"""Opens the database of runs: memory, a SQLite file (a path), or a store of another package (a URL).

The package announces the scheme of its URLs as an entry point of the group `stepless.stores`: a callable from the URL to a
`RunDatabase`. It is imported when a URL of its scheme is first used.
"""

from __future__ import annotations

import os
import re
from typing import Final, TypeAlias

from stepless.adapters.memory.run_database import MemoryRunDatabase
from stepless.adapters.sqlite.run_database import SqliteRunDatabase, open_read_only
from stepless.adapters.system import SystemClock
from stepless.errors import ConfigError, InvalidRequest
from stepless.plugins import STORES, by_name
from stepless.ports import Clock, OpenStore, RunDatabase

Kept: TypeAlias = str | os.PathLike[str] | RunDatabase | None
"""A database of runs; None is memory."""

_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.-]*)://")
_PASSWORD: Final = re.compile(r"(?<=://)([^/@:]*):[^/@]*@")


def database_of(kept: Kept) -> RunDatabase:
    """Returns the database that `kept` names. Raises `InvalidRequest` (unknown_store) naming the installed schemes, and
    `ConfigError` (module_not_loaded, invalid_plugin, plugin_taken) naming the package that caused it."""
    if kept is None:
        return MemoryRunDatabase()
    if not isinstance(kept, str | os.PathLike):
        return kept
    scheme = scheme_of(kept)
    return SqliteRunDatabase(kept) if scheme is None else _announced(scheme, os.fspath(kept))


def read_only(kept: str) -> OpenStore:
    """Returns a database that is only read: a file is not even updated to this release. Raises as `database_of` does, and
    `StoreUnusable`."""
    return open_read_only(kept) if scheme_of(kept) is None else database_of(kept).open()


def system_clock() -> Clock:
    """Returns the clock of this machine."""
    return SystemClock()


def scheme_of(kept: str | os.PathLike[str]) -> str | None:
    """Returns the scheme of a URL; None for the path of a file."""
    found = _SCHEME.match(kept) if isinstance(kept, str) else None
    return None if found is None else found[1]


def shown(kept: str) -> str:
    """Returns the path or URL without its password, for output."""
    return kept if scheme_of(kept) is None else _PASSWORD.sub(r"\1:***@", kept)


def _announced(scheme: str, url: str) -> RunDatabase:
    stores = by_name(STORES)
    if scheme not in stores:
        known = f"installed: {', '.join(f'{name}://' for name in stores)}" if stores else "none is installed"
        mend = f"install a package that announces `{scheme}` in {STORES} ({known}), or use the path of a file"
        raise InvalidRequest("no store has this scheme", code="unknown_store", place=f"{scheme}://", mend=mend)
    database: RunDatabase | None = stores[scheme].make(url, ("hold", "open"))
    if database is None:
        message = "its callable returned None for this URL"
        raise ConfigError(message, code="invalid_plugin", place=stores[scheme].place, mend="see docs/write/extending.md")
    return database
