"""Tests the contract of removal: runs that expire, and runs that are erased."""

from __future__ import annotations

from typing import Any

import pytest

from stepless.errors import AppendConflict, LeaseLost
from stepless.limits import EXPIRY_LOOK_MS, EXPIRY_SLACK_MS, SHORT_RUN_MS
from stepless.ports import ERASED, Batch, RunFilter, RunHead, Signal, Store

DAY = 24 * 3_600_000
KEPT = 2 * DAY  # the retention
LATE = SHORT_RUN_MS + EXPIRY_SLACK_MS  # by which an expired run may be found later
START = 100 * DAY


def head(run_id: str, created_ms: int = START, **more: Any) -> RunHead:
    return RunHead(run_id, "wf", "h1", "running", created_ms, created_ms, b'{"n":1}', **more)


def batch(first: int, last: int) -> Batch:
    return Batch(first, last, b"[]", 1)


def end(store: Store, run_id: str, at_ms: int, *, expires_ms: int | None = None, due_ms: int | None = None) -> None:
    """Ends a run, as a runner does."""
    if expires_ms is not None:
        store.expect_expiry("wf", KEPT, at_ms)
    lease = store.take_lease(run_id, "runner", at_ms, at_ms + 30_000)
    assert lease is not None
    store.update_run(lease, at_ms, status="completed", sequence=3, due_ms=due_ms, release=True, expires_ms=expires_ms)


def filled(store: Store, run_id: str, created_ms: int = START) -> None:
    """A run with a log, a snapshot and an inbox, and inputs that are too large for its header."""
    assert store.create_run(head(run_id, created_ms)._replace(inputs=b'"' + bytes(range(48, 58)) * 300 + b'"'))
    for number in (1, 2, 3):
        store.append(run_id, batch(number, number))
    store.put_snapshot(run_id, 3, b"s" * 500_000)
    store.put_signal(run_id, Signal("resume", "p", b"{}", created_ms))


def is_empty(store: Store, run_id: str) -> bool:
    contents = [data.data for data in store.read_log(run_id) if data.data]
    return not contents and store.get_snapshot(run_id) is None and store.get_signal(run_id, "resume", "p") is None


def listed(store: Store, now_ms: int) -> list[str]:
    return [found.run_id for found in store.list_expired(now_ms)]


# -- expiry ----------------------------------------------------------------------------------------------------------


def test_a_run_expires_only_if_its_end_said_so(store: Store) -> None:
    for name in ("kept", "expires"):
        store.create_run(head(name))
    end(store, "kept", START + 1)
    end(store, "expires", START + 1, expires_ms=START + 1 + KEPT)
    found = store.get_run("expires")
    assert found is not None
    assert (found.expires_ms, found.status, found.due_ms) == (START + 1 + KEPT, "completed", None)
    assert listed(store, START + KEPT) == []
    assert listed(store, START + 1 + KEPT + LATE) == ["expires"]
    assert listed(store, START + 1 + KEPT + LATE) == ["expires"]  # until it is removed
    store.erase_run("expires")
    assert listed(store, START + 2 + KEPT + LATE) == []
    assert store.get_run("expires") is None and store.get_run("kept") is not None


def test_a_later_change_of_the_header_keeps_its_expiry(store: Store) -> None:
    store.create_run(head("r"))
    end(store, "r", START + 1, expires_ms=START + 1 + KEPT)
    end(store, "r", START + 2)
    kept = store.get_run("r")
    assert kept is not None and kept.expires_ms == START + 1 + KEPT


def test_a_run_that_took_long_is_found_as_due(store: Store) -> None:
    store.create_run(head("long"))
    ended_ms = START + SHORT_RUN_MS + DAY
    end(store, "long", ended_ms, expires_ms=ended_ms + KEPT, due_ms=ended_ms + KEPT)
    assert [found.run_id for found in store.list_due(ended_ms + KEPT)] == ["long"]


def test_every_run_is_found_whatever_lies_between(store: Store) -> None:
    """Runs that are active, kept for ever, kept longer or removed do not hide the others."""
    now_ms, names = START + 40 * DAY, [f"r{number:03d}" for number in range(240)]
    store.expect_expiry("wf", KEPT, START)
    for number, name in enumerate(names):
        created_ms = START + number * 60_000
        store.create_run(head(name, created_ms))
        match number % 4:
            case 1:
                end(store, name, created_ms + 1)
            case 2:
                end(store, name, created_ms + 1, expires_ms=created_ms + 1 + KEPT)
            case 3:
                end(store, name, created_ms + 1, expires_ms=now_ms + DAY)
    found: set[str] = set()
    for _ in range(50):
        some = store.list_expired(now_ms, limit=7)
        assert len(some) <= 7 and not found & {each.run_id for each in some}
        if not some:
            break
        for each in some:
            found.add(each.run_id)
            store.erase_run(each.run_id)
    assert found == {name for number, name in enumerate(names) if number % 4 == 2}


def test_runs_that_end_later_are_found_as_well(store: Store) -> None:
    store.create_run(head("first"))
    end(store, "first", START, expires_ms=START + KEPT)
    now_ms = START + KEPT + LATE
    assert listed(store, now_ms) == ["first"]
    store.erase_run("first")
    listed(store, now_ms)
    store.create_run(head("second", now_ms))
    end(store, "second", now_ms + 1, expires_ms=now_ms + 1 + KEPT)
    assert listed(store, now_ms + 1 + KEPT + LATE + EXPIRY_LOOK_MS) == ["second"]


def test_a_run_can_be_kept_longer_and_is_then_found_as_due(store: Store) -> None:
    store.create_run(head("r"))
    end(store, "r", START, expires_ms=START + KEPT)
    now_ms = START + KEPT + LATE
    assert listed(store, now_ms) == ["r"]
    assert store.keep_run("r", now_ms + DAY)
    assert listed(store, now_ms) == [] and list(store.list_due(now_ms)) == []
    assert [found.run_id for found in store.list_due(now_ms + DAY)] == ["r"]


def test_a_run_without_an_end_of_its_time_is_not_kept_until_an_instant(store: Store) -> None:
    store.create_run(head("r"))
    assert not store.keep_run("r", START) and not store.keep_run("none", START)
    end(store, "r", START, expires_ms=START + KEPT)
    assert store.take_lease("r", "runner", START, START + 30_000) is not None
    assert not store.keep_run("r", START)  # its holder writes the header


# -- erasure ---------------------------------------------------------------------------------------------------------


def erased(store: Store, run_id: str) -> None:
    filled(store, run_id)
    end(store, run_id, START + 1, expires_ms=START + KEPT)
    lease = store.take_lease(run_id, "eraser", START + 2, START + 30_000)
    assert lease is not None
    store.mark_erased(lease, START + 2, b'{"children":[]}', START + 60_000)


def test_an_erased_run_has_only_its_names_and_times(store: Store) -> None:
    erased(store, "r")
    found = store.get_run("r")
    assert found is not None
    assert (found.status, found.inputs, found.meta, found.due_ms) == (ERASED, b"null", b'{"children":[]}', START + 60_000)
    assert (found.owner, found.expires_ms, found.sequence, found.workflow_id) == (None, None, 3, "wf")
    store.erase_run("r", START + DAY)
    assert is_empty(store, "r")
    assert [each.run_id for each in store.list_due(START + DAY)] == ["r"]


def test_an_erased_run_is_in_no_listing_and_cannot_be_held_or_touched(store: Store) -> None:
    erased(store, "r")
    store.create_run(head("other"))
    for filter in (RunFilter(), RunFilter("wf"), RunFilter(status="completed"), RunFilter(due=True)):
        assert "r" not in [each.run_id for each in store.list_runs(filter).items]
    assert store.take_lease("r", "runner", START + 3, START + 40_000) is None
    assert not store.touch_run("r", START) and not store.keep_run("r", START)
    assert not store.create_run(head("r"))
    assert listed(store, START + 30 * DAY) == []


@pytest.mark.parametrize("again", [False, True])
def test_a_late_append_to_an_erased_run_is_refused_as_before(store: Store, again: bool) -> None:
    erased(store, "r")
    for _ in range(1 + again):
        store.erase_run("r", START + DAY)
    for first in (1, 2, 3):
        with pytest.raises(AppendConflict):
            store.append("r", batch(first, first + 4))


def test_an_erasure_is_repeated_without_harm_and_ends_with_the_header(store: Store) -> None:
    erased(store, "r")
    filled(store, "other")
    store.erase_run("r", START + DAY)
    store.put_signal("r", Signal("resume", "p", b"late", START))
    store.put_snapshot("r", 9, b"late")
    store.erase_run("r", START + 2 * DAY)
    assert is_empty(store, "r")
    for _ in range(2):
        store.erase_run("r")
        assert store.get_run("r") is None and is_empty(store, "r") and not store.read_log("r")
    assert store.list_due(START + 9 * DAY) == []
    other = store.get_run("other")
    assert other is not None and len(other.inputs) > 3_000 and not is_empty(store, "other")


def test_a_run_that_is_not_marked_keeps_its_content(store: Store) -> None:
    filled(store, "r")
    store.erase_run("r", START + DAY)
    assert not is_empty(store, "r") and len(store.read_log("r")) == 3
    store.erase_run("none", START + DAY)


def test_only_the_holder_of_the_lease_marks_a_run(store: Store) -> None:
    filled(store, "r")
    end(store, "r", START)
    former = store.take_lease("r", "a", START + 1, START + 2)
    assert former is not None and store.take_lease("r", "b", START + 3, START + 30_000) is not None
    with pytest.raises(LeaseLost):
        store.mark_erased(former, START + 4, b"{}", START)
    found = store.get_run("r")
    assert found is not None and found.status == "completed"
