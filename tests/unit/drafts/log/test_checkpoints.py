"""Checkpoints and kept states: what they write, when they are due, and that a process that dies in one does no harm."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from plain_editing import ORIGIN, PlainEditing, State

from stepless.adapters.memory.clock import SettableClock
from stepless.adapters.memory.drafts import MemoryDrafts
from stepless.drafts.log.draft_logs import DraftLogs
from stepless.drafts.log.entries import LogEntry
from stepless.drafts.log.records import BLOB_OWNER, Storage
from stepless.drafts.rules.requests import EditRequest
from stepless.errors import NotFound, StoreUnavailable, StoreUnusable
from stepless.limits import (
    CHECKPOINT_ITEMS,
    LAST_KEPT_MS,
    MAX_INLINE_BYTES,
    OP_KEPT_MS,
    STATE_ITEMS,
    SWEPT_CHECKPOINT_IDLE_MS,
    TOMBSTONE_KEPT_MS,
)
from stepless.model.json import JSON
from stepless.ports import Draft, Entity

WF = Draft("wf", 1)


def commit(drafting: DraftLogs[State], n: int, *operations: JSON, client: str = "c") -> LogEntry:
    made = drafting.commit(WF, EditRequest(client, n, f"{client}{n}", drafting.current("wf").seq, operations), "ada")
    assert isinstance(made, LogEntry)
    drafting.after(WF, made.seq)
    return made


def kept(drafts: MemoryDrafts) -> dict[str, Entity]:
    return {entity.key: entity for entity in drafts.read_entities(WF).items}


@pytest.fixture(autouse=True)
def opened(drafting: DraftLogs[State]) -> None:
    drafting.open("wf", ORIGIN, "ada")


def test_a_checkpoint_writes_what_changed_as_of_its_last_change(
    drafting: DraftLogs[State], drafts: MemoryDrafts, clock: SettableClock
) -> None:
    commit(drafting, 1, ["set", "block/o1", "x", 1], ["put", "block/n", {"x": 2}])
    commit(drafting, 2, ["set", "block/o1", "x", 3])
    commit(drafting, 3, ["del", "block/o2"], ["del", "block/n"])
    drafting.checkpoint("wf")
    now_ms = clock.now_ms()
    assert kept(drafts) == {
        "block/o1": Entity("block/o1", 2, b'{"x":3}'),
        "block/o2": Entity("block/o2", 3, None),  # the origin has it: it would come back
        "block/n": Entity("block/n", 3, None, now_ms + TOMBSTONE_KEPT_MS),
        "last/c": Entity("last/c", 3, b'[3,"c3","ada"]', now_ms + LAST_KEPT_MS),
    }
    assert drafting.head("wf").checked == 3


def test_moving_one_block_writes_one_entity_and_its_client(drafting: DraftLogs[State], drafts: MemoryDrafts) -> None:
    commit(drafting, 1, ["put", "place/b", {"x": 1}], ["put", "block/b", {}])
    drafting.checkpoint("wf")
    commit(drafting, 2, ["set", "place/b", "x", 9])
    drafting.checkpoint("wf")
    assert sorted(key for key, entity in kept(drafts).items() if entity.seq == 2) == ["last/c", "place/b"]


def test_a_checkpoint_is_made_after_a_number_of_items(drafting: DraftLogs[State]) -> None:
    for n in range(1, CHECKPOINT_ITEMS):
        commit(drafting, n, ["set", "block/o1", "x", n])
    assert drafting.head("wf").checked == 0
    commit(drafting, CHECKPOINT_ITEMS, ["set", "block/o1", "x", 0])
    assert drafting.head("wf").checked == CHECKPOINT_ITEMS
    commit(drafting, CHECKPOINT_ITEMS + 1, ["set", "block/o1", "x", 5])
    assert drafting.head("wf").checked == CHECKPOINT_ITEMS


class DiesWhileWriting(MemoryDrafts):
    """Writes some of the entities, then fails."""

    writes: int | None = None

    def put_entities(self, draft: Draft, entities: Sequence[Entity]) -> None:
        super().put_entities(draft, entities[: self.writes])
        if self.writes is not None:
            raise StoreUnavailable("the process is gone")


@pytest.mark.parametrize("written", range(5))
def test_a_checkpoint_that_stops_half_way_changes_nothing_that_anyone_sees(storage: Storage, written: int) -> None:
    drafts = DiesWhileWriting()
    storage = storage._replace(drafts=drafts)
    process = DraftLogs(storage, PlainEditing())
    process.open("wf", ORIGIN, "ada")
    commit(process, 1, ["splice", "block/o1", 0, 0, "ab"], ["put", "block/n", {"x": 2}], ["del", "block/o2"])
    commit(process, 2, ["splice", "block/o1", 1, 1, "é"], ["del", "block/n"])
    wanted = process.current("wf").state
    drafts.writes = written
    with pytest.raises(StoreUnavailable):
        process.checkpoint("wf")
    drafts.writes = None
    assert process.head("wf").checked == 0
    for other in (process, DraftLogs(storage, PlainEditing())):
        assert other.current("wf").state == wanted
        other.checkpoint("wf")
    assert DraftLogs(storage, PlainEditing()).current("wf").state == wanted


def test_checkpoints_of_two_processes_leave_the_newer(storage: Storage, drafts: MemoryDrafts) -> None:
    ahead, behind = DraftLogs(storage, PlainEditing()), DraftLogs(storage, PlainEditing())
    commit(behind, 1, ["set", "block/o1", "x", 1])
    warm = behind.current("wf")
    commit(ahead, 2, ["set", "block/o1", "x", 2])
    ahead.checkpoint("wf")
    storage.drafts.put_entities(WF, [Entity("block/o1", 1, b'{"x":1}')])
    assert kept(drafts)["block/o1"].seq == 2
    assert warm.checked == 0
    behind.checkpoint("wf")  # it reads on first
    assert warm.checked == 2 and warm.changed == {}


def test_the_sweep_checks_what_has_not_changed_for_an_hour(storage: Storage, clock: SettableClock) -> None:
    process, sweeper = DraftLogs(storage, PlainEditing()), DraftLogs(storage, PlainEditing())
    commit(process, 1, ["set", "block/o1", "x", 1])
    clock.advance(SWEPT_CHECKPOINT_IDLE_MS - 1)
    sweeper.sweep()
    assert process.head("wf").checked == 0
    clock.advance(1)
    sweeper.sweep()
    assert process.head("wf").checked == 1
    sweeper.sweep()


# -- large values -------------------------------------------------------------------------------------------------------


def test_large_effects_and_entities_are_blobs(drafting: DraftLogs[State], storage: Storage, drafts: MemoryDrafts) -> None:
    text = "".join(chr(33 + number * 7919 % 90) for number in range(MAX_INLINE_BYTES + 1))
    made = commit(drafting, 1, ["set", "block/o1", "text", text])
    assert len(drafts.read_ops(WF)[0].data) < 400
    drafting.checkpoint("wf")
    value = kept(drafts)["block/o1"].value
    assert value is not None and value.startswith(f"@{BLOB_OWNER}/wf/1/".encode())
    cold = DraftLogs(storage, PlainEditing())
    assert cold.current("wf").state["block/o1"] == {"x": 0, "text": text}
    assert list(cold.entries(WF, 0, 9)) == [made._replace(effects=[["set", "block/o1", "text", text]], outcomes=())]
    storage.blobs.erase(f"{BLOB_OWNER}/wf/1")
    with pytest.raises(StoreUnusable, match=r"the blob .* is missing"):
        list(cold.entries(WF, 0, 9))


# -- states -------------------------------------------------------------------------------------------------------------


def test_states_are_kept_every_so_many_items_and_history_is_folded_from_them(
    drafting: DraftLogs[State], storage: Storage, drafts: MemoryDrafts
) -> None:
    for n in range(1, STATE_ITEMS + 6):
        commit(drafting, n, ["set", "block/o1", "x", n], ["put", f"block/n{n % 7}", {"n": n}])
    state = drafts.nearest_state(WF, STATE_ITEMS + 5)
    assert state is not None and (state.seq, state.expires_ms) == (STATE_ITEMS, storage.clock.now_ms() + OP_KEPT_MS)
    head = drafting.head("wf")
    for seq in (0, 1, 10, STATE_ITEMS - 1, STATE_ITEMS, STATE_ITEMS + 3):
        found = drafting.state_at(head, seq)
        assert found["block/o1"] == {"x": seq}
        assert sorted(value["n"] for key, value in found.items() if key.startswith("block/n")) == [
            *range(max(1, seq - 6), seq + 1)
        ]
    assert drafting.keep_state("wf") == STATE_ITEMS + 5
    assert drafts.nearest_state(WF, STATE_ITEMS + 5) != state


def test_a_state_that_the_log_does_not_reach_is_unknown(
    drafting: DraftLogs[State], drafts: MemoryDrafts, clock: SettableClock
) -> None:
    commit(drafting, 1, ["set", "block/o1", "x", 1])
    head = drafting.head("wf")
    drafts.forget_expired(clock.now_ms() + OP_KEPT_MS)
    for seq in (1, 2):
        with pytest.raises(NotFound) as refused:
            drafting.state_at(head, seq)
        assert refused.value.code == "unknown_item"
