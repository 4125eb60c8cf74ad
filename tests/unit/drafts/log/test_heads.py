"""Opening, replacing and discarding drafts, and what a process that dies in between leaves."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from plain_editing import ORIGIN, PlainEditing, State

from stepless.adapters.memory.blobs import MemoryBlobs
from stepless.adapters.memory.clock import SettableClock
from stepless.adapters.memory.drafts import MemoryDrafts
from stepless.drafts.log.draft_logs import DraftLogs
from stepless.drafts.log.entries import Answer, LogEntry
from stepless.drafts.log.heads import new_head
from stepless.drafts.log.records import Storage, storage_of
from stepless.drafts.rules.requests import EditRequest
from stepless.errors import Conflict, NotFound, Refused, StoreUnavailable
from stepless.limits import CLOSED_KEPT_MS, MAX_DRAFTS
from stepless.model.stored.packing import unpack
from stepless.ports import Draft, DraftHead, Entity

SET = ["set", "block/o1", "x", 1]
OTHER = {"block/o1": {"x": 50}}


def commit(drafting: DraftLogs[State], epoch: int = 1, n: int = 1, base: int = 0) -> LogEntry | Answer:
    return drafting.commit(Draft("wf", epoch), EditRequest("c", n, f"t{n}", base, [SET]), "ada")


def test_a_draft_is_opened_from_its_origin(drafting: DraftLogs[State], clock: SettableClock) -> None:
    head = drafting.open("wf", ORIGIN, "ada")
    assert (head.epoch, head.created_ms, head.created_by, unpack(head.origin)) == (1, clock.now_ms(), "ada", ORIGIN)
    assert drafting.head("wf") == head
    warm = drafting.current("wf")
    assert (warm.seq, warm.state) == (0, ORIGIN)


def test_opening_writes_a_head_and_nothing_else(drafting: DraftLogs[State], drafts: MemoryDrafts) -> None:
    head = drafting.open("wf", ORIGIN, "ada")
    drafting.current("wf")
    assert drafts.read_ops(head.draft) == [] and drafts.read_entities(head.draft).items == ()


def test_of_many_that_open_a_first_draft_one_does_and_all_have_its_head(storage: Storage) -> None:
    with ThreadPoolExecutor(12) as threads:
        heads = list(threads.map(lambda i: DraftLogs(storage, PlainEditing()).open("wf", {"doc": {"i": i}}, f"p{i}"), range(12)))
    assert len({(head.created_by, head.epoch) for head in heads if head.epoch == 1}) == 1


def test_a_replaced_draft_takes_nothing_more_and_the_next_one_has_nothing_of_it(storage: Storage) -> None:
    first, warm = DraftLogs(storage, PlainEditing()), DraftLogs(storage, PlainEditing())
    first.open("wf", ORIGIN, "ada")
    commit(warm)
    first.checkpoint("wf")
    head = first.open("wf", OTHER, "bo")
    assert (head.epoch, head.former, head.checked) == (2, 1, 0)
    assert commit(warm, 1, 2, 1) == Answer("replaced") == commit(first, 1, 2, 1)
    for process in (first, warm, DraftLogs(storage, PlainEditing())):
        assert process.current("wf").state == OTHER
    assert isinstance(commit(warm, 2), LogEntry)
    assert [item.closes is not None for item in first.entries(Draft("wf", 1), 0, 9)] == [False, True]


def test_a_discarded_draft_is_gone_and_a_new_one_has_another_epoch(storage: Storage) -> None:
    process, warm = DraftLogs(storage, PlainEditing()), DraftLogs(storage, PlainEditing())
    process.open("wf", ORIGIN, "ada")
    commit(warm)
    process.discard("wf", "ada")
    for call in (lambda: process.current("wf"), lambda: process.discard("wf", "ada"), lambda: process.head("wf")):
        with pytest.raises(NotFound):
            call()
    assert commit(warm, 1, 2, 1) == Answer("replaced")
    assert process.open("wf", OTHER, "bo").epoch == 3
    assert warm.current("wf").state == OTHER


class DiesBeforeTheHead(MemoryDrafts):
    """Fails where the next head would be put."""

    dead = False

    def put_head(self, head: DraftHead, former: int | None) -> DraftHead | None:
        if self.dead and former is not None:
            raise StoreUnavailable("the process is gone")
        return super().put_head(head, former)


@pytest.mark.parametrize("finder", ["submit", "current", "sweep", "open"])
def test_a_closed_log_moves_the_head_when_it_is_found(storage: Storage, finder: str) -> None:
    drafts = DiesBeforeTheHead()
    storage = storage._replace(drafts=drafts)
    warm, dying = DraftLogs(storage, PlainEditing()), DraftLogs(storage, PlainEditing())
    warm.open("wf", ORIGIN, "ada")
    commit(warm)
    drafts.dead = True
    with pytest.raises(StoreUnavailable):
        dying.open("wf", OTHER, "bo")
    drafts.dead = False
    before = drafts.get_head("wf")
    assert before is not None and before.epoch == 1
    match finder:
        case "submit":
            assert commit(warm, 1, 2, 1) == Answer("replaced")
        case "current":
            assert warm.current("wf").state == OTHER
        case "sweep":
            DraftLogs(storage, PlainEditing()).sweep()
        case "open":
            with pytest.raises(Conflict) as refused:
                DraftLogs(storage, PlainEditing()).open("wf", {}, "cy")
            assert refused.value.code == "draft_replaced"
    head = drafts.get_head("wf")
    assert head is not None and (head.epoch, head.created_by, head.former) == (2, "bo", 1)
    assert warm.current("wf").state == OTHER


def test_of_many_that_replace_a_draft_the_others_are_refused_or_replace_the_next(storage: Storage) -> None:
    processes = [DraftLogs(storage, PlainEditing()) for _ in range(8)]
    processes[0].open("wf", ORIGIN, "ada")

    def replace(process: DraftLogs[State]) -> int | str:
        try:
            return process.open("wf", OTHER, "bo").epoch
        except Conflict as refused:
            return refused.code

    with ThreadPoolExecutor(8) as threads:
        ends = list(threads.map(replace, processes))
    epochs = sorted(end for end in ends if isinstance(end, int))
    assert epochs == [*range(2, 2 + len(epochs))] and {end for end in ends if isinstance(end, str)} <= {"draft_replaced"}
    assert processes[0].head("wf").epoch == epochs[-1]


def test_the_entities_of_an_epoch_that_was_left_expire(
    drafting: DraftLogs[State], drafts: MemoryDrafts, clock: SettableClock
) -> None:
    drafting.open("wf", ORIGIN, "ada")
    commit(drafting)
    drafting.checkpoint("wf")
    drafting.discard("wf", "ada")
    assert [entity.expires_ms for entity in drafts.read_entities(Draft("wf", 1)).items if entity.key == "block/o1"] == [None]
    drafting.sweep()
    head = drafts.get_head("wf")
    assert head is not None and head.former == 0
    assert {entity.key: entity.expires_ms for entity in drafts.read_entities(Draft("wf", 1)).items}["block/o1"] == (
        clock.now_ms() + CLOSED_KEPT_MS
    )
    clock.advance(CLOSED_KEPT_MS)
    drafting.sweep()
    assert drafts.read_entities(Draft("wf", 1)).items == ()


def test_the_epoch_before_is_settled_before_the_next_one_is_left(drafting: DraftLogs[State], drafts: MemoryDrafts) -> None:
    drafting.open("wf", ORIGIN, "ada")
    drafts.put_entities(Draft("wf", 1), [Entity("doc", 1, b"{}")])
    drafting.open("wf", ORIGIN, "ada")
    drafting.open("wf", ORIGIN, "ada")
    assert [entity.expires_ms is not None for entity in drafts.read_entities(Draft("wf", 1)).items] == [True]


def test_the_number_of_open_drafts_has_a_limit(drafting: DraftLogs[State], drafts: MemoryDrafts) -> None:
    for number in range(MAX_DRAFTS):
        drafts.put_head(new_head(f"w{number}", 1, None, "ada", 0), None)
    with pytest.raises(Refused) as refused:
        drafting.open("wf", ORIGIN, "ada")
    assert refused.value.code == "too_many_drafts"
    assert drafting.open("w1", ORIGIN, "ada").epoch == 2  # replacing one adds none
    drafting.discard("w2", "ada")
    assert drafting.open("wf", ORIGIN, "ada").epoch == 1


def test_a_place_without_drafts_says_so(clock: SettableClock) -> None:
    with pytest.raises(Refused) as refused:
        storage_of(None, MemoryBlobs(), clock)
    assert (refused.value.code, refused.value.http_status) == ("drafts_not_kept", 501)
