"""What the rules of a draft decide, as lines of JSON that the console's own rules are held against.

    log      a log of the simulated world: each item with the intent that it was made from, and what undoes it
    expand   what a client makes of gestures over the state that a log led to
    pairs    lists of writes made beside each other, and what each means after the other
    bounds   gestures that take as much as a decision may, and more

Usage: golden.py LOGS [--from SEED] [--pairs PAIRS]; the lines go to standard output.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from random import Random

from budgets import cases, decided
from edits import Editor
from world import Server, World, canonical

from stepless.drafts.rules.effects import Splice, Write, all_written
from stepless.drafts.rules.expansion import expand
from stepless.drafts.rules.fold import apply
from stepless.drafts.rules.inverse import inverse
from stepless.drafts.rules.messages import intent_written, item_read, item_written, outcome_written
from stepless.drafts.rules.requests import Gesture, Intent, Item
from stepless.drafts.rules.state import Entities, State, snapshot
from stepless.drafts.rules.transform import cross
from stepless.drafts.rules.values import Object
from stepless.model.json import JSON

PERSONS = 0x1000
ASTRAL = 0x1F300
BOUNDED = len(cases())


def log(seed: int, steps: int = 200) -> tuple[Object, State]:
    """A log of the world of this seed, and the state that it led to."""
    world = World(seed)
    decided: dict[int, Intent] = {}  # by the item's identity
    asked: list[Intent] = []
    append = world.log.append

    def record(server: Server) -> None:
        decide = server.decide

        def recorded(intent: Intent, by: str) -> Item | str:
            made = decide(intent, by)
            if isinstance(made, Item):
                decided[id(made)] = intent
            return made

        server.decide = recorded  # type: ignore[method-assign]

    def appended(item: Item) -> bool:
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
    for intent, stored in zip(asked, world.log.items, strict=True):
        item = item_read(stored)
        entries.append({
            "intent": intent_written(intent), "item": item_written(item),
            "inverse": gesture_written(inverse(state, item.effects)),
        })
        apply(state, item.effects)
    return {"case": "log", "seed": seed, "start": dict(world.log.start), "entries": entries, "end": dict(snapshot(state))}, state


def gesture_written(gesture: Gesture) -> JSON:
    return intent_written(Intent("c", 1, "t", 0, (gesture,)))["gestures"][0]


def expansions(seed: int, state: State, count: int = 30) -> Object:
    """Gestures that a person might make there."""
    editor = Editor(Random(seed), PERSONS)
    drawn = [gesture for gesture in (editor.gesture(state) for _ in range(count)) if gesture is not None]
    made = [_expanded(state, gesture) for gesture in drawn]
    return {"case": "expand", "seed": seed, "state": dict(snapshot(state)), "gestures": made}


def _expanded(state: State, gesture: Gesture) -> Object:
    made = expand(state, gesture)
    return {
        "asked": gesture_written(gesture), "gesture": gesture_written(made.gesture) if made.gesture is not None else None,
        "effects": all_written(made.effects), "outcomes": [outcome_written(outcome) for outcome in made.outcomes],
    }


def pairs(seed: int, count: int, state: State) -> Object:
    rng = Random(seed)
    made: list[JSON] = []
    editors = [Editor(rng, PERSONS), Editor(rng, ASTRAL)]
    for number in range(count):
        mine, theirs = (_splices(rng, editor) if number % 2 else _writes(rng, editor, state) for editor in editors)
        first = rng.random() < 0.5
        moved, others = cross(mine, theirs, first=first)
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
    drawn = [editor.gesture(state) for _ in range(rng.randrange(1, 4))]
    return [write for gesture in drawn if gesture is not None for write in gesture.writes]


def bounds(place: int) -> Object:
    """Both gestures of a case, and one that is typed behind them."""
    case = cases()[place]
    behind = Gesture((Splice("doc", ("description",), 2, 1, "behind"),))
    made = [(gesture, decided(case, gesture, behind)) for gesture in (case.most, case.beyond)]
    return {
        "case": "bounds", "seed": case.name, "bounds": dict(case.bounds._asdict()), "state": dict(snapshot(case.state)),
        "since": [{"by": change.by, "effects": all_written(change.effects)} for change in case.since],
        "asked": [[gesture_written(gesture), gesture_written(behind)] for gesture, _ in made],
        "decided": [
            {"effects": all_written(one.effects), "outcomes": [outcome_written(outcome) for outcome in one.outcomes]}
            for _, one in made
        ],
    }


def lines(logs: int, first: int = 0, crossings: int = 5_000) -> Iterator[str]:
    each = -(-crossings // logs)
    for seed in range(first, first + logs):
        made, state = log(seed)
        yield canonical(made)
        yield canonical(expansions(seed, state))
        yield canonical(pairs(seed, each, state))
    for place in range(BOUNDED):
        yield canonical(bounds(place))


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
