"""Committing requests: repeats, copied tabs, stale clients, races between processes, and the server's time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from plain_editing import ORIGIN, PlainEditing, State

from stepless.adapters.memory.blobs import MemoryBlobs
from stepless.adapters.memory.clock import SettableClock
from stepless.adapters.memory.drafts import MemoryDrafts
from stepless.drafts.log.draft_logs import DraftLogs
from stepless.drafts.log.entries import Answer, LogEntry
from stepless.drafts.log.records import Storage
from stepless.drafts.rules.requests import EditRequest
from stepless.errors import InvalidRequest, NotFound, StoreUnavailable
from stepless.limits import BUSY_RETRY_MS, LAST_KEPT_MS, MAX_BEHIND_ITEMS, MAX_INLINE_BYTES, SEQUENCING_TRIES
from stepless.model.json import JSON
from stepless.ports import Draft, Op

WF = Draft("wf", 1)
SET = ["set", "block/o1", "x", 1]


def request(
    n: int = 1, base: int = 0, *operations: JSON, client: str = "c", tag: str = "", first: str = ""
) -> EditRequest:
    return EditRequest(client, n, tag or f"{client}{n}", base, operations or (SET,), first)


def item(made: LogEntry | Answer) -> LogEntry:
    assert isinstance(made, LogEntry), made
    return made


@pytest.fixture(autouse=True)
def opened(drafting: DraftLogs[State]) -> None:
    drafting.open("wf", ORIGIN, "ada")


@pytest.fixture
def another(storage: Storage) -> Callable[[], DraftLogs[State]]:
    """Another process over the same records."""
    return lambda: DraftLogs(storage, PlainEditing())


def test_a_request_becomes_the_next_item(drafting: DraftLogs[State], clock: SettableClock) -> None:
    first = item(drafting.commit(WF, request(), "ada"))
    assert first == LogEntry(1, "c", 1, "c1", "ada", clock.now_ms(), (SET,), ())
    second = item(drafting.commit(WF, request(2, 1, ["del", "block/o2"], ["set", "block/o2", "x", 3]), "ada"))
    assert (second.seq, second.effects, second.outcomes) == (2, (["del", "block/o2"],), ([1, "gone"],))
    state = drafting.current("wf").state
    assert state["block/o1"] == {"x": 1} and "block/o2" not in state


def test_what_is_refused_wholly_is_an_item_too(drafting: DraftLogs[State]) -> None:
    refused = item(drafting.commit(WF, request(1, 0, ["set", "block/none", "x", 1]), "ada"))
    assert (refused.seq, refused.effects, refused.outcomes) == (1, (), ([0, "gone"],))
    assert item(drafting.commit(WF, request(1, 0, ["set", "block/none", "x", 1]), "ada")).seq == 1


def test_a_repeat_is_answered_by_its_item(drafting: DraftLogs[State], another: Callable[[], DraftLogs[State]]) -> None:
    made = item(drafting.commit(WF, request(), "ada"))
    drafting.commit(WF, request(client="d"), "bo")
    for process in (drafting, another()):
        assert item(process.commit(WF, request(), "ada")).seq == made.seq
    assert [one.seq for one in drafting.entries(WF, 0, 9)] == [1, 2]


def test_a_repeat_is_recognised_by_a_process_that_opened_from_a_checkpoint(
    drafting: DraftLogs[State], another: Callable[[], DraftLogs[State]]
) -> None:
    drafting.commit(WF, request(), "ada")
    drafting.checkpoint("wf")
    assert drafting.head("wf").checked == 1
    assert item(another().commit(WF, request(), "ada")).seq == 1
    assert another().commit(WF, request(tag="other"), "ada") == Answer("forked")
    assert item(another().commit(WF, request(2, 1), "ada")).seq == 2


def test_a_request_that_a_tab_sends_again_under_another_name_is_recognised_by_its_first_name(drafting: DraftLogs[State]) -> None:
    drafting.commit(WF, request(), "ada")
    assert item(drafting.commit(WF, request(tag="c1", client="renamed", first="c"), "ada")).client == "c"
    made = item(drafting.commit(WF, request(tag="c2", client="copy", base=1, first="c"), "ada"))
    assert (made.seq, made.first) == (2, "c")
    assert drafting.commit(WF, request(2, 1), "ada") == made  # a copy of the tab was first
    assert item(drafting.commit(WF, request(1, 1, client="renamed"), "ada")).seq == 3


def test_clients_with_one_tag_get_an_item_each_and_go_on(
    drafting: DraftLogs[State], another: Callable[[], DraftLogs[State]]
) -> None:
    other = another()
    first = drafting.commit(WF, request(1, 0, client="a", tag="t"), "ada")
    second = other.commit(WF, request(1, 0, client="b", tag="t"), "bo")
    assert [(item(made).seq, item(made).client) for made in (first, second)] == [(1, "a"), (2, "b")]
    assert item(other.commit(WF, request(1, 0, client="b", tag="t"), "bo")).seq == 2
    assert item(drafting.commit(WF, request(1, 0, client="a", tag="t"), "ada")).seq == 1
    assert item(drafting.commit(WF, request(2, 1, client="a", tag="t"), "ada")).seq == 3
    assert item(other.commit(WF, request(2, 2, client="b", tag="t2"), "bo")).seq == 4


def test_a_repeat_is_recognised_by_its_tag_when_its_client_was_forgotten(
    drafting: DraftLogs[State], another: Callable[[], DraftLogs[State]], storage: Storage, clock: SettableClock
) -> None:
    made = item(drafting.commit(WF, request(1, 0), "ada"))
    drafting.checkpoint("wf")
    storage.drafts.forget_expired(clock.advance(LAST_KEPT_MS + 1))
    late = another()
    again = item(late.commit(WF, request(1, 0), "ada"))
    assert (again.seq, again.tag, again.at_ms) == (made.seq, made.tag, made.at_ms)
    assert late.current("wf").last == {} and late.current("wf").seq == 1


def test_a_copied_tab_is_forked(drafting: DraftLogs[State]) -> None:
    for n in (1, 2):
        drafting.commit(WF, request(n, n - 1), "ada")
    for copied in (request(2, 2, tag="copy"), request(1, 2)):
        assert drafting.commit(WF, copied, "ada") == Answer("forked")
    assert item(drafting.commit(WF, request(3, 2), "ada")).seq == 3


def test_a_copied_tab_is_forked_too_when_its_client_was_forgotten(
    drafting: DraftLogs[State], another: Callable[[], DraftLogs[State]], storage: Storage, clock: SettableClock
) -> None:
    drafting.commit(WF, request(1, 0), "ada")
    drafting.checkpoint("wf")
    storage.drafts.forget_expired(clock.advance(LAST_KEPT_MS + 1))
    late = another()
    assert late.commit(WF, request(1, 0, tag="copy"), "ada") == Answer("forked")  # it was made beside the item, not after it
    assert item(late.commit(WF, request(1, 1, tag="copy"), "ada")).seq == 2


def test_a_gap_or_a_base_out_of_the_window_is_stale(drafting: DraftLogs[State]) -> None:
    drafting.commit(WF, request(), "ada")
    for stale in (request(3, 1), request(2, 2), request(2, 99), request(2, client="new")):
        assert drafting.commit(WF, stale, "ada") == Answer("stale")
    for wrong in (request(0), request(2, -1), request()._replace(client="")):
        with pytest.raises(InvalidRequest):
            drafting.commit(WF, wrong, "ada")
    assert [one.seq for one in drafting.entries(WF, 0, 9)] == [1]


def test_a_process_that_is_behind_reads_on_before_it_answers(
    drafting: DraftLogs[State], another: Callable[[], DraftLogs[State]]
) -> None:
    behind = another()
    behind.current("wf")
    for n in (1, 2, 3):
        drafting.commit(WF, request(n, n - 1), "ada")
    assert item(behind.commit(WF, request(4, 3), "ada")).seq == 4
    assert item(drafting.commit(WF, request(5, 4), "ada")).seq == 5
    assert item(behind.commit(WF, request(5, 4), "ada")).seq == 5


def test_a_request_meets_what_others_did_since_its_base(drafting: DraftLogs[State]) -> None:
    drafting.commit(WF, request(1, 0, ["set", "block/o1", "x", 7], client="d"), "bo")
    met = item(drafting.commit(WF, request(1, 0, SET, ["set", "block/o2", "x", 2]), "ada"))
    assert (met.effects, met.outcomes) == ((["set", "block/o2", "x", 2],), ([0, "changed_since"],))
    own = item(drafting.commit(WF, request(2, 1, ["set", "block/o2", "x", 4]), "ada"))
    assert own.effects == (["set", "block/o2", "x", 4],)  # what the client itself did since is not of others


def test_a_base_before_the_checkpoint_is_read_from_the_log(
    drafting: DraftLogs[State], another: Callable[[], DraftLogs[State]], storage: Storage
) -> None:
    for n in range(1, 8):
        drafting.commit(WF, request(n, n - 1, ["set", f"block/o{n % 3}", "x", n], client="d"), "bo")
    drafting.checkpoint("wf")
    met = item(another().commit(WF, request(1, 5, ["set", "block/o0", "x", 9], ["set", "block/o2", "y", 9]), "ada"))
    assert met.outcomes == ([0, "changed_since"],)  # item 6 changed o0, item 7 o1, item 5 is in the base


def test_a_base_that_the_log_does_not_reach_any_more_is_stale(
    drafting: DraftLogs[State], another: Callable[[], DraftLogs[State]], storage: Storage, clock: SettableClock
) -> None:
    for n in range(1, 4):
        drafting.commit(WF, request(n, n - 1), "ada")
    drafting.checkpoint("wf")
    storage.drafts.forget_expired(clock.now_ms() + 400 * 24 * 3_600_000)
    assert storage.drafts.last_op(WF) is None
    late = another()
    assert late.commit(WF, request(1, 1, client="d"), "bo") == Answer("stale")
    assert item(late.commit(WF, request(1, 3, client="d"), "bo")).seq == 4


def test_a_base_is_in_the_window_up_to_its_limit(drafting: DraftLogs[State], another: Callable[[], DraftLogs[State]]) -> None:
    for n in range(1, MAX_BEHIND_ITEMS + 1):
        drafting.commit(WF, request(n, n - 1, client="d"), "bo")
    drafting.checkpoint("wf")
    fresh = another()
    assert item(fresh.commit(WF, request(1, 0, ["set", "block/o2", "x", 5]), "ada")).seq == MAX_BEHIND_ITEMS + 1
    assert fresh.commit(WF, request(1, 0, client="e"), "ada") == Answer("stale")
    last = item(fresh.commit(WF, request(1, 1, ["set", "block/o2", "x", 5], client="e"), "ada"))
    assert last.outcomes == ([0, "changed_since"],)


def test_the_time_rises_with_every_item_whatever_the_clock_does(
    drafting: DraftLogs[State], another: Callable[[], DraftLogs[State]], clock: SettableClock
) -> None:
    first = item(drafting.commit(WF, request(1, 0), "ada"))
    clock.advance(-5_000)
    second = item(drafting.commit(WF, request(2, 1), "ada"))
    drafting.checkpoint("wf")
    third = item(another().commit(WF, request(3, 2), "ada"))
    clock.advance(50_000)
    fourth = item(drafting.commit(WF, request(4, 3), "ada"))
    times = [one.at_ms for one in (first, second, third, fourth)]
    assert times == [times[0], times[0] + 1, times[0] + 2, clock.now_ms()]


# -- processes that race -----------------------------------------------------------------------------------------------


def test_many_processes_that_commit_at_once_make_one_log(another: Callable[[], DraftLogs[State]]) -> None:
    def edit(place: int) -> list[int]:
        process, base, found = another(), 0, list[int]()
        for n in range(1, 16):
            while True:
                made = process.commit(WF, request(n, base, ["put", f"block/p{place}", {"n": n}], client=f"c{place}"), "ada")
                if isinstance(made, LogEntry):
                    break
                assert made == Answer("busy", BUSY_RETRY_MS)
            base = made.seq
            found.append(made.seq)
        return found

    with ThreadPoolExecutor(6) as threads:
        seqs = sorted(seq for found in threads.map(edit, range(6)) for seq in found)
    assert seqs == [*range(1, 91)]
    assert {key: value for key, value in another().current("wf").state.items() if key.startswith("block/p")} == {
        f"block/p{place}": {"n": 15} for place in range(6)
    }


class Overtaken(MemoryDrafts):
    """Another process commits before each of the first appends."""

    def __init__(self) -> None:
        super().__init__()
        self.ahead = 0
        self.overtaking = False
        self.other: Any = None

    def append_op(self, draft: Draft, op: Op) -> bool:
        if self.ahead and not self.overtaking:
            self.ahead, self.overtaking = self.ahead - 1, True
            self.other()
            self.overtaking = False
        return super().append_op(draft, op)


@pytest.mark.parametrize("lost", [0, 1, SEQUENCING_TRIES - 1, SEQUENCING_TRIES])
def test_a_lost_race_is_decided_again_up_to_a_number_of_tries(storage: Storage, lost: int) -> None:
    drafts = Overtaken()
    storage = storage._replace(drafts=drafts)
    mine, other = (DraftLogs(storage, PlainEditing()) for _ in range(2))
    mine.open("wf", ORIGIN, "ada")
    numbers = iter(range(1, 99))

    def overtake() -> None:
        n = next(numbers)
        item(other.commit(WF, request(n, n - 1, ["set", "block/o1", "x", -n], client="d"), "bo"))

    drafts.other, drafts.ahead = overtake, lost
    made = mine.commit(WF, request(1, 0, SET, ["set", "block/o2", "x", 2]), "ada")
    if lost == SEQUENCING_TRIES:
        assert made == Answer("busy", BUSY_RETRY_MS)
    else:
        assert item(made).seq == lost + 1
        assert item(made).outcomes == (([0, "changed_since"],) if lost else ())


class Deaf(MemoryDrafts):
    """Writes an item and then fails, as if the response were lost."""

    failing = False

    def append_op(self, draft: Draft, op: Op) -> bool:
        done = super().append_op(draft, op)
        if self.failing:
            raise StoreUnavailable("the response is lost")
        return done


def test_a_request_whose_answer_was_lost_is_committed_once(storage: Storage) -> None:
    drafts = Deaf()
    process = DraftLogs(storage._replace(drafts=drafts), PlainEditing())
    process.open("wf", ORIGIN, "ada")
    drafts.failing = True
    with pytest.raises(StoreUnavailable):
        process.commit(WF, request(), "ada")
    drafts.failing = False
    assert item(process.commit(WF, request(), "ada")).seq == 1
    assert [one.seq for one in process.entries(WF, 0, 9)] == [1]


def test_a_draft_that_is_not_open_takes_nothing(drafting: DraftLogs[State]) -> None:
    with pytest.raises(NotFound) as refused:
        drafting.commit(Draft("other", 1), request(), "ada")
    assert refused.value.code == "unknown_draft"
    assert drafting.commit(Draft("wf", 2), request(), "ada") == Answer("replaced")


def test_the_client_of_another_person_is_forked(drafting: DraftLogs[State], another: Callable[[], DraftLogs[State]]) -> None:
    item(drafting.commit(WF, request(), "ada"))
    drafting.checkpoint("wf")
    for process in (drafting, another()):
        assert process.commit(WF, request(2, 1), "eve") == Answer("forked")
        assert process.commit(WF, request(), "eve") == Answer("forked")
    assert item(drafting.commit(WF, request(2, 1), "ada")).seq == 2


def test_many_who_come_at_once_open_a_draft_once(storage: Storage) -> None:
    opened: list[str] = []

    class Counted(PlainEditing):
        def begin(self, entities: Any) -> State:
            opened.append("wf")
            return super().begin(entities)

    cold = DraftLogs(storage, Counted())
    with ThreadPoolExecutor(8) as pool:
        rooms = list(pool.map(lambda _: cold.current("wf"), range(16)))
    assert opened == ["wf"] and len(set(map(id, rooms))) == 1


def test_what_is_too_large_for_the_log_is_kept_before_the_item_that_names_it(storage: Storage, drafts: MemoryDrafts) -> None:
    """Otherwise a process that dies in between leaves an item that cannot be read."""
    happened: list[str] = []

    class Seen(MemoryBlobs):
        def put(self, data: bytes, owner: str = "") -> str:
            happened.append("blob")
            return super().put(data, owner)

    class Log(MemoryDrafts):
        def append_op(self, draft: Draft, op: Op) -> bool:
            happened.append("item")
            return super().append_op(draft, op)

    log = Log()
    made = DraftLogs(Storage(log, Seen(), storage.clock), PlainEditing())
    made.open("wf", ORIGIN, "ada")
    happened.clear()
    made.commit(WF, request(1, 0, ["set", "block/o1", "x", "y" * MAX_INLINE_BYTES]), "ada")
    assert happened == ["blob", "item"]
    made.commit(WF, request(2, 1), "ada")
    assert happened == ["blob", "item", "item"], "what is small stands in the item"
