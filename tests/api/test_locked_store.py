"""Another process holds the write lock of the file: reads answer, writes wait without holding up the event loop."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.api.conftest import MakeDoor

pytestmark = pytest.mark.anyio

READS = ("/health", "/runs", "/workflows", "/approvals", "/stats", "/drafts", "/runs/{run}", "/runs/{run}/events")


@contextmanager
def locked(path: Path) -> Iterator[sqlite3.Connection]:
    """Holds the write lock, as a backup tool or a forgotten shell does."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield other
    finally:
        other.close()


async def test_reads_answer_while_requests_wait_for_the_lock_and_the_requests_are_accepted_after_it(
    make_door: MakeDoor, tmp_path: Path
) -> None:
    door = await make_door(kept=tmp_path / "runs.db")
    run_id = (await door.finish(door.ECHO, {"a": 1}))["run_id"]
    with locked(tmp_path / "runs.db"):
        starts = [asyncio.create_task(door.ask.post("/workflows/echo/runs", json={"inputs": {"n": n}})) for n in range(60)]
        published = asyncio.create_task(door.ask.put("/workflows/ask", json=door.ASK))
        for _ in range(3):
            for read in READS:  # with the lock waited for in the loop, these would come after the requests had failed
                answer = await door.ask.get(read.format(run=run_id))
                assert answer.status_code == 200, answer.text
        assert not [task for task in (*starts, published) if task.done()]
    assert {answer.status_code for answer in await asyncio.gather(*starts)} == {202}
    assert (await published).status_code == 201


async def test_a_run_in_progress_waits_for_the_lock_and_repeats_no_attempt(make_door: MakeDoor, tmp_path: Path) -> None:
    door = await make_door(kept=tmp_path / "runs.db")
    run_id, link = await door.question()
    with locked(tmp_path / "runs.db"):
        answer = asyncio.create_task(door.stranger.post(link.removeprefix("http://test"), json={"decision": "approved"}))
        assert (await door.ask.get("/health")).status_code == 200
        assert not answer.done()
    assert (await answer).status_code == 200
    assert (await door.end(run_id))["status"] == "completed"


async def test_a_request_that_waited_for_too_long_answers_503_with_retry_after(make_door: MakeDoor, tmp_path: Path) -> None:
    door = await make_door(kept=tmp_path / "runs.db")
    await door.publish(door.ECHO)
    with locked(tmp_path / "runs.db"):
        answer = await door.ask.post("/workflows/echo/runs", json={"inputs": {}})
    problem: dict[str, Any] = answer.json()
    assert (answer.status_code, problem["code"]) == (503, "store_unavailable")
    assert int(answer.headers["retry-after"]) >= 1
