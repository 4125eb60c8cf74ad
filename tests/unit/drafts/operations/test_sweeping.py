"""The sweep of drafts on Lambda: in the first minute of each hour."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from stepless.adapters.memory.clock import SettableClock
from stepless.drafts.log.entries import LogEntry
from stepless.drafts.operations.sweeping import sweep_drafts
from stepless.drafts.operations.verbs import DraftVerbs
from stepless.errors import StoreUnavailable
from stepless.limits import DRAFTS_SWEPT_MS, SWEPT_CHECKPOINT_IDLE_MS
from stepless.ports import Draft
from stepless.runtime.wiring.local import local
from stepless.runtime.world import World

HOUR_MS = 500_000 * DRAFTS_SWEPT_MS


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock(HOUR_MS)


@pytest.fixture
def world(clock: SettableClock) -> World:
    return replace(local(None).world, clock=clock)


def checked(world: World) -> int:
    head = world.drafts.get_head("w") if world.drafts else None
    return head.checked if head else 0


def test_an_idle_draft_is_checked_in_the_first_minute_of_an_hour(world: World, clock: SettableClock) -> None:
    verbs = DraftVerbs(world)
    verbs.open_empty("w", "ada")
    operations: Any = [{"writes": [["set", "doc", ["name"], "x"]]}]
    made = verbs.submit(Draft("w", 1), {"client": "c", "n": 1, "tag": "t", "base": 0, "gestures": operations}, "ada")
    assert isinstance(made, LogEntry)
    assert sweep_drafts(world) and checked(world) == 0, "it was edited just now"
    clock.advance(SWEPT_CHECKPOINT_IDLE_MS + 60_000)
    assert not sweep_drafts(world) and checked(world) == 0, "it is the second minute"
    clock.advance(DRAFTS_SWEPT_MS - 60_000)
    assert sweep_drafts(world) and checked(world) == 1


def test_an_error_is_logged_and_stops_no_sweep_of_runs(world: World, caplog: pytest.LogCaptureFixture) -> None:
    class Unreachable:
        def list_heads(self, **given: Any) -> Any:
            raise StoreUnavailable("the table is out of reach")

    drafts: Any = Unreachable()
    assert sweep_drafts(replace(world, drafts=drafts))
    assert "the table is out of reach" in caplog.text
    assert sweep_drafts(replace(world, drafts=None)), "a store that keeps no drafts"
