"""Changes in one transaction of a file: they become visible together, are rolled back together, and none is half done."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepless.adapters.sqlite import statements
from stepless.adapters.sqlite.store import SqliteStore
from stepless.errors import AppendConflict, InvalidRequest, LimitExceeded, StoreUnavailable
from stepless.limits import MAX_INBOX_SIGNALS
from stepless.ports import Batch, RunFilter, Signal


def test_changes_made_together_are_seen_together_and_a_refused_one_leaves_the_others(path: Path) -> None:
    store, other = SqliteStore(path), SqliteStore(path)
    with store.together():
        store.append("r", Batch(1, 1, b"a"))
        with pytest.raises(AppendConflict):
            store.append("r", Batch(5, 5, b"gap"))
        assert store.put_signal("r", Signal("resume", "w", b"{}", 0)).body == b"{}"
        store.take_signals("r", [Signal("resume", "w", b"{}", 0)])
        assert [*other.read_log("r"), other.get_signal("r", "resume", "w")] == [None]
    assert [batch.data for batch in other.read_log("r")] == [b"a"]
    signal = other.get_signal("r", "resume", "w")
    assert signal is not None and signal.taken
    other.close()
    store.close()


def test_of_changes_that_were_to_be_made_together_none_is_made_after_a_fault(path: Path) -> None:
    store = SqliteStore(path)
    with pytest.raises(ZeroDivisionError), store.together():
        store.append("r", Batch(1, 1, b"a"))
        store.claim("k", b"v", 0)
        raise ZeroDivisionError
    assert ([*store.read_log("r")], store.get_claim("k", 0)) == ([], None)
    store.append("r", Batch(1, 1, b"b"))
    store.close()


def test_a_verb_that_undoes_itself_undoes_nothing_else(path: Path) -> None:
    store = SqliteStore(path)
    store.database.change_each(
        statements.PUT_SIGNAL, [("r", "resume", f"w{number}", b"", 0, 0) for number in range(MAX_INBOX_SIGNALS)]
    )
    with store.together():
        store.append("r", Batch(1, 1, b"a"))
        with pytest.raises(LimitExceeded):
            store.put_signal("r", Signal("resume", "one too many", b"", 0))
        store.append("r", Batch(2, 2, b"b"))
    assert [batch.data for batch in store.read_log("r")] == [b"a", b"b"]
    assert store.get_signal("r", "resume", "one too many") is None
    store.close()


def test_a_full_disk_undoes_all_that_was_to_be_made_together(path: Path) -> None:
    store = SqliteStore(path)
    store.append("r", Batch(1, 1, b"small"))
    (pages,) = store.database.row("PRAGMA page_count")
    store.database.rows(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreUnavailable, match="free some space"), store.together():
        store.append("r", Batch(2, 2, b"too"))
        store.append("r", Batch(3, 3, b"x" * 100_000))
    store.database.rows("PRAGMA max_page_count = 1000000")
    assert [batch.data for batch in store.read_log("r")] == [b"small"]
    store.append("r", Batch(2, 2, b"y"))
    store.close()


def test_a_number_that_sqlite_cannot_hold_is_refused(path: Path) -> None:
    store = SqliteStore(path)
    for call in (lambda: store.get_version("wf", 2**63), lambda: store.list_runs(RunFilter(since_ms=10**30))):
        with pytest.raises(InvalidRequest) as refused:
            call()
        assert refused.value.code == "invalid_number"
    store.close()
