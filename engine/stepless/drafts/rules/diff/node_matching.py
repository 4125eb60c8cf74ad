"""Matches the nodes of a document with the blocks of a state.

Within a body, a node is the block of the same name; else one of those that are left over which is like it, under its former name.
A node that is left over in one body is the block of that name that is left over in another one, if it is like it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from stepless.drafts.rules.diff.values import canonical
from stepless.drafts.rules.document.values import decoded
from stepless.drafts.rules.state import Entities, State, children_of, ends_at, tail_of
from stepless.drafts.rules.values import Object
from stepless.limits import MAX_RENAME_PAIRS

_OWN: Final = frozenset({"id", "parent", "order"})
_ALIKE: Final = 0.5  # of what two nodes have, which a node under another name has in common with the former one


def matched(state: State, fresh: Entities) -> dict[str, str]:
    """Returns, for the tails of blocks of `fresh`, those of the blocks of the state that they are."""
    return _Matching(state, fresh).blocks()


class _Matching:
    def __init__(self, state: State, fresh: Entities) -> None:
        self._state = state
        self._fresh = fresh
        self._partners: dict[str, str] = {}
        self._left_old: dict[str, str] = {}
        self._left_new: dict[str, str] = {}

    def blocks(self) -> dict[str, str]:
        self._bodies([(None, None)])
        self._across()
        return self._partners

    def _bodies(self, waiting: list[tuple[str | None, str | None]]) -> None:
        """Pairs the nodes of bodies that are the same, and of those in them."""
        while waiting:
            old_body, new_body = waiting.pop()
            olds, news = _children(self._state, old_body), _children(self._fresh, new_body)
            pairs = self._pairs(olds, news)
            self._partners |= pairs
            taken = set(pairs.values())
            self._left_old |= {tail: str(_block(self._state, tail).get("id")) for tail in olds if tail not in taken}
            self._left_new |= {tail: str(_block(self._fresh, tail).get("id")) for tail in news if tail not in pairs}
            waiting.extend((old, new) for new, old in pairs.items())

    def _pairs(self, olds: Sequence[str], news: Sequence[str]) -> dict[str, str]:
        named = {_block(self._state, tail).get("id"): tail for tail in olds}
        pairs = {tail: named[name] for tail in news if (name := _block(self._fresh, tail).get("id")) in named}
        taken = set(pairs.values())
        rest, others = [tail for tail in olds if tail not in taken], [tail for tail in news if tail not in pairs]
        if len(rest) * len(others) > MAX_RENAME_PAIRS:
            return pairs
        features = {tail: _features(self._state, tail) for tail in rest}
        scored = [
            (-_alike(features[old], mine), abs(olds.index(old) - news.index(new)), news.index(new), old, new)
            for new in others for mine in [_features(self._fresh, new)] for old in rest
        ]
        for score, _, _, old, new in sorted(scored):
            if -score >= _ALIKE and old not in taken and new not in pairs:
                pairs[new] = old
                taken.add(old)
        return pairs

    def _across(self) -> None:
        """Pairs nodes that stand in another body now."""
        gone: dict[str, str] = {}
        for tail, name in [*self._left_old.items(), *self._below(self._state, self._left_old)]:
            gone.setdefault(name, tail)
        moved: list[tuple[str, str]] = []
        for new, name in list(self._left_new.items()):
            old = gone.get(name)
            if old is not None and _alike(_features(self._state, old), _features(self._fresh, new)) >= _ALIKE:
                self._partners[new] = old
                del gone[name]
                moved.append((old, new))
        taken = set(self._partners.values())
        while moved:
            above, new = moved.pop()
            olds = [tail for tail in _children(self._state, above) if tail not in taken]
            pairs = self._pairs(olds, [tail for tail in _children(self._fresh, new) if tail not in self._partners])
            self._partners |= pairs
            taken.update(pairs.values())
            moved.extend((held, made) for made, held in pairs.items())

    def _below(self, state: State, tails: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        waiting = list(tails)
        while waiting:
            for tail in _children(state, waiting.pop()):  # nothing below what is gone has a partner yet
                yield tail, str(_block(state, tail).get("id"))
                waiting.append(tail)


def _children(state: State, parent: str | None) -> list[str]:
    keys = state.found(children_of(parent))
    return [tail_of(key) for key in sorted(keys, key=lambda key: (str((state.get(key) or {}).get("order", "")), key))]


def _block(state: State, tail: str) -> Object:
    return state.get(f"block/{tail}") or {}


def _features(state: State, tail: str) -> set[str]:
    """What a node has: its fields and parameters one by one, its children by name, its neighbours."""
    block = _block(state, tail)
    made = {canonical([field, decoded(value)]) for field, value in block.items() if field not in _OWN and field != "with"}
    for inner in (block.get("with"), state.get(f"subflow/{tail}")):
        if isinstance(inner, dict):
            made |= {canonical(["with", field, decoded(value)]) for field, value in inner.items() if field != "body"}
    made |= {canonical(["has", _block(state, child).get("id")]) for child in _children(state, tail)}
    for key in state.found(ends_at(tail)):
        edge = state.get(key) or {}
        ends = ("source", "target") if edge.get("target") == tail else ("target", "source")
        made.add(canonical([ends[0], _block(state, str(edge.get(ends[0]))).get("id"), edge.get("handle")]))
    return made


def _alike(left: set[str], right: set[str]) -> float:
    types = [next((one for one in features if one.startswith('["type"')), "") for features in (left, right)]
    if types[0] != types[1]:
        return 0.0
    return len(left & right) / max(len(left), len(right), 1)
