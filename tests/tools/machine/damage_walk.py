"""Walks over a server whose store is damaged in one place: nothing else may suffer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from everything_stored import Engine, Filled, answer, serving

from stepless.drafts.operations.diagnosis import damaged_drafts
from stepless.ports import OpenStore
from stepless.runtime.diagnosis.checking import diagnose
from stepless.runtime.diagnosis.findings import Diagnosis
from stepless.runtime.wiring.local import inspected
from stepless.runtime.wiring.stores import Kept, read_only

_OF_WORKFLOW = ("", "/versions/1", "/schedules", "/stats", "/versions", "/diff?from=1&to=2")
_OF_DRAFT = (
    "", "/ops?epoch=1", "/document", "/findings", "/yaml", "/diff?against=base", "/history", "/conflicts", "/runs",
    "/document?seq=2",
)  # fmt: skip
_OF_RUN = ("", "/cost", "/document", "/nodes", "/tags", "/summary", "/timeline", "/events?limit=5")
_LISTS = (
    "/workflows", "/schedules", "/runs", "/runs?workflow=ask", "/runs?status=paused", "/runs?waiting=answer", "/runs?text=x",
    "/runs/count", "/approvals", "/approvals/decisions", "/errors", "/stats", "/keys", "/audit", "/me", "/drafts", "/kinds",
    "/health", "/console/settings",
)  # fmt: skip


def chosen(filled: Filled) -> dict[str, str]:
    """Which rows to damage, by table; nothing of the workflows `asked` and `other`."""
    run = f"'{filled.runs['waiting']}'"
    of_log = f"number IN (SELECT number FROM log_number WHERE run_id = {run})"
    return {
        "workflow": "workflow_id IN ('ask', 'timed')", "version": "workflow_id IN ('ask', 'timed')",
        "run": f"run_id IN ({run}, '{filled.runs['echo']}', '{filled.runs['timer']}')", "log_number": of_log,
        "batch": f"key >> 32 IN (SELECT number FROM log_number WHERE run_id = {run})", "claim": "true", "inbox": "true",
        "draft": "workflow_id = 'ask'", "op": "room = 'ask#1' AND seq IN (1, 4)", "entity": "room = 'ask#1'",
        "state": "room = 'ask#1' LIMIT 1", "snapshot": "true", "audit": "true LIMIT 1",
    }  # fmt: skip


async def walk(kept: Kept, filled: Filled, cell: Any = None) -> list[str]:
    found: list[str] = []
    async with serving(kept) as engine:
        await _walk(engine, filled, found)
        await _works(engine, filled, found)
        if engine.host.done():
            found.append(f"the host ended: {engine.host.exception()!r:.100}")
    return found


async def _walk(engine: Engine, filled: Filled, found: list[str]) -> None:
    paths = [*_LISTS]
    paths += [f"/workflows/{one}{rest}" for one in ("ask", "timed", "echo") for rest in _OF_WORKFLOW]
    paths += [f"/drafts/{one}{rest}" for one in ("ask", "echo") for rest in _OF_DRAFT]
    paths += [f"/runs/{filled.runs[one]}{rest}" for one in ("waiting", "echo", "timer", "parent") for rest in _OF_RUN]
    for path in paths:
        answer = await engine.ask.get(path, headers={"prefer": "wait=0"})
        if answer.status_code in (500, 502, 504):
            found.append(f"{answer.status_code} {_general(path, filled)} {answer.json().get('code')}")


def _general(path: str, filled: Filled) -> str:
    for name, run_id in filled.runs.items():
        path = path.replace(run_id, "{" + name + "}")
    return path


async def _works(engine: Engine, filled: Filled, found: list[str]) -> None:
    run_id = await engine.start("other", {"n": 3})
    await engine.until(run_id, "completed")
    await answer(engine, filled.runs["asked"])


def diagnosed(path: Path) -> list[Diagnosis]:
    """What `stepless doctor` says of a file."""
    runs = read_only(str(path))
    try:
        return diagnosed_in(runs)
    finally:
        runs.close()


def diagnosed_in(runs: OpenStore) -> list[Diagnosis]:
    assert runs.inspection is not None
    return [*diagnose(inspected(runs), runs.inspection, damaged_drafts)]
