"""Defines effects and writes: what the log of a draft holds, and what a client asks for.

    put key entity                       the whole entity
    del key
    set key path value before            makes objects on the way; a key that it makes stands before the key `before`, or last
    unset key path
    splice key path start removed text   in a text; `start` and `removed` count code points
    rename key id expanded               a write only: the server answers it with a `set` and a `splice` for each reference

All are absolute: a toggle is `set enabled false`. As JSON each is a list that begins with its word, in this order; `before` and
`expanded` are there only where they are not null and not false.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple, TypeAlias

from stepless.drafts.rules.values import Object, Path
from stepless.model.json import JSON


class Put(NamedTuple):
    key: str
    entity: Object


class Delete(NamedTuple):
    key: str


class Set(NamedTuple):
    key: str
    path: Path
    value: JSON
    before: str | None = None


class Unset(NamedTuple):
    key: str
    path: Path


class Splice(NamedTuple):
    key: str
    path: Path
    start: int
    removed: int
    text: str


class Rename(NamedTuple):
    """`expanded`: the references are rewritten by splices that the operation has too, derived from this write; otherwise the
    server rewrites every one that it finds."""

    key: str
    id: str
    expanded: bool = False


Effect: TypeAlias = Put | Delete | Set | Unset | Splice
Write: TypeAlias = Effect | Rename

WORDS: Final[dict[type[Write], str]] = {
    Put: "put", Delete: "del", Set: "set", Unset: "unset", Splice: "splice", Rename: "rename",
}


def written(write: Write) -> list[JSON]:
    """Returns a write as JSON."""
    made: list[JSON] = [WORDS[type(write)], *write]
    if isinstance(write, Set | Unset | Splice):
        made[2] = list(write.path)
    if (isinstance(write, Set) and write.before is None) or (isinstance(write, Rename) and not write.expanded):
        del made[-1]
    return made


def all_written(writes: Iterable[Write]) -> list[JSON]:
    return [written(write) for write in writes]
