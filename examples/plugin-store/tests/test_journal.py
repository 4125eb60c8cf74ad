"""Runs the contract of `stepless.ports.Store` against the journal."""

from pathlib import Path

import pytest
from stepless_journal import JournalDatabase

from stepless.testing.contracts import *  # noqa: F403


@pytest.fixture
def database(tmp_path: Path) -> JournalDatabase:
    return JournalDatabase(f"journal://{tmp_path}/runs")
