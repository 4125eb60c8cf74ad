"""Tests the contract of databases of runs: one process holds a database, several open it, and every write is kept."""

from __future__ import annotations

import pytest

from stepless.errors import AppendConflict, Conflict
from stepless.ports import Batch, RunDatabase


def test_a_database_is_held_once_and_free_again_afterwards(database: RunDatabase) -> None:
    with database.hold(0):
        with pytest.raises(Conflict) as refused, database.hold(1):
            pass
        assert refused.value.code == "file_held"
        assert refused.value.facts["holder"]
    with database.hold(2):
        pass


def test_what_one_opening_wrote_another_reads_whether_the_database_is_held_or_not(database: RunDatabase) -> None:
    with database.hold(0):
        one, other = database.open(), database.open()
        one.store.append("r", Batch(1, 2, b"[1,2]"))
        key = one.blobs.put(b"large")
        other.store.append("r", Batch(3, 3, b"[3]"))
        with pytest.raises(AppendConflict):
            one.store.append("r", Batch(3, 3, b"[4]"))
        assert [batch.data for batch in one.store.read_log("r")] == [b"[1,2]", b"[3]"]
        assert other.blobs.get(key) == b"large"
        one.close()
        other.close()


def test_what_was_written_is_there_after_closing(database: RunDatabase) -> None:
    first = database.open()
    first.store.append("r", Batch(1, 1, b"[1]"))
    assert first.store.count("runs", 0, 1_000) == 1
    first.close()
    again = database.open()
    assert [batch.data for batch in again.store.read_log("r")] == [b"[1]"]
    assert again.store.count("runs", 1, 1_000) == 2
    again.close()


def test_changes_that_are_made_together_are_made_all_or_not_at_all(database: RunDatabase) -> None:
    runs = database.open()
    together = runs.together
    if together is None:
        runs.close()
        pytest.skip("the database makes changes one by one")
    with together():
        runs.store.append("a", Batch(1, 1, b"[]"))
        with pytest.raises(AppendConflict):
            runs.store.append("b", Batch(2, 2, b"[]"))
        runs.store.append("c", Batch(1, 1, b"[]"))
    with pytest.raises(ZeroDivisionError), together():
        runs.store.append("a", Batch(2, 2, b"[]"))
        raise ZeroDivisionError
    assert [len(runs.store.read_log(run_id)) for run_id in "abc"] == [1, 0, 1]
    runs.close()
