"""Keeps the ids of nodes across edits of a source: a node that stays what it was keeps the id that it had.

The compiler numbers nodes of one name in the order of the source: `pay`, `pay_2`, `pay_3`. If an author inserts a `pay` before
them, each would get the number of the next one. Ids are in the keys of pauses and schedules, in reruns, in the diff of two
versions and in the URLs that people keep, so a shift by one would make everything look changed, and a rerun would take over the
wrong outcomes.

The rule has three rounds, from the surest to the least sure: nodes with the same content in the same order (the longest common
blocks of the two sequences); nodes of the same name and kind between two such blocks, which were edited in place; nodes with the
same content anywhere, which were moved. Content is compared with the numbers removed from references, because these numbers are
what is being decided. What is left is new.

* *Two nodes never get one id*, since each round takes a former id at most once and new ids avoid all that are taken.
* *A new node never gets the id of a former node that is gone.* It would inherit that node's schedule or its outcomes; a number
  that no former node had is used instead, so numbers have gaps.
* *Nothing but ids changes.* A wrong match costs a misleading diff, and never another meaning of the program.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping
from difflib import SequenceMatcher
from json import dumps
from typing import Any, Final, NamedTuple

from stepless.expressions.references import REFERENCE
from stepless.model.json import JSON

_REFERENCE: Final = re.compile(REFERENCE)
_NUMBER: Final = re.compile(r"_\d+$")
_CONTAINERS: Final = ("loop", "parallel")


class _Entry(NamedTuple):
    """One node: its id, what its id is made from, and its content without the numbers of ids."""

    id: str
    base: str
    kind: str
    content: str


def matched(document: Mapping[str, JSON], former: Mapping[str, JSON]) -> dict[str, JSON]:
    """Returns the document with the ids that its nodes had in a former version of the workflow. Nodes are matched by their
    content and by their order; a new node gets a number that no former node of its name had. Nothing but ids changes."""
    mine, theirs = list(_entries(document["nodes"])), list(_entries(former["nodes"]))
    names = _renamed(mine, theirs)
    if not names:
        return dict(document)
    return {**document, "nodes": _nodes(document["nodes"], names), "made_by": _made_by(document["made_by"], names)}


def _made_by(made_by: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, JSON]:
    """With the ids of the nodes that come from its parts."""
    if "parts" not in made_by:
        return dict(made_by)
    return {**made_by, "parts": [
        {**part, "nodes": {names.get(id, id): lines for id, lines in part["nodes"].items()}} if "nodes" in part else part
        for part in made_by["parts"]
    ]}  # fmt: skip


def _entries(nodes: Mapping[str, Any]) -> Iterator[_Entry]:
    for id, node in nodes.items():
        body = _body(node)
        content = {name: value for name, value in node.items() if name not in ("at", "after")}
        if body is not None:
            content["with"] = {name: value for name, value in node["with"].items() if name != "body"}
        text = _REFERENCE.sub(_without_number, dumps(content, sort_keys=True, ensure_ascii=False))
        yield _Entry(id, _NUMBER.sub("", id), node["type"], text)
        if body is not None:
            yield from _entries(body["nodes"])


def _body(node: Mapping[str, Any]) -> Mapping[str, Any] | None:
    body = node.get("with", {}).get("body") if node.get("type") in _CONTAINERS else None
    return body if isinstance(body, Mapping) else None


def _without_number(match: re.Match[str]) -> str:
    root = match["root"]
    return match[0].replace(root, _NUMBER.sub("", root), 1) if root is not None else match[0]


def _renamed(mine: list[_Entry], theirs: list[_Entry]) -> dict[str, str]:
    """The new id of each node whose id changes."""
    kept: dict[str, str] = {}
    matcher = SequenceMatcher(None, [(one.base, one.content) for one in mine], [(one.base, one.content) for one in theirs], False)
    for tag, start, end, other, until in matcher.get_opcodes():
        if tag == "equal":
            kept |= {mine[start + step].id: theirs[other + step].id for step in range(end - start)}
        elif tag == "replace":
            kept |= _paired(mine[start:end], theirs[other:until], lambda one: (one.base, one.kind))  # edited in place
    used = set(kept.values())
    left, free = [one for one in mine if one.id not in kept], [one for one in theirs if one.id not in used]
    kept |= _paired(left, free, lambda one: (one.base, one.content))  # moved
    return _with_others(mine, theirs, kept)


def _paired(mine: list[_Entry], theirs: list[_Entry], same: Callable[[_Entry], Hashable]) -> dict[str, str]:
    """Pairs nodes that are the same by this measure, each once, in order."""
    free: dict[Hashable, deque[str]] = {}
    for other in theirs:
        free.setdefault(same(other), deque()).append(other.id)
    return {one.id: ids.popleft() for one in mine if (ids := free.get(same(one)))}


def _with_others(mine: list[_Entry], theirs: list[_Entry], kept: dict[str, str]) -> dict[str, str]:
    """Adds ids for the nodes that are new: numbers that no former node of the name had."""
    former = {one.id for one in theirs}
    taken = former | set(kept.values())
    names = dict(kept)
    for one in mine:
        if one.id in names:
            continue
        chosen, number = one.id, 1
        while chosen in taken:
            number += 1
            chosen = f"{one.base}_{number}"
        names[one.id] = chosen
        taken.add(chosen)
    return {id: name for id, name in names.items() if id != name}


# -- renaming -----------------------------------------------------------------------------------------------------------


def _nodes(nodes: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, JSON]:
    return {names.get(id, id): _node(node, names) for id, node in nodes.items()}


def _node(node: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, JSON]:
    changed = dict(node)
    if "after" in node:
        changed["after"] = _after(node["after"], names)
    if "with" in node:
        body = _body(node)
        given = {
            name: value if node["type"] == "code" and name == "code" else _texts(value, names)
            for name, value in node["with"].items() if body is None or name != "body"
        }  # fmt: skip
        changed["with"] = given if body is None else {**given, "body": {**body, "nodes": _nodes(body["nodes"], names)}}
    return changed


def _after(after: JSON, names: Mapping[str, str]) -> JSON:
    if isinstance(after, list):
        return [_after(one, names) for one in after]
    if isinstance(after, dict):
        return {**after, "from": _after(after["from"], names)}
    id, dot, exit = after.partition(".")
    return names.get(id, id) + dot + exit


def _texts(value: JSON, names: Mapping[str, str]) -> JSON:
    if isinstance(value, str):
        return _REFERENCE.sub(lambda match: _named(match, names), value)
    if isinstance(value, list):
        return [_texts(item, names) for item in value]
    return {name: _texts(item, names) for name, item in value.items()} if isinstance(value, dict) else value


def _named(match: re.Match[str], names: Mapping[str, str]) -> str:
    root = match["root"]
    return f"<{names.get(root, root)}{match[0][1 + len(root):]}"
