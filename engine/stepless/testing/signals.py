"""Reads what happens to a run from outside in a simulation: messages, answers, cancels, holds, further starts and reruns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from stepless.core.facts import Answered, CancelRequested, HoldChanged, Received
from stepless.errors import InvalidRequest
from stepless.model.graph import Graph
from stepless.model.json import JSON
from stepless.model.texts.durations import parse_duration_ms
from stepless.runtime.messages.keys import checked_key
from stepless.runtime.verbs.changes.sending import checked_message


class Sent(NamedTuple):
    """A message. `keeps_ms` is how long it waits for a run of its key."""

    mail: Received
    keeps_ms: int


class Start(NamedTuple):
    """A start of the workflow. None as `key` stands for the workflow's own `key`."""

    inputs: JSON
    key: str | None = None
    delay_ms: int = 0


class Rerun(NamedTuple):
    """A rerun of the run, which has ended: from a node or an instance, from what failed (`failed`), or from the start (None)."""

    origin: str | None


Signal: TypeAlias = Sent | Start | Rerun | Answered | CancelRequested | HoldChanged
Timed: TypeAlias = tuple[int, Signal]

_RANKS: Final[Mapping[type, int]] = {HoldChanged: 0, CancelRequested: 1, Sent: 2, Start: 2, Rerun: 2}
_FIELDS: Final[Mapping[str, frozenset[str]]] = {
    "message": frozenset({"data", "id", "key", "by", "keep"}),
    "start": frozenset({"key", "delay"}),
    "rerun": frozenset(),
    "hold": frozenset(),
    "resume": frozenset({"handle", "answer"}),
    "cancel": frozenset(),
}


def read_signals(given: Iterable[Mapping[str, Any]], graph: Graph) -> list[Timed]:
    """Returns the signals with their instants, in the order in which they happen. Those of one instant have the order of the
    inbox of a run: holds, cancels, messages, answers; within these they keep their own. Raises `InvalidRequest` for one that
    cannot be read, `NotFound` (unknown_message), and for a message what a sender is told."""
    found = [_read(signal, graph, number) for number, signal in enumerate(given, 1)]
    return sorted(found, key=lambda timed: (timed[0], _RANKS.get(type(timed[1]), len(_RANKS))))


def as_signals(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Messages in the form `{"name", "data", "at"}` as signals."""
    return [
        {"at": 0, "message": message.get("name"), **{field: value for field, value in message.items() if field != "name"}}
        for message in messages
    ]  # fmt: skip


def time_ms(time: int | str) -> int:
    """Milliseconds, or a duration like `90s`. Raises `InvalidRequest` (invalid_duration)."""
    if isinstance(time, int):
        return time
    try:
        return parse_duration_ms(time)
    except ValueError as error:
        raise InvalidRequest(str(error), code="invalid_duration", place=time) from error


def _read(signal: Mapping[str, Any], graph: Graph, number: int) -> Timed:
    kinds = [kind for kind in _FIELDS if kind in signal]
    if len(kinds) != 1 or "at" not in signal or (set(signal) - {"at", *kinds} - _FIELDS[kinds[0]]):
        mend = f"a signal has `at` and one of {', '.join(_FIELDS)}"
        raise InvalidRequest(f"not a signal: {signal}", code="invalid_signal", place=f"signals[{number - 1}]", mend=mend)
    at_ms, what = time_ms(signal["at"]), signal[kinds[0]]
    match kinds[0]:
        case "message":
            return at_ms, _sent(signal, graph, number, at_ms)
        case "start":
            key = signal.get("key")
            return at_ms, Start(what, None if key is None else checked_key(key), time_ms(signal.get("delay", 0)))
        case "rerun":
            return at_ms, Rerun(what)
        case "hold":
            return at_ms, HoldChanged(0, bool(what))
        case "resume":
            return at_ms, Answered(what, signal.get("handle") or "", signal.get("answer"))
        case _:
            return at_ms, CancelRequested()


def _sent(signal: Mapping[str, Any], graph: Graph, number: int, at_ms: int) -> Sent:
    name, data, key = str(signal["message"]), signal.get("data"), signal.get("key")
    declared = checked_message(graph, name, data)
    id = signal.get("id") or f"message-{number}"
    mail = Received(id, name, data, None if key is None else checked_key(key), signal.get("by"), at_ms)
    return Sent(mail, time_ms(signal["keep"]) if "keep" in signal else declared.keep_ms)
