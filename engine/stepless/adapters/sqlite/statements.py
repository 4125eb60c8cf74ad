"""Contains every SQL statement that reads or writes data. No statement scans a table; a test checks the query plans.

A placeholder is `?` and takes a sequence, or has a name and takes a mapping. Python treats numbered ones (`?1`) as named, and
from 3.14 on rejects a sequence for them.
"""

from __future__ import annotations

from typing import Final

from stepless.ports import SHARD as _SHARD

_VERSION: Final = "SELECT v.workflow_id, v.number, v.hash, v.document, v.created_ms FROM version AS v"
# An erased run keeps the status that it ended with: the previous release must not continue it.
_RUN: Final = """SELECT run_id, workflow_id, version, iif(erased IS NULL, status, 'erased'), created_ms, updated_ms,
    inputs, meta, sequence, due_ms, epoch, owner, lease_until_ms, spent, ifnull(waits, ''), ifnull(exported, ''),
    expires_ms FROM run"""
_WAITING: Final = "waits IS NOT NULL AND instr(' ' || waits || ' ', ' ' || :waiting || ' ') > 0 AND "
# The upper bits of the keys of a log, and all its keys.
_NUMBER: Final = "(SELECT number FROM log_number WHERE run_id = :run_id)"
_LAST_EVENT: Final = 2**32 - 1
_OF_LOG: Final = f"key BETWEEN {_NUMBER} << 32 AND ({_NUMBER} << 32) + {_LAST_EVENT}"
_SIGNAL: Final = "SELECT kind, identity, body, created_ms, taken FROM inbox"

# -- versions --------------------------------------------------------------------------------------------------------
# The newest version of a workflow.
NEWEST_VERSION: Final = f"{_VERSION} WHERE v.workflow_id = ? ORDER BY v.number DESC LIMIT 1"
# Its number and hash. Both are stored before the document, whose pages are not read.
NEWEST_HASH: Final = "SELECT number, hash FROM version WHERE workflow_id = ? ORDER BY number DESC LIMIT 1"
# One version by number.
VERSION_BY_NUMBER: Final = f"{_VERSION} WHERE v.workflow_id = ? AND v.number = ?"
# The newest version with a hash.
VERSION_BY_HASH: Final = f"{_VERSION} WHERE v.workflow_id = ? AND v.hash = ? ORDER BY v.number DESC LIMIT 1"
# A new version.
INSERT_VERSION: Final = "INSERT INTO version (workflow_id, number, hash, document, created_ms) VALUES (?, ?, ?, ?, ?)"
# The document of a version, where it was damaged.
REPLACE_DOCUMENT: Final = "UPDATE version SET document = ? WHERE workflow_id = ? AND number = ?"
# The metadata of a version.
ATTACH: Final = "UPDATE version SET attached = ? WHERE workflow_id = ? AND number = ?"
GET_ATTACHED: Final = "SELECT attached FROM version WHERE workflow_id = ? AND number = ?"
LIST_VERSIONS: Final = (
    "SELECT workflow_id, number, hash, created_ms, attached FROM version WHERE workflow_id = ? AND number < ? "
    "ORDER BY number DESC LIMIT ?"
)
# Which number is the newest of a workflow.
POINT_TO_NEWEST: Final = "INSERT INTO workflow VALUES (?, ?) ON CONFLICT DO UPDATE SET newest = excluded.newest"
# By which kind of entry a workflow is found.
PUT_ENTRY: Final = "INSERT INTO entry (kind, workflow_id) VALUES (?, ?) ON CONFLICT DO NOTHING"
# The newest versions of the workflows after an id.
LIST_WORKFLOWS: Final = f"""{_VERSION} JOIN workflow AS w ON w.workflow_id = v.workflow_id AND w.newest = v.number
    WHERE w.workflow_id > ? ORDER BY w.workflow_id LIMIT ?"""
# Which versions are the newest of the workflows with an entry of a kind.
LIST_ENTRIES: Final = """SELECT v.workflow_id, v.number, v.hash FROM version AS v
    JOIN workflow AS w ON w.workflow_id = v.workflow_id AND w.newest = v.number
    JOIN entry AS e ON e.workflow_id = w.workflow_id
    WHERE e.kind = ? AND e.workflow_id > ? ORDER BY e.workflow_id LIMIT ?"""

# -- claims ----------------------------------------------------------------------------------------------------------
_LASTS = "typeof(expires_ms) = 'integer' AND expires_ms > :now_ms"
# Adds one to a counter, which is a claim whose value is a number. One whose end is damaged begins again.
COUNT: Final = f"""INSERT INTO claim (key, value, expires_ms) VALUES (:key, CAST('1' AS BLOB), :expires_ms)
    ON CONFLICT DO UPDATE SET
        value = CAST(iif({_LASTS}, CAST(CAST(value AS TEXT) AS INTEGER) + 1, '1') AS BLOB),
        expires_ms = iif({_LASTS}, expires_ms, excluded.expires_ms)
    RETURNING CAST(CAST(value AS TEXT) AS INTEGER)"""
# Deletes two expired claims: each new claim cleans up older ones.
FORGET_CLAIMS: Final = "DELETE FROM claim WHERE key IN (SELECT key FROM claim WHERE expires_ms <= ? ORDER BY expires_ms LIMIT 2)"
# The value of an unexpired claim.
GET_CLAIM: Final = "SELECT value FROM claim WHERE key = ? AND (expires_ms IS NULL OR expires_ms > ?)"
# Removes a claim that has this value.
RELEASE_CLAIM: Final = "DELETE FROM claim WHERE key = ? AND value = ?"
# Stores a value in place of another one.
REPLACE_CLAIM: Final = """UPDATE claim SET value = :value, expires_ms = :expires_ms
    WHERE key = :key AND value = :former AND (expires_ms IS NULL OR expires_ms > :now_ms)"""
# Stores a value where there is no unexpired one.
FIRST_CLAIM: Final = """INSERT INTO claim (key, value, expires_ms) VALUES (:key, :value, :expires_ms)
    ON CONFLICT DO UPDATE SET value = excluded.value, expires_ms = excluded.expires_ms WHERE claim.expires_ms <= :now_ms"""

# -- lines -----------------------------------------------------------------------------------------------------------
# Adds a position to a line.
JOIN_LINE: Final = "INSERT INTO line (line, place) VALUES (?, ?) ON CONFLICT DO NOTHING"
# Removes a position from a line.
LEAVE_LINE: Final = "DELETE FROM line WHERE line = ? AND place = ?"
# The first positions of a line.
READ_LINE: Final = "SELECT place FROM line WHERE line = ? ORDER BY place LIMIT ?"

# -- runs ------------------------------------------------------------------------------------------------------------
# A new header, unless the run exists.
CREATE_RUN: Final = """INSERT INTO run (run_id, workflow_id, version, status, created_ms, updated_ms, inputs, meta, sequence,
    due_ms, epoch, owner, lease_until_ms, spent, waits, exported, expires_ms)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, ''), nullif(?, ''), ?)
    ON CONFLICT DO NOTHING"""
# One header.
GET_RUN: Final = f"{_RUN} WHERE run_id = ?"
# The most overdue headers after a key.
LIST_DUE: Final = f"{_RUN} WHERE due_ms <= ? AND (due_ms, run_id) > (?, ?) ORDER BY due_ms, run_id LIMIT ?"
# Headers before a key, newest first; by whether a workflow, a status and what they wait for are given.
LIST_RUNS: Final = {
    (by_workflow, by_status, waiting): f"""{_RUN}{" INDEXED BY run_by_waits" * waiting}
    WHERE {"workflow_id = :workflow_id AND " * by_workflow}{"status = :status AND " * by_status}{_WAITING * waiting}
    erased IS NULL AND substr(run_id, 1, {len(_SHARD)}) <> '{_SHARD}' AND (NOT :due OR due_ms IS NOT NULL)
    AND created_ms >= :since_ms AND (created_ms, run_id) < (:created_ms, :run_id)
    ORDER BY created_ms DESC, run_id DESC LIMIT :limit"""
    for by_workflow in (False, True)
    for by_status in (False, True)
    for waiting in (False, True)
}
# Takes the lease if it is free, expired or this owner's.
TAKE_LEASE: Final = """UPDATE run SET owner = :owner, epoch = epoch + 1, lease_until_ms = :until_ms, due_ms = :until_ms,
    touched_ms = NULL WHERE run_id = :run_id AND erased IS NULL AND
    (owner IS NULL OR owner = :owner OR lease_until_ms <= :now_ms)
    RETURNING epoch, spent, ifnull(exported, '')"""
# Takes the lease for the receiver of a hint, if no owner is recorded.
GRANT_LEASE: Final = """UPDATE run SET owner = :owner, epoch = epoch + 1, lease_until_ms = :until_ms, due_ms = :until_ms,
    touched_ms = NULL WHERE run_id = :run_id AND erased IS NULL AND owner IS NULL"""
# Changes a header under its lease, and keeps the lease.
UPDATE_RUN: Final = """UPDATE run SET
    updated_ms = :now_ms, status = ifnull(:status, status), sequence = ifnull(:sequence, sequence), spent = ifnull(:spent, spent),
    waits = iif(:waits IS NULL, waits, nullif(:waits, '')), exported = ifnull(:exported, exported),
    expires_ms = ifnull(:expires_ms, expires_ms), meta = ifnull(:meta, meta),
    lease_until_ms = ifnull(:until_ms, lease_until_ms), due_ms = ifnull(:until_ms, lease_until_ms)
    WHERE run_id = :run_id AND epoch = :epoch RETURNING lease_until_ms"""
# Changes a header and passes its lease on.
PASS_ON: Final = """UPDATE run SET
    updated_ms = :now_ms, status = ifnull(:status, status), sequence = ifnull(:sequence, sequence), spent = ifnull(:spent, spent),
    waits = iif(:waits IS NULL, waits, nullif(:waits, '')), exported = ifnull(:exported, exported),
    expires_ms = ifnull(:expires_ms, expires_ms), meta = ifnull(:meta, meta),
    owner = :owner, epoch = epoch + 1, lease_until_ms = :grant_ms, due_ms = :grant_ms
    WHERE run_id = :run_id AND epoch = :epoch AND owner IS NOT NULL"""
# Who holds which lease of a run.
GET_LEASE: Final = "SELECT owner, epoch, lease_until_ms FROM run WHERE run_id = ?"
# The epoch of a header: a lease of this epoch that has no owner was released.
GET_EPOCH: Final = "SELECT epoch FROM run WHERE run_id = ?"
# Changes a header and frees its lease. An earlier touch since the lease was taken takes precedence.
RELEASE_RUN: Final = """UPDATE run SET
    updated_ms = :now_ms, status = ifnull(:status, status), sequence = ifnull(:sequence, sequence), spent = ifnull(:spent, spent),
    waits = iif(:waits IS NULL, waits, nullif(:waits, '')), exported = ifnull(:exported, exported),
    expires_ms = ifnull(:expires_ms, expires_ms), meta = ifnull(:meta, meta),
    owner = NULL, lease_until_ms = 0, due_ms = iif(touched_ms < ifnull(:due_ms, touched_ms + 1), touched_ms, :due_ms),
    touched_ms = NULL WHERE run_id = :run_id AND epoch = :epoch AND owner IS NOT NULL RETURNING lease_until_ms"""
# Brings the next check of a run forward. The touch outlives the present lease.
TOUCH_RUN: Final = """UPDATE run SET due_ms = min(ifnull(due_ms, :due_ms), :due_ms),
    touched_ms = iif(owner IS NULL, NULL, min(ifnull(touched_ms, :due_ms), :due_ms)) WHERE run_id = :run_id AND erased IS NULL"""

# -- the audit log ---------------------------------------------------------------------------------------------------
# An entry, in place of the one with this key.
PUT_AUDIT: Final = """INSERT INTO audit (at_ms, id, body, expires_ms) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET body = excluded.body"""
# Deletes two expired entries: each new entry cleans up older ones.
FORGET_AUDIT: Final = """DELETE FROM audit WHERE (at_ms, id) IN
    (SELECT at_ms, id FROM audit WHERE expires_ms <= ? ORDER BY expires_ms LIMIT 2)"""
# Entries before a key, newest first.
LIST_AUDIT: Final = """SELECT at_ms, id, body FROM audit WHERE at_ms >= ? AND (at_ms, id) < (?, ?) AND expires_ms > ?
    ORDER BY at_ms DESC, id DESC LIMIT ?"""

# -- removal ---------------------------------------------------------------------------------------------------------
# The headers of expired runs.
LIST_EXPIRED: Final = f"{_RUN} WHERE expires_ms <= ? ORDER BY expires_ms, run_id LIMIT ?"
# Moves the end of a header's time.
KEEP_RUN: Final = """UPDATE run SET expires_ms = :until_ms, due_ms = :until_ms
    WHERE run_id = :run_id AND expires_ms IS NOT NULL AND owner IS NULL AND erased IS NULL"""
# Turns a header into that of an erased run, and frees its lease.
MARK_ERASED: Final = """UPDATE run SET erased = 1, updated_ms = :now_ms, inputs = CAST('null' AS BLOB), meta = :meta,
    due_ms = :due_ms, owner = NULL, lease_until_ms = 0, touched_ms = NULL, spent = x'', waits = NULL, exported = NULL,
    expires_ms = NULL
    WHERE run_id = :run_id AND epoch = :epoch AND owner IS NOT NULL"""
# Sets when an erased run is due.
POSTPONE_ERASED: Final = "UPDATE run SET due_ms = ? WHERE run_id = ? AND erased IS NOT NULL"
# One batch without content in place of a log: later appends are still refused.
END_OF_LOG: Final = f"SELECT last, epoch FROM batch WHERE {_OF_LOG} ORDER BY key DESC LIMIT 1"
EMPTY_LOG: Final = f"INSERT INTO batch (key, last, epoch, data) VALUES (({_NUMBER} << 32) + 1, :last, :epoch, x'')"
# The content of a run.
FORGET_LOG: Final = f"DELETE FROM batch WHERE {_OF_LOG}"
FORGET_LOG_NUMBER: Final = "DELETE FROM log_number WHERE run_id = ?"
FORGET_SNAPSHOT: Final = "DELETE FROM snapshot WHERE run_id = ?"
FORGET_INBOX: Final = "DELETE FROM inbox WHERE run_id = ?"
FORGET_RUN: Final = "DELETE FROM run WHERE run_id = ?"

# -- the log ---------------------------------------------------------------------------------------------------------
# The number of a log.
LOG_NUMBER: Final = "SELECT number FROM log_number WHERE run_id = ?"
# A number for a new log, if it has none: the next one after all that fit into a key, whatever a damaged row says.
NUMBER_LOG: Final = """INSERT INTO log_number (number, run_id)
    VALUES (1 + coalesce((SELECT number FROM log_number WHERE number < (1 << 31) - 1 ORDER BY number DESC LIMIT 1), 0), ?)
    ON CONFLICT DO NOTHING RETURNING number"""
# A batch. If the log does not end just before it, or has another number, `last` becomes NULL and the table rejects the row.
# (VALUES takes a third of the time of SELECT … WHERE.)
APPEND: Final = """INSERT INTO batch (key, last, epoch, data) VALUES (?, iif(
    ? = ifnull((SELECT last FROM batch WHERE key BETWEEN ? AND ? ORDER BY key DESC LIMIT 1), 0)
    AND ? = (SELECT run_id FROM log_number WHERE number = ?), ?, NULL), ?, ?)"""
# Batches from the one that holds the event after a number. With a second lower bound, SQLite reads the whole log.
READ_LOG: Final = f"""SELECT key & {_LAST_EVENT}, last, data, epoch FROM batch
    WHERE last > :after AND key BETWEEN ifnull((
        SELECT key FROM batch WHERE key BETWEEN {_NUMBER} << 32 AND ({_NUMBER} << 32) + min(:after, {_LAST_EVENT})
        ORDER BY key DESC LIMIT 1), {_NUMBER} << 32) AND ({_NUMBER} << 32) + {_LAST_EVENT}
    ORDER BY key"""
# A snapshot, unless a newer one exists.
PUT_SNAPSHOT: Final = """INSERT INTO snapshot (run_id, sequence, data) VALUES (?, ?, ?) ON CONFLICT DO UPDATE
    SET sequence = excluded.sequence, data = excluded.data WHERE excluded.sequence >= sequence"""
# The snapshot of a run.
GET_SNAPSHOT: Final = "SELECT sequence, data FROM snapshot WHERE run_id = ?"

# -- the inbox -------------------------------------------------------------------------------------------------------
# A signal, unless one of this kind and identity exists.
PUT_SIGNAL: Final = """INSERT INTO inbox (run_id, kind, identity, body, created_ms, taken) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT DO NOTHING"""
# How many signals wait.
COUNT_WAITING: Final = "SELECT count(*) FROM inbox WHERE run_id = ? AND taken = 0"
# One signal.
GET_SIGNAL: Final = f"{_SIGNAL} WHERE run_id = ? AND kind = ? AND identity = ?"
# The signals that wait, oldest first.
READ_INBOX: Final = f"{_SIGNAL} WHERE run_id = ? AND taken = 0 ORDER BY created_ms, kind, identity"
# Marks a signal taken.
TAKE_SIGNAL: Final = "UPDATE inbox SET taken = 1 WHERE run_id = ? AND kind = ? AND identity = ?"

# -- blobs -----------------------------------------------------------------------------------------------------------
# A value by its key, once. The column is named for former releases, whose keys were the hash alone.
PUT_BLOB: Final = "INSERT INTO blob (hash, data) VALUES (?, ?) ON CONFLICT DO NOTHING"
# The value of a key.
GET_BLOB: Final = "SELECT data FROM blob WHERE hash = ?"
# The values of one run: those whose key begins with its id and a slash.
LIST_SHARED: Final = "SELECT hash FROM blob WHERE hash > ? AND length(hash) = 64 AND instr(hash, '/') = 0 ORDER BY hash LIMIT ?"
FORGET_BLOB: Final = "DELETE FROM blob WHERE hash = ?"
FORGET_BLOBS: Final = "DELETE FROM blob WHERE hash > ? AND hash < ?"

# -- drafts ----------------------------------------------------------------------------------------------------------
_DRAFT: Final = "SELECT workflow_id, epoch, origin, base, created_ms, created_by, checked, is_open, former FROM draft"
# The first head of a workflow's draft.
CREATE_DRAFT: Final = """INSERT INTO draft (workflow_id, epoch, origin, base, created_ms, created_by, checked, is_open, former)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"""
# A head in place of that of another epoch.
REPLACE_DRAFT: Final = """UPDATE draft SET epoch = ?, origin = ?, base = ?, created_ms = ?, created_by = ?, checked = ?,
    is_open = ?, former = ? WHERE workflow_id = ? AND epoch = ?"""
# One head.
GET_DRAFT: Final = f"{_DRAFT} WHERE workflow_id = ?"
# The heads after a workflow.
LIST_DRAFTS: Final = f"{_DRAFT} WHERE workflow_id > ? ORDER BY workflow_id LIMIT ?"
# Raises the item up to which entities are written.
RAISE_CHECKED: Final = "UPDATE draft SET checked = :seq WHERE workflow_id = :workflow_id AND epoch = :epoch AND checked < :seq"
# Replaces the base of a head.
MOVE_BASE: Final = """UPDATE draft SET base = :base
    WHERE workflow_id = :workflow_id AND epoch = :epoch AND base IN (:former, :base)"""
# The epoch before is settled.
SETTLE_FORMER: Final = "UPDATE draft SET former = 0 WHERE workflow_id = ? AND epoch = ?"
# An item, unless there is one.
APPEND_OP: Final = "INSERT INTO op (room, seq, data, expires_ms) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
# The items after one.
READ_OPS: Final = "SELECT seq, data, expires_ms FROM op WHERE room = ? AND seq > ? ORDER BY seq LIMIT ?"
# The last item.
LAST_OP: Final = "SELECT seq, data, expires_ms FROM op WHERE room = ? ORDER BY seq DESC LIMIT 1"
# An entity, unless there is one that is as new.
PUT_ENTITY: Final = """INSERT INTO entity (room, key, seq, value, expires_ms) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
    seq = excluded.seq, value = excluded.value, expires_ms = excluded.expires_ms WHERE seq < excluded.seq"""
# The entities after a key.
READ_ENTITIES: Final = "SELECT key, seq, value, expires_ms FROM entity WHERE room = ? AND key > ? ORDER BY key LIMIT ?"
# A state, unless there is one.
PUT_STATE: Final = "INSERT INTO state (room, seq, data, expires_ms) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
# The latest state at or before an item.
NEAREST_STATE: Final = "SELECT seq, data, expires_ms FROM state WHERE room = ? AND seq <= ? ORDER BY seq DESC LIMIT 1"
# The entities of an epoch get an expiry.
EXPIRE_ENTITIES: Final = """UPDATE entity SET expires_ms = :expires_ms
    WHERE room = :room AND (expires_ms IS NULL OR expires_ms > :expires_ms)"""
# Deletes expired records, some at a time.
FORGET_OPS: Final = "DELETE FROM op WHERE rowid IN (SELECT rowid FROM op WHERE expires_ms <= ? ORDER BY expires_ms LIMIT ?)"
FORGET_ENTITIES: Final = """DELETE FROM entity WHERE rowid IN
    (SELECT rowid FROM entity WHERE expires_ms <= ? ORDER BY expires_ms LIMIT ?)"""
FORGET_STATES: Final = """DELETE FROM state WHERE (room, seq) IN
    (SELECT room, seq FROM state WHERE expires_ms <= ? ORDER BY expires_ms LIMIT ?)"""
