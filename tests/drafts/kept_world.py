"""The world of editors over drafts as they are really kept: each server is a `Drafting` over one memory store.

Servers make checkpoints, die in the middle of one, open from what is stored, and stay warm while the draft is replaced under
them. People lose the right to edit and get it back, and the file that the draft is saved to is changed by others.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

from edits import Editor, fresh
from world import START, Tab, World, canonical

from stepless.adapters.memory.blobs import MemoryBlobs
from stepless.adapters.memory.clock import SettableClock
from stepless.adapters.memory.drafts import MemoryDrafts
from stepless.editing.fold import apply
from stepless.editing.gestures import Gesture, Guard, Intent
from stepless.editing.messages import item_read
from stepless.editing.replica import Replica
from stepless.editing.resolve import resolve
from stepless.editing.state import Entities, snapshot
from stepless.editing.values import Object
from stepless.editing.wholeness import faults
from stepless.ports import Draft
from stepless.runtime.drafts.drafting import Drafting
from stepless.runtime.drafts.items import Answer
from stepless.runtime.drafts.items import Intent as Asked
from stepless.runtime.drafts.records import Records, Storage
from stepless.runtime.drafts.rules import Origin, Rules

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
    """The log of one epoch, read from the store."""

    def __init__(self, world: KeptWorld, draft: Draft) -> None:
        self._records = Records(world.storage, draft)
        self.start: dict[str, Object] = json.loads(canonical(dict(world.rules.origin(draft, {"version": 1}))))

    @property
    def items(self) -> list[Object]:
        return [
            {**item._asdict(), "at": item.at_ms, "effects": list(item.effects), "outcomes": list(item.outcomes)}
            for item in self._records.items(0) if item.closes is None
        ]  # fmt: skip


class Process:
    """One server."""

    def __init__(self, world: KeptWorld) -> None:
        self.drafts = Mortal(world.drafts, world.rng)
        self.drafting = Drafting(world.storage._replace(drafts=self.drafts), world.rules)


class KeptWorld(World):
    """A replacement happens once at most: the tabs then open the new epoch, with nothing in their queues."""

    def __init__(self, seed: int) -> None:
        self.drafts = MemoryDrafts()
        self.storage = Storage(self.drafts, MemoryBlobs(), SettableClock(1_700_000_000_000))
        self.rules = Rules(lambda workflow_id, origin: Origin(START), lambda type_: type_ == "loop")
        self.draft = Draft("w", 1)
        Drafting(self.storage, self.rules).open("w", {"version": 1}, "p0")
        super().__init__(seed)
        self.readers: set[str] = set()
        self.forbidden = 0
        self.came_in: list[int] = []
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
            self.tabs[name] = Tab(self, name, replica, Editor(Random(self.rng.random()), 0x1000 + 0x800 * number))

    def serve(self, tab: Tab, intent: Intent) -> None:
        """A reader is answered `forbidden`, which is no item: the intent stays with the tab, and is sent again."""
        if tab.name in self.readers:
            self.forbidden += 1
            self.post(("answer", tab.name, canonical({"n": intent.n, "tag": intent.tag, "code": "forbidden"})))
            return
        process = self.rng.choice(self.processes)
        asked = Asked(intent.client, intent.n, intent.tag, intent.base, intent.gestures)
        before = self._end()
        made = process.drafting.submit(self.draft, asked, tab.name)
        if isinstance(made, Answer):
            self.post(("answer", tab.name, canonical({"n": intent.n, "tag": intent.tag, "code": made.code})))
            return
        if made.seq > before:
            self.decided[made.seq] = intent
            if self.rng.random() < 0.1:
                self._again(process)  # died before the fan-out
                return
        for name in self.tabs if made.seq > before else [tab.name]:
            self.post(("item", name, canonical(self.log.items[made.seq - 1])))

    def _end(self) -> int:
        last = self.drafts.last_op(self.draft)
        return last.seq if last is not None else 0

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

    def come_in(self, process: Process) -> None:
        """Another program has changed the file: its change comes in under the condition that the draft still has what the file
        had, and is left out otherwise."""
        gesture = self.file.gesture(self.base)
        if gesture is None:
            return
        had = {write.key: self.base.get(write.key) for write in gesture.writes}
        guards = tuple(Guard(key, (), entity) for key, entity in had.items() if entity is not None)
        guarded = Gesture(gesture.writes, guards)
        apply(self.base, resolve(self.base, [Gesture(gesture.writes)]).effects)
        end = self._end()
        name = f"file-{self.draft.epoch}-{end}-{len(self.came_in)}"
        asked = Asked(name, 1, name, end, (guarded,))
        made, again = (process.drafting.submit(self.draft, asked, "file") for _ in range(2))
        assert not isinstance(made, Answer) and not isinstance(again, Answer)
        assert made.seq == again.seq == self._end(), "a file came in twice"
        self.decided[made.seq] = Intent(name, 1, name, end, (guarded,))
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
            late = Asked("late", 1, "late", end, [])
            assert other.drafting.submit(former, late, "p0") == Answer("replaced"), "a closed epoch was committed into"
        self.draft = Draft("w", 2)
        self._begin()
        self.check_opening()

    def check_opening(self) -> None:
        """A cold opening is the fold of the whole log, and knows every client."""
        room = Drafting(self.storage, self.rules).current("w")
        assert room.draft == self.draft
        state, last = Entities(self.log.start), dict[str, tuple[int, str]]()
        for stored in self.log.items:
            apply(state, item_read(stored).effects)
            last[stored["client"]] = (stored["n"], stored["tag"])
        assert canonical(snapshot(room.state)) == canonical(snapshot(state)), "an opening differs from the log"
        assert {client: (known.n, known.tag) for client, known in room.last.items()} == last, "an opening forgot a client"
        assert not list(faults(room.state))

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

