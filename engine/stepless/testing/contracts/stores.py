"""Tests the contract of stores: claims, runs, logs and snapshots, as `ports.Store` documents them."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from stepless.errors import AppendConflict, EngineBug, InvalidRequest, LimitExceeded
from stepless.limits import MAX_BATCH_BYTES, MAX_PAGE_ITEMS
from stepless.ports import Batch, RunFilter, RunHead, Signal, Store

ODD_IDS = [
    "x@l[2]@m[0]", "ünï-🧨", "e\u0301", "é", "A", "a", "it's \"quoted\" 100%_", "RUN#r/LOG#1", "a\u0000b", "a", " a", "日本" * 20,
]


def head(run_id: str, created_ms: int = 0, **more: Any) -> RunHead:
    given: dict[str, Any] = {"workflow_id": "wf", "version": "h1", "status": "running", "updated_ms": created_ms, "inputs": b"{}"}
    return RunHead(run_id=run_id, created_ms=created_ms, **{**given, **more})


def batch(first: int, last: int | None = None, data: bytes = b"[]", epoch: int = 1) -> Batch:
    return Batch(first, first if last is None else last, data, epoch)


def signal(identity: str = "p1", created_ms: int = 0, body: bytes = b"{}", kind: str = "resume") -> Signal:
    return Signal(kind, identity, body, created_ms)


def test_a_store_that_can_be_relied_on_says_nothing(store: Store) -> None:
    assert store.check() is None  # type: ignore[func-returns-value]


def every_page(store: Store, filter: RunFilter, limit: int) -> list[RunHead]:
    found: list[RunHead] = []
    page = store.list_runs(filter, limit=limit)
    for _ in range(1_000):
        assert 0 < len(page.items) <= limit or page.cursor is None
        found += page.items
        if page.cursor is None:
            return found
        page = store.list_runs(filter, limit=limit, cursor=page.cursor)
    raise AssertionError("the listing does not end")


# -- claims ----------------------------------------------------------------------------------------------------------


def test_a_counter_counts_until_it_expires_and_then_begins_again(store: Store) -> None:
    assert [store.count("c", now_ms, 100) for now_ms in (0, 1, 99)] == [1, 2, 3]
    assert store.count("other", 99, 200) == 1
    assert [store.count("c", now_ms, 300) for now_ms in (100, 299)] == [1, 2]


def test_of_twenty_threads_no_two_are_counted_the_same(store: Store, race: Any) -> None:
    assert sorted(race(lambda i: store.count("c", 0, 100))) == list(range(1, 21))


def test_the_first_claim_stands(store: Store) -> None:
    assert store.claim("k", b"one", 0) == b"one"
    assert store.claim("k", b"two", 10**12) == b"one"
    assert store.get_claim("k", 10**12) == b"one"
    assert store.get_claim("other", 0) is None


@pytest.mark.parametrize(("now_ms", "stored"), [(99, b"one"), (100, b"two"), (101, b"two")])
def test_a_claim_ends_at_the_instant_of_its_expiry(store: Store, now_ms: int, stored: bytes) -> None:
    store.claim("k", b"one", 0, expires_ms=100)
    assert store.get_claim("k", now_ms) == (b"one" if now_ms < 100 else None)
    assert store.claim("k", b"two", now_ms, expires_ms=900) == stored
    assert store.get_claim("k", 500) == (b"two" if stored == b"two" else None)


def test_a_new_claim_after_an_expired_one_may_last_for_ever(store: Store) -> None:
    for key, expires_ms in (("a", 1), ("b", 1), ("c", 1), ("k", 2)):
        store.claim(key, b"one", 0, expires_ms)
    store.claim("k", b"two", 5)
    assert store.claim("k", b"three", 10**12) == b"two"


def test_forgetting_expired_claims_spares_those_that_stand(store: Store) -> None:
    for i in range(10):
        store.claim(f"k{i}", b"v", 0, expires_ms=100 + i)
    store.claim("new", b"v", 105)
    assert [store.get_claim(f"k{i}", 105) for i in range(10)] == [None] * 6 + [b"v"] * 4


def test_of_twenty_claims_one_wins_and_all_are_told_it(store: Store, race: Any) -> None:
    answers = race(lambda i: store.claim("k", b"%d" % i, 0))
    assert set(answers) == {store.get_claim("k", 0)}


def test_a_claim_is_released_only_by_its_value(store: Store) -> None:
    store.claim("k", b"one", 0)
    assert not store.release_claim("k", b"two")
    assert store.release_claim("k", b"one")
    assert not store.release_claim("k", b"one")
    assert store.claim("k", b"two", 0) == b"two"


# -- runs ------------------------------------------------------------------------------------------------------------


def test_a_header_comes_back_as_it_was_put(store: Store) -> None:
    full = RunHead("r", "wf", "h1", "paused", 1, 2, b"\x00\xff{}", b"m", 7, 2**53, 3, "me", 99)
    assert store.create_run(full)
    assert store.create_run(head("plain"))
    assert store.get_run("r") == full
    assert store.get_run("plain") == head("plain")
    assert store.get_run("none") is None


def test_a_run_is_created_once(store: Store, race: Any) -> None:
    won = race(lambda i: store.create_run(head("r", i)))
    assert sorted(won) == [False] * 19 + [True]
    assert store.get_run("r") == head("r", won.index(True))


def test_runs_are_listed_newest_first_then_by_descending_id(store: Store) -> None:
    for run_id, created_ms in (("a", 5), ("b", 7), ("c", 5), ("A", 5), ("d", 1)):
        store.create_run(head(run_id, created_ms))
    assert [run.run_id for run in store.list_runs(RunFilter()).items] == ["b", "c", "a", "A", "d"]
    assert store.list_runs(RunFilter(workflow_id="none")).items == ()


@pytest.mark.parametrize("workflow_id", [None, "w1"])
@pytest.mark.parametrize("status", [None, "paused"])
@pytest.mark.parametrize("since_ms", [None, 6])
def test_all_filters_that_are_given_hold(store: Store, workflow_id: str | None, status: str | None, since_ms: int | None) -> None:
    runs = [head(f"r{i}", i, workflow_id=f"w{i % 3}", status=("running", "paused")[i % 2]) for i in range(24)]
    for run in runs:
        store.create_run(run)
    wanted = [
        run for run in reversed(runs)
        if workflow_id in (None, run.workflow_id) and status in (None, run.status) and run.created_ms >= (since_ms or 0)
    ]
    assert every_page(store, RunFilter(workflow_id, status, since_ms), 3) == wanted


@pytest.mark.parametrize("workflow_id", [None, "w1"])
@pytest.mark.parametrize("status", [None, "paused", "completed"])
def test_what_is_due_is_listed_apart(store: Store, workflow_id: str | None, status: str | None) -> None:
    statuses = ("running", "paused", "completed")
    runs = [head(f"r{i}", i, workflow_id=f"w{i % 2}", status=statuses[i % 3], due_ms=i if i % 5 else None) for i in range(30)]
    for run in runs:
        store.create_run(run)
    wanted = [
        run for run in reversed(runs)
        if workflow_id in (None, run.workflow_id) and status in (None, run.status) and run.due_ms is not None
    ]
    assert every_page(store, RunFilter(workflow_id, status, due=True), 3) == wanted


def test_the_status_filter_follows_the_header(store: Store) -> None:
    store.create_run(head("r"))
    lease = store.take_lease("r", "me", 0, 100)
    assert lease
    store.update_run(lease, 1, status="completed", release=True)
    assert store.list_runs(RunFilter(status="running")).items == ()
    assert [run.run_id for run in store.list_runs(RunFilter("wf", "completed")).items] == ["r"]


@pytest.mark.parametrize("seed", range(6))
def test_paging_neither_repeats_nor_omits_a_run_that_was_there_throughout(store: Store, seed: int) -> None:
    chance = random.Random(seed)
    there = {f"r{i:03}": chance.randrange(8) for i in range(chance.randrange(1, 60))}
    for run_id, created_ms in there.items():
        store.create_run(head(run_id, created_ms))
    seen: list[str] = []
    cursor = None
    for turn in range(100):
        page = store.list_runs(RunFilter(), limit=chance.randrange(1, 9), cursor=cursor)
        seen += [run.run_id for run in page.items]
        store.create_run(head(f"new{turn}", 10 + turn))
        lease = store.take_lease(chance.choice(list(there)), "me", 0, 1)
        assert lease
        store.update_run(lease, turn, status="paused")
        cursor = page.cursor
        if cursor is None:
            break
    assert cursor is None
    kept = [run_id for run_id in seen if run_id in there]
    assert kept == sorted(there, key=lambda run_id: (there[run_id], run_id), reverse=True)


@pytest.mark.parametrize(
    "cursor", ["", "!", "AAAA", "WzFd", "W10", "bnVsbA", "WzEsMV0", "WyJhIiwxXQ", "WzEsImEiXQ==", "W1tb" * 400, "W1tb" * 600]
)
def test_a_malformed_cursor_is_refused(store: Store, cursor: str) -> None:
    for listing in (lambda: store.list_runs(RunFilter(), cursor=cursor), lambda: store.list_workflows(cursor=cursor)):
        with pytest.raises(InvalidRequest) as refused:
            listing()
        assert refused.value.code == "invalid_cursor"


def test_a_page_has_a_largest_and_a_smallest_size(store: Store) -> None:
    for i in range(MAX_PAGE_ITEMS + 1):
        store.create_run(head(f"r{i}", i, due_ms=1))
    assert len(store.list_runs(RunFilter(), limit=10**6).items) == len(store.list_due(1, limit=10**6)) == MAX_PAGE_ITEMS
    assert len(store.list_runs(RunFilter(), limit=0).items) == len(store.list_due(1, limit=-1)) == 1


# -- the log ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "last"), [(1, 1), (2, 2), (3, 3), (3, 9), (5, 5), (9, 9)])
def test_a_batch_that_does_not_follow_the_log_is_refused(store: Store, first: int, last: int) -> None:
    written = [batch(1, 2), batch(3, 3)]
    for item in written:
        store.append("r", item)
    with pytest.raises(AppendConflict):
        store.append("r", batch(first, last))
    assert [*store.read_log("r")] == written
    store.append("r", batch(4))


def test_the_first_batch_starts_at_one(store: Store) -> None:
    with pytest.raises(AppendConflict):
        store.append("r", batch(2))
    for first, last in ((0, 1), (2, 1)):
        with pytest.raises(EngineBug):
            store.append("r", batch(first, last))
    assert [*store.read_log("r")] == []


def test_the_same_bytes_again_are_a_conflict_too(store: Store) -> None:
    store.append("r", batch(1))
    with pytest.raises(AppendConflict):
        store.append("r", batch(1))


def test_of_twenty_appends_at_one_place_exactly_one_wins(store: Store, race: Any) -> None:
    store.append("r", batch(1))
    ends = race(lambda i: store.append("r", batch(2, 2 + i, b"%d" % i)))
    assert Counter(type(end) for end in ends) == {type(None): 1, AppendConflict: 19}
    won = ends.index(None)
    assert [*store.read_log("r")] == [batch(1), batch(2, 2 + won, b"%d" % won)]


def test_twenty_writers_that_retry_leave_no_gap_and_no_double(store: Store, race: Any) -> None:
    def write(i: int) -> int:
        for _ in range(1_000):
            log = store.read_log("r")
            try:
                store.append("r", batch(log[-1].last + 1 if log else 1, data=b"%d" % i))
                return i
            except AppendConflict:
                continue
        raise AssertionError("never won")

    assert race(write) == [*range(20)]
    log = store.read_log("r")
    assert [item.first for item in log] == [*range(1, 21)]
    assert sorted(int(item.data) for item in log) == [*range(20)]


def test_logs_of_different_runs_do_not_touch(store: Store) -> None:
    for run_id in ("r", "r1", "R"):
        store.append(run_id, batch(1, data=run_id.encode()))
    assert [[item.data for item in store.read_log(run_id)] for run_id in ("r", "r1", "R")] == [[b"r"], [b"r1"], [b"R"]]


@pytest.mark.parametrize(
    ("after", "firsts"), [(0, [1, 4, 5]), (1, [1, 4, 5]), (2, [1, 4, 5]), (3, [4, 5]), (4, [5]), (8, [5]), (9, []), (99, [])]
)
def test_reading_starts_with_the_batch_that_holds_the_next_event(store: Store, after: int, firsts: list[int]) -> None:
    for item in (batch(1, 3), batch(4), batch(5, 9)):
        store.append("r", item)
    assert [item.first for item in store.read_log("r", after)] == firsts


@pytest.mark.parametrize(("limit_bytes", "count"), [(0, 1), (9, 1), (10, 1), (19, 1), (20, 2), (35, 3), (1_000, 5)])
def test_a_read_ends_at_its_bytes_and_holds_at_least_one_batch(store: Store, limit_bytes: int, count: int) -> None:
    for first in range(1, 6):
        store.append("r", batch(first, data=b"0123456789"))
    assert [item.first for item in store.read_log("r", limit_bytes=limit_bytes)] == [*range(1, count + 1)]
    assert [item.first for item in store.read_log("r", 2, limit_bytes=0)] == [3]


def test_a_batch_of_the_largest_size_fits_and_one_byte_more_does_not(store: Store) -> None:
    largest = batch(1, data=bytes(range(256)) * (MAX_BATCH_BYTES // 256) + b"x" * (MAX_BATCH_BYTES % 256))
    store.append("r", largest)
    assert [*store.read_log("r")] == [largest]
    with pytest.raises(LimitExceeded):
        store.append("r", batch(2, data=b"x" * (MAX_BATCH_BYTES + 1)))
    assert len(store.read_log("r")) == 1


# -- snapshots -------------------------------------------------------------------------------------------------------


def test_a_snapshot_never_goes_back(store: Store) -> None:
    assert store.get_snapshot("r") is None
    for sequence, data in ((5, b"five"), (9, b"nine"), (7, b"seven")):
        store.put_snapshot("r", sequence, data)
    assert store.get_snapshot("r") == (9, b"nine")


def test_a_snapshot_may_be_large(store: Store) -> None:
    data = random.Random(1).randbytes(3_000_000)
    store.put_snapshot("r", 1, data)
    store.put_snapshot("r", 2, data[:2_000_000])
    assert store.get_snapshot("r") == (2, data[:2_000_000])


# -- text ------------------------------------------------------------------------------------------------------------


def test_ids_are_any_text_and_never_confused(store: Store) -> None:
    ids = list(dict.fromkeys(ODD_IDS))
    for number, name in enumerate(ids):
        assert store.create_run(head(name, number, workflow_id=name, due_ms=number))
        store.append(name, batch(1, data=name.encode()))
        assert store.put_signal("r", signal(name, number)) == signal(name, number)
        assert store.claim(name, name.encode(), 0) == name.encode()
        store.put_version(name, "h", name.encode(), 0)
    for number, name in enumerate(ids):
        assert [run.run_id for run in store.list_runs(RunFilter(workflow_id=name)).items] == [name]
        assert [item.data for item in store.read_log(name)] == [name.encode()]
        assert store.get_signal("r", "resume", name) == signal(name, number)
    assert [run.run_id for run in every_page(store, RunFilter(), 2)] == ids[::-1]
    listed, cursor = [], None
    for _ in ids:
        page = store.list_workflows(limit=1, cursor=cursor)
        listed += [item.workflow_id for item in page.items]
        cursor = page.cursor
    assert listed == sorted(ids) and cursor is None


def test_text_that_is_not_unicode_is_refused(store: Store) -> None:
    bad = "half \ud800"
    calls = (
        lambda: store.create_run(head(bad)), lambda: store.claim(bad, b"", 0), lambda: store.append(bad, batch(1)),
        lambda: store.put_signal("r", signal(bad)), lambda: store.put_version(bad, "h", b"", 0),
        lambda: store.put_snapshot(bad, 1, b""),
    )
    for call in calls:
        with pytest.raises(InvalidRequest) as refused:
            call()
        assert refused.value.code == "invalid_text"
