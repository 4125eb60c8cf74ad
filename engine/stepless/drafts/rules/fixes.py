"""Turns a suggested fix into minimal, guarded writes; a guard drops the fix when its target has changed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from stepless.drafts.rules.diff.texts import middle
from stepless.drafts.rules.document.finding_paths import Spot, held_at, spot_of
from stepless.drafts.rules.document.keys import derived_key
from stepless.drafts.rules.document.reading import BLOCK_FIELDS, DOC_FIELDS, after_entry, edge_entry
from stepless.drafts.rules.document.values import LIST, Encoder, decoded, ordered
from stepless.drafts.rules.effects import Delete, Put, Set, Splice, Unset, Write, all_written
from stepless.drafts.rules.fractional_index import between
from stepless.drafts.rules.requests import Guard, Operation
from stepless.drafts.rules.state import State, named_in, prefix_of, tail_of
from stepless.drafts.rules.values import NOTHING, Path, at, key_after
from stepless.limits import MAX_FIX_CHARACTERS
from stepless.model.findings import Change, Finding, Fix
from stepless.model.json import JSON

_SALT: Final = "fix"
_STRUCTURE: Final = BLOCK_FIELDS | DOC_FIELDS | {"with", "body"}
"""What no field is renamed to: it would be read as something else than a value."""


def fix_of(state: State, finding: Finding) -> Operation | None:
    """Returns the operation that fixes a finding about this state. None if there is no fix, if its value is not known, if the
    draft has another value in the way, or if the operation would have more than MAX_FIX_CHARACTERS as JSON."""
    fix = finding.fix
    if fix is None:
        return None
    spot = spot_of(state, finding.path if fix.path is None else fix.path)
    if spot is None:
        return None
    operation = _operation(state, spot, fix)
    if operation is None or len(json.dumps([all_written(operation.writes), operation.guards])) > MAX_FIX_CHARACTERS:
        return None
    return operation


def _operation(state: State, spot: Spot, fix: Fix) -> Operation | None:
    held = held_at(state, spot)
    match fix.change:
        case Change.CONNECT if isinstance(fix.value, str) and spot.is_edge:
            return _connected(state, spot, fix.former, fix.value)
        case Change.EXIT if spot.is_edge and not spot.path:
            return _guarded(state, Set(spot.key, ("handle",), fix.value))
        case Change.REMOVE if spot.is_edge and not spot.path:
            return _guarded(state, Delete(spot.key))
        case Change.REMOVE if held is not NOTHING and spot.path[-1:] != ("is",):
            return _guarded(state, Unset(spot.key, spot.path))
        case Change.ADD if held is NOTHING:
            return _guarded(state, Set(spot.key, spot.path, _encoded(spot, fix.value)))
        case Change.RENAME if held is not NOTHING and isinstance(fix.value, str):
            return _renamed(state, spot, held, fix.value)
        case Change.REPLACE if held is not NOTHING and not spot.is_edge:
            return _replaced(state, spot, held, fix.value)
        case Change.RESPELL if isinstance(held, str) and isinstance(fix.value, str) and not spot.is_edge:
            splices = list(_respelled(spot, held, fix.former, fix.value))
            return Operation(tuple(splices), (Guard(spot.key, spot.path, held),)) if splices else None
        case Change.APPEND:
            return _appended(state, spot, held, fix.value)
    return None


def _guarded(state: State, *writes: Write) -> Operation:
    """Writes that hold while what they replace is what it is."""
    guards: list[Guard] = []
    for write in writes:
        path: Path = getattr(write, "path", ())
        found = at(state.get(write.key), path) if write.key in state else NOTHING
        guards.append(Guard(write.key, path, None if found is NOTHING else found))
    return Operation(writes, tuple(guards))


def _encoded(spot: Spot, value: JSON) -> JSON:
    return Encoder(_SALT, spot.key).value(value, spot.path)


def _replaced(state: State, spot: Spot, held: JSON, value: JSON) -> Operation:
    if isinstance(held, str) and isinstance(value, str) and spot.path != ("type",):
        return Operation((Splice(spot.key, spot.path, *middle(held, value)),), (Guard(spot.key, spot.path, held),))
    return _guarded(state, Set(spot.key, spot.path, _encoded(spot, value)))


def _renamed(state: State, spot: Spot, held: JSON, name: str) -> Operation | None:
    """The value under another name in the same place; None where something has this name."""
    within = spot.path[:-1]
    siblings = at(state.get(spot.key), within)
    if name in siblings or (not within and prefix_of(spot.key) in ("block", "doc") and name in _STRUCTURE):
        return None
    following = key_after(siblings, spot.path[-1])
    return _guarded(state, Unset(spot.key, spot.path), Set(spot.key, (*within, name), held, following))


def _respelled(spot: Spot, text: str, former: str, name: str) -> Iterator[Splice]:
    """A splice for each place where a text has `former` and no longer name that begins with it."""
    shift = 0
    for found in re.finditer(re.escape(former) + (r"(?![\w-])" if re.match(r"[\w-]", former[-1:]) else ""), text):
        start, removed, new = middle(former, name)
        yield Splice(spot.key, spot.path, found.start() + shift + start, removed, new)
        shift += len(name) - len(former)


def _appended(state: State, spot: Spot, held: JSON, value: JSON) -> Operation | None:
    if held is NOTHING:
        before = "nodes" if spot.key == "doc" else None
        return _guarded(state, Set(spot.key, spot.path, _encoded(spot, [value]), before))
    items = held.get(LIST) if isinstance(held, dict) else None
    if not isinstance(items, dict) or value in decoded(held):
        return None
    last = max((str(item.get("order", "")) for _, item in ordered(items)), default=None)
    path = (*spot.path, LIST, derived_key(_SALT, "item", spot.key, spot.path, str(value)))
    return _guarded(state, Set(spot.key, path, {"order": between(last, None), "is": value}))


def _connected(state: State, spot: Spot, end: str, name: str) -> Operation | None:
    """The edge that an entry without one is, once its unknown end is a node."""
    if not spot.path:
        return None
    place = spot.path[:-1]
    item = at(state.get(spot.key), place)
    entry = _renamed_end(decoded(item.get("is")), end, name)
    target = tail_of(spot.key)
    named = {
        one: tail_of(found[0]) for one in _ends_of(entry) if (found := state.found(named_in(spot.body, one)))
    }
    edge = after_entry(entry, named, target) if spot.home == "after" else edge_entry(entry, named)
    if edge is None:
        return None
    key = f"edge/{place[-1]}"
    encoder = Encoder(_SALT, key)
    fields = {field: encoder.value(value, (field,)) for field, value in edge.items()}
    return _guarded(state, Unset(spot.key, place), Put(key, {**fields, "order": item["order"], "home": spot.home}))


def _ends_of(entry: JSON) -> list[str]:
    if isinstance(entry, str):
        return [entry.partition(".")[0]]
    return [str(entry.get(field, "")).partition(".")[0] for field in ("from", "source", "target")]


def _renamed_end(entry: JSON, end: str, name: str) -> JSON:
    if isinstance(entry, str):
        _, dot, handle = entry.partition(".")
        return f"{name}{dot}{handle}"
    if "from" in entry:
        return {**entry, "from": _renamed_end(entry["from"], end, name)}
    return {**entry, end: name}
