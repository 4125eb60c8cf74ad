"""Defines what clients and the log exchange: operations, requests, log entries and their outcomes.

An *operation* is what a person does at once; a refusal takes it whole. A *request* is a list of operations that a client sends
together; the server commits it as one *entry*. An *outcome* says what became of an operation that was not committed as it was
asked.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from stepless.drafts.rules.effects import Effect, Write
from stepless.drafts.rules.values import Path
from stepless.model.json import JSON

DropCode: TypeAlias = Literal["gone", "superseded", "other_body", "already_there"]
"""Why a write was dropped of an operation; `resolve` has the rules."""
RefusalCode: TypeAlias = Literal[
    "changed_since", "not_allowed", "name_taken", "parent_cycle", "too_deep", "too_many_blocks", "pin_too_large",
    "pins_too_large", "gesture_too_large",
]
"""Why a whole operation was refused."""


class Guard(NamedTuple):
    """An operation is refused with `changed_since` unless this value stands there now. Null also means that nothing does."""

    key: str
    path: Path
    value: JSON


class Operation(NamedTuple):
    """Writes that hold together. `derived` has, for each write that the client derived from another one of the operation, the
    index of that one: the deletions that follow from a deletion, the references that follow from a rename."""

    writes: tuple[Write, ...]
    guards: tuple[Guard, ...] = ()
    derived: tuple[tuple[int, int], ...] = ()


class Outcome(NamedTuple):
    """What was refused or dropped of an operation, by its index in the intent.

    `code` is a `DropCode` or a `RefusalCode`; a log may hold one that only a later release knows. `refused` is true where the
    whole operation was. `key` is the entity that decided, `by` the person who changed it since the client saw it, where that is
    known. `writes` are those that were not done, as the client sent them.
    """

    operation: int
    code: str
    key: str
    by: str | None
    refused: bool
    writes: tuple[Write, ...]


class EditRequest(NamedTuple):
    """`n` counts the requests of a client within an epoch, from 1; `tag` is random for each. `base` is the last entry that the
    client had seen. `first`: the id under which the client sent it first, where it was
    renamed since: a request is recognized by that id and its tag."""

    client: str
    n: int
    tag: str
    base: int
    operations: tuple[Operation, ...]
    first: str = ""


class LogEntry(NamedTuple):
    """An entry of the log. `seq` counts from 1 without gaps; `at` is the server's time in milliseconds, which rises with `seq`.
    `by` is the person, as the key or the token names them. `closes` is set in the last entry of an epoch only: the next head."""

    seq: int
    client: str
    n: int
    tag: str
    by: str
    at: int
    effects: tuple[Effect, ...]
    outcomes: tuple[Outcome, ...] = ()
    closes: JSON = None
    first: str = ""  # as in the request
