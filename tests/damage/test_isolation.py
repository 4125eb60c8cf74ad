"""What becomes of each kind of damaged value: how it is marked, what refuses, and how it is repaired."""

from __future__ import annotations

import json
import logging
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from everything_stored import DOCUMENTS, Filled, answer, serving

from stepless.cli.command.main import main
from stepless.runtime.hosting.sweep import sweep
from stepless.runtime.inbox import ENDED

pytestmark = pytest.mark.anyio
JUNK = b"\xff\xfe junk"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def file(full: tuple[Path, Filled], tmp_path: Path) -> Path:
    return Path(shutil.copy(full[0], tmp_path / "copy.db"))


@pytest.fixture
def filled(full: tuple[Path, Filled]) -> Filled:
    return full[1]


def change(file: Path, statement: str, *values: Any) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        assert connection.execute(statement, values).rowcount > 0


def value(file: Path, statement: str, *values: Any) -> Any:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(statement, values).fetchone()[0]


async def test_a_damaged_version_is_marked_starts_nothing_and_is_replaced_by_its_document(file: Path) -> None:
    change(file, "UPDATE version SET document = ? WHERE workflow_id = 'fails'", JUNK)
    async with serving(file) as engine:
        listed = {each["id"]: each for each in (await engine.got("GET", "/workflows"))["workflows"]}
        assert listed["fails"]["damage"]["place"] == "version.document of fails/1"
        assert [name for name, each in listed.items() if "damage" in each] == ["fails"]
        refused = await engine.got("POST", "/workflows/fails/runs", 503, json={"inputs": {}})
        assert refused["code"] == "damaged" and refused["place"] and "publish the same document" in refused["mend"]
        await engine.got("PUT", "/workflows/fails", 200, json={"id": "fails", **DOCUMENTS["fails"]})
        assert "damage" not in await engine.got("GET", "/workflows/fails")
        await engine.until(await engine.start("fails"), "failed")


async def test_a_damaged_text_leaves_its_version_usable(file: Path) -> None:
    change(file, "UPDATE version SET attached = ? WHERE workflow_id = 'ask' AND attached IS NOT NULL", JUNK)
    async with serving(file) as engine:
        [listed] = (await engine.got("GET", "/workflows/ask/versions"))["versions"]
        assert listed["damage"]["place"] == "version.attached of ask/1"
        await answer(engine, await engine.start("ask"))


async def test_a_run_with_a_damaged_header_rests_and_continues_once_it_is_restored(file: Path, filled: Filled) -> None:
    run_id = filled.runs["waiting"]
    change(file, "UPDATE run SET due_ms = NULL")
    meta = value(file, "SELECT meta FROM run WHERE run_id = ?", run_id)
    change(file, "UPDATE run SET meta = ?, due_ms = 1 WHERE run_id = ?", JUNK, run_id)
    async with serving(file) as engine:
        world = engine.local.world
        listed = {each["id"]: each for each in (await engine.got("GET", "/runs"))["runs"]}
        assert (listed[run_id]["status"], listed[run_id]["damage"]["place"]) == ("damaged", f"run.meta of {run_id}")
        for path in ("", "/events", "/nodes", "/timeline"):
            refused = await engine.got("GET", f"/runs/{run_id}{path}", 503)
            assert (refused["code"], refused["place"]) == ("damaged", f"run.meta of {run_id}")
        while (head := world.store.get_run(run_id)) is not None and head.status != "damaged_log":
            await engine.got("GET", f"/runs/{run_id}/summary", 503)
        assert sweep(world) == 0, "it rests until a later time"
        assert head is not None and head.due_ms is not None and head.due_ms > world.clock.now_ms()
    change(file, "UPDATE run SET meta = ?, due_ms = 1 WHERE run_id = ?", meta, run_id)
    async with serving(file) as engine:
        await answer(engine, run_id)


async def test_a_damaged_run_that_has_not_ended_can_be_erased(file: Path, filled: Filled) -> None:
    run_id = filled.runs["waiting"]
    assert value(file, "SELECT status FROM run WHERE run_id = ?", run_id) not in ENDED
    change(file, "UPDATE run SET meta = ? WHERE run_id = ?", JUNK, run_id)
    async with serving(file) as engine:
        assert (await engine.got("DELETE", f"/runs/{run_id}"))["erased"]
        assert (await engine.got("GET", f"/runs/{run_id}", 410))["code"] == "run_erased"


async def test_links_of_a_damaged_signing_key_are_refused_and_new_ones_work(file: Path, filled: Filled) -> None:
    async with serving(file) as engine:
        [pause] = (await engine.got("GET", f"/runs/{filled.runs['asked']}"))["pauses"]
    change(file, "UPDATE claim SET value = ? WHERE key = 'signing-key'", JUNK)
    async with serving(file) as engine:
        assert (await engine.got("POST", pause["resume"], 403, json={"decision": "approved"}))["code"]
        await answer(engine, filled.runs["asked"])
    async with serving(file) as engine:  # the new key stays
        again = await engine.start("asked")
        [pause] = (await engine.until(again, "answer"))["pauses"]
    async with serving(file) as engine:
        await engine.got("POST", pause["resume"], json={"decision": "approved"})
        await engine.until(again, "completed")


async def test_one_damaged_api_key_is_refused_and_others_work(file: Path, filled: Filled) -> None:
    async with serving(file) as engine:
        other = await engine.got("POST", "/keys", json={"name": "other", "roles": ["read"]})
    rows = json.loads(value(file, "SELECT value FROM claim WHERE key = 'api-keys:2'"))
    rows["keys"][0]["hash"] = 7
    change(file, "UPDATE claim SET value = ? WHERE key = 'api-keys:2'", json.dumps(rows).encode())
    async with serving(file) as engine:
        await engine.got("GET", "/runs", 401, headers={"authorization": f"Bearer {filled.key}"})
        await engine.got("GET", "/runs", headers={"authorization": f"Bearer {other['secret']}"})
        assert [key["name"] for key in (await engine.got("GET", "/keys"))["keys"]] == ["other"]


async def test_a_damaged_record_of_all_keys_admits_none_of_them(file: Path, filled: Filled) -> None:
    change(file, "UPDATE claim SET value = ? WHERE key = 'api-keys:1'", JUNK)
    async with serving(file) as engine:
        await engine.got("GET", "/runs", 401, headers={"authorization": f"Bearer {filled.key}"})
        assert (await engine.got("GET", "/keys"))["keys"] == []


@pytest.mark.parametrize("column", ["origin", "base"])
async def test_a_damaged_draft_is_listed_and_can_be_opened_anew(file: Path, column: str) -> None:
    change(file, f"UPDATE draft SET {column} = ? WHERE workflow_id = 'ask'", JUNK)
    async with serving(file) as engine:
        drafts = {each["workflow"]: each for each in (await engine.got("GET", "/drafts"))["drafts"]}
        assert drafts["ask"]["damage"]["place"] == f"draft.{column} of ask" and "damage" not in drafts["echo"]
        assert (await engine.got("GET", "/drafts/ask", 503))["code"] == "draft_damaged"
        await engine.got("GET", "/drafts/echo")
        await engine.got("POST", "/drafts/ask", json={"from": "version"})
        await engine.got("GET", "/drafts/ask")


async def test_an_entry_of_the_audit_log_is_listed_with_its_damage(file: Path) -> None:
    change(file, "UPDATE audit SET body = ? WHERE id = (SELECT max(id) FROM audit)", JUNK)
    async with serving(file) as engine:
        entries = (await engine.got("GET", "/audit?limit=200"))["entries"]
        assert sum("damage" in entry for entry in entries) == 1 and len(entries) > 20


async def test_a_damaged_schedule_starts_nothing_is_reported_once_and_others_fire(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    change(file, "DELETE FROM claim WHERE key = 'schedule-pause:timed:at'")
    change(file, "UPDATE claim SET value = ? WHERE key = 'schedule:timed:at'", JUNK)
    async with serving(file) as engine:
        document = {"id": "often", "nodes": {"at": {"type": "schedule", "with": {"rate": "1m"}}}}
        await engine.got("PUT", "/workflows/often", json=document)
        now_ms = engine.local.world.clock.now_ms()
        with caplog.at_level(logging.WARNING):
            for late in range(4):
                started = engine.local.schedules.fire(now_ms + late * 120_000)
        assert len(started) == 1
        assert sum("of timed" in record.message for record in caplog.records) <= 1
        schedules = {each["workflow"]: each for each in (await engine.got("GET", "/schedules"))["schedules"]}
        assert schedules["timed"]["damage"]["place"] == "claim.value of schedule:timed:at" and "damage" not in schedules["often"]


def test_the_doctor_says_what_is_damaged_and_exits_accordingly(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = file.read_bytes()
    assert main(["doctor", "--db", str(file)]) == 0
    assert "Nothing is damaged" in capsys.readouterr().out
    assert file.read_bytes() == before
    change(file, "UPDATE version SET document = ? WHERE workflow_id = 'fails'", JUNK)
    assert main(["doctor", "--db", str(file), "--json"]) == 1
    [found, run] = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert found["place"] == "version.document of fails/1" and "fails/1" in found["affects"] and "publish" in found["mend"]
    assert run["why"] and "run_" in run["affects"]
    (tmp_path / "text.db").write_text("no database " * 1_000)
    assert main(["doctor", "--db", str(tmp_path / "text.db")]) == 2
    assert main(["doctor", "--db", str(tmp_path / "none.db")]) == 2


def test_the_doctor_names_a_damaged_page(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        [page] = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'audit'").fetchone()
    with file.open("r+b") as raw:
        raw.seek((page - 1) * 4096)
        raw.write(b"\x99" * 4096)
    assert main(["doctor", "--db", str(file)]) == 1
    assert "table audit" in capsys.readouterr().out
