"""The world of editors over drafts as they are really kept: each server is a `DraftLogs` over one memory store.

Servers make checkpoints, die in the middle of one, open from what is stored, and stay warm while the draft is replaced under
them. People lose the right to edit and get it back, and the file that the draft is saved to is changed by others. Months pass:
items, clients and tombstones are forgotten. Who was away for longer than the log is kept opens the draft anew; what waited is
listed, and done only on demand.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

from edits import Editor, fresh
from invariants import faults
from replica import Replica
from world import START, Tab, World, canonical, letters

from stepless.adapters.memory.blobs import MemoryBlobs
from stepless.adapters.memory.clock import SettableClock
from stepless.adapters.memory.drafts import MemoryDrafts
from stepless.drafts.log.draft_logs import DraftLogs
from stepless.drafts.log.entries import Answer
from stepless.drafts.log.records import Records, Storage
from stepless.drafts.log.rules_adapter import Origin, Rules
from stepless.drafts.log.warm_draft import WarmDraft
from stepless.drafts.rules.fold import apply
from stepless.drafts.rules.messages import entry_read
from stepless.drafts.rules.requests import EditRequest, Guard, Operation
from stepless.drafts.rules.resolve import resolve
from stepless.drafts.rules.state import Entities, snapshot
from stepless.drafts.rules.values import Object
from stepless.limits import LAST_KEPT_MS
from stepless.ports import Draft

DAY_MS = 24 * 3_600_000
OF_THE_FILE = 0x9000
"""The first of the characters that only the file has."""


class Dies(Exception):
    """The process ends here."""


class Mortal:
    """The drafts of one process, which may die between two writes of a checkpoint."""

    def __init__(self, drafts: MemoryDrafts, rng: Random) -> None:
        self._drafts = drafts
        self._rng = rng
        self.mortal = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._drafts, name)

    def put_entities(self, draft: Draft, entities: Any) -> None:
        for entity in entities:
            if self.mortal and self._rng.random() < 0.1:
                raise Dies
            self._drafts.put_entities(draft, [entity])

    def raise_checked(self, draft: Draft, seq: int) -> bool:
        if self.mortal and self._rng.random() < 0.1:
            raise Dies
        return self._drafts.raise_checked(draft, seq)


class KeptLog:
    """The log of one epoch. `items` are all that it ever had, as they were read from the store; `first` is the lowest sequence
    that the store still has."""

    def __init__(self, world: KeptWorld, draft: Draft) -> None:
        self._records = Records(world.storage, draft)
        self.start: dict[str, Object] = json.loads(canonical(dict(world.rules.origin(draft, {"version": 1}))))

        self._read: list[Object] = []

    @property
    def items(self) -> list[Object]:
        self._read += [
            {**item._asdict(), "at": item.at_ms, "effects": list(item.effects), "outcomes": list(item.outcomes)}
            for item in self._records.entries(len(self._read)) if item.closes is None
        ]  # fmt: skip
        return self._read

    def since(self, seq: int) -> list[Object]:
        """What the store still has of what came behind an item."""
        return self.items[max(seq, self.first - 1):]

    @property
    def first(self) -> int:
        found = self._records.some_entries(0, 1)
        return found[0].seq if found else len(self.items) + 1


class KeptTab(Tab):
    """A tab that opens the draft anew where the log has lost what it is missing."""

    world: KeptWorld

    def pull(self) -> None:
        if self.replica.seq + 1 < self.world.log.first:
            self.open_again()
        super().pull()

    def open_again(self) -> None:
        """What was in flight may have been committed, so it is not done again; of what waited each operation is, or is not."""
        self.world.opened_again += 1
        former, prefix = self.replica, self.world.opened()
        self.replica = Replica(fresh(self.world.rng), Entities(snapshot(prefix.state)), prefix.seq)
        self.replica.notices = former.notices
        for part in former.sent.parts if former.sent is not None else ():
            self.typed -= letters(part.operation.writes)
        for part in former.unsent:
            if self.world.rng.random() < 0.3 or not self.replica.edit(Operation(part.operation.writes)):
                self.typed -= letters(part.operation.writes)
        self.check()


class Process:
    """One server."""

    def __init__(self, world: KeptWorld) -> None:
        self.drafts = Mortal(world.drafts, world.rng)
        self.drafting = DraftLogs(world.storage._replace(drafts=self.drafts), world.rules)


class KeptWorld(World):
    """A replacement happens once at most: the tabs then open the new epoch, with nothing in their queues."""

    tab = KeptTab

    def __init__(self, seed: int) -> None:
        self.drafts = MemoryDrafts()
        self.storage = Storage(self.drafts, MemoryBlobs(), SettableClock(1_700_000_000_000))
        self.rules = Rules(lambda workflow_id, origin: Origin(START), lambda type_: type_ == "loop")
        self.draft = Draft("w", 1)
        DraftLogs(self.storage, self.rules).open("w", {"version": 1}, "p0")
        super().__init__(seed)
        self.readers: set[str] = set()
        self.forbidden = 0
        self.came_in: list[int] = []
        self.opened_again = 0
        self.file = Editor(Random(self.rng.random()), OF_THE_FILE)
        self._begin()
        self.processes = [Process(self) for _ in range(self.rng.randrange(1, 4))]

    def _begin(self) -> None:
        self.log: Any = KeptLog(self, self.draft)
        self.base = Entities(self.log.start)
        self.decided.clear()
        self.acknowledged.clear()
        self.network.clear()
        for number, name in enumerate(list(self.tabs)):
            replica = Replica(fresh(self.rng), Entities(self.log.start))
            self.tabs[name] = self.tab(self, name, replica, Editor(Random(self.rng.random()), 0x1000 + 0x800 * number))

    def serve(self, tab: Tab, request: EditRequest) -> None:
        """A reader is answered `forbidden`, which is no item: the request stays with the tab, and is sent again."""
        if tab.name in self.readers:
            self.forbidden += 1
            self.post(("answer", tab.name, canonical({"n": request.n, "tag": request.tag, "code": "forbidden"})))
            return
        process = self.rng.choice(self.processes)
        before = self._end()
        made = process.drafting.commit(self.draft, request, tab.name)
        if isinstance(made, Answer):
            self.post(("answer", tab.name, canonical({"n": request.n, "tag": request.tag, "code": made.code})))
            return
        if made.seq > before:
            self.decided[made.seq] = request
            if self.rng.random() < 0.1:
                self._again(process)  # died before the fan-out
                return
        for name in self.tabs if made.seq > before else [tab.name]:
            self.post(("item", name, canonical(self.log.items[made.seq - 1])))

    def _end(self) -> int:
        return len(self.log.items)

    def _again(self, process: Process) -> None:
        """The process starts again, and opens the draft from what is stored."""
        self.processes[self.processes.index(process)] = Process(self)

    def step(self) -> None:
        super().step()
        draw, process = self.rng.random(), self.rng.choice(self.processes)
        if draw < 0.06:
            process.drafts.mortal = self.rng.random() < 0.5
            try:
                process.drafting.checkpoint("w")
                process.drafts.mortal = False
            except Dies:
                self._again(process)
        elif draw < 0.1:
            self._again(process)
            self.check_opening()
        elif draw < 0.103 and self.draft.epoch == 1:
            self.replace(process)

        elif draw < 0.11:
            self.readers ^= {self.rng.choice(list(self.tabs))}
        elif draw < 0.13:
            self.come_in(process)
        elif draw < 0.14:
            self.pass_months(process)

    def pass_months(self, process: Process) -> None:
        """The draft is checked, as the sweep does within an hour; then items, clients and tombstones expire, and no process of
        that time is left."""
        process.drafts.mortal = False
        process.drafting.checkpoint("w")
        end = len(self.log.items)
        self.storage.clock.advance(self.rng.choice((2, 100, 200, 400)) * DAY_MS)
        self.drafts.forget_expired(self.storage.clock.now_ms())
        assert len(self.log.items) == end
        for other in list(self.processes):
            self._again(other)
        self.check_opening()

    def opened(self) -> WarmDraft[Any]:
        """The draft as a process opens it that knows nothing of it."""
        return DraftLogs(self.storage, self.rules).current("w")

    def come_in(self, process: Process) -> None:
        """Another program has changed the file: its change comes in under the condition that the draft still has what the file
        had, and is left out otherwise."""
        operation = self.file.operation(self.base)
        if operation is None:
            return
        had = {write.key: self.base.get(write.key) for write in operation.writes}
        guards = tuple(Guard(key, (), entity) for key, entity in had.items() if entity is not None)
        guarded = Operation(operation.writes, guards)
        apply(self.base, resolve(self.base, [Operation(operation.writes)]).effects)
        end = self._end()
        name = f"file-{self.draft.epoch}-{end}-{len(self.came_in)}"
        asked = EditRequest(name, 1, name, end, (guarded,))
        made, again = (process.drafting.commit(self.draft, asked, "file") for _ in range(2))
        assert not isinstance(made, Answer) and not isinstance(again, Answer)
        assert made.seq == again.seq == self._end(), "a file came in twice"
        self.decided[made.seq] = EditRequest(name, 1, name, end, (guarded,))
        self.came_in.append(made.seq)
        for other in self.tabs:
            self.post(("item", other, canonical(self.log.items[made.seq - 1])))

    def settle(self) -> None:
        self.readers.clear()
        super().settle()

    def replace(self, process: Process) -> None:
        """Replaces the draft; the other processes know the former epoch still, and must not commit into it."""
        for other in self.processes:
            other.drafting.current("w")
        former, end = self.draft, self._end()
        process.drafting.open("w", {"version": 1}, "p0")
        for other in self.processes:
            late = EditRequest("late", 1, "late", end, ())
            assert other.drafting.commit(former, late, "p0") == Answer("replaced"), "a closed epoch was committed into"
        self.draft = Draft("w", 2)
        self._begin()
        self.check_opening()

    def check_opening(self) -> None:
        """A cold opening is the fold of all that was ever committed, and knows every client of the last months."""
        prefix = self.opened()
        assert prefix.draft == self.draft
        state, last, recent = Entities(self.log.start), dict[str, tuple[int, str]](), set[str]()
        for stored in self.log.items:
            apply(state, entry_read(stored).effects)
            last[stored["client"]] = (stored["n"], stored["tag"])
            if stored["at"] + LAST_KEPT_MS > self.storage.clock.now_ms():
                recent.add(stored["client"])
        assert canonical(snapshot(prefix.state)) == canonical(snapshot(state)), "an opening differs from the log"
        known = {client: (one.n, one.tag) for client, one in prefix.last.items()}
        assert known.items() <= last.items() and recent <= known.keys(), "an opening forgot a client"
        assert not list(faults(prefix.state))

    def check(self) -> None:
        super().check()
        self.check_opening()


def kept_episode(seed: int, steps: int = 200) -> KeptWorld:
    """Plays a world over kept drafts and checks it."""
    world = KeptWorld(seed)
    for _ in range(steps):
        world.step()
    world.settle()
    world.check()
    return world

