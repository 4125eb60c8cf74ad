"""What the rules of a draft decide, as lines of JSON that the console's own rules are held against.

    log      a log of the simulated world: each item with the request that it was made from, and what undoes it
    expand   what a client makes of operations over the state that a log led to
    pairs    lists of writes made beside each other, and what each means after the other
    bounds   operations that take as much as a decision may, and more
    shapes   writes of each field of each entity, with values of every shape, and which of them are allowed

Usage: golden.py LOGS [--from SEED] [--pairs PAIRS]; the lines go to standard output.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from random import Random

from budgets import NAMES, cases, decided
from edits import Editor
from expansion import expand
from inverse import inverse
from world import Server, World, canonical
from written_messages import entry_written, request_written

from stepless.drafts.rules.effects import Delete, Put, Rename, Set, Splice, Unset, Write, all_written, written
from stepless.drafts.rules.fold import apply
from stepless.drafts.rules.messages import entry_read, outcome_written
from stepless.drafts.rules.requests import EditRequest, LogEntry, Operation
from stepless.drafts.rules.shapes import SHAPES, fits
from stepless.drafts.rules.state import Entities, State, snapshot
from stepless.drafts.rules.transform import transform
from stepless.drafts.rules.values import Object
from stepless.limits import MAX_DOCUMENT_DEPTH, MAX_KEY_CHARACTERS
from stepless.model.json import JSON

PERSONS = 0x1000
ASTRAL = 0x1F300
PREFIXES = (*SHAPES, "constructor")
VALUES: tuple[JSON, ...] = (
    None, True, 0, -1.5, "", "V", "a-key_1", "no key", "k" * MAX_KEY_CHARACTERS, "k" * (MAX_KEY_CHARACTERS + 1), "one", "list",
    "after", "edges", "text", [], ["V"], {}, {"#": "1e99"}, {"#": 1}, {"#": "1", "a": 1}, {"a": {"b": 1}},
)
SUITABLE: Object = {
    "id": "a", "parent": None, "order": "V", "source": "a", "target": "b", "x": 1, "y": 2, "output": None, "yaml": "",
}


def log(seed: int, steps: int = 200) -> tuple[Object, State]:
    """A log of the world of this seed, and the state that it led to."""
    world = World(seed)
    decided: dict[int, EditRequest] = {}  # by the item's identity
    asked: list[EditRequest] = []
    append = world.log.append

    def record(server: Server) -> None:
        decide = server.decide

        def recorded(request: EditRequest, by: str) -> LogEntry | str:
            made = decide(request, by)
            if isinstance(made, LogEntry):
                decided[id(made)] = request
            return made

        server.decide = recorded  # type: ignore[method-assign]

    def appended(item: LogEntry) -> bool:
        done = append(item)
        if done:
            asked.append(decided[id(item)])
        decided.clear()
        return done

    world.log.append = appended  # type: ignore[method-assign]
    for server in world.servers:
        record(server)
    restart = world.restart

    def restarted(server: Server) -> None:
        place = world.servers.index(server)
        restart(server)
        record(world.servers[place])

    world.restart = restarted  # type: ignore[method-assign]
    for _ in range(steps):
        world.step()
    world.settle()
    state = Entities(world.log.start)
    entries: list[JSON] = []
    for request, stored in zip(asked, world.log.items, strict=True):
        item = entry_read(stored)
        entries.append({
            "intent": request_written(request), "item": entry_written(item),
            "inverse": operation_written(inverse(state, item.effects)),
        })
        apply(state, item.effects)
    return {"case": "log", "seed": seed, "start": dict(world.log.start), "entries": entries, "end": dict(snapshot(state))}, state


def operation_written(operation: Operation) -> JSON:
    return request_written(EditRequest("c", 1, "t", 0, (operation,)))["gestures"][0]


def expansions(seed: int, state: State, count: int = 30) -> Object:
    """Operations that a person might make there."""
    editor = Editor(Random(seed), PERSONS)
    drawn = [operation for operation in (editor.operation(state) for _ in range(count)) if operation is not None]
    made = [_expanded(state, operation) for operation in drawn]
    return {"case": "expand", "seed": seed, "state": dict(snapshot(state)), "gestures": made}


def _expanded(state: State, operation: Operation) -> Object:
    made = expand(state, operation)
    return {
        "asked": operation_written(operation),
        "gesture": operation_written(made.operation) if made.operation is not None else None,
        "effects": all_written(made.effects), "outcomes": [outcome_written(outcome) for outcome in made.outcomes],
    }


def pairs(seed: int, count: int, state: State) -> Object:
    rng = Random(seed)
    made: list[JSON] = []
    editors = [Editor(rng, PERSONS), Editor(rng, ASTRAL)]
    for number in range(count):
        mine, theirs = (_splices(rng, editor) if number % 2 else _writes(rng, editor, state) for editor in editors)
        first = rng.random() < 0.5
        moved, others = transform(mine, theirs, first=first)
        made.append([all_written(mine), all_written(theirs), first, all_written(moved), all_written(others)])
    return {"case": "pairs", "seed": seed, "pairs": made}


def _splices(rng: Random, editor: Editor) -> list[Write]:
    length, made = 8, []
    for _ in range(rng.randrange(1, 5)):
        start = rng.randrange(length + 1)
        removed = rng.choice((0, 0, rng.randrange(length - start + 1)))
        text = editor.typed(0)
        made.append(Splice("block/a", ("with", "prompt"), start, removed, text))
        length += len(text) - removed
    return list(made)


def _writes(rng: Random, editor: Editor, state: State) -> list[Write]:
    drawn = [editor.operation(state) for _ in range(rng.randrange(1, 4))]
    return [write for operation in drawn if operation is not None for write in operation.writes]


def bounds(name: str) -> Object:
    """Both operations of a case, and one that is typed behind them."""
    case = cases()[name]
    behind = Operation((Splice("doc", ("description",), 2, 1, "behind"),))
    made = [(operation, decided(case, operation, behind)) for operation in (case.most, case.beyond)]
    return {
        "case": "bounds", "seed": case.name, "bounds": dict(case.bounds._asdict()), "state": dict(snapshot(case.state)),
        "since": [{"by": change.by, "effects": all_written(change.effects)} for change in case.since],
        "asked": [[operation_written(operation), operation_written(behind)] for operation, _ in made],
        "decided": [
            {"effects": all_written(one.effects), "outcomes": [outcome_written(outcome) for outcome in one.outcomes]}
            for _, one in made
        ],
    }


def table() -> Object:
    """Each two writes of one entity beside each other, with paths that are the same, that lead to each other, and that do not."""
    paths = (("with",), ("with", "a"), ("with", "b"))
    known: list[Write] = [Put("block/a", {"id": "a"}), Delete("block/a"), Rename("block/a", "b")]
    for path in paths:
        known += [Set("block/a", path, 1), Unset("block/a", path), Splice("block/a", path, 1, 2, "x")]
    made: list[JSON] = []
    for mine in known:
        for theirs in known:
            for first in (True, False):
                moved, others = transform([mine], [theirs], first=first)
                made.append([[written(mine)], [written(theirs)], first, all_written(moved), all_written(others)])
    return {"case": "pairs", "seed": "table", "pairs": made}


def shapes(prefix: str) -> Object:
    row = SHAPES.get(prefix, SHAPES["block"])
    named = [*row.fields, *row.required, *row.kept, *row.fixed, *row.spliced, "other", "constructor"]
    whole = {field: SUITABLE[field] for field in row.required}
    asked: list[Write] = [
        write for key in (prefix, f"{prefix}/", f"{prefix}/k", f"{prefix}/no key", f"{prefix}/k/k")
        for write in (Put(key, whole), Delete(key), Rename(key, "b"), Set(key, ("other",), 1), Set(key, (), 1))
    ]
    key = prefix if prefix in ("doc", "text") else f"{prefix}/k"
    for field in dict.fromkeys(named):
        for path in ((field,), (field, "a"), (field, *["a"] * (MAX_DOCUMENT_DEPTH - 1)), (field, *["a"] * MAX_DOCUMENT_DEPTH)):
            asked += [Set(key, path, "V"), Unset(key, path), Splice(key, path, 0, 0, "x")]
        asked += [Set(key, (field,), value) for value in VALUES]
        asked += [Put(key, {**whole, field: value}) for value in VALUES]
        asked.append(Put(key, {name: value for name, value in whole.items() if name != field}))
    return {"case": "shapes", "seed": prefix, "writes": [[written(write), fits(write)] for write in asked]}


def lines(logs: int, first: int = 0, crossings: int = 5_000) -> Iterator[str]:
    each = -(-crossings // logs)
    for seed in range(first, first + logs):
        made, state = log(seed)
        yield canonical(made)
        yield canonical(expansions(seed, state))
        yield canonical(pairs(seed, each, state))
    for name in NAMES:
        yield canonical(bounds(name))
    yield canonical(table())
    for prefix in PREFIXES:
        yield canonical(shapes(prefix))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", type=int)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--pairs", type=int, default=5_000)
    given = parser.parse_args()
    for line in lines(given.logs, given.first, given.pairs):
        sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main()
