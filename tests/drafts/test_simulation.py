"""Worlds of editors, and the mistakes that they must find."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import world
from replica import Replica
from sweeps import at_most
from world import Log, Server, World, episode, mutated

from stepless.drafts.rules import resolve, validation
from stepless.drafts.rules.requests import LogEntry

pytestmark = pytest.mark.long

SEEDS = at_most(12, 25)


def test_what_people_edit_at_once_converges_and_nothing_is_lost() -> None:
    items = sum(len(episode(seed).log.items) for seed in range(SEEDS))
    assert items > 10 * SEEDS


def test_a_seed_makes_the_same_world_again() -> None:
    assert episode(3).log.items == episode(3).log.items


def _no_condition(self: Log, item: LogEntry) -> bool:
    self.items.append(world.json.loads(world.canonical(world.entry_written(item._replace(seq=len(self.items) + 1)))))
    return True


def _no_dedupe(decide: Callable[..., Any]) -> Callable[..., Any]:
    def decided(self: Server, request: Any, by: str) -> Any:
        self.last.pop(request.client, None)
        items, self.items = self.items, []
        try:
            since = [resolve.Change(item.by, item.effects) for item in items[request.base:]]
            made = resolve.resolve(self.state, request.operations, since)
        finally:
            self.items = items
        return LogEntry(self.seq + 1, request.client, request.n, request.tag, by, self.seq + 1, made.effects, made.outcomes)
    return decided


def _as_it_comes(self: Replica, item: LogEntry) -> None:
    if item.seq > self.seq:
        self._take(item)


def _cleared(replica: Replica) -> Replica:
    copy = world.deepcopy(replica)
    copy.unsent.clear()
    copy._view = None
    return copy


def _own_crossed(acknowledged: Callable[..., None]) -> Callable[..., None]:
    def transformed(self: Replica, sent: Any, item: LogEntry) -> None:
        acknowledged(self, sent, item)
        self._meet(item.effects, item.by)
    return transformed


def _refusals_unlogged(append: Callable[[Log, LogEntry], bool]) -> Callable[[Log, LogEntry], bool]:
    def appended(self: Log, item: LogEntry) -> bool:
        return append(self, item) if item.effects or not item.outcomes else False
    return appended


def _whole_request_refused(state: Any, operations: Any, since: Any = ()) -> Any:
    made = _RESOLVE(state, operations, since)
    if any(outcome.refused for outcome in made.outcomes):
        refused = next(outcome for outcome in made.outcomes if outcome.refused)
        return resolve.Decision((), (refused,), resolve.Layer(state))
    return made


_RESOLVE = resolve.resolve

PLANTED: dict[str, tuple[object, str, object]] = {
    "an item is appended without a condition": (Log, "append", _no_condition),
    "an intent is committed again": (Server, "decide", _no_dedupe(Server.decide)),
    "a deletion leaves what hangs on it": (validation.Validation, "_hanging", lambda self, key: [key]),
    "items are taken as they come": (Replica, "hear", _as_it_comes),
    "a reload clears the queue": (world, "stored_again", _cleared),
    "two blocks get one name": (validation.Validation, "_free_name", lambda self, body, asked, key: asked),
    "own items are crossed with what waits": (Replica, "_acknowledged", _own_crossed(Replica._acknowledged)),
    "refusals are not logged": (Log, "append", _refusals_unlogged(Log.append)),
    "guards are ignored": (resolve, "_guarded", lambda state, operation: None),
    "a refusal takes the whole intent": (world, "resolve", _whole_request_refused),
    "edges are not judged when blocks move": (validation.Validation, "_untie", lambda self: None),
    "what waits is not crossed": (Replica, "_meet", lambda self, effects, by: None),
}


@pytest.mark.check
@pytest.mark.parametrize("mistake", PLANTED)
def test_a_planted_mistake_is_found(mistake: str) -> None:
    with mutated(*PLANTED[mistake]), mutated(World, "patience", 200):
        for seed in range(300):
            try:
                episode(seed)
            except (AssertionError, KeyError, ValueError):
                return
    pytest.fail(f"300 seeds do not find that {mistake}")


