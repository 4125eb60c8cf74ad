"""One draft, and a few processes that commit to it and make checkpoints while another one opens it. All of it is seeded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

from plain_editing import ORIGIN, PlainEditing, State, canonical, random_operation

from stepless.drafts.log.checkpoints import checkpoint
from stepless.drafts.log.draft_logs import DraftLogs
from stepless.drafts.log.entries import Last, LogEntry
from stepless.drafts.log.heads import new_head
from stepless.drafts.log.opening import Opening
from stepless.drafts.log.records import Records, Storage
from stepless.drafts.rules.requests import EditRequest
from stepless.ports import Draft, DraftHead, Drafts, Entity

KEYS = [*ORIGIN, *(f"block/n{number}" for number in range(4)), "doc"]


class Stepwise:
    """The port for one process, with the writes of its checkpoints kept back as steps: each entity by itself, in any order, then
    `checked`. So a checkpoint takes its time, and may stop for good."""

    def __init__(self, drafts: Drafts, rng: Random) -> None:
        self._drafts = drafts
        self._rng = rng
        self.steps: list[Callable[[], object]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._drafts, name)

    def put_entities(self, draft: Draft, entities: Sequence[Entity]) -> None:
        def write(entity: Entity) -> Callable[[], object]:
            return lambda: self._drafts.put_entities(draft, [entity])

        self.steps += [write(entity) for entity in self._rng.sample(list(entities), len(entities))]

    def raise_checked(self, draft: Draft, seq: int) -> bool:
        self.steps.append(lambda: self._drafts.raise_checked(draft, seq))
        return True


class Interrupted:
    """The port for the process that opens. Before each of its reads the others go on, and it reads few entities at a time."""

    def __init__(self, drafts: Drafts, others: Callable[[], object], rng: Random) -> None:
        self._drafts = drafts
        self._others = others
        self._rng = rng

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._drafts, name)

        def call(*arguments: Any, **named: Any) -> Any:
            self._others()
            if name == "read_entities":
                named["limit"] = self._rng.randrange(1, 5)
            return found(*arguments, **named)

        return call


class Worker:
    """A process that commits for a client of its own, reads on, and makes checkpoints. Now and then it dies in one."""

    def __init__(self, storage: Storage, rng: Random, name: str, steps: type[Stepwise]) -> None:
        self._rng = rng
        self._slow = steps(storage.drafts, rng)
        self._storage = storage._replace(drafts=self._slow)
        self._client, self._n = name, 0
        self._begin()

    def _begin(self) -> None:
        self._logs: DraftLogs[State] = DraftLogs(self._storage, PlainEditing())
        self._warm = self._logs.current("wf")

    def go_on(self) -> None:
        choice = self._rng.randrange(10)
        if choice < 2:
            self._n += 1
            operations = [random_operation(self._rng, KEYS) for _ in range(self._rng.randrange(1, 4))]
            request = EditRequest(self._client, self._n, f"{self._client}-{self._n}", self._warm.seq, operations)
            assert isinstance(self._logs.commit(self._warm.draft, request, "ada"), LogEntry)
        elif choice == 2:
            self._warm.catch_up()
        elif not self._slow.steps:
            checkpoint(self._warm, self._storage)
        elif choice == 3 and self._rng.random() < 0.2:
            self._slow.steps.clear()
            self._begin()
        else:
            self._slow.steps.pop(0)()


def folded(storage: Storage, head: DraftHead, upto: int) -> tuple[State, dict[str, Last]]:
    """What the log says up to an item."""
    state, last = dict(ORIGIN), dict[str, Last]()
    for item in Records(storage, head.draft).entries(0):
        if item.seq <= upto:
            PlainEditing().fold(state, item.effects)
            last[item.client] = Last(item.n, item.seq, item.tag, item.by)
    return state, last


def openings(
    storage: Storage, seed: int, number: int, opening: type[Opening[State]] = Opening, steps: type[Stepwise] = Stepwise
) -> Iterator[bool]:
    """Opens a new draft again and again while others commit and make checkpoints; yields for each whether it has the state and
    the clients that the log says."""
    rng = Random(seed)
    stored = storage.drafts.put_head(new_head("wf", 1, ORIGIN, "ada", 0), None)
    assert stored is not None
    workers = [Worker(storage, rng, f"c{place}", steps) for place in range(3)]

    def others() -> None:
        for _ in range(rng.randrange(12)):
            rng.choice(workers).go_on()

    for _ in range(number):
        others()
        interrupted: Any = Interrupted(storage.drafts, others, rng)
        head = interrupted.get_head("wf")
        warm = opening(storage._replace(drafts=interrupted), PlainEditing()).open(head)
        state, last = folded(storage, stored, warm.seq)
        yield canonical(warm.state) == canonical(state) and warm.last == last
