"""A world in which several people edit one draft: their tabs, the servers, and the network between them.

Everything is drawn from one seed. A server keeps nothing but a cache; any of them may sequence, and the log decides. Messages are
dropped, doubled, delayed and reordered, tabs are closed, copied and cut off, and servers die between the append and the fan-out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from random import Random
from typing import Any

from edits import Editor, fresh
from invariants import faults
from replica import Replica
from written_messages import entry_written, request_written

from stepless.drafts.rules.document import from_document
from stepless.drafts.rules.fold import apply
from stepless.drafts.rules.messages import entry_read, read_request
from stepless.drafts.rules.requests import EditRequest, LogEntry
from stepless.drafts.rules.resolve import Change, resolve
from stepless.drafts.rules.state import Entities, snapshot
from stepless.drafts.rules.values import Object
from stepless.limits import MAX_BEHIND_ITEMS

START = {
    "id": "w", "name": "the start",
    "nodes": {
        "order": {"type": "manual"},
        "score": {"type": "http", "after": "order", "with": {"url": "u", "prompt": "<order.id>", "list": ["a", {"b": 1.0}]}},
        "each": {"type": "loop", "after": [{"from": "score.big", "param": "x"}], "with": {"items": "<score.rows>", "body": {
            "nodes": {
                "price": {"type": "http", "with": {"prompt": "<order.id> <each.item>"}},
                "ship": {"type": "code", "after": "price"},
            },
        }}},
        "pay": {"type": "http", "after": ["score", "each"], "with": {"prompt": "pay <score.body> and <order.id>"}},
    },
    "edges": [{"source": "order", "target": "pay", "handle": "error"}],
}


FIRST_LETTER = 0x1000


def letters(writes: Any) -> set[str]:
    """The characters in writes that only one person types."""
    return {letter for letter in canonical([list(write) for write in writes]) if ord(letter) >= FIRST_LETTER}


def canonical(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@dataclass
class Log:
    """An append is a put under the condition that the place is free."""

    start: dict[str, Object]
    items: list[Object] = field(default_factory=list)

    def append(self, item: LogEntry) -> bool:
        if item.seq != len(self.items) + 1:
            return False
        self.items.append(json.loads(canonical(entry_written(item))))
        return True

    def since(self, seq: int) -> list[Object]:
        return self.items[seq:]


class Server:
    """One process: a cache of the fold, brought up to date before it decides."""

    def __init__(self, log: Log, name: str) -> None:
        self.log = log
        self.name = name
        self.seq = 0
        self.state = Entities(log.start)
        self.last: dict[str, tuple[int, str, int]] = {}
        self.items: list[LogEntry] = []

    def catch_up(self, to: int | None = None) -> None:
        for stored in self.log.items[self.seq:to]:
            item = entry_read(stored)
            apply(self.state, item.effects)
            self.last[item.client] = (item.n, item.tag, item.seq)
            self.items.append(item)
            self.seq = item.seq

    def decide(self, request: EditRequest, by: str) -> LogEntry | str:
        """The item to append, or the code of an answer; `known` where it is committed already."""
        n, tag, _ = self.last.get(request.client, (0, "", 0))
        of = request.first or request.client
        if any((item.tag, item.first or item.client) == (request.tag, of) for item in self.items[request.base:]):
            return "known"
        if request.n == n and request.tag == tag:
            return "known"
        if request.n <= n:
            return "forked"
        if request.n > n + 1 or not 0 <= self.seq - request.base <= MAX_BEHIND_ITEMS:
            return "stale"
        since = [Change(item.by, item.effects) for item in self.items[request.base:]]
        made = resolve(self.state, request.operations, since)
        seq = self.seq + 1
        return LogEntry(seq, request.client, request.n, request.tag, by, seq, made.effects, made.outcomes, first=request.first)


class Tab:
    """A person's tab: a replica, and the letters of the edits that it did."""

    def __init__(self, world: World, name: str, replica: Replica, editor: Editor) -> None:
        self.world = world
        self.name = name
        self.replica = replica
        self.editor = editor
        self.cut_off = False
        self.typed: set[str] = set()

    def edit(self) -> None:
        rng = self.world.rng
        draw = rng.random()
        if draw < 0.12:
            self.undo()
        elif draw < 0.16:
            self.replica.redo()
        else:
            operation = self.editor.operation(self.replica.view)
            if operation is not None and self.replica.edit(operation, join=rng.random() < 0.2):
                self.typed |= letters(operation.writes)
        self.check()

    def undo(self) -> None:
        """What waited and is taken back is never sent: its letters are wanted nowhere, and all else still waits."""
        waiting = [part.operation for part in self.replica.unsent]
        self.replica.undo()
        left = [part.operation for part in self.replica.unsent]
        if len(left) < len(waiting):
            assert left == waiting[:len(left)], (self.name, "took back more than the last action")
            self.typed -= letters(write for operation in waiting[len(left):] for write in operation.writes)

    def check(self) -> None:
        broken = list(faults(self.replica.view))
        assert not broken, (self.name, "shows", broken)

    def send(self) -> None:
        request = self.replica.message(lambda: fresh(self.world.rng))
        if request is not None:
            self.world.post(("intent", self.name, canonical(request_written(request))))

    def hear(self, stored: Object) -> None:
        item = entry_read(json.loads(canonical(stored)))
        replica = self.replica
        sent = replica.sent
        if sent and item.seq == replica.seq + 1 and replica.is_of(item, sent):
            shown = resolve(replica.confirmed, [part.operation for part in sent.parts])
            assert shown.effects == item.effects, (self.name, item.seq, "shown", shown.effects, "decided", item.effects)
            self.world.acknowledged.add((item.client, item.n, item.tag))
        replica.hear(item)
        self.check()

    def answered(self, n: int, tag: str, code: str) -> None:
        sent = self.replica.sent
        if sent is None or (sent.n, sent.tag) != (n, tag):
            return
        self.pull()
        if code in ("forked", "stale") and self.replica.sent is sent:
            self.replica.renamed(fresh(self.world.rng))

    def pull(self) -> None:
        for stored in self.world.log.since(self.replica.seq):
            self.hear(stored)


class World:
    patience = 10_000
    """Rounds in which everything must have arrived, once the network holds."""
    tab = Tab

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.log = Log(json.loads(canonical(from_document(START, "e"))))
        self.servers = [Server(self.log, f"s{one}") for one in range(self.rng.randrange(1, 4))]
        self.tabs: dict[str, Tab] = {}
        self.network: list[tuple[str, str, str]] = []
        self.acknowledged: set[tuple[str, int, str]] = set()
        self.lossy = self.rng.choice((0.0, 0.1, 0.3))
        self.decided: dict[int, EditRequest] = {}
        for number in range(self.rng.randrange(2, 7)):
            name = f"p{number}"
            replica = Replica(fresh(self.rng), Entities(self.log.start))
            self.tabs[name] = self.tab(self, name, replica, Editor(Random(self.rng.random()), 0x1000 + 0x800 * number))

    # -- network -----------------------------------------------------------------------------------------------------

    def post(self, message: tuple[str, str, str]) -> None:
        if self.rng.random() >= self.lossy:
            self.network.append(message)
        if self.rng.random() < self.lossy:
            self.network.append(message)

    def deliver(self) -> None:
        if not self.network:
            return
        kind, name, text = self.network.pop(self.rng.randrange(min(len(self.network), 6)))
        tab = self.tabs[name]
        if tab.cut_off:
            return
        if kind == "intent":
            self.serve(tab, read_request(json.loads(text)))
        elif kind == "item":
            tab.hear(json.loads(text))
        else:
            tab.answered(**json.loads(text))

    def serve(self, tab: Tab, request: EditRequest) -> None:
        server = self.rng.choice(self.servers)
        if self.rng.random() < 0.3:
            server.catch_up(self.rng.randrange(server.seq, len(self.log.items) + 1))
        for _ in range(8):
            decided = server.decide(request, tab.name)
            if isinstance(decided, str):
                if decided != "known" and server.seq < len(self.log.items):
                    server.catch_up()
                    continue
                if decided == "known":
                    of = request.first or request.client
                    found = next(
                        item for item in reversed(self.log.items)
                        if (item["tag"], item.get("first", item["client"])) == (request.tag, of)
                    )
                    self.post(("item", tab.name, canonical(found)))
                else:
                    self.post(("answer", tab.name, canonical({"n": request.n, "tag": request.tag, "code": decided})))
                return
            if self.log.append(decided):
                self.decided[decided.seq] = request
                server.catch_up()
                broken = list(faults(server.state))
                assert not broken, ("committed", decided.seq, broken)
                if self.rng.random() < 0.1:
                    self.restart(server)  # died before the fan-out
                    return
                for name in self.tabs:
                    self.post(("item", name, canonical(self.log.items[decided.seq - 1])))
                return
            server.catch_up()

    def restart(self, server: Server) -> None:
        self.servers[self.servers.index(server)] = Server(self.log, server.name)

    # -- the episode -------------------------------------------------------------------------------------------------

    def step(self) -> None:
        rng = self.rng
        tab = rng.choice(list(self.tabs.values()))
        draw = rng.random()
        if draw < 0.4:
            tab.edit()
        elif draw < 0.6:
            tab.send()
        elif draw < 0.9:
            self.deliver()
        elif draw < 0.93:
            tab.pull() if not tab.cut_off else None
        elif draw < 0.96:
            tab.cut_off = not tab.cut_off
        elif draw < 0.975:
            tab.replica = stored_again(tab.replica)
        elif draw < 0.98 and len(self.tabs) < 12:
            name = f"p{len(self.tabs)}"
            copy = stored_again(tab.replica)
            copy.unsent.clear()  # what waits is stored under a lock, which the copy does not get
            copy.notices.clear()
            self.tabs[name] = self.tab(self, name, copy, Editor(Random(rng.random()), 0x1000 + 0x800 * len(self.tabs)))
        elif draw < 0.985:
            self.restart(rng.choice(self.servers))

    def settle(self) -> None:
        """The network holds, nobody edits: everything arrives."""
        self.lossy = 0.0
        for tab in self.tabs.values():
            tab.cut_off = False
        for _ in range(self.patience):
            for tab in self.tabs.values():
                tab.pull()
                tab.send()
            if not self.network and all(tab.replica.sent is None and not tab.replica.unsent for tab in self.tabs.values()):
                break
            while self.network:
                self.deliver()
        else:
            raise AssertionError("it never settles")

    def check(self) -> None:
        state = Entities(self.log.start)
        seen: set[tuple[str, int, str]] = set()
        logged: set[str] = set()
        for stored in self.log.items:
            item = entry_read(stored)
            self.check_guards(item, state)
            apply(state, item.effects)
            logged |= letters(item.effects).union(*(letters(outcome.writes) for outcome in item.outcomes))
            named = (item.client, item.n, item.tag)
            assert named not in seen, ("committed twice", named)
            seen.add(named)
        tags = [item["tag"] for item in self.log.items]
        assert len(tags) == len(set(tags)), "an intent was committed under two clients"
        wanted = canonical(snapshot(state))
        for tab in self.tabs.values():
            assert canonical(snapshot(tab.replica.confirmed)) == wanted, (tab.name, "differs")
            assert canonical(snapshot(tab.replica.view)) == wanted, (tab.name, "shows something else")
        assert self.acknowledged <= seen
        for tab in self.tabs.values():
            noticed: set[str] = set().union(*(letters(notice.operation.writes) for notice in tab.replica.notices))
            lost = tab.typed - logged - noticed
            assert not lost, (tab.name, "typed what is neither committed nor refused", lost)

    def check_guards(self, item: LogEntry, state: Entities) -> None:
        """An operation whose guard does not hold over the state before its request is refused; the guarded ones travel alone."""
        operation = self.decided[item.seq].operations[0]
        for guard in operation.guards:
            found = state.get(guard.key)
            for step in guard.path:
                found = found.get(step) if isinstance(found, dict) else None
            if canonical(found) != canonical(guard.value):
                assert not item.effects, (item.seq, "was done although a guard does not hold", guard)


def stored_again(replica: Replica) -> Replica:
    """A replica from what its tab had stored: the tab was closed and opened again."""
    copy = deepcopy(replica)
    copy._view = None
    return copy


def episode(seed: int, steps: int = 300) -> World:
    """Plays a world and checks it; in one of eight there is one person, and no faults."""
    world = World(seed)
    if seed % 8 == 7:
        alone(world)
    else:
        for _ in range(steps):
            world.step()
        world.settle()
    world.check()
    return world


def alone(world: World) -> None:
    """What one person saw before it was sent is what is committed."""
    name, tab = next(iter(world.tabs.items()))
    world.tabs = {name: tab}
    world.lossy = 0.0
    for _ in range(40):
        for _ in range(world.rng.randrange(1, 5)):
            tab.edit()
            if world.rng.random() < 0.3:
                tab.send()
                tab.edit()
        shown = canonical(snapshot(tab.replica.view))
        world.settle()
        assert canonical(snapshot(tab.replica.confirmed)) == shown, "what was committed is not what was shown"


@contextmanager
def mutated(owner: object, name: str, value: object) -> Iterator[None]:
    """The code with one mistake in it."""
    former = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, former)
