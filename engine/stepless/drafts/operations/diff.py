"""Compares a draft with its base, or with a version: by node, and by line of the text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Final, NamedTuple

from stepless.compile.patching import composed
from stepless.drafts.operations.bases import read_base, state_of_base
from stepless.drafts.operations.texts import shown_text
from stepless.drafts.operations.verbs import At, DraftVerbs
from stepless.drafts.rules.diff import aligned
from stepless.drafts.rules.diff.sequences import rising
from stepless.drafts.rules.diff.values import canonical
from stepless.drafts.rules.document import from_document, to_document
from stepless.drafts.rules.document.layout import path_of
from stepless.drafts.rules.state import Entities, children_of, prefix_of, tail_of
from stepless.drafts.rules.values import Object
from stepless.limits import DIFF_CONTEXT_LINES
from stepless.model.json import JSON
from stepless.model.stored.version_metadata import decode_attached
from stepless.runtime.id_suggestions import unknown_workflow
from stepless.runtime.versions import document_of

_BODY: Final = ("nodes", "edges")


class Difference(NamedTuple):
    """`against` names what the draft is compared with; nothing if it was opened empty."""

    against: Mapping[str, JSON]
    nodes: Sequence[Mapping[str, JSON]]
    document: Sequence[Mapping[str, JSON]]
    lines: Sequence[Mapping[str, JSON]]


def diff(verbs: DraftVerbs, workflow_id: str, version: int | None, seq: int | None) -> tuple[At, Difference]:
    """Returns a draft as of an item against a version, or its base without one. Raises `NotFound` (unknown_workflow), and as
    `DraftVerbs.at` does."""
    at = verbs.at(workflow_id, seq)
    if version is None:
        base = read_base(verbs, at.head)
        before, text, against = state_of_base(verbs, at.head, base, at.state, at.seq), base.as_text(), base.shown()
    else:
        document, kept = version_of(verbs, workflow_id, version)
        text = kept if kept is not None else composed(document)
        before = Entities(aligned(at.state, document, f"{at.head.epoch} version {version}", verbs.origins.is_container))
        against = {"version": version}
    nodes = sorted(_nodes(before, at.state), key=lambda node: node["path"])
    fields = list(_fields(_top(before), _top(at.state), ()))
    return at, Difference(against, nodes, fields, list(_lines(text, shown_text(at.state))))


def diff_versions(verbs: DraftVerbs, workflow_id: str, former: int, later: int) -> Difference:
    """Returns a version against another one. Raises `NotFound` (unknown_workflow)."""
    document, text = version_of(verbs, workflow_id, later)
    before, former_text = version_of(verbs, workflow_id, former)
    after = Entities(from_document(document, f"version {later}", verbs.origins.is_container))
    old = Entities(aligned(after, before, f"version {former} and {later}", verbs.origins.is_container))
    nodes = sorted(_nodes(old, after), key=lambda node: node["path"])
    lines = _lines(former_text if former_text is not None else composed(before), text if text is not None else composed(document))
    return Difference({"version": former}, nodes, list(_fields(_top(old), _top(after), ())), list(lines))


def version_of(verbs: DraftVerbs, workflow_id: str, number: int) -> tuple[dict[str, JSON], str | None]:
    """Returns the document of a version and its text. Raises `NotFound` (unknown_workflow)."""
    found = verbs.world.store.get_version(workflow_id, number)
    if found is None:
        raise unknown_workflow(verbs.world.store, workflow_id, what=f"{workflow_id}, version {number}")
    return document_of(found), decode_attached(verbs.world.store.get_attached(workflow_id, number)).text


# -- by node -----------------------------------------------------------------------------------------------------------


def _nodes(before: Entities, after: Entities) -> Iterator[dict[str, JSON]]:
    shown = {key: _written(state) for key, state in (("before", before), ("after", after))}
    elsewhere = _reordered(before, after)
    for key in sorted({key for state in (before, after) for key in state if prefix_of(key) == "block"}):
        if key not in after:
            yield {"change": "removed", "path": list(path_of(before, key)), "key": key, "fields": []}
        elif key not in before:
            yield {"change": "added", "path": list(path_of(after, key)), "key": key, "fields": []}
        else:
            fields = list(_fields(shown["before"][key], shown["after"][key], ()))
            former, name = ((state.get(key) or {}).get("id") for state in (before, after))
            moved = (before.get(key) or {}).get("parent") != (after.get(key) or {}).get("parent") or key in elsewhere
            if fields or former != name or moved:
                node: dict[str, JSON] = {
                    "change": "moved" if moved and not fields else "changed", "path": list(path_of(after, key)), "key": key,
                }  # fmt: skip
                yield {**node, **({"former_id": former} if former != name else {}), "fields": fields}


def _written(state: Entities) -> dict[str, JSON]:
    """Each node by the key of its block as the document has it, containers without their bodies."""
    made: dict[str, JSON] = {}
    waiting: list[tuple[str | None, JSON]] = [(None, to_document(state))]
    while waiting:
        parent, body = waiting.pop()
        nodes = body.get("nodes") if isinstance(body, dict) else None
        for key in state.found(children_of(parent)):
            node = nodes.get((state.get(key) or {}).get("id")) if isinstance(nodes, dict) else None
            given = node.get("with") if isinstance(node, dict) else None
            if _is_container(state, key) and isinstance(node, dict) and isinstance(given, dict):
                inner = given.get("body", {})
                waiting.append((tail_of(key), inner))
                body_fields = {name: value for name, value in inner.items() if name != "nodes"}
                node = {**node, "with": {**given, "body": body_fields}}
            made[key] = node
    return made


def _is_container(state: Entities, key: str) -> bool:
    return f"subflow/{tail_of(key)}" in state or bool(state.found(children_of(tail_of(key))))


def _reordered(before: Entities, after: Entities) -> set[str]:
    """Blocks that stand elsewhere among the others of their body."""
    made: set[str] = set()
    for parent in {None, *((after.get(key) or {}).get("parent") for key in after if prefix_of(key) == "block")}:
        known = {key: place for place, key in enumerate(_in_order(before, parent))}
        both = [key for key in _in_order(after, parent) if key in known]
        stay = {both[index] for index in rising([known[key] for key in both])}
        made |= set(both) - stay
    return made


def _in_order(state: Entities, parent: str | None) -> list[str]:
    keys = state.found(children_of(parent))
    return sorted(keys, key=lambda key: (str((state.get(key) or {}).get("order", "")), key))


def _top(state: Entities) -> Object:
    return {name: value for name, value in to_document(state).items() if name != "nodes"}


def _fields(before: JSON, after: JSON, path: tuple[str, ...]) -> Iterator[dict[str, JSON]]:
    """The values that differ, the innermost that can be named by keys; a list is one value."""
    if canonical(before) == canonical(after):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        inner = [
            field for key in {**before, **after}
            for field in _entry(before, after, key, path)
        ]
        yield from inner or [{"path": list(path), "before": before, "after": after}]  # only the order of keys differs
    else:
        yield {"path": list(path), "before": before, "after": after}


def _entry(before: Object, after: Object, key: str, path: tuple[str, ...]) -> Iterator[dict[str, JSON]]:
    if key in before and key in after:
        yield from _fields(before[key], after[key], (*path, key))
    elif key in before:
        yield {"path": [*path, key], "before": before[key]}
    else:
        yield {"path": [*path, key], "after": after[key]}


# -- by line -----------------------------------------------------------------------------------------------------------


def _lines(before: str, after: str) -> Iterator[dict[str, Any]]:
    """Lines with the number that they have in each text, and three more around what differs."""
    old, new = before.splitlines(), after.splitlines()
    groups = SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(DIFF_CONTEXT_LINES)
    last = 0
    for group in groups:
        if group[0][1] > last:
            yield {"op": "…", "text": ""}
        for word, a, b, c, d in group:
            if word == "equal":
                yield from ({"op": " ", "before": a + n + 1, "after": c + n + 1, "text": old[a + n]} for n in range(b - a))
                continue
            yield from ({"op": "-", "before": n + 1, "text": old[n]} for n in range(a, b))
            yield from ({"op": "+", "after": n + 1, "text": new[n]} for n in range(c, d))
        last = group[-1][2]
    if last and last < len(old):
        yield {"op": "…", "text": ""}
