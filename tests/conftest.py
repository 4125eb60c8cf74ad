"""What holds for every test: how Hypothesis searches, and that whoever opens a SQLite file closes it."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# A machine that is busy with something else is no reason to fail, and what failed once fails again everywhere.
settings.register_profile("stepless", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("stepless")


class Connections:
    """Every SQLite connection that this process opened and has not closed, with the test that was running."""

    def __init__(self) -> None:
        self._opened: list[tuple[sqlite3.Connection, str]] = []

    def heard(self, event: str, arguments: tuple[object, ...]) -> None:
        if event == "sqlite3.connect/handle" and isinstance(arguments[0], sqlite3.Connection):
            self._opened = [*self.left(), (arguments[0], os.environ.get("PYTEST_CURRENT_TEST", "before the first test"))]

    def left(self) -> list[tuple[sqlite3.Connection, str]]:
        return [(connection, test) for connection, test in self._opened if is_open(connection)]


def is_open(connection: sqlite3.Connection) -> bool:
    try:
        return connection.in_transaction is not None
    except sqlite3.ProgrammingError:
        return False


@pytest.fixture(scope="session", autouse=True)
def connections() -> Iterator[None]:
    """CPython tells of one that is left open from 3.13 on, in whichever test its collector comes by: this says it everywhere,
    and which test it was."""
    opened = Connections()
    sys.addaudithook(opened.heard)
    yield
    left = opened.left()
    for connection, _ in left:
        connection.close()
    assert sorted(test for _, test in left) == []
