"""A draft in memory, with small rules of editing and a clock that the test moves."""

from __future__ import annotations

import pytest
from plain_editing import PlainEditing, State

from stepless.adapters.memory.blobs import MemoryBlobs
from stepless.adapters.memory.clock import SettableClock
from stepless.adapters.memory.drafts import MemoryDrafts
from stepless.drafts.log.draft_logs import DraftLogs
from stepless.drafts.log.records import Storage


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock(1_700_000_000_000)


@pytest.fixture
def drafts() -> MemoryDrafts:
    return MemoryDrafts()


@pytest.fixture
def storage(drafts: MemoryDrafts, clock: SettableClock) -> Storage:
    return Storage(drafts, MemoryBlobs(), clock)


@pytest.fixture
def drafting(storage: Storage) -> DraftLogs[State]:
    return DraftLogs(storage, PlainEditing())
