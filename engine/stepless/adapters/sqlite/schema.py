"""Defines the schema of the SQLite file. Each schema version is one tuple of statements, applied in order and never changed
afterwards; columns that were added later without a new version follow.

`batch` holds the logs, as one B-tree with an integer key: the number of the log in `log_number` in the upper bits, and the
number of the first event in the lower 32. An append changes one page, and the logs of runs that advance together are near each
other. The view `log` shows both as the table of former releases, whose statements still read and write it (`LOG_VIEW`). `run` has
one index per filter of the listing, all in the listing's order, and partial indexes of the runs that are due and of those that
wait.

`draft` has the heads of drafts; `op`, `entity` and `state` are below one epoch, their `room`: `{workflow}#{epoch}`.
"""

from __future__ import annotations

from typing import Final

MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (
    (  # 1
        "CREATE TABLE workflow (workflow_id TEXT NOT NULL PRIMARY KEY, newest INTEGER NOT NULL) STRICT, WITHOUT ROWID",
        """CREATE TABLE version (
            workflow_id TEXT NOT NULL, number INTEGER NOT NULL, hash TEXT NOT NULL, document BLOB NOT NULL,
            created_ms INTEGER NOT NULL, PRIMARY KEY (workflow_id, number)) STRICT""",
        "CREATE INDEX version_by_hash ON version (workflow_id, hash, number)",
        "CREATE TABLE claim (key TEXT NOT NULL PRIMARY KEY, value BLOB NOT NULL, expires_ms INTEGER) STRICT, WITHOUT ROWID",
        "CREATE INDEX claim_by_expiry ON claim (expires_ms) WHERE expires_ms IS NOT NULL",
        """CREATE TABLE run (
            run_id TEXT NOT NULL PRIMARY KEY, workflow_id TEXT NOT NULL, version TEXT NOT NULL, status TEXT NOT NULL,
            created_ms INTEGER NOT NULL, updated_ms INTEGER NOT NULL, sequence INTEGER NOT NULL, due_ms INTEGER,
            epoch INTEGER NOT NULL, owner TEXT, lease_until_ms INTEGER NOT NULL, meta BLOB NOT NULL,
            inputs BLOB NOT NULL) STRICT""",
        "CREATE INDEX run_by_age ON run (created_ms, run_id)",
        "CREATE INDEX run_by_workflow ON run (workflow_id, created_ms, run_id)",
        "CREATE INDEX run_by_status ON run (status, created_ms, run_id)",
        "CREATE INDEX run_by_workflow_and_status ON run (workflow_id, status, created_ms, run_id)",
        "CREATE INDEX run_by_due ON run (due_ms, run_id) WHERE due_ms IS NOT NULL",
        """CREATE TABLE log (
            run_id TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, epoch INTEGER NOT NULL,
            data BLOB NOT NULL, PRIMARY KEY (run_id, first)) STRICT""",
        "CREATE TABLE snapshot (run_id TEXT NOT NULL PRIMARY KEY, sequence INTEGER NOT NULL, data BLOB NOT NULL) STRICT",
        """CREATE TABLE inbox (
            run_id TEXT NOT NULL, kind TEXT NOT NULL, identity TEXT NOT NULL, body BLOB NOT NULL,
            created_ms INTEGER NOT NULL, taken INTEGER NOT NULL, PRIMARY KEY (run_id, kind, identity)) STRICT""",
        "CREATE INDEX inbox_waiting ON inbox (run_id, created_ms, kind, identity) WHERE taken = 0",
        "CREATE TABLE blob (hash TEXT NOT NULL PRIMARY KEY, data BLOB NOT NULL) STRICT",
    ),
    ("ALTER TABLE run ADD COLUMN spent BLOB NOT NULL DEFAULT x''",),  # 2
    (  # 3
        "ALTER TABLE run ADD COLUMN touched_ms INTEGER",
        """CREATE TABLE entry (
            kind TEXT NOT NULL, workflow_id TEXT NOT NULL, PRIMARY KEY (kind, workflow_id)) STRICT, WITHOUT ROWID""",
        """INSERT INTO entry SELECT DISTINCT k.column1, v.workflow_id FROM version AS v, (VALUES ('schedule'), ('event')) AS k
            WHERE instr(v.document, CAST('"' || k.column1 || '"' AS BLOB)) > 0""",
    ),
)

LOG_VIEW: Final[tuple[str, ...]] = (
    """CREATE VIEW log AS SELECT n.run_id, b.key & 4294967295 AS first, b.last, b.epoch, b.data
        FROM log_number AS n JOIN batch AS b ON b.key BETWEEN n.number << 32 AND (n.number << 32) + 4294967295""",
    """CREATE TRIGGER log_insert INSTEAD OF INSERT ON log BEGIN
        SELECT raise(ABORT, 'the log does not end there') WHERE NEW.first IS NULL;
        INSERT INTO log_number (run_id)
            SELECT NEW.run_id WHERE NOT EXISTS (SELECT 1 FROM log_number WHERE run_id = NEW.run_id);
        INSERT INTO batch (key, last, epoch, data) VALUES (
            ((SELECT number FROM log_number WHERE run_id = NEW.run_id) << 32) + NEW.first, NEW.last, NEW.epoch, NEW.data);
        END""",
    """CREATE TRIGGER log_update INSTEAD OF UPDATE ON log BEGIN
        UPDATE batch SET key = (key - OLD.first) + NEW.first, last = NEW.last, epoch = NEW.epoch, data = NEW.data
            WHERE key = ((SELECT number FROM log_number WHERE run_id = OLD.run_id) << 32) + OLD.first;
        END""",
    """CREATE TRIGGER log_delete INSTEAD OF DELETE ON log BEGIN
        DELETE FROM batch WHERE key = ((SELECT number FROM log_number WHERE run_id = OLD.run_id) << 32) + OLD.first;
        END""",
)

ADDITIONS: Final[tuple[tuple[str, str, tuple[str, ...]], ...]] = (
    (
        "run", "waits",
        (
            "ALTER TABLE run ADD COLUMN waits TEXT",
            "CREATE INDEX run_by_waits ON run (created_ms, run_id) WHERE waits IS NOT NULL",
        ),
    ),
    ("run", "exported", ("ALTER TABLE run ADD COLUMN exported TEXT",)),
    (
        "run", "expires_ms",
        (
            "ALTER TABLE run ADD COLUMN expires_ms INTEGER",
            "CREATE INDEX run_by_expiry ON run (expires_ms, run_id) WHERE expires_ms IS NOT NULL",
        ),
    ),
    (
        "audit", "id",
        (
            """CREATE TABLE audit (at_ms INTEGER NOT NULL, id TEXT NOT NULL, body BLOB NOT NULL, expires_ms INTEGER NOT NULL,
                PRIMARY KEY (at_ms, id)) STRICT, WITHOUT ROWID""",
            "CREATE INDEX audit_by_expiry ON audit (expires_ms)",
        ),
    ),
    ("version", "attached", ("ALTER TABLE version ADD COLUMN attached BLOB",)),
    ("run", "erased", ("ALTER TABLE run ADD COLUMN erased INTEGER",)),
    (
        "line", "place",
        ("CREATE TABLE line (line TEXT NOT NULL, place TEXT NOT NULL, PRIMARY KEY (line, place)) STRICT, WITHOUT ROWID",),
    ),
    (
        "draft", "workflow_id",
        (
            """CREATE TABLE draft (
                workflow_id TEXT NOT NULL PRIMARY KEY, epoch INTEGER NOT NULL, origin BLOB NOT NULL, base BLOB NOT NULL,
                created_ms INTEGER NOT NULL, created_by TEXT NOT NULL, checked INTEGER NOT NULL, is_open INTEGER NOT NULL,
                former INTEGER NOT NULL) STRICT""",
        ),
    ),
    (
        "op", "seq",
        (
            """CREATE TABLE op (room TEXT NOT NULL, seq INTEGER NOT NULL, data BLOB NOT NULL, expires_ms INTEGER NOT NULL,
                PRIMARY KEY (room, seq)) STRICT""",
            "CREATE INDEX op_by_expiry ON op (expires_ms)",
        ),
    ),
    (
        "entity", "key",
        (
            """CREATE TABLE entity (room TEXT NOT NULL, key TEXT NOT NULL, seq INTEGER NOT NULL, value BLOB, expires_ms INTEGER,
                PRIMARY KEY (room, key)) STRICT""",
            "CREATE INDEX entity_by_expiry ON entity (expires_ms) WHERE expires_ms IS NOT NULL",
        ),
    ),
    (
        "state", "seq",
        (
            """CREATE TABLE state (room TEXT NOT NULL, seq INTEGER NOT NULL, data BLOB NOT NULL, expires_ms INTEGER NOT NULL,
                PRIMARY KEY (room, seq)) STRICT, WITHOUT ROWID""",
            "CREATE INDEX state_by_expiry ON state (expires_ms)",
        ),
    ),
    (
        "batch", "key",
        (
            "CREATE TABLE log_number (number INTEGER NOT NULL PRIMARY KEY, run_id TEXT NOT NULL UNIQUE) STRICT",
            """CREATE TABLE batch (
                key INTEGER NOT NULL PRIMARY KEY, last INTEGER NOT NULL, epoch INTEGER NOT NULL, data BLOB NOT NULL) STRICT""",
            "INSERT INTO log_number (run_id) SELECT run_id FROM log GROUP BY run_id ORDER BY min(rowid)",
            """INSERT INTO batch (key, last, epoch, data) SELECT (n.number << 32) + l.first, l.last, l.epoch, l.data
                FROM log_number AS n JOIN log AS l ON l.run_id = n.run_id ORDER BY n.number, l.first""",
            "DROP TABLE log",
            *LOG_VIEW,
        ),
    ),
)  # fmt: skip
"""A table, a column that may be missing, and the statements that add it. Additions do not raise the schema version: the previous
release names every column that it reads and writes, so it still works with a file that has more columns."""
