"""Lists the findings of a draft with their fixes: operations, which a client sends as any other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from stepless.drafts.log.entries import LogEntry
from stepless.drafts.operations.verbs import At, DraftVerbs
from stepless.drafts.rules.effects import Set
from stepless.drafts.rules.fixes import fix_of
from stepless.drafts.rules.fold import apply
from stepless.drafts.rules.messages import effects_read
from stepless.drafts.rules.requests import Operation
from stepless.errors import NotFound
from stepless.limits import MAX_FIXES, RENAME_ITEMS
from stepless.model.findings import Change, Finding, Fix

_UNKNOWN: Final = "unknown_reference"
_ID: Final = ("id",)
_BEFORE_NAME: Final = {"local": 1, "key": 2, "jwt": 2}  # words of a caller: `key key_6f1d2a90 ada`


class Checked(NamedTuple):
    """A finding, the key of the block that it is about, and the operation that fixes it, if that is known exactly."""

    finding: Finding
    key: str | None
    operation: Operation | None


class _Renamed(NamedTuple):
    name: str
    by: str


def checked(verbs: DraftVerbs, workflow_id: str, seq: int | None = None) -> tuple[At, Sequence[Checked]]:
    """Returns the findings of publishing the draft as of an entry, as `DraftVerbs.findings` does. The first MAX_FIXES findings
    that have a known fix have their operation. Raises as `DraftVerbs.at` does."""
    at, found = verbs.findings(workflow_id, seq)
    names = {_name(finding) for finding, _ in found if finding.code == _UNKNOWN}
    renamed = _renamed(verbs, at, names) if names else {}
    made, left = [], MAX_FIXES
    for finding, key in found:
        told = _retold(finding, renamed.get(_name(finding))) if finding.code == _UNKNOWN else finding
        operation = fix_of(at.state, told) if left else None
        left -= operation is not None
        made.append(Checked(told, key, operation))
    return at, made


def _name(finding: Finding) -> str:
    """The name that a reference begins with."""
    return finding.fix.former.removeprefix("<") if finding.fix is not None else ""


def _retold(finding: Finding, renamed: _Renamed | None) -> Finding:
    """The finding of a reference, typed while its node got another name."""
    if renamed is None:
        return finding
    name, former = renamed.name, f"<{_name(finding)}"
    mend = f"`{_name(finding)}` was renamed to `{name}` by {_person(renamed.by)}."
    return replace(finding, mend=mend, fix=Fix(Change.RESPELL, f"Use `{name}`", f"<{name}", former))


def _person(caller: str) -> str:
    words = caller.split(" ")
    return " ".join(words[_BEFORE_NAME.get(words[0], 0):]) or caller


def _renamed(verbs: DraftVerbs, at: At, names: Collection[str]) -> Mapping[str, _Renamed]:
    """The nodes that had these names, and have others, as far as the last RENAME_ITEMS items say."""
    start = max(0, at.seq - RENAME_ITEMS)
    items = [one for one in verbs.drafting.entries(at.head.draft, start, RENAME_ITEMS) if start < one.seq <= at.seq]
    first = next((place for place, item in enumerate(items) if next(_new_names(item), None) is not None), None)
    if first is None:
        return {}
    try:
        state = verbs.drafting.state_at(at.head, items[first].seq - 1)
    except NotFound:  # what it would be folded from has expired
        return {}
    keys: dict[str, str] = {}
    by: dict[str, str] = {}
    for item in items[first:]:
        for key in _new_names(item):
            former = str((state.get(key) or {}).get("id", ""))
            by[key] = item.by
            if former in names:
                keys[former] = key
        apply(state, effects_read(item.effects))
    return {name: _Renamed(str(block["id"]), by[key]) for name, key in keys.items() if (block := at.state.get(key)) is not None}


def _new_names(item: LogEntry) -> Iterator[str]:
    """The keys of the blocks that an item gave another name."""
    return (effect.key for effect in effects_read(item.effects) if isinstance(effect, Set) and effect.path == _ID)
