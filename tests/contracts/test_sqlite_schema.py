"""The schema of a file: older files are migrated to it, and each statement finds its rows by an index."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from stepless.adapters.sqlite import statements
from stepless.adapters.sqlite.database import Database
from stepless.adapters.sqlite.drafts import SqliteDrafts
from stepless.adapters.sqlite.schema import MIGRATIONS
from stepless.adapters.sqlite.store import SqliteStore
from stepless.errors import AppendConflict, EngineBug
from stepless.ports import Batch, Draft, Entity, Op, RunFilter, RunHead, StateAt

STATEMENTS = {name: text for name, text in vars(statements).items() if name[0].isalpha() and isinstance(text, str)} | {
    f"LIST_RUNS {key}": text for key, text in statements.LIST_RUNS.items()
}


def test_an_older_file_is_brought_to_the_newest_schema_with_its_data(path: Path) -> None:
    store = SqliteStore(path)
    store.claim("k", b"v", 0)
    store.close()
    newer = (*MIGRATIONS, ("ALTER TABLE claim ADD COLUMN note TEXT", "UPDATE claim SET note = 'moved'"))
    for _ in range(2):
        database = Database(path, migrations=newer)
        assert database.rows("SELECT key, note FROM claim") == [("k", "moved")]
        assert database.row("PRAGMA user_version") == (len(newer),)
        database.close()


def test_runs_of_an_older_file_have_spent_nothing_and_go_on(path: Path) -> None:
    old = Database(path, migrations=MIGRATIONS[:1])
    columns = "run_id, workflow_id, version, status, created_ms, updated_ms, inputs, meta, sequence, epoch, lease_until_ms"
    old.change(f"INSERT INTO run ({columns}) VALUES ('r', 'wf', 'h', 'paused', 1, 1, x'7b7d', x'7b7d', 3, 1, 0)")
    old.close()
    store = SqliteStore(path)
    lease = store.take_lease("r", "me", 2, 3)
    assert lease and (lease.epoch, lease.spent) == (2, b"")
    store.update_run(lease, 2, release=True, spent=b"[1]")
    kept = store.get_run("r")
    assert kept and (kept.status, kept.sequence, kept.spent) == ("paused", 3, b"[1]")
    store.close()


def test_a_column_that_was_added_leaves_the_file_to_the_release_before(path: Path) -> None:
    """The file keeps its schema version, and the statements of that release, which do not name the column, still work."""
    SqliteStore(path).close()
    former = sqlite3.connect(path)
    assert former.execute("PRAGMA user_version").fetchone() == (3,) == (len(MIGRATIONS),)
    columns = "run_id, workflow_id, version, status, created_ms, updated_ms, inputs, meta, sequence, epoch, lease_until_ms"
    former.execute(f"INSERT INTO run ({columns}) VALUES ('r', 'wf', 'h', 'paused', 1, 1, x'7b7d', x'7b7d', 3, 1, 0)")
    former.commit()
    former.execute("DROP INDEX run_by_waits")
    former.execute("ALTER TABLE run DROP COLUMN waits")
    former.execute("ALTER TABLE run DROP COLUMN exported")
    former.execute("ALTER TABLE version DROP COLUMN attached")
    former.execute("INSERT INTO version (workflow_id, number, hash, document, created_ms) VALUES ('wf', 1, 'h', x'7b7d', 1)")
    former.execute("INSERT INTO workflow VALUES ('wf', 1)")
    former.commit()
    former.close()
    store = SqliteStore(path)
    kept = store.get_run("r")
    assert kept and (kept.status, kept.waits, kept.exported) == ("paused", "", "")
    assert store.get_attached("wf", 1) is None
    assert store.put_version("wf", "h", b"{}", 2, attached=b"text").number == 1 and store.get_attached("wf", 1) == b"text"
    assert store.database.row("PRAGMA user_version") == (3,)
    store.close()


def test_tables_that_were_added_leave_the_file_to_the_release_before(path: Path) -> None:
    """That release opens a file that has drafts, and this one opens a file of that release and adds them."""
    SqliteStore(path).close()
    former = sqlite3.connect(path)
    for table in ("draft", "op", "entity", "state"):
        assert former.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
        former.execute(f"DROP TABLE {table}")
    former.execute("INSERT INTO claim (key, value) VALUES ('k', x'76')")
    former.commit()
    former.close()
    database = Database(path)
    assert database.row("PRAGMA user_version") == (3,)
    assert SqliteDrafts(database).append_op(Draft("wf", 1), Op(1, b"{}", 1_000))
    assert database.row("SELECT value FROM claim") == (b"v",)
    database.close()


def test_expired_records_of_drafts_are_removed(path: Path) -> None:
    database, draft = Database(path), Draft("wf", 1)
    drafts = SqliteDrafts(database)
    for seq, expires_ms in ((1, 1_000), (2, 9_000)):
        drafts.append_op(draft, Op(seq, b"{}", expires_ms))
        drafts.put_entities(draft, [Entity(f"block/{seq}", seq, None, expires_ms), Entity("doc", seq, b"{}")])
        drafts.put_state(draft, StateAt(seq, b"{}", expires_ms))
    drafts.forget_expired(1_000)
    assert database.rows("SELECT room, seq FROM op") == [("wf#1", 2)] == database.rows("SELECT room, seq FROM state")
    assert database.rows("SELECT key, seq FROM entity ORDER BY key") == [("block/2", 2), ("doc", 2)]
    database.close()


def test_schedules_and_events_of_an_older_file_are_still_found(path: Path) -> None:
    old = Database(path, migrations=MIGRATIONS[:2])
    for name, document in (("a", b'{"type":"schedule"}'), ("b", b'{"type":"event"}'), ("c", b'{"type":"manual"}')):
        old.change(statements.INSERT_VERSION, (name, 1, "h", document, 1))
        old.change(statements.POINT_TO_NEWEST, (name, 1))
    old.close()
    store = SqliteStore(path)
    found = {kind: [version.workflow_id for version in store.list_entries(kind).items] for kind in ("schedule", "event")}
    assert found == {"schedule": ["a"], "event": ["b"]}
    store.close()


FORMER_LOG = """CREATE TABLE log (
    run_id TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, epoch INTEGER NOT NULL,
    data BLOB NOT NULL, PRIMARY KEY (run_id, first)) STRICT"""
FORMER_APPEND = """INSERT INTO log (run_id, first, last, epoch, data) VALUES (?, iif(? - 1 = ifnull(
    (SELECT last FROM log WHERE run_id = ? ORDER BY first DESC LIMIT 1), 0), ?, NULL), ?, ?, ?)"""
FORMER_READ = """SELECT first, last, data, epoch FROM log WHERE run_id = :run_id AND last > :after AND first >= ifnull(
    (SELECT first FROM log WHERE run_id = :run_id AND first <= :after ORDER BY first DESC LIMIT 1), 0) ORDER BY first"""


def former_append(former: sqlite3.Connection, run_id: str, batch: Batch) -> None:
    with former:
        former.execute(FORMER_APPEND, (run_id, batch.first, run_id, batch.first, batch.last, batch.epoch, batch.data))


def test_the_logs_of_an_older_file_are_kept_and_go_on(path: Path) -> None:
    SqliteStore(path).close()
    former = sqlite3.connect(path)
    for statement in ("DROP VIEW log", "DROP TABLE batch", "DROP TABLE log_number", FORMER_LOG):
        former.execute(statement)
    for first in (1, 3, 5):
        for run_id in ("b", "a"):
            former_append(former, run_id, Batch(first, first + 1, f"{run_id}{first}".encode(), first))
    former.close()
    store = SqliteStore(path)
    for run_id in ("a", "b"):
        assert store.read_log(run_id) == [Batch(n, n + 1, f"{run_id}{n}".encode(), n) for n in (1, 3, 5)]
        with pytest.raises(AppendConflict):
            store.append(run_id, Batch(5, 6, b"other"))
        store.append(run_id, Batch(7, 7, b"new"))
        assert [batch.first for batch in store.read_log(run_id, 4)] == [5, 7]
    store.close()


def test_the_release_before_reads_and_writes_the_logs_of_a_file(path: Path) -> None:
    """Its statements are those of the table that the view `log` stands for; it refuses what this release refuses."""
    store = SqliteStore(path)
    store.append("r", Batch(1, 2, b"ours", 1))
    former = sqlite3.connect(path)
    former_append(former, "r", Batch(3, 3, b"theirs", 2))
    former_append(former, "s", Batch(1, 1, b"theirs", 1))
    for first in (1, 3, 5):
        with pytest.raises(sqlite3.IntegrityError):
            former_append(former, "r", Batch(first, first, b"late"))
    assert former.execute(FORMER_READ, {"run_id": "r", "after": 1}).fetchall() == [(1, 2, b"ours", 1), (3, 3, b"theirs", 2)]
    assert former.execute("SELECT last, epoch FROM log WHERE run_id = 'r' ORDER BY first DESC LIMIT 1").fetchone() == (3, 2)
    store.append("r", Batch(4, 4, b"ours", 3))
    with former:
        former.execute("DELETE FROM log WHERE run_id = 'r'")
        former.execute("INSERT INTO log (run_id, first, last, epoch, data) VALUES ('r', 1, 4, 3, x'')")
    former.close()
    assert (store.read_log("r"), store.read_log("s")) == ([Batch(1, 4, b"", 3)], [Batch(1, 1, b"theirs", 1)])
    with pytest.raises(AppendConflict):
        store.append("r", Batch(4, 4, b"late"))
    store.append("r", Batch(5, 5, b"ours", 4))
    store.close()


def test_the_number_of_a_removed_log_belongs_to_the_next_run_only(path: Path) -> None:
    """The number of the newest log is given again after its removal. A process that
    remembers it must not write to the other log."""
    here, there = SqliteStore(path), SqliteStore(path)
    here.append("old", Batch(1, 1, b"old"))
    there.erase_run("old")
    there.append("new", Batch(1, 1, b"new"))
    assert here.database.rows("SELECT number, run_id FROM log_number") == [(1, "new")]
    with pytest.raises(AppendConflict):
        here.append("old", Batch(2, 2, b"old"))
    assert (here.read_log("old"), here.read_log("new")) == ([], [Batch(1, 1, b"new")])
    here.append("old", Batch(1, 1, b"again"))
    assert [there.read_log("old"), there.read_log("new")] == [[Batch(1, 1, b"again")], [Batch(1, 1, b"new")]]
    here.close()
    there.close()


def test_a_number_that_was_not_made_durable_is_not_written_with(path: Path) -> None:
    store = SqliteStore(path)
    with pytest.raises(ZeroDivisionError), store.together():
        store.append("undone", Batch(1, 1, b"undone"))
        raise ZeroDivisionError
    store.append("other", Batch(1, 1, b"other"))
    store.append("undone", Batch(1, 1, b"undone"))
    store.append("undone", Batch(2, 2, b"undone"))
    assert store.read_log("other") == [Batch(1, 1, b"other")]
    assert [batch.first for batch in store.read_log("undone")] == [1, 2]
    store.close()


@pytest.mark.parametrize("after", [0, 1, 2**32 - 1, 2**32, 2**40, 2**63 - 1])
def test_a_log_ends_where_the_next_begins(path: Path, after: int) -> None:
    store = SqliteStore(path)
    for run_id in ("a", "b", "c"):
        store.append(run_id, Batch(1, 2**33, run_id.encode()))
    assert store.read_log("b", after) == ([Batch(1, 2**33, b"b")] if after < 2**33 else [])
    with pytest.raises(AppendConflict):
        store.append("b", Batch(2**33 + 1, 2**33 + 1, b"no room in a key"))
    assert store.read_log("c") == [Batch(1, 2**33, b"c")]
    store.close()


def test_a_migration_that_fails_changes_nothing(path: Path) -> None:
    Database(path).close()
    with pytest.raises(EngineBug):
        Database(path, migrations=(*MIGRATIONS, ("ALTER TABLE claim ADD COLUMN note TEXT", "UPDATE nowhere SET x = 1")))
    database = Database(path)
    assert "note" not in [column[1] for column in database.rows("PRAGMA table_info(claim)")]
    database.close()


@pytest.mark.parametrize("name", STATEMENTS)
def test_no_statement_scans_or_sorts_a_table(path: Path, name: str) -> None:
    text = STATEMENTS[name]
    names = re.findall(r":([a-z_]+)", text)
    given: Any = dict.fromkeys(names) if names else [None] * text.count("?")
    database = Database(path)
    plan = [detail for *_, detail in database.rows(f"EXPLAIN QUERY PLAN {text}", given)]
    database.close()
    assert not [detail for detail in plan if detail.startswith(("SCAN", "USE TEMP B-TREE"))], plan


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_placeholder_is_positional_or_has_a_name(name: str) -> None:
    """Python treats numbered placeholders as named, and from 3.14 on accepts only a mapping for them."""
    text = STATEMENTS[name]
    assert not re.search(r"\?\d|[@$]\w", text)
    assert not (re.search(r"\?", text) and re.search(r":\w", text))


def test_listing_stays_on_its_index_after_the_planner_has_statistics(path: Path) -> None:
    store = SqliteStore(path)
    for i in range(300):
        store.create_run(RunHead(f"r{i}", f"w{i % 3}", "h", ("running", "completed")[i % 50 > 0], i, i, b"{}"))
    store.database.rows("ANALYZE")
    store.close()
    store = SqliteStore(path)
    given = {"workflow_id": "w1", "status": "running", "waiting": "answer", "since_ms": 0, "created_ms": 999, "run_id": "",
             "limit": 9, "due": False}  # fmt: skip
    for text in statements.LIST_RUNS.values():
        plan = [detail for *_, detail in store.database.rows(f"EXPLAIN QUERY PLAN {text}", given)]
        assert not [detail for detail in plan if detail.startswith(("SCAN", "USE TEMP B-TREE"))], plan
    assert len(store.list_runs(RunFilter(status="running")).items) == 6
    store.close()
