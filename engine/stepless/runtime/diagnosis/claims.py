"""Checks the values of claims: what each is for follows from the beginning of its key."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from stepless.core.limits.slots import decode_holders
from stepless.errors import Damaged
from stepless.model.stored.damage import FAULTS, Damage, json_object, told_by, why_of
from stepless.runtime.access.api_keys import read_keys
from stepless.runtime.access.sessions import read_sessions
from stepless.runtime.access.signing_keys import readable_keys
from stepless.runtime.diagnosis.findings import RESTORE, Diagnosis
from stepless.runtime.draft_runs import read_runs
from stepless.runtime.triggers.schedule_records import read_pause, read_progress
from stepless.runtime.verbs.publication.publishing import owner_of

_RESERVED: Final = re.compile(rb"\d{1,18} [0-9a-f]+( \d{1,18})?")
Check = Callable[[str, bytes], None]
"""Raises an error of `FAULTS`, or `Damaged`, for a damaged value."""


def claim_fault(key: str, value: bytes) -> Diagnosis | None:
    """Returns the damage to the value of a claim; None also for one of a kind that is not known here."""
    name = key.partition(":")[0]
    if name not in _CHECKS:
        return None
    check, affects, mend = _CHECKS[name]
    place = f"claim.value of {key}"
    try:
        if told := told_by(value):
            raise Damaged(told.why, place=told.place, mend=mend)
        check(key, value)
    except Damaged as error:
        return Diagnosis(error.place, error.why, affects, error.mend or mend)
    except FAULTS as error:
        return Diagnosis(place, why_of(error), affects, mend)
    return None


def newest_keys(names: Mapping[str, bytes]) -> list[Damage]:
    """Returns the damage to the API keys that count: those in the claim with the highest number."""
    numbered = {int(name.partition(":")[2]): name for name in names if name.partition(":")[2].isdecimal()}
    newest = numbered[max(numbered)] if numbered else ""
    return read_keys(names[newest], newest)[1] if newest else []


def _number(key: str, value: bytes) -> None:
    if not value.isdigit():
        raise ValueError("it is no number")


def _run_named(key: str, value: bytes) -> None:
    found = json_object(value, f"claim.value of {key}", "")
    if not isinstance(found.get("run"), str):
        raise ValueError("it names no run")


def _limit(key: str, value: bytes) -> None:
    if not _RESERVED.fullmatch(value):
        decode_holders(value)


def _signing(key: str, value: bytes) -> None:
    if len(readable_keys(value)) != len(value.split(b",")):
        raise ValueError("a signing key has another form")


def _owned(key: str, value: bytes) -> None:
    owner_of(value, key.partition(":")[2])


def _take(found: object) -> None:
    """Takes what a decoder returns: only its error counts."""


_CHECKS: Final[Mapping[str, tuple[Check, str, str]]] = {
    "signing-key": (
        _signing, "links that this key has signed: they are refused; a new key signs new links",
        f"{RESTORE}, or send the open questions again; `stepless keys rotate --signing` makes a new key",
    ),
    "api-key-used": (_number, "the time of the last use of an API key", "nothing: its next use replaces it"),
    "hook": (_owned, "requests to this webhook", "publish the workflow with this path again"),
    "limit": (_limit, "runs under this limit, which rest until it expires", f"{RESTORE}, or wait until it expires"),
    "rate": (_number, "the rate of starts in one window", "nothing: it expires with its window"),
    "runs": (_number, "the numbers of new runs of this workflow, which begin again at 1", RESTORE),
    "schedule": (
        lambda key, value: _take(read_progress(value, key)), "this schedule, which starts no runs",
        f"{RESTORE}, or give the node of the schedule another id",
    ),
    "schedule-pause": (
        lambda key, value: _take(read_pause(value, key)), "this schedule, which starts no runs",
        f"{RESTORE}, or give the node of the schedule another id",
    ),
    "start": (_run_named, "a start with the same idempotency key", "use another idempotency key, or wait two days"),
    "erased-start": (_run_named, "a start with the idempotency key of an erased run", "nothing: it expires within two days"),
    "key": (_number, "starts and messages under this key", f"{RESTORE}, or release the claim if no run of this key is live"),
    "message": (_number, "the repetition of a message that started a run", f"{RESTORE}, or wait two days"),
    "kept": (
        lambda key, value: _take(json_object(value, f"claim.value of {key}", "")["name"]), "a kept message", "send it again",
    ),
    "redelivery": (_run_named, "repetitions of a delivery whose run failed", f"{RESTORE}, or wait two days"),
    "console-sessions": (lambda key, value: _take(read_sessions(value)), "all sessions of the console", "sign in again"),
    "draft-runs": (lambda key, value: _take(read_runs(value)), "the list of test runs of a draft", "nothing: it expires"),
    "ahead": (_number, "a run whose time was skipped", f"{RESTORE}, or erase the run"),
}  # fmt: skip
