"""The largest data that the engine accepts, through the real service and runner on DynamoDB: it is stored, or refused with a
clear reason."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from aws_services import Service

from stepless.adapters.aws.dynamo.inbox import Allowance
from stepless.adapters.aws.dynamo.store import DynamoStore
from stepless.adapters.aws.dynamo.table.layout import create_table_arguments
from stepless.adapters.memory.blobs import MemoryBlobs
from stepless.adapters.memory.secrets import MemorySecrets
from stepless.errors import LimitExceeded
from stepless.limits import LOCAL_BUDGET_MS, MAX_BATCH_BYTES, MAX_INBOX_SIGNALS, MAX_ITEM_BYTES, MAX_SIGNAL_BYTES
from stepless.ports import Message, OpenStore, RunHead, Signal
from stepless.runtime.inbox import answer_signal
from stepless.runtime.session.budget import Budget
from stepless.runtime.wiring.local import Local, assemble

pytestmark = [pytest.mark.check, pytest.mark.long]

ITEM_BYTES = 400 * 1_024  # DynamoDB's limit
MEGABYTE = "x" * 1_000_000

_tables = itertools.count(1)


@dataclass(frozen=True)
class Engine:
    built: Local
    client: Any
    table: str

    def publish(self, nodes: Mapping[str, Any], **top: Any) -> None:
        self.built.service.publish({"id": "wf", "nodes": nodes, **top})

    def run(self, run_id: str) -> Any:
        """One invocation. Returns how it left the run."""
        asyncio.run(self.built.runner.run(Message(run_id, "start"), Budget(LOCAL_BUDGET_MS)))
        return self.built.service.run(run_id)

    def repeat(self, run_id: str, identity: str, others: list[str]) -> None:
        """Copies a stored signal under other identities, faster than sending each."""
        key = {"pk": {"S": f"RUN#{run_id}"}, "sk": {"S": f"IN#resume#{identity}"}}
        item = self.client.get_item(TableName=self.table, Key=key)["Item"]
        puts = [{"PutRequest": {"Item": {**item, "sk": {"S": f"IN#resume#{other}"}, "i": {"S": other}}}} for other in others]
        for start in range(0, len(puts), 25):
            left = self.client.batch_write_item(RequestItems={self.table: puts[start : start + 25]})["UnprocessedItems"]
            assert not left

    def largest(self, run_id: str) -> dict[str, int]:
        """The size in bytes of a run's largest item, by the prefix of its sort key."""
        given = {":pk": {"S": f"RUN#{run_id}"}}
        found: dict[str, int] = {}
        pages = self.client.get_paginator("query").paginate(
            TableName=self.table, KeyConditionExpression="pk = :pk", ExpressionAttributeValues=given
        )
        for item in (item for page in pages for item in page["Items"]):
            size = sum(len(name) + len(value) for name, typed in item.items() for value in typed.values())
            kind = item["sk"]["S"].partition("#")[0]
            found[kind] = max(found.get(kind, 0), size)
        return found


@pytest.fixture
def engine(aws_dynoxide: Service) -> Engine:
    client, table = aws_dynoxide("dynamodb"), f"limits-{next(_tables)}"
    client.create_table(**create_table_arguments(table))
    runs = OpenStore(DynamoStore(client, table), MemoryBlobs())
    return Engine(assemble(runs, LOCAL_BUDGET_MS, MemorySecrets({})), client, table)


def test_a_container_of_ten_thousand_branches_ends_in_items_that_fit(engine: Engine) -> None:
    branch = {"nodes": {"double": {"type": "transform", "with": {"value": "{{ <parallel.item> * 2 }}"}}}}
    spread = {"type": "parallel", "with": {"items": "<in.numbers>", "body": branch, "window": 200, "max_iterations": 10_000}}
    engine.publish({"in": {"type": "manual"}, "all": {**spread, "after": "in"}}, max_steps=100_000)
    run_id = engine.built.service.start("wf", {"numbers": list(range(10_000))}).run_id
    view = engine.run(run_id)
    assert (view.status, len(view.outputs["all"])) == ("completed", 10_000)
    largest = engine.largest(run_id)
    assert 0 < largest["LOG"] <= MAX_BATCH_BYTES + 1_000 < ITEM_BYTES


def test_a_megabyte_is_refused_at_a_start_and_at_an_answer_with_the_bound(engine: Engine) -> None:
    engine.publish({"ask": {"type": "approval", "with": {"message": "?", "fields": {"text": {"type": "string"}}}}})
    with pytest.raises(LimitExceeded, match=r"1,000,0.. bytes; 256,000 is the limit") as refused:
        engine.built.service.start("wf", {"text": MEGABYTE})
    assert refused.value.code == "inputs_too_large"
    run_id = engine.built.service.start("wf", {"text": MEGABYTE[:250_000]}).run_id
    assert engine.run(run_id).status == "paused"
    with pytest.raises(LimitExceeded, match=f"the signal has 1,000,0.. bytes; the limit is {MAX_SIGNAL_BYTES:,}"):
        engine.built.service.answer_pause(run_id, "ask", "approved", {"text": MEGABYTE}, "Ada")
    engine.built.service.answer_pause(run_id, "ask", "approved", {"text": MEGABYTE[:30_000]}, "Ada")
    assert engine.run(run_id).status == "completed"
    assert max(engine.largest(run_id).values()) < ITEM_BYTES


def test_a_megabyte_between_nodes_is_kept_beside_the_log(engine: Engine) -> None:
    engine.publish({"make": {"type": "transform", "with": {"value": "{{ join(<in.many>, '') }}"}, "after": "in"},
                    "use": {"type": "transform", "with": {"value": "{{ len(<make>) }}"}, "after": "make"},
                    "in": {"type": "manual"}})  # fmt: skip
    run_id = engine.built.service.start("wf", {"many": ["x" * 100] * 2_400}).run_id
    view = engine.run(run_id)
    assert (view.status, view.outputs) == ("completed", {"use": 240_000})
    assert max(engine.largest(run_id).values()) < 250_000


def test_whatever_would_not_fit_an_item_is_refused_before_it_is_sent_or_cut_into_pieces(engine: Engine) -> None:
    store, noise = engine.built.world.store, bytes(range(256)) * 1_600  # 409,600 bytes
    incompressible = random.Random(1).randbytes(ITEM_BYTES)
    head = RunHead("r", "wf", "h", "created", 1, 1, incompressible)
    with pytest.raises(LimitExceeded, match="409,"):
        store.create_run(head)
    with pytest.raises(LimitExceeded, match=f"{MAX_SIGNAL_BYTES:,}"):
        store.put_signal("r", Signal("resume", "p", noise, 1))
    store.put_snapshot("r", 7, incompressible * 3)
    assert store.get_snapshot("r") == (7, incompressible * 3)
    assert max(engine.largest("r").values()) <= MAX_ITEM_BYTES + 1_000 < ITEM_BYTES


def test_five_thousand_answers_in_an_inbox_are_taken_in_one_invocation_and_no_more_fit(engine: Engine) -> None:
    body = {"nodes": {"ask": {"type": "approval", "with": {"message": "?"}}}}
    numbers = list(range(MAX_INBOX_SIGNALS))
    ask = {"type": "parallel", "with": {"items": numbers, "body": body, "window": 200, "max_iterations": len(numbers)}}
    engine.publish({"all": ask}, max_steps=100_000)
    run_id = engine.built.service.start("wf", {}).run_id
    assert engine.run(run_id).status == "paused"  # 200 nodes ask; the other answers arrive before their questions
    store, now_ms = engine.built.world.store, engine.built.world.clock.now_ms()
    store.put_signal(run_id, answer_signal("ask@all[0]", "approved", None, None, now_ms))
    engine.repeat(run_id, "ask@all[0]", [f"ask@all[{number}]" for number in numbers[1:]])
    store._allowance = Allowance()  # a new process starts counting again
    with pytest.raises(LimitExceeded, match="5,000 signals wait already"):
        store.put_signal(run_id, answer_signal("one-too-many", "approved", None, None, now_ms))
    view = engine.run(run_id)
    assert view.status == "completed"
    assert store.read_inbox(run_id) == []
    assert max(engine.largest(run_id).values()) < ITEM_BYTES
