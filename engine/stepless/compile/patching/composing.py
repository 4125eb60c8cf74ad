"""Writes a document anew, as a person would: short values in one line, an empty line between nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from stepless.compile.patching.rendering import Rendering
from stepless.compile.reading.write_yaml import write_yaml
from stepless.model.json import JSON

_STEP: Final = 2
_WIDTH: Final = 80  # of a value in one line, with its key and indent
_MAX_KEY: Final = 100  # characters; YAML looks for the colon behind 1,024 at most, and an escaped one takes up to ten
_LEVELS: Final = 2  # of a value in one line: {a: {b: 1}}
_APART: Final = ("nodes", "edges")
_RENDERING: Final = Rendering(json=False, step=_STEP)


def composed(document: Mapping[str, JSON]) -> str:
    """Returns the document as YAML with its keys in their order; `read_yaml` reads it back."""
    if _has_long_keys(document):
        return write_yaml(dict(document))
    lines: list[str] = []
    for name, value in document.items():
        entry = list(_nodes(value, 0)) if name == "nodes" and isinstance(value, dict) and value else list(_entry(name, value, 0))
        lines += ["", *entry] if name in _APART and lines else entry
    return "\n".join(lines) + "\n" if lines else "{}\n"


def _has_long_keys(value: JSON) -> bool:
    """Whether a key is too long to stand in one line with its value."""
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return (isinstance(value, Mapping) and any(len(key) > _MAX_KEY for key in value)) or any(map(_has_long_keys, inner))


def _nodes(nodes: Mapping[str, JSON], column: int) -> Iterator[str]:
    yield f"{' ' * column}nodes:"
    for place, (name, node) in enumerate(nodes.items()):
        if place > 0 and column == 0:
            yield ""
        yield from _whole(name, node, column + _STEP, _node)


def _node(name: str, value: JSON, column: int) -> Iterator[str]:
    """A field of a node."""
    return _whole(name, value, column, _parameter) if name == "with" else _entry(name, value, column)


def _parameter(name: str, value: JSON, column: int) -> Iterator[str]:
    return _whole(name, value, column, _of_body) if name == "body" else _entry(name, value, column)


def _of_body(name: str, value: JSON, column: int) -> Iterator[str]:
    return _nodes(value, column) if name == "nodes" and isinstance(value, dict) and value else _entry(name, value, column)


def _whole(name: str, value: JSON, column: int, field: Callable[[str, JSON, int], Iterator[str]]) -> Iterator[str]:
    """A mapping that is never in one line, whose fields are written by `field`."""
    if not isinstance(value, dict) or not value:
        yield from _entry(name, value, column)
        return
    yield f"{' ' * column}{_RENDERING.flow(name)}:"
    for key, held in value.items():
        yield from field(key, held, column + _STEP)


def _entry(name: str, value: JSON, column: int) -> Iterator[str]:
    """`name: value`, in one line where it fits."""
    start = f"{' ' * column}{_RENDERING.flow(name)}:"
    if not isinstance(value, dict | list):
        yield from _indented(_RENDERING.entry(name, value, column), column)
    elif (line := f"{start} {_RENDERING.flow(value)}") and _fits(value, line):
        yield line
    else:
        yield start
        yield from _block(value, column + _STEP)


def _block(value: dict[str, JSON] | list[JSON], column: int) -> Iterator[str]:
    if isinstance(value, dict):
        for name, held in value.items():
            yield from _entry(name, held, column)
        return
    for held in value:
        yield from _item(held, column)


def _item(value: JSON, column: int) -> Iterator[str]:
    """`- value`: what follows the hyphen begins two columns on."""
    if not isinstance(value, dict | list):
        yield from _indented(_RENDERING.item(value, column), column)
        return
    line = f"{' ' * column}- {_RENDERING.flow(value)}"
    if _fits(value, line):
        yield line
        return
    first, *rest = _block(value, column + _STEP)
    yield f"{' ' * column}- {first[column + _STEP:]}"
    yield from rest


def _indented(text: str, column: int) -> Iterator[str]:
    """Lines of an entry, whose first one has no indent."""
    first, *rest = text.split("\n")
    yield " " * column + first
    yield from rest


def _fits(value: dict[str, JSON] | list[JSON], line: str) -> bool:
    return not value or (len(line) <= _WIDTH and _levels(value) <= _LEVELS and not _has_lines(value))


def _levels(value: JSON) -> int:
    if isinstance(value, dict):
        return 1 + max(map(_levels, value.values()), default=0)
    return 1 + max(map(_levels, value), default=0) if isinstance(value, list) else 0


def _has_lines(value: JSON) -> bool:
    """Whether a text in it is of several lines, which is read best as a block."""
    if isinstance(value, dict):
        return any(map(_has_lines, value.values()))
    return any(map(_has_lines, value)) if isinstance(value, list) else isinstance(value, str) and "\n" in value
