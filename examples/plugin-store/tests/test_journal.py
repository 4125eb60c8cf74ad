"""Runs the contract of `stepless.ports.Store` against the journal."""

from pathlib import Path

import pytest
from stepless_journal import JournalPlace

from stepless.testing.contracts import *  # noqa: F403


@pytest.fixture
def place(tmp_path: Path) -> JournalPlace:
    return JournalPlace(f"journal://{tmp_path}/runs")
