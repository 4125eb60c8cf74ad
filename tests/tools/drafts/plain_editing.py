"""Small rules of editing, for tests of what keeps drafts: entities are put and deleted, fields are set, texts are spliced."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from random import Random

from stepless.drafts.log.editing import Decided
from stepless.drafts.log.entries import LogEntry
from stepless.drafts.rules.requests import EditRequest
from stepless.model.json import JSON
from stepless.ports import Draft

State = dict[str, JSON]
ORIGIN: JSON = {f"block/o{number}": {"x": 0} for number in range(6)}
"""The origin of a draft is its entities by key, or the number of its blocks."""
BLOCK: JSON = {"id": "score", "type": "http", "parent": None, "order": "a0", "with": {"url": "https://risk.example/score"}}


class PlainEditing:
    """An operation is one effect: `put key entity`, `del key`, `set key field value`, `splice key at removed text`. One on an
    entity that is gone, or that another client has changed since the request's base, is dropped with an outcome, unless it is a
    `put`."""

    def origin(self, draft: Draft, origin: JSON) -> Mapping[str, JSON]:
        if origin and "blocks" in origin:
            return {f"block/b{number}": dict(BLOCK) for number in range(origin["blocks"])}
        return origin or {}

    def begin(self, entities: Iterable[tuple[str, JSON]]) -> State:
        return dict(entities)

    def fold(self, state: State, effects: Sequence[JSON]) -> None:
        for word, key, *more in effects:
            if word == "put":
                state[key] = more[0]
            elif word == "del":
                state.pop(key, None)
            elif word == "set" and key in state:
                state[key] = {**state[key], more[0]: more[1]}
            elif key in state:
                at, removed, text = more
                held = state[key].get("text", "")
                state[key] = {**state[key], "text": held[:at] + text + held[at + removed :]}

    def touched(self, effect: JSON) -> str:
        return str(effect[1])

    def entity(self, state: State, key: str) -> JSON:
        return state.get(key)

    def entities(self, state: State) -> Iterable[tuple[str, JSON]]:
        return state.items()

    def resolve(self, state: State, request: EditRequest, since: Sequence[LogEntry]) -> Decided:
        changed = {effect[1] for item in since for effect in item.effects}
        trial, effects, outcomes = dict(state), list[JSON](), list[JSON]()
        for place, operation in enumerate(request.operations):
            if operation[0] != "put" and (operation[1] not in trial or operation[1] in changed):
                outcomes.append([place, "gone" if operation[1] not in trial else "changed_since"])
            else:
                effects.append(operation)
                self.fold(trial, [operation])
        return Decided(effects, outcomes)


def canonical(state: Mapping[str, JSON]) -> str:
    return json.dumps(dict(sorted(state.items())), separators=(",", ":"))


def random_operation(rng: Random, keys: Sequence[str]) -> JSON:
    key = rng.choice(keys)
    match rng.randrange(6):
        case 0:
            return ["put", key, {"x": rng.randrange(1000), "id": key}]
        case 1:
            return ["del", key]
        case 2 | 3:
            return ["splice", key, rng.randrange(5), rng.randrange(2), rng.choice(["ab", "c", "é"])]
        case _:
            return ["set", key, rng.choice("xyz"), rng.randrange(1000)]
