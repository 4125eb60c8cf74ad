"""What drafts cost, as DynamoDB bills them. The figures of docs/understand/drafts.md are counted here."""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from typing import Any

import pytest
from plain_editing import BLOCK, PlainEditing, State

from stepless.adapters.aws.capacity import CapacityMeter
from stepless.adapters.aws.dynamo.drafts import DynamoDrafts
from stepless.adapters.aws.dynamo.table.item_keys import entity
from stepless.adapters.memory.blobs import MemoryBlobs
from stepless.adapters.memory.clock import SettableClock
from stepless.drafts.log.draft_logs import DraftLogs
from stepless.drafts.log.entries import LogEntry
from stepless.drafts.log.records import Storage
from stepless.drafts.rules.requests import EditRequest
from stepless.limits import CHECKPOINT_ITEMS
from stepless.model.json import JSON
from stepless.ports import Draft

WF = Draft("refund", 1)
PAGE = (Path(__file__).parents[4] / "docs/understand/drafts.md").read_text()
PROMPT = "You are a careful clerk. " * 20  # 500 characters


@pytest.fixture
def storage(dynamo: Any, table: str) -> Storage:
    return Storage(DynamoDrafts(dynamo, table), MemoryBlobs(), SettableClock(1_700_000_000_000))


class Edited:
    """A draft that this process edits."""

    def __init__(self, storage: Storage, origin: JSON) -> None:
        self.drafting: DraftLogs[State] = DraftLogs(storage, PlainEditing())
        self.drafting.open("refund", origin, "ada")
        self._seq = 0

    def commit(self, n: int, *operations: JSON, client: str = "c") -> None:
        request = EditRequest(client, n, f"{client}-{n}", self._seq, operations)
        made = self.drafting.commit(WF, request, "ada@example.com")
        assert isinstance(made, LogEntry)
        self._seq = made.seq
        self.drafting.after(WF, made.seq)


@pytest.fixture
def edited(storage: Storage) -> Edited:
    return Edited(storage, {"blocks": CHECKPOINT_ITEMS})


def written(meter: CapacityMeter) -> int:
    return int(meter.take().tally.write_units)


def shown(what: str, units: float) -> None:
    """The page has this figure."""
    line = next(line for line in PAGE.splitlines() if line.startswith(f"| {what}"))
    assert line.split("|")[2].strip() == f"{units:g}", line


def test_a_change_of_a_field_is_one_unit_and_one_request(edited: Edited, meter: CapacityMeter) -> None:
    edited.commit(1, ["set", "block/b1", "label", "Ask for a score"])
    meter.take()
    edited.commit(2, ["set", "block/b1", "label", "Ask for the score"])
    used = meter.take()
    assert used.requests == {"dynamodb.PutItem": 1}
    shown("a change of a field", used.tally.write_units)


def test_opening_a_draft_writes_its_head_and_its_name(storage: Storage, meter: CapacityMeter) -> None:
    meter.take()
    DraftLogs(storage, PlainEditing()).open("other", {"blocks": 3}, "ada")
    shown("opening a first draft", written(meter))


def test_moving_a_block_rewrites_one_place(edited: Edited, meter: CapacityMeter) -> None:
    edited.commit(1, ["put", "place/b1", {"x": 1, "y": 2}])
    edited.drafting.checkpoint("refund")
    meter.take()
    edited.commit(2, ["put", "place/b1", {"x": 100, "y": 200}])
    edited.drafting.checkpoint("refund")
    shown("moving a block, with a checkpoint of its own", written(meter))


@pytest.mark.parametrize("editors", [1, 10])
def test_an_item_with_its_share_of_a_checkpoint(edited: Edited, meter: CapacityMeter, editors: int) -> None:
    """Each of the items touches another entity: the most that a checkpoint can have to write."""
    edited.drafting.current("refund")
    meter.take()
    for number in range(CHECKPOINT_ITEMS):
        n, client = number // editors + 1, f"c{number % editors}"
        edited.commit(n, ["set", f"block/b{number}", "label", f"Step {number}"], client=client)
    units = written(meter)
    assert edited.drafting.head("refund").checked == CHECKPOINT_ITEMS
    assert units / CHECKPOINT_ITEMS <= 2.2
    what = f"an entry, {CHECKPOINT_ITEMS} entries that touch {CHECKPOINT_ITEMS} entities, {editors} editor"
    shown(what, round(units / CHECKPOINT_ITEMS, 3))


def test_a_prompt_that_is_typed(edited: Edited, meter: CapacityMeter) -> None:
    """500 characters at 8 a second, sent every 22 characters or so: in 23 requests."""
    edited.commit(1, ["set", "block/b1", "text", ""])
    edited.drafting.checkpoint("refund")
    meter.take()
    size = -(-len(PROMPT) // 23)
    for number in range(23):
        at = number * size
        edited.commit(number + 2, ["splice", "block/b1", at, 0, PROMPT[at : at + size]])
    edited.drafting.checkpoint("refund")
    assert edited.drafting.current("refund").state["block/b1"]["text"] == PROMPT
    units = written(meter)
    assert units <= 60
    shown("a prompt of 500 characters", units)


class Batched:
    """A client that writes entities 25 at a time, which takes a quarter of the time of one by one. Their conditions hold."""

    def __init__(self, client: Any, table: str) -> None:
        self._client, self._table, self._lock = client, table, Lock()
        self._waiting: list[dict[str, Any]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def put_item(self, **given: Any) -> Any:
        if not given["Item"]["sk"]["S"].startswith((entity("block/"), entity("place/"))):
            return self._client.put_item(**given)
        with self._lock:
            self._waiting.append({"PutRequest": {"Item": given["Item"]}})
            if len(self._waiting) == 25:
                self.flush()
        return {}

    def flush(self) -> None:
        if self._waiting:
            assert not self._client.batch_write_item(RequestItems={self._table: self._waiting})["UnprocessedItems"]
            self._waiting = []


def test_a_draft_of_five_thousand_blocks_is_opened_from_its_entities(
    dynamo: Any, table: str, storage: Storage, meter: CapacityMeter
) -> None:
    batched = Batched(dynamo, table)
    edited = Edited(storage._replace(drafts=DynamoDrafts(batched, table)), {})
    for n in range(1, 26):
        edited.commit(n, *(["put", f"{kind}/b{n}-{number}", BLOCK if kind == "block" else {"x": number, "y": n}]
                          for number in range(200) for kind in ("block", "place")))  # fmt: skip
    edited.drafting.checkpoint("refund")
    batched.flush()
    meter.take()
    cold = DraftLogs(storage, PlainEditing())
    assert len(cold.current("refund").state) == 10_000
    shown("opening one of 5,000 blocks", round(meter.take().tally.read_units))
