"""The contract of places where runs are kept: one process holds a place, several open it, and every write is kept."""

from __future__ import annotations

import pytest

from stepless.errors import AppendConflict, Conflict
from stepless.ports import Batch, StorePlace


def test_a_place_is_held_once_and_free_again_afterwards(place: StorePlace) -> None:
    with place.hold(0):
        with pytest.raises(Conflict) as refused, place.hold(1):
            pass
        assert refused.value.code == "file_held"
        assert refused.value.facts["holder"]
    with place.hold(2):
        pass


def test_what_one_opening_wrote_another_reads_whether_the_place_is_held_or_not(place: StorePlace) -> None:
    with place.hold(0):
        one, other = place.open(), place.open()
        one.store.append("r", Batch(1, 2, b"[1,2]"))
        key = one.blobs.put(b"large")
        other.store.append("r", Batch(3, 3, b"[3]"))
        with pytest.raises(AppendConflict):
            one.store.append("r", Batch(3, 3, b"[4]"))
        assert [batch.data for batch in one.store.read_log("r")] == [b"[1,2]", b"[3]"]
        assert other.blobs.get(key) == b"large"
        one.close()
        other.close()


def test_what_was_written_is_there_after_closing(place: StorePlace) -> None:
    first = place.open()
    first.store.append("r", Batch(1, 1, b"[1]"))
    assert first.store.count("runs", 0, 1_000) == 1
    first.close()
    again = place.open()
    assert [batch.data for batch in again.store.read_log("r")] == [b"[1]"]
    assert again.store.count("runs", 1, 1_000) == 2
    again.close()


def test_changes_that_are_made_together_are_made_all_or_not_at_all(place: StorePlace) -> None:
    runs = place.open()
    together = runs.together
    if together is None:
        runs.close()
        pytest.skip("the place makes changes one by one")
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
