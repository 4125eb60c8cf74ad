"""Requirements of a SQLite file beyond the contract: it survives its processes, serves several, and explains its errors."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from stepless.adapters.sqlite.blobs import SqliteBlobs
from stepless.adapters.sqlite.database import Database
from stepless.adapters.sqlite.schema import MIGRATIONS
from stepless.adapters.sqlite.store import SqliteStore
from stepless.errors import StoreUnavailable, StoreUnusable
from stepless.limits import SQLITE_WAITERS
from stepless.ports import Batch, RunHead, Signal

APPENDER = """
import os, sys
from stepless.adapters.sqlite.store import SqliteStore
from stepless.ports import Batch
store = SqliteStore(sys.argv[1])
log = store.read_log("r")
for first in range(log[-1].last + 1 if log else 1, 1_000_000):
    store.append("r", Batch(first, first, b"x" * (first * 37 % 3000)))
    os.write(1, b"%d\\n" % first)
"""

RIVAL = """
import sys
from stepless.adapters.sqlite.store import SqliteStore
from stepless.errors import AppendConflict
from stepless.ports import Batch
path, name, wanted = sys.argv[1], sys.argv[2].encode(), int(sys.argv[3])
sys.stdin.readline()
store, won, last = SqliteStore(path), [], 0
for _ in range(100_000):
    try:
        store.append("r", Batch(last + 1, last + 1, name))
        won.append(last := last + 1)
        if len(won) == wanted:
            break
    except AppendConflict:
        last = store.read_log("r", last)[-1].last
print(*won)
"""

OPENER = """
import sys
from stepless.adapters.sqlite.store import SqliteStore
for number in range(100):
    sys.stdin.readline()
    SqliteStore(f"{sys.argv[1]}/{number}.db").close()
    print("opened", flush=True)
"""


def test_every_acknowledged_append_outlives_a_sigkill(path: Path, spawn: Callable[..., Any]) -> None:
    acknowledged = 0
    for rounds in range(5):
        child = spawn(APPENDER, path)
        for _ in range(40 + 61 * rounds):
            child.stdout.readline()
        child.kill()
        printed = child.stdout.read().split()
        child.wait(30)
        store = SqliteStore(path)
        log = store.read_log("r", limit_bytes=10**9)
        store.close()
        assert [batch.first for batch in log] == [*range(1, len(log) + 1)]
        assert len(log) >= acknowledged + 40 + 61 * rounds + len(printed)
        assert all(len(batch.data) == batch.first * 37 % 3000 for batch in log)
        acknowledged = len(log)


def test_processes_that_append_to_one_run_leave_no_gap_and_no_double(path: Path, spawn: Callable[..., Any]) -> None:
    rivals = [spawn(RIVAL, path, name, 60) for name in "abcd"]
    for rival in rivals:
        rival.stdin.write("go\n")
        rival.stdin.flush()
    won = {name: [int(first) for first in rival.stdout.readline().split()] for name, rival in zip("abcd", rivals, strict=True)}
    store = SqliteStore(path)
    log = store.read_log("r")
    store.close()
    assert [batch.first for batch in log] == [*range(1, 241)]
    assert {name: [batch.first for batch in log if batch.data == name.encode()] for name in "abcd"} == won


def test_everything_is_there_when_the_file_is_opened_again(path: Path) -> None:
    store = SqliteStore(path)
    run = RunHead("r", "wf", "h", "running", 1, 1, b"{}")
    store.create_run(run)
    store.append("r", Batch(1, 4, b"[]", 2))
    key = SqliteBlobs(store.database).put(b"large")
    store.close()
    store = SqliteStore(path)
    assert store.get_run("r") == run
    assert [*store.read_log("r")] == [Batch(1, 4, b"[]", 2)]
    assert SqliteBlobs(store.database).get(key) == b"large"
    store.close()


def test_twenty_that_open_one_new_file_at_once_all_get_it(tmp_path: Path, race: Any) -> None:
    for attempt in range(5):
        opened = race(lambda i, path=tmp_path / f"{attempt}.db": SqliteStore(path))
        assert {type(store) for store in opened} == {SqliteStore}
        for store in opened:
            store.close()


def test_two_stores_on_one_file_see_each_others_writes_at_once(path: Path) -> None:
    one, two = SqliteStore(path), SqliteStore(path)
    for first in range(1, 20):
        (one, two)[first % 2].append("r", Batch(first, first, b""))
        assert (one, two)[(first + 1) % 2].read_log("r")[-1].first == first
    one.close()
    two.close()


def test_processes_that_open_one_new_file_at_once_all_get_it(tmp_path: Path, spawn: Callable[..., Any]) -> None:
    openers = [spawn(OPENER, tmp_path) for _ in range(4)]
    for _ in range(100):
        for opener in openers:
            opener.stdin.write("go\n")
            opener.stdin.flush()
        assert [opener.stdout.readline() for opener in openers] == ["opened\n"] * 4


# -- what is wrong with a file ----------------------------------------------------------------------------------------


def garbage(path: Path) -> None:
    path.write_bytes(b"a letter, not a database\n" * 500)


def foreign(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE guests (name TEXT)")
    connection.close()


def from_the_future(path: Path) -> None:
    Database(path, migrations=(*MIGRATIONS, ("CREATE TABLE news (x)",))).close()


def in_no_folder(path: Path) -> None:
    path.parent.rmdir()


@pytest.mark.parametrize("spoil", [garbage, foreign, from_the_future, in_no_folder])
def test_a_file_that_is_not_ours_is_refused_with_its_name_and_left_alone(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    path = tmp_path / "folder" / "store.db"
    path.parent.mkdir()
    spoil(path)
    before = path.read_bytes() if path.exists() else None
    with pytest.raises(StoreUnusable) as refused:
        SqliteStore(path)
    assert refused.value.place == str(path)
    assert refused.value.mend
    assert (path.read_bytes() if path.exists() else None) == before


def test_a_damaged_file_is_told_from_a_busy_one(path: Path) -> None:
    store = SqliteStore(path)
    for first in range(1, 200):
        store.append("r", Batch(first, first, b"x" * 1000))
    store.close()
    content = bytearray(path.read_bytes())
    half = len(content) // 8192 * 4096  # the tables begin in the first pages
    content[half:] = b"\xff" * len(content[half:])
    path.write_bytes(content)
    store = SqliteStore(path)
    with pytest.raises(StoreUnusable, match="backup"):
        store.read_log("r")
    store.close()


def test_a_file_that_another_writer_keeps_locked_is_unavailable_and_still_read(path: Path) -> None:
    store = SqliteStore(path, busy_ms=0)
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    for write in (lambda: store.append("r", Batch(1, 1, b"")), lambda: store.claim("k", b"", 0), lambda: store.touch_run("r", 1)):
        with pytest.raises(StoreUnavailable, match="another process is writing"):
            write()
    assert [*store.read_log("r")] == []
    writer.close()
    store.append("r", Batch(1, 1, b""))
    store.close()


def test_a_full_disk_is_unavailable_and_leaves_nothing_half_written(path: Path) -> None:
    store = SqliteStore(path)
    store.append("r", Batch(1, 1, b"small"))
    (pages,) = store.database.row("PRAGMA page_count")
    store.database.rows(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreUnavailable, match="free some space"):
        store.append("r", Batch(2, 2, b"x" * 100_000))
    store.database.rows("PRAGMA max_page_count = 1000000")
    store.append("r", Batch(2, 2, b"y"))
    assert [batch.data for batch in store.read_log("r")] == [b"small", b"y"]
    store.close()


def test_a_closed_store_is_unavailable(path: Path) -> None:
    store = SqliteStore(path)
    store.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        store.get_run("r")


def test_the_end_of_a_long_log_is_read_without_the_rest(path: Path) -> None:
    """Counted in steps of SQLite's machine: a run that has waited for thousands of messages reads it for each of them."""
    store, steps = SqliteStore(path), dict[str, int]()
    for run_id, batches in (("short", 5), ("long", 2_000)):
        for first in range(1, batches + 1):
            store.append(run_id, Batch(first, first, b"x"))
        counted: list[int] = []
        store.database._connection.set_progress_handler(lambda counted=counted: counted.append(1), 1)  # type: ignore[misc]
        assert [batch.first for batch in store.read_log(run_id, batches - 3)] == [batches - 2, batches - 1, batches]
        store.database._connection.set_progress_handler(None, 1)
        steps[run_id] = len(counted)
    store.close()
    assert 0 < steps["long"] <= 2 * steps["short"]


def test_the_wal_does_not_grow_without_end(path: Path) -> None:
    store = SqliteStore(path)
    for first in range(1, 4_001):
        store.append("r", Batch(first, first, b"x" * 500))
    assert os.path.getsize(f"{path}-wal") < 8_000_000
    store.close()
    assert not Path(f"{path}-wal").exists()


# -- a file that goes away ------------------------------------------------------------------------------------------------


WRITES: dict[str, Callable[[SqliteStore], Any]] = {
    "put_version": lambda store: store.put_version("wf", "h", b"{}", 0),
    "claim": lambda store: store.claim("key", b"value", 0),
    "count": lambda store: store.count("key", 0, 1),
    "replace_claim": lambda store: store.replace_claim("key", b"value", b"other", 0),
    "release_claim": lambda store: store.release_claim("key", b"value"),
    "create_run": lambda store: store.create_run(RunHead("new", "wf", "h", "created", 0, 0, b"{}")),
    "touch_run": lambda store: store.touch_run("r", 0),
    "take_lease": lambda store: store.take_lease("r", "me", 0, 1),
    "append": lambda store: store.append("r", Batch(1, 1, b"[]")),
    "put_snapshot": lambda store: store.put_snapshot("r", 1, b"{}"),
    "put_signal": lambda store: store.put_signal("r", Signal("resume", "p", b"{}", 0)),
    "check": lambda store: store.check(),
}


def delete(path: Path) -> None:
    path.unlink()


def replace(path: Path) -> None:
    other = path.with_name("other.db")
    SqliteStore(other).close()
    os.replace(other, path)


@pytest.mark.parametrize("lose", [delete, replace])
@pytest.mark.parametrize("verb", WRITES)
def test_a_file_that_was_deleted_or_replaced_accepts_nothing(tmp_path: Path, lose: Callable[[Path], None], verb: str) -> None:
    path = tmp_path / "runs.db"
    store = SqliteStore(path)
    store.create_run(RunHead("r", "wf", "h", "created", 0, 0, b"{}"))
    lose(path)
    with pytest.raises(StoreUnavailable) as refused:
        WRITES[verb](store)
    assert refused.value.code == "database_gone" and refused.value.place == str(path)
    assert ("deleted" if lose is delete else "replaced") in refused.value.message
    store.close()


def test_a_file_that_is_put_back_is_used_again(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    store = SqliteStore(path)
    path.rename(tmp_path / "away.db")
    with pytest.raises(StoreUnavailable):
        store.check()
    (tmp_path / "away.db").rename(path)
    store.check()
    assert store.create_run(RunHead("r", "wf", "h", "created", 0, 0, b"{}"))
    store.close()


def test_a_store_without_a_file_is_never_gone() -> None:
    store = SqliteStore(":memory:")
    store.check()
    store.close()


@pytest.mark.parametrize("verb", sorted(WRITES.keys() - {"check"}))
def test_an_event_loop_never_waits_for_another_writer_and_a_thread_waits_without_holding_up_reads(path: Path, verb: str) -> None:
    store, write = SqliteStore(path, busy_ms=600_000), WRITES[verb]  # longer than any test may take
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    async def in_a_loop() -> None:
        with pytest.raises(StoreUnavailable, match="another process is writing") as refused:
            write(store)
        assert refused.value.facts["locked"]
        waiting = asyncio.create_task(asyncio.to_thread(write, store))
        for _ in range(20):
            assert await asyncio.to_thread(store.get_run, "r") is None
            assert store.get_run("r") is None
        assert not waiting.done()
        other.rollback()
        await waiting

    asyncio.run(in_a_loop())
    other.close()
    store.close()


def test_threads_beyond_the_bound_are_refused_at_once(path: Path) -> None:
    store = SqliteStore(path, busy_ms=600_000)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    refused: SimpleQueue[StoreUnavailable] = SimpleQueue()

    def write() -> None:
        try:
            store.touch_run("r", 1)
        except StoreUnavailable as error:
            refused.put(error)

    threads = [threading.Thread(target=write) for _ in range(SQLITE_WAITERS + 2)]
    for thread in threads:
        thread.start()
    assert all(refused.get(timeout=60).facts["locked"] for _ in range(2))
    other.rollback()
    for thread in threads:
        thread.join()
    assert refused.empty()
    other.close()
    store.close()


def test_a_file_whose_lock_is_held_is_opened_and_one_that_must_be_updated_says_why_it_is_not(path: Path) -> None:
    SqliteStore(path).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    SqliteStore(path, busy_ms=0).close()
    other.execute("ROLLBACK")
    other.execute("DROP TABLE line")
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="another process is writing"):
        SqliteStore(path, busy_ms=0)
    other.close()
