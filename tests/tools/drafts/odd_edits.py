"""Requests that no client of ours sends: odd values at every place, names that mean something elsewhere, shapes that are
wrong."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import Any, Final

TEXTS: Final = [
    "", "__proto__", "constructor", "toString", "a", "b", "<a.x>", "<", "<a.", "\0", "😀x😀", "x" * 70, "a.b", "a@b",
    "nodes", "with", "body", "rest", "id", "edges", "after", "[]", "#", "\\[]", "\\#", "type", "order", "V", "0", "null",
    "\u202e", "\ufeff", "- x", ": ", "# c", "'", '"', "\t", "\n", "a: b", "&a", "*a", "<<", "!!x", "%", "|", "1.0",
    "true", "~", "2020-01-01", "0x1F", "1_000", "\u2028", "\x85", "\x07", "${X}", "{{x}}", "items", "branches", "loop",
    "http", "parallel", "manual", "<img src=x onerror=alert(1)>",
]  # fmt: skip


def nested(levels: int, as_list: bool = False) -> Any:
    made: Any = "x"
    for _ in range(levels):
        made = [made] if as_list else {"a": made}
    return made


VALUES: Final[Sequence[Any]] = [
    None, True, False, 0, -0.0, 1, 1.5, -1, 1e308, 5e-324, 2**53, 2**63, 10**29, 2**1023, [], {}, [[]], [None], ["a",
    "b"], [{"a": 1}], [1, "a"], {"#": "1.0"}, {"#": "x"}, {"#": 5}, {"#": "1e400"}, {"#": "nan"}, {"#": "-inf"},
    {"#": "9" * 5_000}, {"#": "²"}, {"#": "1_0"}, {"#": " 1"}, {"[]": {}}, {"[]": 5}, {"[]": {"k": 5}}, {"[]": {"k": {}}},
    {"[]": {"k": {"order": 5, "is": "x"}}}, {"[]": {"k": {"order": "V", "is": "x"}, "j": {"order": None,
    "is": {"a": "b"}}}}, {"[]": {"a": {"order": "V"}}, "x": 1}, {"__proto__": {"x": 1}}, {"constructor": 1}, nested(90),
    nested(90, as_list=True), nested(30),
]  # fmt: skip
_FIELDS: Final = [
    "id", "type", "parent", "order", "after", "rest", "with", "enabled", "retry", "timeout", "on_error", "body", "source",
    "target", "handle", "param", "key", "condition", "merge", "home", "form", "x", "y", "text", "yaml", "output", "nodes",
    "edges", "times", "items", "branches", "name", "description", "variables", "env", "on_failure", "max_steps",
    "concurrency", "rate_limit",
]  # fmt: skip
_KEYS: Final = [
    "doc", "text", "", "block", "block/", "block/a/b", "edge/__proto__", "last/c", "xx/a", "block/" + "x" * 200, "doc/", "text/x",
    "note/a b",
]  # fmt: skip
_ROOMS: Final = ["block", "edge", "subflow", "place", "note", "pin"]
DOCUMENTS: Final[Sequence[dict[str, Any]]] = [
    {"id": "w", "nodes": {
        "a": {"type": "manual"}, "b": {"type": "transform", "after": "a", "with": {"value": "<a.x>"}},
        "l": {"type": "loop", "after": ["b"], "with": {"items": "<b>", "body": {"nodes": {"c": {"type": "http"}}}}},
    }},
    {"id": "w", "nodes": {}},
    {"id": "w", "nodes": {"a": None, "b": 5, "c": {"with": []}}, "edges": [1, {"x": 2}]},
]  # fmt: skip


class Odd:
    """Makes them from a seed."""

    def __init__(self, seed: int) -> None:
        self.dice = Random(seed)

    def value(self) -> Any:
        roll = self.dice.random()
        if roll < 0.35:
            return self.dice.choice(TEXTS)
        if roll < 0.9:
            return self.dice.choice(VALUES)
        if roll < 0.96:
            return {self.dice.choice(TEXTS): self.value() for _ in range(self.dice.randint(0, 3))}
        return [self.value() for _ in range(self.dice.randint(0, 3))]

    def key(self, known: Sequence[str]) -> str:
        roll = self.dice.random()
        if roll < 0.75 and known:
            return self.dice.choice(known)
        return f"{self.dice.choice(_ROOMS)}/n{self.dice.randint(1, 4)}" if roll < 0.9 else self.dice.choice(_KEYS)

    def path(self) -> list[str]:
        if self.dice.random() < 0.03:
            return ["with", *["a"] * self.dice.choice([94, 95, 96])]
        steps = self.dice.choice([0, 1, 1, 1, 2, 2, 3, 5])
        return [self.dice.choice(_FIELDS) if self.dice.random() < 0.6 else self.dice.choice(TEXTS) for _ in range(steps)]

    def entity(self, known: Sequence[str]) -> dict[str, Any]:
        tails = [key.partition("/")[2] for key in known if key.startswith("block/")] + ["n1", "n2", "n3", "nowhere"]
        block = {
            "id": self.dice.choice(TEXTS), "type": self.dice.choice(TEXTS), "parent": self.dice.choice([None, None, *tails]),
            "order": self.dice.choice(["V", "A", "z", "x1"]),
        }  # fmt: skip
        edge = {"source": self.dice.choice(tails), "target": self.dice.choice(tails), "order": "V"}
        place = {"x": self.dice.choice([1, 1.5, -0.0, {"#": "1e9"}, {"#": "x"}]), "y": 2}
        made: dict[str, Any] = self.dice.choice([block, block, edge, place, {"output": self.value()}, {}])
        return {**made, **{self.dice.choice(_FIELDS): self.value() for _ in range(self.dice.randint(0, 3))}}

    def write(self, known: Sequence[str]) -> list[Any]:
        key, word = self.key(known), self.dice.choice(["put", "put", "del", "set", "set", "set", "unset", "splice", "rename"])
        match word:
            case "put":
                return [word, key, self.entity(known)]
            case "set":
                path = self.path()
                tails = [None, *(one.partition("/")[2] for one in known)]
                before = [self.dice.choice(TEXTS)] if self.dice.random() < 0.2 else []
                return [word, key, path, self.dice.choice(tails) if path[-1:] == ["parent"] else self.value(), *before]
            case "unset":
                return [word, key, self.path()]
            case "splice":
                places = [0, 1, 2, 5, 2**53]
                return [word, key, self.path(), self.dice.choice(places), self.dice.choice(places), self.dice.choice(TEXTS)]
            case "rename":
                return [word, key, self.dice.choice(TEXTS), *([True] if self.dice.random() < 0.2 else [])]
        return [word, key]

    def request(self, epoch: int, n: int, base: int, keys: Sequence[str]) -> dict[str, Any]:
        """One of three has something odd at some place of its own form."""
        known = [*keys, *(f"block/n{number}" for number in range(1, 4))]
        operations: list[dict[str, Any]] = [
            {"writes": [self.write(known) for _ in range(self.dice.randint(1, 4))]} for _ in range(self.dice.randint(1, 3))
        ]
        if self.dice.random() < 0.3:
            operations[0]["guards"] = [[self.key(known), self.path(), self.value()]]
        if self.dice.random() < 0.2 and len(operations[0]["writes"]) > 1:
            operations[0]["derived"] = [[1, 0]]
        made = {"epoch": epoch, "client": "c", "n": n, "tag": f"t{n}", "base": base, "gestures": operations}
        return self._spoiled(made) if self.dice.random() < 0.3 else made

    def _spoiled(self, message: dict[str, Any]) -> dict[str, Any]:
        places: list[tuple[Any, Any]] = []
        made: dict[str, Any] = json.loads(json.dumps(message))
        waiting: list[Any] = [made]
        while waiting:
            held = waiting.pop()
            for name in list(held) if isinstance(held, dict) else range(len(held)):
                places.append((held, name))
                if isinstance(held[name], dict | list):
                    waiting.append(held[name])
        held, name = self.dice.choice(places)
        if self.dice.random() < 0.2:
            del held[name]
        else:
            held[name] = self.value()
        return made
