"""Describes what the check of a store found, as `stepless doctor` shows it."""

from __future__ import annotations

from typing import Final, NamedTuple

from stepless.model.stored.damage import Damage

RESTORE: Final = "restore the store from a backup"


class Diagnosis(NamedTuple):
    """One damaged value: where it is, what is wrong, what that affects, and what to do."""

    place: str
    why: str
    affects: str
    mend: str


class Rule(NamedTuple):
    """What damage of one table affects, and what to do about it. `{key}` is the key of the record."""

    affects: str
    mend: str

    def of(self, damage: Damage, key: str) -> Diagnosis:
        return Diagnosis(damage.place, damage.why, self.affects.format(key=key), damage.mend or self.mend.format(key=key))


_RUN: Final = Rule("the run {key}, which rests until it is repaired", f"{RESTORE}, or erase the run: stepless runs erase {{key}}")
_DRAFT: Final = Rule("the draft {key}, which cannot be opened", f"{RESTORE}, or open the draft anew from the published version")
_OF_DRAFT: Final = Rule("the draft that {key} belongs to", f"{RESTORE}, or open the draft anew from the published version")

RULES: Final[dict[str, Rule]] = {
    "run": _RUN,
    "log": Rule("the log of {key}: the run rests until it is repaired", f"{RESTORE}, or start the run again"),
    "batch": Rule("the log that batch {key} belongs to: its run rests", f"{RESTORE}, or start the run again"),
    "log_number": Rule("the run whose log has the number {key}", f"{RESTORE}, or start the run again"),
    "snapshot": Rule("nothing but time: the log of {key} is folded instead", "nothing; the next snapshot replaces it"),
    "inbox": Rule("the run that waits for the signal {key}", f"{RESTORE}, or erase the run"),
    "workflow": Rule("the workflow {key} in the list of workflows", "publish the workflow again"),
    "version": Rule("runs of the version {key}, and its workflow", "publish the same document again"),
    "entry": Rule("the schedules or events of {key}, which start no runs", "publish the workflow again"),
    "claim": Rule("what the record {key} is for", RESTORE),
    "line": Rule("a run that waits for the limit {key}", "nothing: the run takes another place when it is next served"),
    "audit": Rule("one entry of the audit log", RESTORE),
    "draft": _DRAFT, "op": _OF_DRAFT, "entity": _OF_DRAFT, "state": _OF_DRAFT,
    "blob": Rule("the run or draft that {key} belongs to", f"{RESTORE}, or erase the run"),
}  # fmt: skip
OTHER: Final = Rule("what {key} is for", RESTORE)
