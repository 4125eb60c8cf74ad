"""Defines a finding: one fault of a document, where it is, and how to fix it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from stepless.model.json import JSON


class Severity(StrEnum):
    ERROR = "error"  # the document is refused
    WARNING = "warning"  # the document is published, but should be checked


class Change(StrEnum):
    """What a fix does to the value at its path."""

    REPLACE = "replace"  # by `value`
    ADD = "add"  # `value`, where nothing is
    RENAME = "rename"  # the field, to the name `value`; what it holds, and its place, stay
    REMOVE = "remove"  # the field, the item, or the edge
    RESPELL = "respell"  # `former` in the text, wherever it is a whole word, as `value`
    APPEND = "append"  # `value` to the list, which may be missing
    CONNECT = "connect"  # the end `former` of the edge, source or target, to the node `value`
    EXIT = "exit"  # the edge, to the exit `value` of its source


@dataclass(frozen=True, slots=True)
class Fix:
    """The fix of a finding, where the engine knows it exactly. `label` is what a button says. `path` is where it is
    made, if not at the path of the finding. A `respell` without `value` says only what is misspelled: a node that is named
    otherwise now may have had this name."""

    change: Change
    label: str
    value: JSON = None
    former: str = ""
    path: str | None = None


def use(name: str | None, *, change: Change = Change.REPLACE, former: str = "") -> Fix | None:
    """Returns the fix that takes another name; None without one."""
    return Fix(change, f"Use `{name}`", name, former) if name is not None else None


def remove(name: str) -> Fix:
    return Fix(Change.REMOVE, f"Remove `{name}`")


@dataclass(frozen=True, slots=True)
class Finding:
    """`code` is stable; `path` is a dotted path into the document; `node` and `edge` name the faulty node or edge, if any. `fix`
    is the change that the words of `mend` describe, if it is known exactly."""

    code: str
    path: str
    message: str
    mend: str = ""
    node: str | None = None
    edge: str | None = None
    severity: Severity = Severity.ERROR
    fix: Fix | None = field(default=None, compare=False)

    def __str__(self) -> str:
        mend = f" {self.mend}" if self.mend else ""
        return f"{self.path or 'document'}: {self.message}.{mend} [{self.code}]"
