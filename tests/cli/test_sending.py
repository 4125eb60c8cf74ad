"""Messages from the command line: to a key, to a run, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepless.runtime.wiring.local import attached, local

Say = Callable[..., tuple[int, str, str]]
WORKFLOW: dict[str, Any] = {
    "id": "order", "key": "<input.id>",
    "messages": {"payment": {"data": {"type": "object", "required": ["amount"]}}, "note": {}},
    "nodes": {"order": {"type": "manual"}, "paid": {"type": "receive", "after": "order", "with": {"message": "payment"}}},
}  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "runs.db"
    engine = local(path)
    engine.service.publish(WORKFLOW)
    engine.close()
    return path


@pytest.fixture
def say(file: Path, say_over: Callable[[Path], Say]) -> Say:
    return say_over(file)


@pytest.fixture
def run(file: Path) -> str:
    """A run with the key A."""
    engine = attached(file)
    run_id = engine.service.start("order", {"id": "A"}).run_id
    engine.close()
    return run_id


def test_a_message_to_a_key_and_one_to_a_run(say: Say, run: str) -> None:
    code, told, _ = say("send", "order", "payment", "--key", "A", "-d", '{"amount": 2}', "--idempotency-key", "one")
    assert (code, told.splitlines()[0]) == (0, f"one  delivered to {run}")
    code, told, _ = say("runs", "send", run, "note", "-d", '"hello"', "--json")
    assert (code, json.loads(told)["delivered"]) == (0, [run])
    assert say("workflows", "key", "order", "A")[1].endswith("live\n")


def test_a_message_is_kept_or_starts_a_run(say: Say, run: str) -> None:
    assert "kept until" in say("send", "order", "note", "--key", "B", "--keep", "1h")[1]
    assert "started run_" in say("send", "order", "note", "--key", "C", "--start", "-i", '{"id": "C"}')[1]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("send", "order", "paymnt", "--key", "A"), "unknown_message"),
        (("send", "ordr", "payment", "--key", "A"), "unknown_workflow"),
        (("send", "order", "payment", "--key", "A"), "message_invalid"),
        (("send", "order", "payment", "--key", "A", "-d", "{}"), "message_invalid"),
        (("send", "order", "note", "--key", ""), "key_invalid"),
        (("send", "order", "note", "--key", "x" * 257), "key_invalid"),
        (("send", "order", "note", "--key", "A", "-d", "{"), "invalid_json"),
        (("send", "order", "note", "--key", "A", "-d", '"\\ud800"'), "invalid_json"),
        (("send", "order", "note", "--key", "A", "-d", json.dumps("x" * 262_143)), "message_too_large"),
        (("send", "order", "note", "--key", "A", "-d", json.dumps("x" * 600_000)), "message_too_large"),
        (("send", "order", "note", "--key", "B"), "no_receiver"),
        (("send", "order", "note", "--key", "A", "--keep", "soon"), "invalid_request"),
        (("send", "order", "note", "--key", "A", "-i", "{}"), "invalid_request"),
        (("send", "order", "note", "--key", "A", "--keep", "1h", "--start"), "invalid_request"),
        (("runs", "send", "run_none", "note"), "unknown_run"),
        (("start", "order"), "key_missing"),
        (("start", "order", "--key", ""), "key_invalid"),
        (("start", "order", "-i", '{"id": true}'), "key_invalid"),
        (("start", "order", "-i", '{"id": "B"}', "--delay=-5m"), "invalid_request"),
        (("start", "order", "-i", '{"id": "B"}', "--at", "noon"), "invalid_request"),
        (("workflows", "key", "order", "x" * 257), "key_invalid"),
    ],
)
def test_what_cannot_be_done_is_told(say: Say, run: str, words: tuple[str, ...], code: str) -> None:
    done, told, complaint = say(*words)
    assert (done, told) == (2, "")
    assert f"[{code}]" in complaint


def test_the_same_id_with_other_data_is_refused(say: Say, run: str) -> None:
    words = ("send", "order", "note", "--key", "A", "--idempotency-key", "one", "-d")
    assert [say(*words, data)[0] for data in ("1", "1", "2")] == [0, 0, 2]
