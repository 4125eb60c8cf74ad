"""Worlds of editors over drafts as they are kept, and the mistakes in keeping them that they must find."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from kept_world import KeptTab, KeptWorld, kept_episode
from world import Tab, mutated

from stepless.adapters.memory.drafts import MemoryDrafts
from stepless.drafts.log import sequencing
from stepless.drafts.log.entries import LogEntry
from stepless.drafts.log.warm_draft import LAST, WarmDraft
from stepless.errors import StoreUnusable
from stepless.ports import Draft

pytestmark = pytest.mark.long

SEEDS = 12


def test_editors_of_a_kept_draft_converge_and_every_opening_has_what_the_log_says() -> None:
    worlds = [kept_episode(seed) for seed in range(SEEDS)]
    assert sum(len(world.log.items) for world in worlds) > 8 * SEEDS
    assert any(world.draft.epoch == 2 for world in worlds)
    heads = [world.drafts.get_head("w") for world in worlds]
    assert any(head is not None and head.checked for head in heads)
    assert sum(world.forbidden for world in worlds) > SEEDS
    assert sum(len(world.came_in) for world in worlds) > SEEDS
    assert sum(world.log.first > 1 for world in worlds) > SEEDS / 4 and sum(world.opened_again for world in worlds) > SEEDS


def _without(leaves_out: Callable[[Any], bool]) -> Callable[..., Iterator[Any]]:
    unchecked = WarmDraft.unchecked

    def some(self: Any, now_ms: int) -> Iterator[Any]:
        return (entry for entry in unchecked(self, now_ms) if not leaves_out(entry[0]))

    return some


def _of_any_epoch(method: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, draft, *given, **named: method(self, Draft(draft.workflow_id, 0), *given, **named)


def _not_closed(records: Any, checked: int, successor: Any, by: str, clock: Any) -> LogEntry:
    return LogEntry(checked + 1, "", 0, "", by, clock.now_ms(), (), closes=successor)


def _since_what_is_left(self: Any, base: int) -> list[LogEntry] | None:
    """Of a base that the log does not reach any more, what came behind."""
    return list(self.records.some_entries(base, self.seq - base)) if base <= self.seq else None


PLANTED: dict[str, list[tuple[object, str, object]]] = {
    "no checkpoint keeps the last request of a client": [
        (WarmDraft, "unchecked", _without(lambda kept: kept.key.startswith(LAST))),
    ],
    "no checkpoint keeps a tombstone": [(WarmDraft, "unchecked", _without(lambda kept: kept.value is None))],
    "an effect is folded over an entity that has had it": [(WarmDraft, "_is_news", lambda self, key, seq, ages: True)],
    "a former epoch is not closed": [(sequencing, "close", _not_closed)],
    "a base before the first item of the log is taken": [(WarmDraft, "since", _since_what_is_left)],
    "a tab that missed what the log has lost goes on": [(KeptTab, "pull", Tab.pull)],
    "the epoch is not in the key of an entity": [
        (MemoryDrafts, "put_entities", _of_any_epoch(MemoryDrafts.put_entities)),
        (MemoryDrafts, "read_entities", _of_any_epoch(MemoryDrafts.read_entities)),
    ],
}


@pytest.mark.check
@pytest.mark.parametrize("mistake", PLANTED)
def test_a_planted_mistake_in_keeping_is_found(mistake: str) -> None:
    with ExitStack() as planted:
        for fault in PLANTED[mistake]:
            planted.enter_context(mutated(*fault))
        planted.enter_context(mutated(KeptWorld, "patience", 100))
        for seed in range(100):
            try:
                kept_episode(seed)
            except (AssertionError, KeyError, ValueError, StoreUnusable):
                return
    pytest.fail(f"100 seeds do not find that {mistake}")
