"""A file with many runs, to look at the console with.

    python tests/tools/browser/many_runs.py FILE [--runs 100000] [--turns 5000] [--nodes 3000]

Writes headers of so many runs in all states, with notes and keywords, and executes three runs: one of a parallel with so many
turns of which one fails, one with so many nodes, and one that waits for a person. `stepless dev FOLDER --db FILE` shows them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from stepless.adapters.sqlite.store import SqliteStore
from stepless.adapters.system import SystemClock
from stepless.ports import RunHead
from stepless.runtime.wiring.local import Local, local

WORKFLOWS = ("refund", "nightly-invoices", "sync-customers", "score-applications", "send-reminders")
CODES = (
    ("provider_error", "503 from risk.example.com: upstream connect error"), ("timeout", "no answer within 30 s"),
    ("no_stock", "No stock for tea"), ("invalid_answer", "the model answered with text where JSON was asked for"),
)  # fmt: skip
STATUSES = ("completed",) * 16 + ("failed",) * 3 + ("cancelled", "paused", "timed_out")


def turns(count: int) -> dict[str, Any]:
    body = {
        "price": {"type": "transform", "with": {"value": "{{ <parallel.item> * 2 }}"}},
        "settle": {"type": "transform", "after": "price", "with": {
            "value": "{{ 100 / (<parallel.item> - " + str(count // 2) + ") }}",
        }},
    }
    return {
        "id": "each-line", "max_steps": 10 * count,
        "nodes": {
            "order": {"type": "manual"},
            "each": {"type": "parallel", "after": "order", "with": {
                "items": "<order.lines>", "on_error": "continue", "max_iterations": count, "body": {"nodes": body},
            }},
            "report": {"type": "set", "after": "each", "with": {"variables": {"done": True}}},
        },
        "variables": {"done": False},
    }  # fmt: skip


def wide(count: int) -> dict[str, Any]:
    nodes: dict[str, Any] = {"begin": {"type": "manual"}}
    for number in range(count - 1):
        after = "begin" if number < 30 else [f"n{number - 30}"] + ([f"n{number - 29}"] if number % 7 == 0 else [])
        nodes[f"n{number}"] = {"type": "transform", "after": after, "with": {"value": number}}
    return {"id": "wide", "max_steps": 10 * count, "nodes": nodes}


REFUND: dict[str, Any] = {
    "id": "refund", "name": "Refund approval",
    "nodes": {
        "order": {"type": "manual"},
        "score": {"type": "transform", "after": "order", "with": {"value": {"risk": 0.82, "amount": "<order.amount>"}}},
        "triage": {"type": "condition", "after": "score", "with": {"cases": {"review": "<score.risk> > 0.5", "fine": "true"}}},
        "manager": {"type": "approval", "after": "triage.review", "with": {"message": "Refund <order.amount> for <order.id>?"}},
        "pay": {"type": "transform", "after": ["triage.fine", "manager.approved"], "join": {"mode": "any"},
                "with": {"value": {"paid": True}}},
        "wait": {"type": "wait", "after": "pay", "with": {"for": "2s"}},
        "tell": {"type": "fail", "after": "wait", "with": {
            "code": "mail_refused", "message": "550 mailbox of <order.id> is full",
        }},
    },
}  # fmt: skip


def fill(path: Path, runs: int, seed: int = 1) -> None:
    """Headers only: their logs are not there, so they can be listed and not opened."""
    chance, store, now_ms = random.Random(seed), SqliteStore(path), SystemClock().now_ms()
    with store.database.transaction():
        for number in range(runs):
            created_ms = now_ms - 60_000 - int(number * 30 * 86_400_000 / runs) - chance.randrange(10_000)
            store.create_run(head(chance, number, created_ms))
    store.close()


def head(chance: random.Random, number: int, created_ms: int) -> RunHead:
    status = chance.choice(STATUSES)
    lasted_ms = int(chance.lognormvariate(8, 2.4))
    meta: dict[str, Any] = {"version": chance.randrange(1, 15)}
    waits = ""
    if chance.random() < 0.4:
        meta["tags"] = [f"customer:c-{chance.randrange(400)}", *(["urgent"] if chance.random() < 0.2 else [])]
    if status == "failed":
        code, message = chance.choice(CODES)
        meta["error"] = {"code": code, "message": message, "node": "score"}
        waits = "failed:score"
    if status == "paused":
        waits = chance.choice(("answer", "time", "held answer"))
        if "answer" in waits:
            asked = {"pause": "manager", "node": "manager", "reason": "human_input", "message": f"Refund 120 for o-{number}?"}
            meta["pauses"] = [{**asked, "since": created_ms + 500}]
    return RunHead(
        run_id=f"run_{chance.getrandbits(80):020x}", workflow_id=chance.choice(WORKFLOWS), version="0" * 32, status=status,
        created_ms=created_ms, updated_ms=created_ms + lasted_ms, inputs=b"{}", meta=json.dumps(meta).encode(), waits=waits,
    )  # fmt: skip


def execute(path: Path, count: int, nodes: int) -> dict[str, str]:
    """Executes the three runs; their ids by workflow."""
    made: dict[str, str] = {}
    with closing(local(path)) as built:
        lines = {"lines": list(range(count))}
        for document, inputs in ((turns(count), lines), (wide(nodes), {}), (REFUND, {"id": "o-12", "amount": 120})):
            built.service.publish(document)
            made[document["id"]] = built.service.start(document["id"], inputs).run_id
        asyncio.run(_until_at_rest(built, list(made.values())))
    return made


async def _until_at_rest(built: Local, runs: Sequence[str]) -> None:
    """Serves until the runs have ended or wait."""
    serving = asyncio.create_task(built.host.serve())
    while not all(_rests(built, run_id) for run_id in runs):  # runs that wait send no news
        await asyncio.wait({serving}, timeout=0.1)
    await built.host.stop()
    await serving


def _rests(built: Local, run_id: str) -> bool:
    found = built.world.store.get_run(run_id)
    return found is not None and found.owner is None and found.status not in ("created", "running")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--turns", type=int, default=5_000)
    parser.add_argument("--nodes", type=int, default=3_000)
    given = parser.parse_args()
    fill(given.file, given.runs)
    sys.stdout.write(json.dumps(execute(given.file, given.turns, given.nodes)) + "\n")


if __name__ == "__main__":
    main()
