"""Opening a draft while others commit and make checkpoints, and planted faults that these tests must find."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from dynamo_table import DirectClient, Table
from plain_editing import ORIGIN, PlainEditing, State
from racing_drafts import Stepwise, openings

from stepless.adapters.aws.dynamo.drafts import DynamoDrafts
from stepless.adapters.memory.blobs import MemoryBlobs
from stepless.adapters.memory.clock import SettableClock
from stepless.adapters.memory.drafts import MemoryDrafts
from stepless.adapters.sqlite.database import Database
from stepless.adapters.sqlite.drafts import SqliteDrafts
from stepless.drafts.log.draft_logs import DraftLogs
from stepless.drafts.log.heads import new_head
from stepless.drafts.log.opening import Opening
from stepless.drafts.log.records import Storage
from stepless.drafts.log.warm_draft import WarmDraft
from stepless.drafts.rules.requests import EditRequest
from stepless.errors import StoreUnusable
from stepless.limits import SWEPT_CHECKPOINT_IDLE_MS
from stepless.ports import Draft, Drafts, Entity, Op

SEEDS, OPENINGS = 60, 5


def stored(drafts: Drafts) -> Storage:
    return Storage(drafts, MemoryBlobs(), SettableClock(1_700_000_000_000))


def all_openings(**parts: Any) -> Iterator[bool]:
    return chain.from_iterable(openings(stored(MemoryDrafts()), seed, OPENINGS, **parts) for seed in range(SEEDS))


def test_an_opening_amid_checkpoints_has_what_the_log_says() -> None:
    outcomes = list(all_openings())
    assert len(outcomes) == 300 and all(outcomes)


@pytest.mark.parametrize("seed", range(4))
def test_it_does_so_in_a_file_and_in_a_table(tmp_path: Path, seed: int) -> None:
    database = Database(tmp_path / "store.db")
    assert all(openings(stored(SqliteDrafts(database)), seed, OPENINGS))
    database.close()
    assert all(openings(stored(DynamoDrafts(DirectClient(Table()), "table")), seed, OPENINGS))


# -- planted faults ----------------------------------------------------------------------------------------------------


class UnfencedDraft(WarmDraft[State]):
    def _is_news(self, key: str, seq: int, ages: Mapping[str, int] | None) -> bool:
        return True


class Unfenced(Opening[State]):
    """Takes every effect above `checked`, also those that an entity has had."""

    warm = UnfencedDraft


class ReadsTheLogFirst(Opening[State]):
    """Knows the log only as far as it went before the entities were read."""

    def open(self, head: Any) -> WarmDraft[State]:
        drafts = self._storage.drafts
        log = drafts.read_ops(head.draft, max(0, head.checked - 1), limit=1000)
        self._storage = self._storage._replace(drafts=_WithLog(drafts, log))
        return super().open(head)


class _WithLog:
    def __init__(self, drafts: Drafts, log: Sequence[Op]) -> None:
        self._drafts = drafts
        self._log = log

    def __getattr__(self, name: str) -> Any:
        return getattr(self._drafts, name)

    def read_ops(self, draft: Draft, after: int = 0, *, limit: int = 1000) -> Sequence[Op]:
        return self._log


class RaisesCheckedFirst(Stepwise):
    """Raises `checked` before it has written the entities."""

    def raise_checked(self, draft: Draft, seq: int) -> bool:
        self.steps.insert(0, lambda: self._drafts.raise_checked(draft, seq))
        return True


class WritesOverNewer(Stepwise):
    """Writes an entity although there is a newer one: as if it were as new as the newest."""

    def put_entities(self, draft: Draft, entities: Sequence[Entity]) -> None:
        super().put_entities(draft, [])
        for entity in entities:
            self.steps.append(self._over(draft, entity))

    def _over(self, draft: Draft, entity: Entity) -> Callable[[], object]:
        def write() -> None:
            present = {kept.key: kept.seq for kept in self._drafts.read_entities(draft).items}
            last = self._drafts.last_op(draft)
            if last is not None and present.get(entity.key, 0) < last.seq:
                self._drafts.put_entities(draft, [entity._replace(seq=max(entity.seq, present.get(entity.key, 0) + 1))])

        return write


class LeavesNoTombstones(Stepwise):
    """Writes nothing for a deleted entity."""

    def put_entities(self, draft: Draft, entities: Sequence[Entity]) -> None:
        super().put_entities(draft, [entity for entity in entities if entity.value is not None])


FAULTS: Mapping[str, Mapping[str, Any]] = {
    "no fence by seq": {"opening": Unfenced}, "the log before the entities": {"opening": ReadsTheLogFirst},
    "checked before the entities": {"steps": RaisesCheckedFirst}, "an older entity over a newer": {"steps": WritesOverNewer},
    "no tombstones": {"steps": LeavesNoTombstones},
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str) -> None:
    def broken() -> Iterator[bool]:
        for seed in range(SEEDS):
            try:
                yield from openings(stored(MemoryDrafts()), seed, OPENINGS, **FAULTS[fault])
            except (StoreUnusable, AssertionError):
                yield False

    assert not all(broken())


# -- what is missing ---------------------------------------------------------------------------------------------------


def test_a_draft_whose_unchecked_items_are_missing_is_not_opened(storage: Storage) -> None:
    head = storage.drafts.put_head(new_head("wf", 1, ORIGIN, "ada", 0), None)
    assert head is not None
    storage.drafts.put_entities(head.draft, [Entity("block/o1", 7, b"{}")])
    with pytest.raises(StoreUnusable) as refused:
        Opening(storage, PlainEditing()).open(head)
    assert (refused.value.code, refused.value.place) == ("draft_damaged", "draft of wf, epoch 1, item 1")


def test_a_draft_that_cannot_be_opened_can_be_replaced(storage: Storage, drafting: DraftLogs[State]) -> None:
    drafting.open("wf", ORIGIN, "ada")
    storage.drafts.put_entities(Draft("wf", 1), [Entity("block/o1", 7, b"{}")])
    assert drafting.open("wf", ORIGIN, "ada").epoch == 2
    assert drafting.current("wf").state == ORIGIN


def test_a_sweep_goes_on_beyond_a_draft_that_cannot_be_opened(
    storage: Storage, drafting: DraftLogs[State], clock: SettableClock
) -> None:
    for name in ("a", "b", "c"):
        drafting.open(name, ORIGIN, "ada")
        drafting.commit(Draft(name, 1), EditRequest("c", 1, "t", 0, [["set", "block/o1", "x", 1]]), "ada")
    storage.drafts.put_entities(Draft("b", 1), [Entity("block/o1", 7, b"{}")])
    clock.advance(SWEPT_CHECKPOINT_IDLE_MS)
    with pytest.raises(StoreUnusable):
        DraftLogs(storage, PlainEditing()).sweep()
    assert [drafting.head(name).checked for name in ("a", "b", "c")] == [1, 0, 1]
