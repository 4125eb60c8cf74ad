"""Operations as people make them, drawn at random over what a person sees."""

from __future__ import annotations

from random import Random

from stepless.drafts.rules.effects import Delete, Put, Rename, Set, Splice, Unset, Write
from stepless.drafts.rules.fractional_index import between
from stepless.drafts.rules.requests import Operation
from stepless.drafts.rules.state import State, children_of, prefix_of, tail_of
from stepless.drafts.rules.values import Object, at, texts
from stepless.model.json import JSON

NAMES = ("order", "score", "pay", "alert", "triage", "ship")
DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def fresh(rng: Random) -> str:
    return "".join(rng.choice(DIGITS) for _ in range(10))


class Editor:
    """Draws operations for one person. `letters` are characters that only this person types, each once."""

    def __init__(self, rng: Random, first_letter: int) -> None:
        self._rng = rng
        self._letter = first_letter

    def operation(self, view: State) -> Operation | None:
        """An operation over the view; None where the one that was drawn has nothing to work on."""
        rng = self._rng
        blocks = sorted(key for key in view if prefix_of(key) == "block")
        if not blocks or rng.random() < 0.1:
            return self._add(view, blocks)
        draw = rng.choices(_DRAWS, _WEIGHTS)[0]
        made: Operation | None = getattr(self, draw)(view, blocks)
        return made

    def typed(self, least: int = 1, most: int = 4) -> str:
        made = ""
        for _ in range(self._rng.randrange(least, most)):
            made += chr(self._letter)
            self._letter += 1
        return made

    # -- blocks ------------------------------------------------------------------------------------------------------

    def _add(self, view: State, blocks: list[str]) -> Operation:
        rng = self._rng
        parents: list[JSON] = [None, None, *(tail_of(key) for key in blocks if f"subflow/{tail_of(key)}" in view)]
        parent = rng.choice(parents)
        key = fresh(rng)
        name = rng.choice(NAMES)
        block: Object = {
            "id": name, "type": "http", "parent": parent, "order": self._order(view, parent),
            "with": {"url": "https://a.example", "prompt": f"<{rng.choice(NAMES)}.body> and <{name}.x>"},
        }
        writes: list[Write] = [Put(f"block/{key}", block)]
        if rng.random() < 0.3:
            block["type"] = "loop"
            block["with"] = {}
            writes.append(Put(f"subflow/{key}", {"times": "3", "body": {"nodes": None}}))
        if rng.random() < 0.6:
            writes.append(Put(f"place/{key}", {"x": rng.randrange(1000), "y": 5}))
        others = [tail_of(one) for one in blocks if (view.get(one) or {}).get("parent") == parent]
        if others and rng.random() < 0.6:
            writes.append(Put(f"edge/{fresh(rng)}", self._edge(rng.choice(others), key)))
        if rng.random() < 0.2:
            twin = fresh(rng)
            writes.append(Put(f"block/{twin}", {**block, "type": "http", "with": {"prompt": f"<{name}.y>"}, "id": name}))
        return Operation(tuple(writes))

    def _order(self, view: State, parent: JSON) -> str:
        held = sorted((view.get(key) or {})["order"] for key in view.found(children_of(parent)))
        return between(held[-1] if held else None, None)

    def _edge(self, source: str, target: str) -> Object:
        edge: Object = {"source": source, "target": target, "order": self._rng.choice("GVk"), "home": "after"}
        if self._rng.random() < 0.5:
            edge["handle"] = self._rng.choice(("error", "source", "big"))
        return edge

    def delete(self, view: State, blocks: list[str]) -> Operation:
        keys = self._rng.sample(blocks, min(len(blocks), self._rng.choice((1, 1, 2))))
        return Operation(tuple(Delete(key) for key in keys))

    def rename(self, view: State, blocks: list[str]) -> Operation:
        return Operation((Rename(self._rng.choice(blocks), self._rng.choice((*NAMES, f"n{self._rng.randrange(30)}"))),))

    def rename_and_type(self, view: State, blocks: list[str]) -> Operation:
        typed = self.type_text(view, blocks)
        return Operation((*self.rename(view, blocks).writes, *(typed.writes if typed else ())))

    def move_into(self, view: State, blocks: list[str]) -> Operation:
        containers: list[JSON] = [None, *(tail_of(key) for key in blocks if f"subflow/{tail_of(key)}" in view)]
        parent = self._rng.choice(containers)
        keys = self._rng.sample(blocks, min(len(blocks), self._rng.choice((1, 2, 3))))
        return Operation(tuple(Set(key, ("parent",), parent) for key in keys))

    def reorder(self, view: State, blocks: list[str]) -> Operation:
        key = self._rng.choice(blocks)
        siblings = sorted((view.get(one) or {})["order"] for one in view.found(children_of((view.get(key) or {}).get("parent"))))
        place = self._rng.randrange(len(siblings) + 1)
        low, high = siblings[place - 1] if place else None, siblings[place] if place < len(siblings) else None
        order = between(low, high) if low is None or high is None or low < high else "V"
        return Operation((Set(key, ("order",), order + "1" * self._rng.choice((0, 0, 0, 64))),))

    def retype(self, view: State, blocks: list[str]) -> Operation:
        return Operation((Set(self._rng.choice(blocks), ("type",), self._rng.choice(("http", "code", "loop"))),))

    # -- edges -------------------------------------------------------------------------------------------------------

    def connect(self, view: State, blocks: list[str]) -> Operation:
        source, target = (tail_of(self._rng.choice(blocks)) for _ in range(2))
        return Operation((Put(f"edge/{fresh(self._rng)}", self._edge(source, target)),))

    def reconnect(self, view: State, blocks: list[str]) -> Operation | None:
        edges = sorted(key for key in view if prefix_of(key) == "edge")
        if not edges:
            return None
        key = self._rng.choice(edges)
        held = view.get(key) or {}
        made = {**held, "target": tail_of(self._rng.choice(blocks))}
        return Operation((Delete(key), Put(f"edge/{fresh(self._rng)}", made)))

    def disconnect(self, view: State, blocks: list[str]) -> Operation | None:
        edges = sorted(key for key in view if prefix_of(key) == "edge")
        return Operation((Delete(self._rng.choice(edges)),)) if edges else None

    def condition(self, view: State, blocks: list[str]) -> Operation | None:
        edges = sorted(key for key in view if prefix_of(key) == "edge")
        if not edges:
            return None
        path = self._rng.choice((("condition",), ("param",), ("handle",)))
        words = ("input", "other", "source")
        value: JSON = {"equals": self._rng.randrange(4)} if path == ("condition",) else self._rng.choice(words)
        return Operation((Set(self._rng.choice(edges), path, value),))

    # -- values ------------------------------------------------------------------------------------------------------

    def set_value(self, view: State, blocks: list[str]) -> Operation:
        paths = (("with", "url"), ("enabled",), ("with", "heads", "a"), ("with", "heads"), ("with",), ("retry", "x"))
        path = self._rng.choice(paths)
        value: JSON = self._rng.choice((1, True, "text", {"a": 1, "b": "<order.x>"}, None))
        before = self._rng.choice((None, "url", "type", "attempts"))
        return Operation((Set(self._rng.choice(blocks), path, value, before),))

    def unset_value(self, view: State, blocks: list[str]) -> Operation:
        path = self._rng.choice((("with", "url"), ("enabled",), ("with", "heads"), ("with",)))
        return Operation((Unset(self._rng.choice(blocks), path),))

    def type_text(self, view: State, blocks: list[str]) -> Operation | None:
        rng = self._rng
        key = rng.choice([*blocks, "text", *(f"subflow/{tail_of(one)}" for one in blocks if f"subflow/{tail_of(one)}" in view)])
        found = [(path, text) for path, text in texts(view.get(key)) if path[0] not in ("id", "type", "parent", "order", "after")]
        found = [(path, text) for path, text in found if path[-1] != "order"]
        if not found:
            return None
        path, text = rng.choice(found)
        writes: list[Write] = []
        for _ in range(rng.choice((1, 1, 3))):
            start = rng.randrange(len(text) + 1)
            removed = rng.choice((0, 0, rng.randrange(min(len(text) - start, 6) + 1)))
            typed = self.typed() + rng.choice(("", "", f"<{rng.choice(NAMES)}.z>", f"<{rng.choice(NAMES)}!>"))
            writes.append(Splice(key, path, start, removed, typed))
            text = text[:start] + typed + text[start + removed:]
        return Operation(tuple(writes))

    def list_item(self, view: State, blocks: list[str]) -> Operation:
        key = self._rng.choice(blocks)
        path = ("with", "messages")
        held = at(view.get(key), (*path, "[]"))
        if not isinstance(held, dict):
            return Operation((Set(key, path, {"[]": {fresh(self._rng): {"order": "V", "is": self.typed()}}}),))
        names = sorted(held)
        if names and self._rng.random() < 0.3:
            return Operation((Unset(key, (*path, "[]", self._rng.choice(names))),))
        item = {"order": self._rng.choice("GVk"), "is": {"text": self.typed()}}
        return Operation((Set(key, (*path, "[]", fresh(self._rng)), item),))

    # -- what hangs on a block -----------------------------------------------------------------------------------------

    def drag(self, view: State, blocks: list[str]) -> Operation:
        writes: list[Write] = []
        for key in self._rng.sample(blocks, min(len(blocks), self._rng.choice((1, 1, 3)))):
            place = f"place/{tail_of(key)}"
            x = self._rng.randrange(1000)
            writes.extend((Set(place, ("x",), x), Set(place, ("y",), 7)) if place in view else (Put(place, {"x": x, "y": 7}),))
        return Operation(tuple(writes))

    def pin(self, view: State, blocks: list[str]) -> Operation:
        key = f"pin/{tail_of(self._rng.choice(blocks))}"
        if key in view and self._rng.random() < 0.5:
            return Operation((Delete(key),))
        return Operation((Put(key, {"output": self._rng.randrange(9)}),))

    def note(self, view: State, blocks: list[str]) -> Operation:
        notes = sorted(key for key in view if prefix_of(key) == "note")
        if notes and self._rng.random() < 0.5:
            return Operation((self._rng.choice((Delete(notes[0]), Set(notes[0], ("text",), self.typed()))),))
        return Operation((Put(f"note/{fresh(self._rng)}", {"x": 1, "y": 2, "text": self.typed()}),))

    def loop_bound(self, view: State, blocks: list[str]) -> Operation | None:
        flows = sorted(key for key in view if prefix_of(key) == "subflow")
        return Operation((Set(self._rng.choice(flows), ("times",), self._rng.randrange(9)),)) if flows else None

    def doc(self, view: State, blocks: list[str]) -> Operation:
        return Operation((Set("doc", self._rng.choice((("name",), ("variables", "a"), ("timeout",))), self.typed()),))

    def several(self, view: State, blocks: list[str]) -> Operation:
        drawn = [made for made in (self.type_text(view, blocks), self.connect(view, blocks), self.delete(view, blocks)) if made]
        return Operation(tuple(write for made in drawn for write in made.writes))


_TABLE = {
    "delete": 8, "rename": 8, "rename_and_type": 3, "move_into": 7, "reorder": 4, "retype": 2, "connect": 12, "reconnect": 4,
    "disconnect": 3, "condition": 4, "set_value": 8, "unset_value": 4, "type_text": 25, "list_item": 6, "drag": 6, "pin": 4,
    "note": 4, "loop_bound": 2, "doc": 3, "several": 3,
}
_DRAWS, _WEIGHTS = list(_TABLE), list(_TABLE.values())
