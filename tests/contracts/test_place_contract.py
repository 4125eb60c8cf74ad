"""Runs the contract of places for a SQLite file."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepless.adapters.sqlite.place import SqlitePlace
from stepless.ports import StorePlace
from stepless.testing.contracts.places import *  # noqa: F403


@pytest.fixture
def place(tmp_path: Path) -> StorePlace:
    return SqlitePlace(tmp_path / "runs.db")
