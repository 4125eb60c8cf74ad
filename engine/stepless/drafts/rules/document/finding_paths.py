"""Maps the path of a finding to the entity and field that it is about: `nodes.score.with.url` to `with`, `url` of a block."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

from stepless.drafts.rules.document.reading import BLOCK_FIELDS, DOC_FIELDS, EDGE_FIELDS, SUBFLOW_FIELDS
from stepless.drafts.rules.document.values import LIST, escaped, ordered
from stepless.drafts.rules.state import State, ends_at, named_in, tail_of
from stepless.drafts.rules.values import NOTHING, Path, at
from stepless.model.json import JSON

_PARAMETERS: Final = "with"
_IN_BLOCK: Final = BLOCK_FIELDS - {"type"}  # which is what the document has


class Spot(NamedTuple):
    """A value of an entity. `is_edge`: it is an edge, or an entry that stands for no edge, in `home` of `body`; the entry then is
    at `path` of the entity."""

    key: str
    path: Path
    is_edge: bool = False
    home: str = ""
    body: str | None = None


def spot_of(state: State, path: str) -> Spot | None:
    """Returns the value at a dotted path of the document; what is missing there, in a value that stands. None where the document
    has nothing like it, or where the path can be read in two ways, since a name may have dots."""
    steps = path.split(".") if path else []
    body: str | None = None
    holder, reserved = "doc", DOC_FIELDS
    while steps[:1] == ["nodes"] and len(steps) > 1:
        found = state.found(named_in(body, steps[1]))
        if not found:
            return None
        holder, reserved, steps = found[0], _IN_BLOCK, steps[2:]
        tail = tail_of(holder)
        if steps[:1] == ["after"]:
            return _entry(state, _incoming(state, tail), steps[1:], "after", body)
        if steps[:1] == ["with"] and f"subflow/{tail}" in state:
            holder, reserved = f"subflow/{tail}", SUBFLOW_FIELDS
            steps = steps[1:]
            if steps[:1] == ["body"] and steps[1:2] in (["nodes"], ["edges"]):
                body, steps = tail, steps[1:]
    if steps[:1] == ["edges"] and len(steps) > 1:
        return _entry(state, _listed(state, body), steps[1:], "edges", body)
    spots = [Spot(holder, found) for found in _below(state.get(holder) or {}, steps, reserved)]
    return spots[0] if len(spots) == 1 and spots[0].path else None


def _entry(state: State, entries: Sequence[Spot], steps: Sequence[str], home: str, body: str | None) -> Spot | None:
    """An entry of `after` or `edges`, or a value in one. A single entry of `after` stands without a list around it."""
    number = int(steps[0]) if steps and steps[0].isdecimal() else None
    if number is None and len(entries) != 1:
        return None
    if number is not None:
        steps = steps[1:]
    if (number or 0) >= len(entries):
        return None
    spot = entries[number or 0]
    if not steps:
        return spot._replace(is_edge=True, home=home, body=body)
    reserved = EDGE_FIELDS if not spot.path else ()
    found = list(_below(at(state.get(spot.key), spot.path), steps, reserved))
    return Spot(spot.key, (*spot.path, *found[0])) if len(found) == 1 else None


def _incoming(state: State, tail: str) -> list[Spot]:
    """The entries of the `after` of a block, in their order."""
    edges = [key for key in state.found(ends_at(tail)) if (state.get(key) or {}).get("home") != "edges"]
    return _in_order(state, [key for key in edges if (state.get(key) or {}).get("target") == tail], f"block/{tail}", "after")


def _listed(state: State, body: str | None) -> list[Spot]:
    """The entries of the `edges` of a body, in their order."""
    def is_here(edge: dict[str, JSON]) -> bool:
        return edge.get("home") == "edges" and (state.get(f"block/{edge.get('target')}") or {}).get("parent") == body

    keys = [key for key in state if key.startswith("edge/") and is_here(state.get(key) or {})]
    return _in_order(state, keys, "doc" if body is None else f"subflow/{body}", "edges")


def _in_order(state: State, keys: Sequence[str], holder: str, home: str) -> list[Spot]:
    placed = [(str((state.get(key) or {}).get("order", "")), tail_of(key), Spot(key, ())) for key in keys]
    kept = at(state.get(holder), ("rest", home))
    for name, item in kept.items() if isinstance(kept, dict) else ():
        placed.append((str(item.get("order", "")), name, Spot(holder, ("rest", home, name, "is"))))
    return [spot for *_, spot in sorted(placed, key=lambda one: one[:2])]


def _below(value: JSON, steps: Sequence[str], reserved: Collection[str] = ()) -> Iterator[Path]:
    """The ways to read dotted steps in a value. The last name may be missing."""
    if not steps:
        yield ()
        return
    if isinstance(value, dict) and value.keys() == {LIST}:
        items = ordered(value[LIST]) if isinstance(value[LIST], dict) else []
        if steps[0].isdecimal() and int(steps[0]) < len(items):
            key, item = items[int(steps[0])]
            yield from ((LIST, key, "is", *rest) for rest in _below(item.get("is"), steps[1:]))
        return
    if not isinstance(value, dict):
        return
    there = False
    for end in range(1, len(steps) + 1):
        name = escaped(".".join(steps[:end]), reserved)
        if name in value:
            for rest in _below(value[name], steps[end:]):
                there = True
                yield (name, *rest)
    if not there and len(steps) == 1:
        yield (escaped(steps[0], reserved),)
    elif not there and steps[:1] == [_PARAMETERS] and len(steps) == 2 and _PARAMETERS not in value:
        yield tuple(steps)


def held_at(state: State, spot: Spot) -> JSON:
    """Returns the value at a spot, `NOTHING` where none is."""
    entity = state.get(spot.key)
    return NOTHING if entity is None else at(entity, spot.path)
