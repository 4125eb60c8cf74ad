"""Edits of a document as a person makes them in its text, drawn at random; and what must hold of the writes that follow from
them."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from random import Random
from typing import Any

from edits import Editor
from invariants import faults

from stepless.drafts.rules.diff import difference, flattened
from stepless.drafts.rules.document import from_document, to_document
from stepless.drafts.rules.effects import Set
from stepless.drafts.rules.resolve import resolve
from stepless.drafts.rules.state import Entities, snapshot
from stepless.model.json import JSON

VALUES: list[JSON] = [
    "x", "", "two\nlines", 3, 2.5, 1.0, True, None, "<a.b> < 2", [1, "a"], {"k": {"d": "e"}}, {}, [], "\N{GRINNING FACE}",
    [{"a": 1, "b": "x\ny"}, "t"], 2**70, {"[]": {}}, {"type": "http"}, {"from": "a"}, ["a", "a"], {"type": "http", "after": "a"},
]
WORDS = ("id", "after", "type", "with", "body", "nodes", "edges", "retry", "order", "rest", "parent", "x", "[]")


def canonical(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def paths(value: JSON, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in parts:
        yield (*path, step)
        yield from paths(inner, (*path, step))


def bodies(value: JSON) -> Iterator[dict[str, Any]]:
    """Every object with nodes."""
    if isinstance(value, dict):
        if isinstance(value.get("nodes"), dict):
            yield value
        for inner in value.values():
            yield from bodies(inner)


def retyped(rng: Random, document: dict[str, JSON]) -> dict[str, JSON]:
    """The document after one edit, valid or not. Its id stays."""
    made = copy.deepcopy(document)
    what = rng.choice(("value", "value", "drop", "add", "key", "shuffle", "node", "rename", "carry", "swap", "edge"))
    found = list(bodies(made))
    body = rng.choice(found) if found else None
    if body is not None and body["nodes"] and what in ("node", "rename", "carry", "swap", "edge"):
        _of_nodes(rng, what, made, body, found)
    else:
        _of_values(rng, what, made)
    return made if made.get("id") == document.get("id") and ("id" in made) == ("id" in document) else document


def _of_nodes(rng: Random, what: str, made: JSON, body: dict[str, Any], found: list[dict[str, Any]]) -> None:
    nodes = body["nodes"]
    name = rng.choice(list(nodes))
    if what == "node":
        copied = copy.deepcopy(nodes[name])
        items = list(nodes.items())
        items.insert(rng.randrange(len(items) + 1), (f"new_{rng.randrange(9)}", copied))
        body["nodes"] = dict(items)
    elif what == "rename":
        body["nodes"] = {f"now_{key}" if key == name else key: held for key, held in nodes.items()}
    elif what == "carry":
        other = rng.choice(found)
        if other is not body and isinstance(other.get("nodes"), dict):
            other["nodes"] = {**other["nodes"], name: nodes.pop(name)}
    elif what == "swap":
        other = rng.choice(list(nodes))
        order = [name if key == other else other if key == name else key for key in nodes]
        exchanged = dict(zip(order, nodes.values(), strict=True))
        body["nodes"] = exchanged if rng.random() < 0.5 else {key: nodes[key] for key in order}
    elif isinstance(nodes[name], dict):
        sources = [rng.choice(list(nodes)) for _ in range(rng.randrange(4))]
        entries: list[Any] = [rng.choice((one, f"{one}.error", {"from": one}, {"from": one, "param": "p"})) for one in sources]
        if rng.random() < 0.3:
            edges = [{"source": one, "target": name} for one in sources]
            body["edges"] = [*(body["edges"] if isinstance(body.get("edges"), list) else []), *edges]
        else:
            nodes[name]["after"] = entries[0] if len(entries) == 1 and rng.random() < 0.5 else entries


def _of_values(rng: Random, what: str, made: JSON) -> None:
    places = list(paths(made))
    if not places:
        return
    path = rng.choice(places)
    inner = made
    for step in path[:-1]:
        inner = inner[step]
    if what in ("drop", "carry"):
        del inner[path[-1]]
    elif what == "shuffle" and isinstance(inner, dict | list):
        items = list(inner.items() if isinstance(inner, dict) else inner)
        rng.shuffle(items)
        inner.clear()
        inner.update(items) if isinstance(inner, dict) else inner.extend(items)
    elif what in ("add", "key", "node", "edge") and isinstance(inner, dict):
        items = list(inner.items())
        items.insert(rng.randrange(len(items) + 1), (rng.choice(WORDS), copy.deepcopy(rng.choice(VALUES))))
        inner.clear()
        inner.update(items)
    elif isinstance(inner, list) and what != "value":
        inner.insert(rng.randrange(len(inner) + 1), copy.deepcopy(rng.choice(VALUES)))
    elif isinstance(held := inner[path[-1]], str) and rng.random() < 0.5:
        at = rng.randrange(len(held) + 1)
        inner[path[-1]] = held[:at] + "typed" + held[at + rng.randrange(3):]
    else:
        inner[path[-1]] = copy.deepcopy(rng.choice(VALUES))


def is_container(type_: str) -> bool | None:
    return {"loop": True, "parallel": True, "http": False, "transform": False}.get(type_)


def check(rng: Random, document: dict[str, JSON], epoch: str = "e") -> int:
    """One world: a draft of the document that people have edited, then a text that a person typed over what they saw. Returns
    how many writes followed from it."""
    state = Entities(json.loads(canonical(from_document(document, epoch, is_container))))
    editor = Editor(rng, 0x4E00)
    for _ in range(rng.randrange(6)):
        operation = editor.operation(state)
        if operation is not None:
            state = Entities(snapshot(resolve(state, [operation]).state))
    goal = to_document(state)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        goal = retyped(rng, goal)
    groups = difference(state, goal, "typed", is_container)
    decided = resolve(state, [flattened(groups)])
    assert canonical(to_document(decided.state)) == canonical(goal)
    assert not decided.outcomes, decided.outcomes
    whole = Entities(snapshot(decided.state))
    assert list(faults(whole)) == list(faults(state))
    one_by_one = resolve(state, [flattened([group]) for group in groups])
    assert canonical(to_document(one_by_one.state)) == canonical(goal), "each difference by itself leads there too"
    again = difference(whole, goal, "again", is_container)
    moved = [write for group in again for write in group if not (isinstance(write, Set) and write.path[-1] == "order")]
    assert moved == [], "what is there already needs no write"
    return sum(map(len, groups))
