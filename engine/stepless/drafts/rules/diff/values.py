"""Diffs two entities, field by field.

Entities are compared as canonical text: the order of keys is data. A key that stands elsewhere is removed and set again before
its new neighbour; of several, as few as possible.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from json import dumps
from typing import Final

from stepless.drafts.rules.diff.sequences import gaps, orders, rising, same_items
from stepless.drafts.rules.diff.texts import hunks, middle
from stepless.drafts.rules.document.values import LIST, NUMBER, decoded, ordered
from stepless.drafts.rules.effects import Set, Splice, Unset, Write
from stepless.drafts.rules.shapes import fits
from stepless.drafts.rules.state import TEXT, prefix_of
from stepless.drafts.rules.values import Object, Path, same
from stepless.limits import MAX_DOCUMENT_DEPTH
from stepless.model.json import JSON

_PLACED: Final[Mapping[str, frozenset[str]]] = {
    "doc": frozenset({"rest"}),
    "block": frozenset({"id", "parent", "order", "rest"}),
    "subflow": frozenset({"rest"}),
    "edge": frozenset({"order", "home", "form"}),
    "place": frozenset({"x", "y"}),
    "note": frozenset({"x", "y", "w", "h", "text", "colour", "by"}),
    "text": frozenset({"yaml"}),
}
"""Fields whose place among the others says nothing."""
_FIXED: Final[Mapping[str, frozenset[str]]] = {
    "doc": frozenset({"id"}), "block": frozenset({"type"}), "edge": frozenset({"source", "target"}),
}
"""Fields that are never removed: the others move around them."""
_KEPT_ENTRIES: Final = (("rest", "after"), ("rest", "edges"))
_NAMES: Final = frozenset({"id", "parent"})


def canonical(value: JSON) -> str:
    return dumps(value, ensure_ascii=False, separators=(",", ":"))


# -- keys of list items -------------------------------------------------------------------------------------------------


def aligned_value(old: JSON, new: JSON) -> JSON:
    """Returns the new value, the items of its lists under the keys and orders that the old one has for them."""
    if isinstance(old, list) and isinstance(new, list):
        return old if canonical(decoded(old)) == canonical(decoded(new)) else new
    if not isinstance(old, dict) or not isinstance(new, dict):
        return new
    if is_list(old) and is_list(new):
        return {LIST: _aligned_items(old[LIST], new[LIST])}
    if is_list(old) or is_list(new):
        return new
    return {key: aligned_value(old[key], held) if key in old else held for key, held in new.items()}


def _aligned_items(old: Object, new: Object) -> Object:
    olds, news = ordered(old), ordered(new)
    before, after = [_content(item) for _, item in olds], [_content(item) for _, item in news]
    equal = same_items(before, after)
    partners = dict(equal)
    for ours, theirs in gaps(equal, len(olds), len(news)):
        partners |= {
            there: here for here, there in zip(ours, theirs, strict=False)
            if type(olds[here][1].get("is")) is type(news[there][1].get("is"))
        }
    placed = orders([olds[partners[place]][1].get("order") if place in partners else None for place in range(len(news))])
    made: Object = {}
    for place, (key, item) in enumerate(news):
        if place not in partners:
            made[key] = {**item, "order": placed[place]}
            continue
        former_key, former = olds[partners[place]]
        value = former.get("is") if place in equal else aligned_value(former.get("is"), item.get("is"))
        made[former_key] = {**former, "order": placed[place], "is": value}
    return made


def _content(item: Object) -> str:
    return canonical(decoded(item.get("is")))


def is_list(value: JSON) -> bool:
    return isinstance(value, dict) and value.keys() == {LIST} and isinstance(value[LIST], dict)


# -- writes -------------------------------------------------------------------------------------------------------------


def can_become(key: str, old: Object, new: Object) -> bool:
    """Returns whether writes below an entity can turn it into the new one, or only its removal and a new one."""
    prefix = prefix_of(key)
    fixed = _FIXED.get(prefix, frozenset())
    if any(field in old and field not in new for field in fixed):
        return False
    if prefix == "edge" and any(old.get(end) != new.get(end) for end in ("source", "target")):
        return False
    kept = [field for field in old if field in fixed and field in new]
    return kept == [field for field in new if field in fixed and field in old]


def entity_writes(key: str, old: Object, new: Object) -> Iterator[list[Write]]:
    """Groups of writes that turn an entity into another one; the name and the parent of a block are left as they are."""
    prefix = prefix_of(key)
    skip = _NAMES if prefix == "block" else frozenset()
    yield from _of_object(key, (), old, new, _PLACED.get(prefix, frozenset()), _FIXED.get(prefix, frozenset()), skip)


def _of_object(
    key: str, path: Path, old: Object, new: Object, placed: frozenset[str] = frozenset(), fixed: frozenset[str] = frozenset(),
    skip: frozenset[str] = frozenset(),
) -> Iterator[list[Write]]:
    names = [name for name in new if name not in placed]
    kept = _kept(names, [name for name in old if name not in placed], fixed)
    moved: dict[str, list[Write]] = {}
    for name in old:
        if name in skip or name in kept or (name in placed and name in new):
            continue
        gone = Unset(key, (*path, name))
        if name in new:
            moved[name] = [gone]
        else:
            yield [gone]
    following: str | None = None
    added: list[list[Write]] = []
    for name in reversed(names):
        if name not in kept and name not in skip:
            added.append([*moved.get(name, ()), Set(key, (*path, name), new[name], following)])
        following = name
    if moved:  # each is set before its neighbour, which may be one that moves too
        yield [write for name in moved for write in moved[name]] + [group[-1] for group in added]
    else:
        yield from added
    for name, value in new.items():
        if name in skip:
            continue
        if name in kept or (name in placed and name in old):
            yield from _of_value(key, (*path, name), old[name], value)
        elif name in placed:
            yield [Set(key, (*path, name), value)]


def _kept(new: Sequence[str], old: Sequence[str], fixed: frozenset[str]) -> set[str]:
    """The names that stay where they stand: as many as have the same order in both, those in `fixed` among them."""
    place = {name: index for index, name in enumerate(old)}
    both = [name for name in new if name in place]
    made: set[str] = set()
    run: list[str] = []
    low = -1
    for name in [*both, None]:
        if name is None or name in fixed:
            high = len(old) if name is None else place[name]
            between = [one for one in run if low < place[one] < high]
            made |= {between[index] for index in rising([place[one] for one in between])}
            run = []
            if name is not None:
                made.add(name)
                low = high
        else:
            run.append(name)
    return made


def _of_value(key: str, path: Path, old: JSON, new: JSON) -> Iterator[list[Write]]:
    if same(old, new):
        return
    if isinstance(old, str) and isinstance(new, str):
        made = _spliced(key, path, old, new)
        yield made if all(map(fits, made)) else [Set(key, path, new)]
    elif isinstance(old, dict) and isinstance(new, dict) and _recursive(path, old, new):
        if is_list(old) and is_list(new):
            yield from _of_items(key, (*path, LIST), old[LIST], new[LIST])
        elif path in _KEPT_ENTRIES:
            yield from _of_items(key, path, old, new)
        else:
            yield from _of_object(key, path, old, new)
    else:
        yield [Set(key, path, new)]


def _spliced(key: str, path: Path, old: str, new: str) -> list[Write]:
    cut = hunks(old, new) if key == TEXT else [middle(old, new)]
    return [Splice(key, path, *hunk) for hunk in cut]


def _recursive(path: Path, old: Object, new: Object) -> bool:
    if is_list(old) != is_list(new) or old.keys() == {NUMBER} or new.keys() == {NUMBER}:
        return False
    return len(path) + 4 <= MAX_DOCUMENT_DEPTH


def _of_items(key: str, path: Path, old: Object, new: Object) -> Iterator[list[Write]]:
    """Items of a list stand by their orders, so nothing says where their keys stand."""
    for name in old:
        if name not in new:
            yield [Unset(key, (*path, name))]
    for name, item in new.items():
        former = old.get(name)
        if not isinstance(former, dict) or not isinstance(item, dict) or not former.keys() >= {"order", "is"}:
            if name not in old or not same(former, item):
                yield [Set(key, (*path, name), item)]
            continue
        for field in ("order", "is"):
            yield from _of_value(key, (*path, name, field), former[field], item[field])
