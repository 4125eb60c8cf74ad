"""Patches a text: computes edits, applies them, reads the result back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from stepless.compile.patching.anchors import orphans
from stepless.compile.patching.composing import composed
from stepless.compile.patching.edits import Editor, Path, Wider, applied, canonical
from stepless.compile.patching.moving import moved
from stepless.compile.patching.rendering import Rendering
from stepless.compile.patching.tree import Node, column, tree_of
from stepless.compile.reading.read_yaml import read_yaml
from stepless.compile.reading.syntax import SyntaxFault
from stepless.model.json import JSON

_BOM: Final = "\ufeff"
_TRIES: Final = 40
_STEP: Final = 2


def patched(text: str, document: Mapping[str, JSON]) -> str:
    """Returns the text with the document in it: reading it gives the document, with its keys in the same order.

    Only the lines of what changed are touched; line ends, a byte-order mark, and JSON as the language stay. A text that cannot be
    read, or whose top level is no mapping, is written anew.
    """
    bom = _BOM if text.startswith(_BOM) else ""
    plain = text.removeprefix(_BOM)
    crlf = "\r\n" in plain and plain.count("\r\n") == plain.count("\n")
    plain = plain.replace("\r\n", "\n") if crlf else plain
    made = _patched(plain, dict(document))
    return bom + (made.replace("\n", "\r\n") if crlf else made)


def _patched(text: str, goal: dict[str, JSON]) -> str:
    is_json = _is_json(text)
    try:
        old = read_yaml(text)
        tree = tree_of(text)
    except SyntaxFault:
        return _anew(goal, json=is_json)
    if not isinstance(old, dict) or tree is None:
        return _anew(goal, json=is_json)
    rendering = Rendering(json=is_json, step=_step(text, tree))
    text, old, tree = moved(text, tree, old, goal, rendering)
    whole: frozenset[Path] = frozenset()
    for _ in range(_TRIES):
        editor = Editor(text, rendering, whole)
        try:
            editor.change(tree, old, goal)
        except Wider:
            break
        made = applied(text, [*editor.edits, *orphans(tree, old, editor.edits, rendering)])
        wrong = _wrong(made, goal) if made is not None else _parents(whole, editor, old, goal)
        if made is not None and not wrong:
            return made
        if not wrong or wrong <= whole or () in wrong:
            wrong = {path[:-1] for path in (wrong or whole) if path}
        if () in wrong or not wrong:
            break
        whole |= wrong
    return _anew(goal, json=is_json)


def _anew(goal: dict[str, JSON], *, json: bool) -> str:
    return _json_text(goal) if json else composed(goal)


def _json_text(goal: dict[str, JSON]) -> str:
    return json.dumps(goal, ensure_ascii=False, indent=2) + "\n"


def _is_json(text: str) -> bool:
    if not text.lstrip().startswith("{"):
        return False
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _step(text: str, tree: Node) -> int:
    """How many columns the blocks of this text are further in than their keys."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        for key, value in zip(node.keys, node.items, strict=False):
            if value.shape == "mapping" and not value.flow and value.keys and not node.flow:
                step = column(text, value.keys[0].start) - column(text, key.start)
                return step if 2 <= step <= 8 else _STEP
        waiting.extend(node.items)
    return _STEP


def _wrong(made: str, goal: JSON) -> set[Path]:
    """The paths that read back as something else; the root for a text that cannot be read."""
    try:
        return set(_differing(read_yaml(made), goal, ()))
    except SyntaxFault:
        return {()}


def _differing(found: JSON, goal: JSON, path: Path) -> Iterator[Path]:
    if canonical(found) == canonical(goal):
        return
    if isinstance(found, dict) and isinstance(goal, dict) and list(found) == list(goal):
        for key in goal:
            yield from _differing(found[key], goal[key], (*path, key))
    elif isinstance(found, list) and isinstance(goal, list) and len(found) == len(goal):
        for place, item in enumerate(goal):
            yield from _differing(found[place], item, (*path, place))
    else:
        yield path


def _parents(whole: frozenset[Path], editor: Editor, old: JSON, goal: JSON) -> set[Path]:
    return {path[:-1] for path in whole if path} or {path[:1] for path in _differing(old, goal, ()) if path}
