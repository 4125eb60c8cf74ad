"""Damages one cell of a SQLite file: any type in any column, also where the schema would refuse it, as a failing disk does."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple

_INVALID: Final = b"\xff\xfe\x80\x01"  # no UTF-8, no JSON, not compressed
_DEEP: Final = b"[" * 100_000

HARMS: Final[dict[str, dict[str, Any]]] = {
    "INTEGER": {
        "text": "damaged", "bytes": _INVALID, "null": None, "huge": 2**63 - 1, "negative": -(2**62), "fraction": 1.5,
        "not-utf-8": ("text", _INVALID),
    },
    "TEXT": {
        "not-utf-8": ("text", _INVALID), "empty": "", "number": 7, "null": None, "bytes": _INVALID, "other": "\x00 <x>:#/é",
        "truncated": ("half", None),
    },
    "BLOB": {
        "empty": b"", "random": _INVALID, "truncated": ("half", None), "list": b"[]", "object": b"{}", "number": b"7",
        "null-json": b"null", "text-json": b'"text"', "deep": _DEEP, "text": "damaged", "null": None, "integer": 7,
        "other-fields": b'{"a": [1], "keys": 7, "nodes": "x", "at": "y", "run": [], "rhythm": 5}',
    },
}  # fmt: skip
"""What is written into a cell of each type, by name. A pair is text of these bytes, or the first half of what is there."""


class Cell(NamedTuple):
    """One cell, and what happens to it."""

    table: str
    column: str
    type: str
    where: str
    key: tuple[Any, ...]
    harm: str

    def __str__(self) -> str:
        return f"{self.table}.{self.column}[{'/'.join(map(str, self.key))}]:{self.harm}"


def cells(path: Path, chosen: dict[str, str]) -> Iterator[Cell]:
    """Every harm to every column of every table. `chosen` are conditions on the rows to damage, by table; of the other tables,
    the first row is damaged."""
    with closing(sqlite3.connect(path)) as file:
        tables = file.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall()
        for (table,) in tables:
            columns = file.execute("SELECT name, type, pk FROM pragma_table_info(?)", (table,)).fetchall()
            keys = [name for name, _, pk in columns if pk]
            condition = chosen.get(table, "true LIMIT 1")
            rows = file.execute(f"SELECT {', '.join(keys)} FROM {table} WHERE {condition}").fetchall()
            where = " AND ".join(f"{key} IS ?" for key in keys)
            for row in rows:
                for column, type, _ in columns:
                    for harm in HARMS[type]:
                        yield Cell(table, column, type, where, row, harm)


def damage(path: Path, cell: Cell) -> bool:
    """Damages the cell, past every constraint of the schema. False if that is not possible, or if the cell stays as it is."""
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        (was,) = file.execute(f"SELECT CAST({cell.column} AS BLOB) FROM {cell.table} WHERE {cell.where}", cell.key).fetchone()
        given, value = HARMS[cell.type][cell.harm], "?"
        if isinstance(given, tuple):
            given = given[1] if given[0] == "text" else (was or b"")[: len(was or b"") // 2]
            value = "CAST(? AS TEXT)" if cell.type != "BLOB" else "?"
            if given == was:
                return False
        elif (given if not isinstance(given, str) else given.encode()) == was and cell.type == "BLOB":
            return False
        (sql,) = file.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (cell.table,)).fetchone()
        _set_schema(file, cell.table, _without_rules(sql))
        try:
            file.execute(f"UPDATE {cell.table} SET {cell.column} = {value} WHERE {cell.where}", (given, *cell.key))
        except sqlite3.IntegrityError:  # a key of the tree itself
            return False
        finally:
            _set_schema(file, cell.table, sql)
        return given is not None or was is not None


def _without_rules(sql: str) -> str:
    """The declaration of a table of the same layout that takes every value as it is, but for the key of its tree."""
    loose = sql.replace(" STRICT, WITHOUT", " WITHOUT").replace(" STRICT", "")
    return re.sub(r" (?:TEXT|BLOB|INTEGER(?! NOT NULL PRIMARY KEY))(?: NOT NULL)?", " BLOB", loose)


def _set_schema(file: sqlite3.Connection, table: str, sql: str) -> None:
    file.execute("PRAGMA writable_schema = ON")
    file.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ? AND type = 'table'", (sql, table))
    (version,) = file.execute("PRAGMA schema_version").fetchone()
    file.execute(f"PRAGMA schema_version = {version + 1}")
    file.execute("PRAGMA writable_schema = RESET")
