"""Drafts in a SQLite file: what several processes commit is kept once, whichever of them is killed, and when."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from plain_editing import ORIGIN, PlainEditing, State, canonical

from stepless.adapters.sqlite.blobs import SqliteBlobs
from stepless.adapters.sqlite.database import Database
from stepless.adapters.sqlite.drafts import SqliteDrafts
from stepless.adapters.system import SystemClock
from stepless.drafts.log.draft_logs import DraftLogs
from stepless.drafts.log.records import Storage
from stepless.ports import Draft

TOOLS = Path(__file__).parents[1] / "tools" / "drafts"
WF = Draft("wf", 1)

EDITOR = """
import os, sys
sys.path.append(sys.argv[1])
from plain_editing import PlainEditing
from stepless.adapters.sqlite.blobs import SqliteBlobs
from stepless.adapters.sqlite.database import Database
from stepless.adapters.sqlite.drafts import SqliteDrafts
from stepless.adapters.system import SystemClock
from stepless.ports import Draft
from stepless.drafts.log.draft_logs import DraftLogs
from stepless.drafts.log.entries import LogEntry
from stepless.drafts.log.records import Storage
from stepless.drafts.rules.requests import EditRequest
database, name, wf = Database(sys.argv[2]), sys.argv[3], Draft("wf", 1)
drafting = DraftLogs(Storage(SqliteDrafts(database), SqliteBlobs(database), SystemClock()), PlainEditing())
seq = drafting.current("wf").seq
for n in range(1, 100_000):
    operations = [["splice", "block/o1", 0, n % 2, name], ["put", f"block/{name}{n % 5}", {"n": n}]]
    while True:
        made = drafting.commit(wf, EditRequest(name, n, f"{name}{n}", seq, operations), name)
        if isinstance(made, LogEntry):
            break
        assert made.code == "busy", made
        seq = drafting.current("wf").seq
    seq = made.seq
    os.write(1, b"%d\\n" % n)
    if n % 3 == 0:
        drafting.checkpoint("wf")
"""


def test_what_was_acknowledged_is_kept_once_whichever_process_is_killed(
    path: Path, spawn: Callable[..., subprocess.Popen[str]]
) -> None:
    database = Database(path)
    storage = Storage(SqliteDrafts(database), SqliteBlobs(database), SystemClock())
    drafting: DraftLogs[State] = DraftLogs(storage, PlainEditing())
    drafting.open("wf", ORIGIN, "ada")
    acknowledged: dict[str, int] = {}
    for turn in range(4):
        children = {name: spawn(EDITOR, TOOLS, path, name) for name in (f"a{turn}", f"b{turn}")}
        for name, child in children.items():
            assert child.stdout is not None
            for _ in range(20 + 7 * turn):
                acknowledged[name] = int(child.stdout.readline())
        for child in children.values():
            child.kill()
        for name, child in children.items():
            rest, _ = child.communicate()
            acknowledged[name] = max(acknowledged[name], *(int(line) for line in [*rest.split(), "0"]))
    items = list(drafting.entries(WF, 0, 1000)) + [item for after in (1000, 2000) for item in drafting.entries(WF, after, 1000)]
    assert [item.seq for item in items] == [*range(1, len(items) + 1)]
    for name, most in acknowledged.items():
        numbers = [item.n for item in items if item.client == name]
        assert numbers == [*range(1, len(numbers) + 1)] and len(numbers) >= most >= 20
    state: State = dict(ORIGIN)
    for item in items:
        PlainEditing().fold(state, item.effects)
    cold: DraftLogs[State] = DraftLogs(storage, PlainEditing())
    assert canonical(cold.current("wf").state) == canonical(state)
    assert cold.head("wf").checked > 0
    database.close()
