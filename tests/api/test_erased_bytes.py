"""An erasure to the byte: values planted wherever a person's data may come in are in no file and no item afterwards."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from dynamo_table import DirectClient, Table

from stepless import function
from stepless.adapters.aws.dynamo.drafts import DynamoDrafts
from stepless.adapters.aws.dynamo.store import DynamoStore
from stepless.adapters.memory.blobs import MemoryBlobs
from stepless.limits import ERASE_RETRY_MS
from stepless.ports import OpenStore
from stepless.runtime.removal import finish
from tests.api.conftest import MakeDoor

pytestmark = pytest.mark.anyio

ASKED = {
    "id": "person",
    "nodes": {
        "begin": {"type": "manual"},
        "work": {
            "type": "function", "after": "begin", "with": {"call": "erased_bytes.work", "args": {"person": "<begin>"}},
        },
        "question": {
            "type": "approval", "after": "work",
            "with": {
                "message": "Pay <begin.name>?", "approvers": ["<begin.approver>", "<begin.deputy>"],
                "fields": {"note": {"type": "string", "title": "Note"}},
            },
        },
        "pay": {"type": "transform", "after": "question.approved", "with": {"value": "<question>"}},
        "fail": {
            "type": "function", "after": "pay", "with": {"call": "erased_bytes.fail", "args": {"text": "<begin.failing>"}},
        },
    },
}  # fmt: skip
HOOKED = {
    "id": "hooked",
    "nodes": {
        "hook": {"type": "webhook", "with": {"path": "/person", "auth": "none"}},
        "said": {"type": "transform", "after": "hook", "with": {"value": "<hook>"}},
    },
}
DRAFTED = {
    "id": "drafted",
    "nodes": {
        "begin": {"type": "manual"},
        "call": {"type": "http", "after": "begin", "with": {"url": "https://example.com/<begin.name>"}},
        "said": {"type": "transform", "after": "call", "with": {"value": "<call.body>"}},
    },
}


class Planted:
    """Values that occur nowhere else, by the place where they came in."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}

    def __call__(self, place: str) -> str:
        return self.values.setdefault(place, f"planted{len(self.values):02d}x{crc32(place.encode()):010d}z")

    def found_in(self, places: Callable[[], Iterator[bytes]]) -> list[str]:
        contents = [*places()]
        return sorted(place for place, value in self.values.items() if any(value.encode() in data for data in contents))


PLANT = Planted()


@function("erased_bytes.work")
def work(person: dict[str, Any]) -> dict[str, Any]:
    return {"seen": PLANT("an output"), "large": f"{PLANT('a large output')} {'x' * 50_000}", "of": person["name"]}


@function("erased_bytes.fail")
def fail(text: str) -> None:
    raise ValueError(f"{PLANT('an error')} {text}")


class TablePlace:
    """A table in this process, and values beside it."""

    def __init__(self) -> None:
        self.table, self.blobs = Table(), MemoryBlobs()

    def hold(self, now_ms: int) -> Any:
        return nullcontext()

    def open(self) -> OpenStore:
        client = DirectClient(self.table)
        return OpenStore(
            DynamoStore(client, "table", shards=3), self.blobs, None, lambda: None, drafts=DynamoDrafts(client, "table")
        )

    def contents(self) -> Iterator[bytes]:
        for partition in self.table._partitions.values():
            for item in partition.values():
                yield repr(item).encode()
                for attribute in item.values():
                    yield from (part for part in attribute.values() if isinstance(part, bytes))
        yield from self.blobs._values.values()


def files(folder: Path) -> Callable[[], Iterator[bytes]]:
    return lambda: (path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def planted_runs(door: Any) -> list[str]:
    """Ended runs into which a value was planted at each place."""
    await door.publish(ASKED)
    await door.publish(HOOKED)
    inputs = {
        "name": PLANT("an input"), "approver": f"{PLANT('an approver')}@example.com",
        "deputy": f"{PLANT('a deputy')}@example.com",
        "failing": PLANT("an input of a node that fails"), "large": [PLANT("a large input"), "y" * 40_000],
        PLANT("a name in an input"): {"deep": [{"in": PLANT("a nested input")}]}, "unicode": f"ü{PLANT('text beyond ASCII')}",
        **{f"n{number}": PLANT(f"input {number}") for number in range(8)},
    }
    started = await door.ask.post(
        "/workflows/person/runs", json={"inputs": inputs, "keywords": [f"customer:{PLANT('a keyword')}"]},
        headers={
            "idempotency-key": f"{PLANT('an idempotency key')}@example.com", "user-agent": PLANT("the program of a start"),
        },
    )
    assert started.status_code == 202, started.text
    first = started.json()["run_id"]
    shown = await door.paused(first)
    held = await door.ask.post(f"/runs/{first}/hold", json={"by": PLANT("who held"), "reason": PLANT("why it was held")})
    assert held.status_code == 202, held.text
    await door.ask.post(f"/runs/{first}/release", json={"by": PLANT("who released"), "reason": PLANT("why it was released")})
    answer = {
        "decision": "approved", "answer": {"note": PLANT("an answer")}, "by": PLANT("who answered"),
        "comment": PLANT("a comment"),
    }  # fmt: skip
    link = shown["pauses"][0]["resume"]
    wrong = {**answer, "decision": "unknown", "comment": PLANT("a comment that was refused")}
    refused = await door.stranger.post(link, json=wrong)
    assert refused.status_code == 422, refused.text
    decided = await door.stranger.post(link, json=answer, headers={"user-agent": PLANT("the program of an answer")})
    assert decided.status_code == 200, decided.text
    assert (await door.end(first))["status"] == "failed"

    reran = await door.ask.post(
        f"/runs/{first}/rerun", json={"by": PLANT("who ran it again"), "reason": PLANT("why it ran again"), "inputs": {
            "name": PLANT("an input of a rerun"), "approver": "a@example.com", "deputy": "b@example.com", "failing": "x",
        }},
    )  # fmt: skip
    assert reran.status_code == 202, reran.text
    second = reran.json()["run_id"]
    await door.paused(second)
    asked = {"by": PLANT("who cancelled"), "reason": PLANT("why it was cancelled")}
    cancelled = await door.ask.post(f"/runs/{second}/cancel", json=asked)
    assert cancelled.status_code in (200, 202), cancelled.text
    await door.end(second)

    body = {"email": PLANT("the body of a webhook"), "list": [PLANT("a list in a webhook")]}
    hooked = await door.stranger.post(
        f"/hooks/person?q={PLANT('a query')}", json=body,
        headers={"x-person": PLANT("a header"), "idempotency-key": PLANT("the key of a webhook")},
    )
    assert hooked.status_code == 202, hooked.text
    third = hooked.json()["run_id"]
    await door.end(third)

    await door.ask.post("/drafts/drafted", json={"from": "document", "document": DRAFTED})
    tried = await door.ask.post(
        "/drafts/drafted/runs",
        json={
            "inputs": {"name": PLANT("an input of a test run")},
            "pins": {"call": {"output": {"status": 200, "body": PLANT("a pin"), "headers": {}}}},
        },
    )
    assert tried.status_code == 202, tried.text
    fourth = tried.json()["run_id"]
    assert (await door.end(fourth))["status"] == "completed"
    return [first, second, third, fourth]


async def erase_all(door: Any, runs: list[str]) -> None:
    for run_id in runs:
        erased = await door.ask.delete(f"/runs/{run_id}")
        assert erased.status_code == 200, erased.text


REMAINS: list[str] = ["the program of a start"]
"""What docs/run/security.md lists: the address and the program of requests whose entry in the audit log names no run."""


async def test_nothing_that_was_planted_is_left_in_the_file(make_door: MakeDoor, tmp_path: Path) -> None:
    door = await make_door(kept=tmp_path / "runs.db")
    runs = await planted_runs(door)
    assert len(PLANT.values) >= 40
    assert set(PLANT.values) - {*PLANT.found_in(files(tmp_path))} <= HASHED, "the search finds what is there"
    await erase_all(door, runs)
    assert PLANT.found_in(files(tmp_path)) == REMAINS
    again = await door.ask.post(
        "/workflows/person/runs", json={"inputs": {}}, headers={"idempotency-key": f"{PLANT('an idempotency key')}@example.com"}
    )
    assert (again.status_code, again.json()["code"]) == (409, "idempotency_key_reused"), "the key is recognized by its hash"


async def test_nothing_that_was_planted_is_left_in_the_table(make_door: MakeDoor) -> None:
    place = TablePlace()
    door = await make_door(kept=place)
    runs = await planted_runs(door)
    await erase_all(door, runs)
    assert PLANT.found_in(place.contents) == REMAINS


async def test_while_another_process_reads_the_file_the_erasure_stays_due(make_door: MakeDoor, tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    door = await make_door(kept=path)
    world = door.local.world
    run_id = (await door.finish(door.ECHO, {"name": "a-person-to-forget"}))["run_id"]
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM run").fetchall()
    assert (await door.ask.delete(f"/runs/{run_id}")).status_code == 200
    head = world.store.get_run(run_id)
    assert head is not None and head.due_ms is not None and head.due_ms <= world.clock.now_ms() + ERASE_RETRY_MS
    assert not world.store.overwrite_removed()
    reader.close()
    finish(world, head)
    assert not [place for place in files(tmp_path)() if b"a-person-to-forget" in place]
    kept = world.store.get_run(run_id)
    assert kept is not None and kept.due_ms is not None and kept.due_ms > world.clock.now_ms() + ERASE_RETRY_MS


HASHED = {"the key of a webhook"}
