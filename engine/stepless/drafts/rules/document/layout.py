"""Reads and writes canvas positions and notes, which are stored next to the document.

    {"places": [{"node": [ids from the outside in], "x": 1, "y": 2}, …], "notes": [{"x": 1, "y": 2, "text": "…"}, …]}

Nodes are named by their ids: keys of blocks are only those of one draft.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stepless.drafts.rules.document.keys import derived_key
from stepless.drafts.rules.state import State, named_in, prefix_of, tail_of
from stepless.drafts.rules.values import Object
from stepless.model.json import JSON

_OF_PLACE = ("x", "y")
_OF_NOTE = ("x", "y", "w", "h", "text", "colour", "by")


def path_of(state: State, key: str) -> list[str]:
    """Returns the ids of a block and of the containers around it, the outermost first."""
    found: list[str] = []
    block = state.get(key)
    while block is not None:
        found.append(str(block.get("id")))
        block = state.get(f"block/{block.get('parent')}")
    return found[::-1]


def layout_of(state: State) -> dict[str, JSON] | None:
    """Returns the layout of a state, in the order of its nodes; None without a position and a note."""
    places: list[dict[str, JSON]] = []
    notes: list[dict[str, JSON]] = []
    for key in sorted(state):
        entity = state.get(key) or {}
        if prefix_of(key) == "place":
            places.append({"node": path_of(state, f"block/{tail_of(key)}"), **{name: entity[name] for name in _OF_PLACE}})
        elif prefix_of(key) == "note":
            notes.append({name: entity[name] for name in _OF_NOTE if name in entity})
    made: dict[str, JSON] = {}
    if places:
        made["places"] = sorted(places, key=lambda place: place["node"])
    if notes:
        made["notes"] = notes
    return made or None


def entities_of(layout: Mapping[str, JSON] | None, state: State, epoch: str) -> dict[str, Object]:
    """Returns the canvas positions and notes of a layout over the blocks of a state. What does not fit is left out: a node that
    is gone, a place that is none. The keys of notes follow from the epoch and their number."""
    made: dict[str, Object] = {}
    for place in _objects(layout, "places"):
        key = _found(state, place.get("node"))
        if key is not None and _is_placed(place):
            made[f"place/{tail_of(key)}"] = {name: place[name] for name in _OF_PLACE}
    for number, note in enumerate(_objects(layout, "notes")):
        if _is_placed(note):
            made[f"note/{derived_key(epoch, 'note', number)}"] = {name: note[name] for name in _OF_NOTE if name in note}
    return made


def _objects(layout: Mapping[str, JSON] | None, name: str) -> list[dict[str, Any]]:
    found = (layout or {}).get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _is_placed(value: Mapping[str, JSON]) -> bool:
    return all(isinstance(value.get(name), int | float) and not isinstance(value.get(name), bool) for name in _OF_PLACE)


def _found(state: State, path: JSON) -> str | None:
    key: str | None = None
    for name in path if isinstance(path, list) else ():
        found = state.found(named_in(tail_of(key) if key else None, name))
        if not found:
            return None
        key = found[0]
    return key
