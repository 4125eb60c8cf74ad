"""Runs the contract of databases for a SQLite file."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepless.adapters.sqlite.run_database import SqliteRunDatabase
from stepless.ports import RunDatabase
from stepless.testing.contracts.run_databases import *  # noqa: F403


@pytest.fixture
def database(tmp_path: Path) -> RunDatabase:
    return SqliteRunDatabase(tmp_path / "runs.db")
