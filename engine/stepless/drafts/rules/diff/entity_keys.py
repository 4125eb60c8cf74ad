"""Reuses the keys of existing entities for a new document, so that a diff contains only real changes.

Blocks are matched by `matching`; edges by what is written of them, then by what they tie; items of lists by their content, then
by their place. Orders stay wherever the sequence stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final, NamedTuple

from stepless.drafts.rules.diff.node_matching import matched
from stepless.drafts.rules.diff.sequences import orders, same_items
from stepless.drafts.rules.diff.values import aligned_value, canonical
from stepless.drafts.rules.document.reading import IsContainer, from_document
from stepless.drafts.rules.document.values import Encoder, decoded, ordered
from stepless.drafts.rules.document.writing import entry_of
from stepless.drafts.rules.state import Entities, State, children_of, ends_at, prefix_of, tail_of, tie_of
from stepless.drafts.rules.values import Object, at, key_after, with_key
from stepless.model.json import JSON

_OWN: Final = frozenset({"id", "parent", "order"})


class _Entry(NamedTuple):
    """An entry of a list of edges: an edge, or what is no edge and stays in `rest`."""

    key: str
    order: str
    content: str
    edge: Object | None
    item: Object | None


def aligned(
    state: State, document: Mapping[str, JSON], salt: str, is_container: IsContainer = lambda type_: None
) -> dict[str, Object]:
    """`to_document` of the entities gives the document. What is new has keys that follow from `salt` and its place; pass another
    one for each state and document."""
    return _Aligner(state, Entities(from_document(document, salt, is_container)), salt).entities()


class _Aligner:
    def __init__(self, state: State, fresh: Entities, salt: str) -> None:
        self._state = state
        self._fresh = fresh
        self._salt = salt
        self._partners = matched(state, fresh)
        self._made: dict[str, Object] = {}
        edges = (edge for key in fresh if prefix_of(key) == "edge" and (edge := fresh.get(key)))
        self._ties = Counter(tie_of(self._between(edge)) for edge in edges)
        self._ids = {
            self._tail(tail_of(key)): str((fresh.get(key) or {}).get("id")) for key in fresh if prefix_of(key) == "block"
        }

    def entities(self) -> dict[str, Object]:
        self._made["doc"] = dict(aligned_value(self._state.get("doc"), self._fresh.get("doc")))
        self._body(None)
        for key in self._fresh:
            if prefix_of(key) == "subflow":
                self._subflow(tail_of(key))
        self._one_of_each_tie()
        return self._made

    def _tail(self, fresh: str) -> str:
        return self._partners.get(fresh, fresh)

    def _between(self, edge: Object) -> Object:
        """An edge of the document between the blocks as the state has them."""
        return {**edge, "source": self._tail(edge["source"]), "target": self._tail(edge["target"])}

    # -- blocks ------------------------------------------------------------------------------------------------------

    def _subflow(self, fresh: str) -> None:
        key = f"subflow/{self._tail(fresh)}"
        self._made[key] = aligned_value(self._state.get(key), self._fresh.get(f"subflow/{fresh}"))
        self._body(fresh)

    def _body(self, fresh: str | None) -> None:
        body = None if fresh is None else self._tail(fresh)
        keys = self._fresh.found(children_of(fresh))
        keys.sort(key=lambda key: (self._fresh.get(key) or {})["order"])
        held = [self._state.get(f"block/{self._tail(tail_of(key))}") for key in keys]
        present = [block.get("order") if block is not None and block.get("parent") == body else None for block in held]
        for key, former, order in zip(keys, held, orders(present), strict=True):
            self._block(tail_of(key), former, body, order)
        holder = f"subflow/{body}" if body is not None else "doc"
        self._edges(holder, "edges", self._of_body(self._state, body), self._of_body(self._fresh, fresh))

    def _block(self, fresh: str, former: Object | None, body: str | None, order: str) -> None:
        tail = self._tail(fresh)
        key = f"block/{tail}"
        made = {**aligned_value(former, self._fresh.get(f"block/{fresh}")), "parent": body, "order": order}
        self._made[key] = made
        incoming = self._of_target(self._fresh, fresh)
        if former is not None:
            self._made[key] = made = _unsaid(former, made, len(incoming))
        self._edges(key, "after", self._of_target(self._state, tail), incoming)

    # -- edges -------------------------------------------------------------------------------------------------------

    def _of_target(self, state: State, tail: str) -> list[_Entry]:
        block = state.get(f"block/{tail}") or {}
        edges = (key for key in state.found(ends_at(tail)) if (state.get(key) or {}).get("target") == tail)
        return self._entries(state, [key for key in edges if (state.get(key) or {}).get("home") != "edges"], block, "after")

    def _of_body(self, state: State, body: str | None) -> list[_Entry]:
        holder = state.get("doc" if body is None else f"subflow/{body}") or {}
        inside = {tail_of(key) for key in state.found(children_of(body))}
        found = {key for tail in inside for key in state.found(ends_at(tail))}
        keys = [
            key for key in sorted(found)
            if (edge := state.get(key) or {}).get("home") == "edges" and edge.get("target") in inside
        ]
        return self._entries(state, keys, holder, "edges")

    def _entries(self, state: State, keys: list[str], holder: Object, home: str) -> list[_Entry]:
        """The entries of a list of edges, in their order; edges between the blocks as the state has them."""
        made: list[_Entry] = []
        for key in keys:
            edge = state.get(key) or {}
            if state is self._fresh:
                edge = self._between(edge)
            ends = {str(edge.get(end)): str(edge.get(end)) for end in ("source", "target")}
            content = canonical([edge.get("form"), entry_of(edge, ends)])
            made.append(_Entry(key, str(edge.get("order", "")), content, edge, None))
        for key, item in ordered(_entries_kept(holder, home)):
            made.append(_Entry(key, str(item.get("order", "")), canonical([home, decoded(item.get("is"))]), None, item))
        return sorted(made, key=lambda one: (one.order, tail_of(one.key) or one.key))

    def _edges(self, holder: str, home: str, old: list[_Entry], new: list[_Entry]) -> None:
        partners = same_items([one.content for one in old], [one.content for one in new])
        taken = set(partners.values())
        ties = {tie_of(one.edge): place for place, one in enumerate(old) if place not in taken and one.edge is not None}
        for place, one in enumerate(new):
            if place not in partners and one.edge is not None and (tie := tie_of(one.edge)) in ties:
                partners[place] = ties.pop(tie)
        new = self._as_kept(home, old, new, partners)
        placed = orders([old[partners[place]].order if place in partners else None for place in range(len(new))])
        kept: Object = {}
        for place, (one, order) in enumerate(zip(new, placed, strict=True)):
            former = old[partners[place]] if place in partners else None
            if one.item is not None:
                same = former or one
                kept[same.key] = {**(same.item or {}), "order": order}
            elif former is not None and former.content == one.content:
                self._made[former.key] = {**(former.edge or {}), "order": order}
            elif former is not None:
                self._made[former.key] = {**aligned_value(former.edge, one.edge), "order": order}
            else:
                self._made[one.key] = {**(one.edge or {}), "order": order}
        if kept or holder in self._made:
            self._rest(holder, home, kept)

    def _as_kept(self, home: str, old: list[_Entry], new: list[_Entry], partners: dict[int, int]) -> list[_Entry]:
        """The new entries, those that the state keeps as written although they look like edges as what they are there: the second
        of a tie. Adds their partners."""
        taken = set(partners.values())
        kept: dict[str, list[int]] = {}
        for place, one in enumerate(old):
            if place not in taken and one.item is not None:
                kept.setdefault(one.content, []).append(place)
        made = list(new)
        for place, one in enumerate(new):
            if place in partners or one.edge is None or not kept or self._ties[tie_of(one.edge)] < 2:
                continue
            content = canonical([home, entry_of(one.edge, self._ids)])
            if kept.get(content):
                partners[place] = kept[content].pop(0)
                made[place] = old[partners[place]]
        return made

    def _rest(self, holder: str, home: str, kept: Object) -> None:
        entity = self._made.setdefault(holder, {})
        rest = {name: value for name, value in (entity.get("rest") or {}).items() if name != home}
        if kept:
            rest[home] = kept
        others = {name: value for name, value in entity.items() if name != "rest"}
        self._made[holder] = {**others, "rest": rest} if rest else others

    def _one_of_each_tie(self) -> None:
        """The rules of a draft take no second edge of one tie; a document may have one. It stays as it is written."""
        edges = [key for key in self._made if prefix_of(key) == "edge"]
        stands = [key for key in edges if tie_of(self._state.get(key) or {}) == tie_of(self._made[key])]
        seen: set[object] = {tie_of(self._made[key]) for key in stands}
        for key in sorted(set(edges) - set(stands)):
            edge = self._made[key]
            if tie_of(edge) not in seen:
                seen.add(tie_of(edge))
                continue
            target = self._made[f"block/{edge['target']}"]
            home, parent = ("edges", target["parent"]) if edge.get("home") == "edges" else ("after", None)
            holder = f"block/{edge['target']}" if home == "after" else "doc" if parent is None else f"subflow/{parent}"
            written = Encoder(self._salt, holder).value(entry_of(edge, self._ids), ("rest", home, tail_of(key)))
            kept = _entries_kept(self._made[holder], home)
            self._rest(holder, home, {**kept, tail_of(key): {"order": edge["order"], "is": written}})
            del self._made[key]


def _unsaid(former: Object, made: Object, incoming: int) -> Object:
    """The new block as the former one says it, where both write the same: `after` that stands at its default needs no mark, and a
    mark without an edge writes nothing."""
    shown = [field for field in made if field not in _OWN and field != "rest"]
    if "after" not in former and shown[-1:] == ["after"] and made["after"] == ("one" if incoming == 1 else "list"):
        return {field: value for field, value in made.items() if field != "after"}
    if "after" not in made and former.get("after") == "one":
        before = key_after(former, "after")
        while before is not None and before not in made:
            before = key_after(former, before)
        return with_key(made, "after", "one", before)
    return made


def _entries_kept(holder: Object, home: str) -> Object:
    """The entries of a list of edges that are no edges, by key."""
    kept = at(holder, ("rest", home))
    return kept if isinstance(kept, dict) else {}
