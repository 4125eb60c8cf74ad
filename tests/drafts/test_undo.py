"""Undo: all that one person did is taken back beside what others do, and only that."""

from __future__ import annotations

import json
from random import Random

from edits import fresh
from inverse import inverse
from replica import Replica
from world import Log, Server, canonical

from stepless.drafts.rules.effects import Delete, Put, Rename, Set, Splice, Unset, Write
from stepless.drafts.rules.fold import fold
from stepless.drafts.rules.messages import entry_read
from stepless.drafts.rules.requests import LogEntry, Operation
from stepless.drafts.rules.state import Entities, snapshot, value_at
from stepless.drafts.rules.values import Object

SESSIONS = 150


def start() -> dict[str, Object]:
    made: dict[str, Object] = {"doc": {"id": "w", "nodes": None}}
    for number in range(6):
        fields = {"with": {"url": "u", "prompt": "hello world"}}
        made[f"block/{number}"] = {"id": f"n{number}", "type": "http", "parent": None, "order": f"V{number + 1}", **fields}
        made[f"place/{number}"] = {"x": 0, "y": 0}
    made["edge/0"] = {"source": "0", "handle": "source", "target": "1", "param": "input", "order": "V"}
    return dict(sorted(made.items()))


def settle(log: Log, server: Server, people: tuple[Replica, ...], rng: Random) -> None:
    busy = True
    while busy:
        busy = False
        for person in people:
            request = person.message(lambda: fresh(rng))
            if request is not None:
                busy = True
                server.catch_up()
                decided = server.decide(request, person.client)
                assert not isinstance(decided, str)
                assert log.append(decided)
        for person in people:
            for item in log.items[person.seq:]:
                person.hear(entry_read(json.loads(canonical(item))))


def edit(rng: Random, person: Replica, own: str, number: int) -> None:
    blocks = [key for key in sorted(person.view) if key.startswith("block/")]
    keys = [key for key in blocks if key[6:] in own or key[6:].startswith(person.client)]
    if not keys:
        return
    key = rng.choice(keys)
    text = ((person.view.get(key) or {}).get("with") or {}).get("prompt", "")
    place = rng.randrange(len(text) + 1)
    name = f"{person.client}{number}"
    added: Object = {"id": name, "type": "x", "parent": None, "order": "k", "with": {"prompt": f"<{name}.x>"}}
    tied: Object = {"source": keys[0][6:], "handle": f"h{number}", "target": keys[-1][6:], "order": "V"}
    typed = Splice(key, ("with", "prompt"), place, rng.randrange(len(text) - place + 1), f"[{number}]")
    write: Write = rng.choice((
        Delete(key), Put(f"block/{name}", added), Put(f"edge/{name}", tied), Set(key, ("with", "url"), f"v{number}"),
        Rename(key, f"r{name}"),
        Unset(key, ("with", "url")), Set(key, ("retry", "attempts"), number, "with"), typed, typed, typed,
    ))
    person.edit(Operation((write,)), join=rng.random() < 0.2)


def session(seed: int) -> None:
    rng = Random(seed)
    log = Log(start())
    server = Server(log, "s")
    ada, bo = Replica("a", Entities(start())), Replica("b", Entities(start()))
    for number in range(rng.randrange(3, 25)):
        edit(rng, ada, "012", number)
        edit(rng, bo, "345", number)
        if rng.random() < 0.5:
            settle(log, server, (ada, bo), rng)
    settle(log, server, (ada, bo), rng)

    def of_bo(key: str) -> bool:
        tail = key.partition("/")[2]
        return tail in ("3", "4", "5") or tail.startswith("b")

    theirs = {key: entity for key, entity in snapshot(ada.confirmed).items() if of_bo(key)}
    while ada.undos:
        left = len(ada.undos)
        ada.undo()
        assert len(ada.undos) < left, (seed, ada.notices[-1])
        if rng.random() < 0.5:
            settle(log, server, (ada, bo), rng)
    settle(log, server, (ada, bo), rng)
    after = snapshot(ada.confirmed)
    assert canonical({key: entity for key, entity in after.items() if of_bo(key)}) == canonical(theirs), seed
    wanted = {key: entity for key, entity in start().items() if not of_bo(key)}
    assert canonical({key: entity for key, entity in after.items() if not of_bo(key)}) == canonical(wanted), seed


def test_all_that_one_person_did_is_taken_back_and_nothing_else() -> None:
    for seed in range(SESSIONS):
        session(seed)


def one_text(seed: int) -> None:
    rng = Random(seed)
    base = "".join(map(chr, range(97, 97 + rng.randrange(3, 12))))
    begun: dict[str, Object] = {"doc": {"id": "w", "name": base}}
    log = Log(begun)
    server = Server(log, "s")
    ada, bo = Replica("a", Entities(begun)), Replica("b", Entities(begun))
    letters = {ada: map(chr, range(0x1000, 0x1FFF)), bo: map(chr, range(0x3000, 0x3FFF))}
    typed: set[str] = set()
    removed: set[str] = set()
    for _ in range(rng.randrange(2, 14)):
        for person in (ada, bo):
            text = (person.view.get("doc") or {})["name"]
            place = rng.randrange(len(text) + 1)
            gone = rng.choice((0, 0, rng.randrange(len(text) - place + 1)))
            new = "".join(next(letters[person]) for _ in range(rng.randrange(1, 3)))
            if person is bo:
                typed |= set(new)
                removed |= set(text[place:place + gone])
            person.edit(Operation((Splice("doc", ("name",), place, gone, new),)))
        if rng.random() < 0.5:
            settle(log, server, (ada, bo), rng)
    settle(log, server, (ada, bo), rng)
    while ada.undos:
        ada.undo()
        if rng.random() < 0.4:
            settle(log, server, (ada, bo), rng)
    settle(log, server, (ada, bo), rng)
    text = (ada.confirmed.get("doc") or {})["name"]
    assert not any(0x1000 <= ord(letter) < 0x2000 for letter in text), (seed, "keeps what was undone")
    assert typed - removed <= set(text), (seed, "loses what the other typed")
    assert set(base) - removed <= set(text), (seed, "does not bring back what was removed")


def test_undo_in_one_text_with_another_person() -> None:
    for seed in range(SESSIONS):
        one_text(seed)


def test_undoing_an_addition_takes_the_edges_that_others_tied_to_it() -> None:
    rng = Random(1)
    log = Log(start())
    server = Server(log, "s")
    ada, bo = Replica("a", Entities(start())), Replica("b", Entities(start()))
    ada.edit(Operation((Put("block/new", {"id": "new", "type": "http", "parent": None, "order": "k"}),)))
    settle(log, server, (ada, bo), rng)
    bo.edit(Operation((Put("edge/tie", {"source": "0", "target": "new", "order": "V"}),)))
    settle(log, server, (ada, bo), rng)
    assert ada.undo()
    settle(log, server, (ada, bo), rng)
    assert bo.confirmed.get("block/new") is None is bo.confirmed.get("edge/tie")


def test_undoing_what_another_person_changed_since_is_refused_and_stays_undoable() -> None:
    rng = Random(1)
    log = Log(start())
    server = Server(log, "s")
    ada, bo = Replica("a", Entities(start())), Replica("b", Entities(start()))
    ada.edit(Operation((Set("block/0", ("with", "url"), "mine"),)))
    settle(log, server, (ada, bo), rng)
    bo.edit(Operation((Set("block/0", ("with", "url"), "theirs"),)))
    settle(log, server, (ada, bo), rng)
    assert not ada.undo() and len(ada.undos) == 1
    assert [(notice.outcome.code, notice.outcome.refused) for notice in ada.notices] == [("changed_since", True)]
    bo.undo()
    settle(log, server, (ada, bo), rng)
    assert ada.undo()
    settle(log, server, (ada, bo), rng)
    assert canonical(bo.confirmed.get("block/0")) == canonical(start()["block/0"])


def test_the_inverse_of_a_key_that_was_removed_puts_it_back_in_its_place() -> None:
    held: Object = {"id": "w", "nodes": None, "a": 1, "b": {"x": 1, "y": 2, "z": 3}, "c": 3}
    state = Entities({"doc": held})
    done = [Unset("doc", ("b", "y")), Unset("doc", ("a",)), Set("doc", ("d", "e", "f"), 1, "b"), Unset("doc", ("b", "x"))]
    after = fold(state, done)
    back = [write for write in inverse(state, done).writes if not isinstance(write, Rename)]
    assert canonical(fold(after, back).get("doc")) == canonical(held)


def tabs() -> tuple[Log, Server, Replica, Replica]:
    log = Log(start())
    return log, Server(log, "s"), Replica("a", Entities(start())), Replica("b", Entities(start()))


def test_typing_is_one_entry_over_several_requests() -> None:
    rng = Random(1)
    log, server, ada, bo = tabs()
    ada.edit(Operation((Set("doc", ("name",), ""),)))
    for number in range(9):
        ada.edit(Operation((Splice("doc", ("name",), number, 0, "x"),)), join=number > 0)
        if number % 3 == 2:
            settle(log, server, (ada, bo), rng)
    settle(log, server, (ada, bo), rng)
    assert len(log.items) > 2 and len(ada.undos) == 2
    assert ada.undo()
    settle(log, server, (ada, bo), rng)
    assert (bo.confirmed.get("doc") or {})["name"] == ""


def test_what_crossing_takes_is_noticed_and_neither_sent_nor_undone() -> None:
    rng = Random(1)
    log, server, ada, bo = tabs()
    typed = Splice("block/0", ("with", "prompt"), 0, 0, "typed")
    ada.edit(Operation((typed,)))
    bo.edit(Operation((Set("block/0", ("with", "prompt"), "new"),)))
    request = bo.message(lambda: fresh(rng))
    assert request is not None
    server.catch_up()
    decided = server.decide(request, "bo")
    assert not isinstance(decided, str) and log.append(decided)
    ada.hear(decided)
    assert [(one.outcome.code, one.outcome.by, one.operation.writes, one.sent) for one in ada.notices] == [
        ("superseded", "bo", (typed,), False),
    ]
    assert ada.message(lambda: fresh(rng)) is None and not ada.undos


def test_what_was_not_sent_is_taken_back_without_a_message_and_what_another_removed_meanwhile_stays_removed() -> None:
    place = ("with", "prompt")
    replica = Replica("a", Entities(start()))
    replica.edit(Operation((Splice("block/0", place, 0, 5, "x"),)))
    replica.edit(Operation((Splice("block/0", place, 1, 0, "y"),)), join=True)
    replica.hear(LogEntry(1, "b", 1, "t", "bo", 1, (Splice("block/0", place, 1, 2, ""),)))

    def text() -> object:
        return value_at(replica.view, "block/0", place)

    assert text() == "xy world"
    assert replica.undo() and text() == "hlo world"
    assert replica.message(lambda: "m") is None
    assert replica.redo() and text() == "xy world"
    assert replica.undo() and text() == "hlo world"
    assert replica.message(lambda: "m") is None
    assert (len(replica.undos), len(replica.redos)) == (0, 1)


def test_what_has_something_after_it_is_taken_back_by_an_operation_of_its_own() -> None:
    replica = Replica("a", Entities(start()))
    replica.edit(Operation((Set("block/0", ("with", "url"), "mine"),)))
    assert replica.message(lambda: "m") is not None
    assert replica.undo() and len(replica.unsent) == 1
    assert canonical(replica.view.get("block/0")) == canonical(start()["block/0"])
