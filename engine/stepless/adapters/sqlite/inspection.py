"""Reads every row of a SQLite file for `stepless doctor`, and checks it against the schema, without changing the file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from typing import Any, Final

from stepless.adapters.shapes import shown_key
from stepless.adapters.sqlite.database import Database
from stepless.errors import StoreUnusable
from stepless.limits import NEVER_MS
from stepless.model.stored.damage import Damage
from stepless.ports import Record

_TABLES: Final = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
_COLUMNS: Final = "SELECT name, type, \"notnull\", pk FROM pragma_table_info(?) ORDER BY cid"
_TYPES: Final[dict[str, type]] = {"TEXT": str, "INTEGER": int, "BLOB": bytes}
_NAMES: Final = {str: "text", int: "an integer", bytes: "bytes", float: "a fraction", type(None): "nothing"}
_COUNTS: Final = {"is_open": 1, "taken": 1, "erased": 1}  # columns whose highest value is this
_MOST_FAULTS: Final = 100  # lines of `integrity_check`


class Inspection:
    """The rows of an open file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def records(self) -> Iterator[Record]:
        """Yields every row, table by table, with what its columns may not be."""
        for (table,) in self._database.rows(_TABLES):
            yield from self._rows(table)

    def faults(self) -> Iterator[Damage]:
        """Yields what SQLite itself finds damaged in the file: its pages and indexes."""
        mend = "restore the file from a backup, or recover its data with `sqlite3 FILE .recover`"
        place = os.fspath(self._database.path)
        try:
            for (line,) in self._database.rows(f"PRAGMA integrity_check({_MOST_FAULTS})"):
                if line != "ok" and " value in " not in line:  # those are told with their rows
                    yield Damage(place, str(line), mend)
        except StoreUnusable as error:
            yield Damage(place, error.message, error.mend or mend)

    def _rows(self, table: str) -> Iterator[Record]:
        columns = self._database.rows(_COLUMNS, (table,))
        names = [name for name, *_ in columns]
        keys = [place for place, (*_, pk) in enumerate(columns) if pk]
        statement = f"SELECT {', '.join(names)} FROM {table}"
        try:
            with closing(self._database.each(statement, lenient=True)) as rows:
                for row in rows:
                    key = "/".join(shown_key(row[place]) for place in keys)
                    faults = [
                        Damage(f"{table}.{name} of {key}", why)
                        for (name, type_, notnull, pk), value in zip(columns, row, strict=True)
                        if (why := _fault(name, type_, bool(notnull or pk), value) or (_key_fault(value) if pk else ""))
                    ]
                    yield Record(table, key, dict(zip(names, row, strict=True)), faults)
        except StoreUnusable as error:  # a damaged page: what comes after it in the table is not known
            yield Record(table, "", {}, [Damage(f"table {table}", error.message, error.mend)])


def _key_fault(value: Any) -> str:
    if isinstance(value, str) and (not value or "\0" in value):
        return "it has a NUL character" if value else "it is empty"
    return ""


def _fault(name: str, declared: str, needed: bool, value: Any) -> str:
    wanted = _TYPES.get(declared)
    if value is None or wanted is None:
        return "it is missing" if needed and wanted is not None else ""
    if type(value) is not wanted:
        if wanted is str and type(value) is bytes:
            return "it is not UTF-8"
        return f"it is {_NAMES.get(type(value), type(value).__name__)}, not {_NAMES[wanted]}"
    if isinstance(value, int) and not 0 <= value <= (NEVER_MS if name.endswith("_ms") else _COUNTS.get(name, 2**62)):
        return "it is no instant before the year 10000" if name.endswith("_ms") else "it is out of range"
    return ""
