"""Reads and writes requests, log entries and outcomes as JSON.

    request   {client, n, tag, base, gestures: [{writes, guards?, derived?}], first?: client}
    write     a list that begins with its word: see `effects`
    guard     [key, path, value]
    derived   [[index of a write, index of the write that it follows from], …]
    entry      {seq, client, n, tag, by, at, effects, outcomes?, closes?, first?}
    outcome   {gesture, code, key, by?, refused?, writes}

What a client sends is read with every bound checked: `Malformed` names the place. What the log holds was checked when it was
written; it is read without.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any, Final

from stepless.drafts.rules.document.values import number
from stepless.drafts.rules.effects import Delete, Effect, Put, Rename, Set, Splice, Unset, Write, all_written
from stepless.drafts.rules.requests import EditRequest, Guard, LogEntry, Operation, Outcome
from stepless.limits import MAX_COUNT, MAX_DOCUMENT_DEPTH, MAX_INTEGER_BITS, MAX_INTENT_WRITES, MAX_KEY_CHARACTERS
from stepless.model.json import JSON, encodable


class Malformed(ValueError):
    """A message that no client of ours sends; `place` is the path to what is wrong."""

    def __init__(self, place: str, message: str) -> None:
        super().__init__(f"{place}: {message}" if place else message)
        self.place = place
        self.message = message


# -- requests -----------------------------------------------------------------------------------------------------------


def read_request(message: JSON) -> EditRequest:
    """Returns the request of a message. Raises `Malformed`."""
    fields = _object(message, "")
    operations = _list(fields.get("gestures"), "gestures")
    if not operations:
        raise Malformed("gestures", "an intent has at least one gesture")
    made = tuple(_operation(one, f"gestures.{place}") for place, one in enumerate(operations))
    if sum(len(operation.writes) for operation in made) > MAX_INTENT_WRITES:
        raise Malformed("gestures", f"an intent has at most {MAX_INTENT_WRITES} writes")
    return EditRequest(
        _word(fields.get("client"), "client"), _count(fields.get("n"), "n", 1), _word(fields.get("tag"), "tag"),
        _count(fields.get("base"), "base", 0), made, _word(fields["first"], "first") if "first" in fields else "",
    )


def _operation(value: JSON, place: str) -> Operation:
    fields = _object(value, place)
    given = _list(fields.get("writes"), f"{place}.writes")
    writes = tuple(_write(one, f"{place}.writes.{index}") for index, one in enumerate(given))
    guards = _list(fields.get("guards", []), f"{place}.guards")
    return Operation(
        writes,
        tuple(_guard(one, f"{place}.guards.{index}") for index, one in enumerate(guards)),
        tuple(_pair(one, len(writes), f"{place}.derived") for one in _list(fields.get("derived", []), f"{place}.derived")),
    )


def _guard(value: JSON, place: str) -> Guard:
    parts = _list(value, place)
    if len(parts) != 3:
        raise Malformed(place, "a guard is [key, path, value]")
    return Guard(_text(parts[0], place), _path(parts[1], place), _value(parts[2], place))


def _pair(value: JSON, writes: int, place: str) -> tuple[int, int]:
    parts = _list(value, place)
    if len(parts) != 2:
        raise Malformed(place, "expected [index of a write, index of the write that it follows from]")
    derived, cause = (_count(part, place, 0) for part in parts)
    if not cause < derived < writes:
        raise Malformed(place, "a derived write stands behind the one that it follows from")
    return derived, cause


def _write(value: JSON, place: str) -> Write:
    parts = _list(value, place)
    word = parts[0] if parts else None
    shape = _SHAPES.get(word) if isinstance(word, str) else None
    if shape is None:
        raise Malformed(place, f"expected a list that begins with one of {', '.join(_SHAPES)}")
    make, readers, required = shape
    given = parts[1:]
    if not required <= len(given) <= len(readers):
        raise Malformed(place, f"`{word}` has {required} parts after its word")
    made: Write = make(*(read(part, place) for read, part in zip(readers, given, strict=False)))
    return made


# -- what the log holds ------------------------------------------------------------------------------------------------


def outcome_written(outcome: Outcome) -> dict[str, JSON]:
    made: dict[str, JSON] = {"gesture": outcome.operation, "code": outcome.code, "key": outcome.key}
    if outcome.by is not None:
        made["by"] = outcome.by
    if outcome.refused:
        made["refused"] = True
    made["writes"] = all_written(outcome.writes)
    return made


def entry_read(stored: dict[str, JSON]) -> LogEntry:
    """Returns a log entry. Fields and effects that only a later release knows are ignored."""
    return LogEntry(
        stored["seq"], stored["client"], stored["n"], stored["tag"], stored["by"], stored["at"],
        tuple(effects_read(stored["effects"])),
        tuple(map(_outcome_read, stored.get("outcomes", ()))),
        stored.get("closes"),
        stored.get("first", ""),
    )


def _outcome_read(stored: dict[str, JSON]) -> Outcome:
    writes = tuple(_stored(stored["writes"]))
    return Outcome(stored["gesture"], stored["code"], stored["key"], stored.get("by"), stored.get("refused", False), writes)


def effects_read(stored: Sequence[JSON]) -> list[Effect]:
    return [effect for effect in _stored(stored) if not isinstance(effect, Rename)]


def _stored(stored: Sequence[JSON]) -> list[Write]:
    made: list[Write] = []
    for word, *parts in stored:
        if word in _SHAPES:
            make, readers, _ = _SHAPES[word]
            made.append(make(*(tuple(part) if read is _path else part for read, part in zip(readers, parts, strict=False))))
    return made


# -- parts -------------------------------------------------------------------------------------------------------------


def _object(value: JSON, place: str) -> dict[str, JSON]:
    if not isinstance(value, dict):
        raise Malformed(place, "expected an object")
    return value


def _list(value: JSON, place: str) -> list[JSON]:
    if not isinstance(value, list):
        raise Malformed(place, "expected a list")
    if len(value) > MAX_INTENT_WRITES:
        raise Malformed(place, f"a list in an intent has at most {MAX_INTENT_WRITES} items")
    return value


def _text(value: JSON, place: str) -> str:
    if not isinstance(value, str) or not encodable(value):
        raise Malformed(place, "expected a text")
    return value


def _word(value: JSON, place: str) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= MAX_KEY_CHARACTERS or not value.isascii() or not value.isprintable():
        raise Malformed(place, f"expected 1 to {MAX_KEY_CHARACTERS} printable ASCII characters")
    return value


def _count(value: JSON, place: str, least: int = 0) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= MAX_COUNT:
        raise Malformed(place, f"expected a whole number, {least} or more")
    return value


def _path(value: JSON, place: str) -> tuple[str, ...]:
    steps = _list(value, place)
    if len(steps) > MAX_DOCUMENT_DEPTH:
        raise Malformed(place, f"a path has at most {MAX_DOCUMENT_DEPTH} steps")
    return tuple(_text(step, place) for step in steps)


def _flag(value: JSON, place: str) -> bool:
    if not isinstance(value, bool):
        raise Malformed(place, "expected true or false")
    return value


def _before(value: JSON, place: str) -> str | None:
    return None if value is None else _text(value, place)


def _entity(value: JSON, place: str) -> dict[str, JSON]:
    made = _value(_object(value, place), place)
    assert isinstance(made, dict)
    return made


def _value(value: JSON, place: str) -> JSON:
    """A value with its numbers in the form that an entity has. Depth is bounded before anything recurses."""
    level = [value]
    for _ in range(MAX_DOCUMENT_DEPTH + 1):
        inner: list[JSON] = []
        for one in level:
            if isinstance(one, dict):
                if not all(map(encodable, one)):
                    raise Malformed(place, "a key has half of a surrogate pair")
                inner.extend(one.values())
            elif isinstance(one, list):
                inner.extend(one)
            else:
                _scalar(one, place)
        if not inner:
            return _plain(value)
        level = inner
    raise Malformed(place, f"a value is nested deeper than {MAX_DOCUMENT_DEPTH} levels")


def _scalar(value: JSON, place: str) -> None:
    if isinstance(value, str) and not encodable(value):
        raise Malformed(place, "a text has half of a surrogate pair")
    if isinstance(value, float) and not isfinite(value):
        raise Malformed(place, f"{value} is not a number in JSON")
    if isinstance(value, int) and value.bit_length() > MAX_INTEGER_BITS:
        raise Malformed(place, f"a number has more than {MAX_INTEGER_BITS} bits")


def _plain(value: JSON) -> JSON:
    if isinstance(value, dict):
        return {key: _plain(held) for key, held in value.items()}
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    return number(value)


_SHAPES: Final[dict[str, tuple[Callable[..., Any], tuple[Callable[[JSON, str], Any], ...], int]]] = {
    "put": (Put, (_text, _entity), 2),
    "del": (Delete, (_text,), 1),
    "set": (Set, (_text, _path, _value, _before), 3),
    "unset": (Unset, (_text, _path), 2),
    "splice": (Splice, (_text, _path, _count, _count, _text), 5),
    "rename": (Rename, (_text, _text, _flag), 2),
}
"""For each word: what it makes, how its parts are read, and how many of them there are at least."""
