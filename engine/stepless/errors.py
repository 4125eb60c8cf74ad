"""Every error that Stepless raises, by who must act.

    SteplessError                 never raised itself
    ├── AuthorError               mend the workflow or the node's code
    │   ├── DocumentRefused       a document with findings (all of them at once)
    │   ├── ExpressionError       an expression that raised while it was evaluated
    │   └── ConfigError           a node's parameters that do not fit once rendered
    ├── CallerError               mend the request
    │   ├── InvalidRequest        400, 413, 422: malformed, too large, refused by a schema
    │   ├── Forbidden             401, 403: a signature, key or token that does not hold
    │   ├── NotFound              404
    │   ├── Conflict              409: somebody else decided first
    │   ├── Refused               429: not now, the workflow's own limit is reached
    │   └── Gone                  410: expired, or the run has ended
    ├── TransientError            try again, nothing is wrong with the request
    │   └── StoreUnavailable      throttled, locked, out of reach
    ├── Fenced                    another writer owns this run now; drop what is in memory
    │   ├── AppendConflict        a batch already starts at this sequence number
    │   └── LeaseLost             the lease was taken over or has run out
    ├── StoreUnusable             the operator must act: the store is damaged, foreign, too new or not accessible
    ├── LogUnreadable             the operator must act: the run rests as it is until its log can be read
    │   ├── DamagedLog            a batch of it, or a value beside it, is not what was written
    │   └── NewerLog              a newer release wrote it
    ├── LimitExceeded             a bound of limits.py
    └── EngineBug                 our fault; please report it

Each carries a stable `code` (a word of docs/errors.md), `place` (where it is) and `mend` (what to do).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar


class SteplessError(Exception):
    """Base of all; `code` is stable, `place` says where, `mend` what to do about it."""

    code: str = "error"
    status: ClassVar[int] = 500

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        place: str = "",
        mend: str = "",
        status: int | None = None,
        **facts: Any,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.http_status = status or self.status
        self.code = code or self.code
        self.place = place
        self.mend = mend
        self.facts = facts

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        mend = f" ({self.mend})" if self.mend else ""
        return f"{where}{self.message}{mend}"


class AuthorError(SteplessError):
    """The workflow's author must act."""

    code = "author_error"
    status = 422


class DocumentRefused(AuthorError):
    """A document that was not published. `findings` holds every one of its faults, in document order."""

    code = "document_refused"

    def __init__(self, findings: Sequence[Any]) -> None:
        self.findings = tuple(findings)
        lines = "\n".join(f"  {finding}" for finding in self.findings)
        super().__init__(f"the document was refused with {len(self.findings)} finding(s):\n{lines}")


class ExpressionError(AuthorError):
    """An expression that raised. `offset` is the position in `source`, in characters."""

    code = "expression_error"

    def __init__(self, message: str, *, source: str = "", offset: int = 0, code: str | None = None, mend: str = "") -> None:
        super().__init__(message, code=code, place=f"at character {offset + 1} of {source!r}" if source else "", mend=mend)
        self.source = source
        self.offset = offset


class ConfigError(AuthorError):
    """A node's parameters that do not fit once references are filled in."""

    code = "invalid_config"


class CallerError(SteplessError):
    """Whoever sent the request must act."""

    code = "bad_request"
    status = 400


class InvalidRequest(CallerError):
    """The request is malformed, too large or refused by a schema."""

    code = "invalid_request"


class Forbidden(CallerError):
    """A signature, key or token that does not hold. Says nothing that could help a forger."""

    code = "forbidden"
    status = 403


class NotFound(CallerError):
    code = "not_found"
    status = 404


class Conflict(CallerError):
    """Somebody else decided first; `facts` tells what was decided."""

    code = "conflict"
    status = 409


class Refused(CallerError):
    """Not now: a limit on how much may be started is reached. `retry_after_ms` says when it is worth trying again."""

    code = "too_many_requests"
    status = 429


class Gone(CallerError):
    """It was there, and is over."""

    code = "gone"
    status = 410


class TransientError(SteplessError):
    """Try again: nothing is wrong with the request."""

    code = "unavailable"
    status = 503


class StoreUnavailable(TransientError):
    code = "store_unavailable"


class Fenced(SteplessError):
    """Another writer owns this run now: drop the state in memory, write nothing, load again if asked to."""

    code = "fenced"
    status = 409


class AppendConflict(Fenced):
    """A batch already starts at this sequence number."""

    code = "append_conflict"


class LeaseLost(Fenced):
    code = "lease_lost"


class StoreUnusable(SteplessError):
    """The store is damaged, is not one of ours, was written by a newer release or may not be opened: trying again is no use.
    `place` is the file or table."""

    code = "store_unusable"


class LogUnreadable(SteplessError):
    """A run's log cannot be read by this release: nothing is appended to it, and every other run goes on. `sequence` is the first
    one of the batch that cannot be read."""

    code = "log_unreadable"
    told: ClassVar[str] = "the log cannot be read from event {sequence} on"

    def __init__(self, why: str, *, sequence: int, run_id: str = "", mend: str = "", **facts: Any) -> None:
        place = f"{run_id}#{sequence}" if run_id else f"sequence {sequence}"
        super().__init__(f"{self.told.format(sequence=f'{sequence:,}')}: {why}", place=place, mend=mend, **facts)
        if run_id:
            self.facts["run_id"] = run_id
        self.why = why
        self.sequence = sequence

    def of(self, run_id: str) -> LogUnreadable:
        """The same fault with the run's name, for those who knew only the bytes."""
        return type(self)(self.why, sequence=self.sequence, run_id=run_id)


class DamagedLog(LogUnreadable):
    code = "damaged_log"
    told = "the log is damaged from event {sequence} on"

    def __init__(self, why: str, *, sequence: int, run_id: str = "") -> None:
        mend = "restore the run's log from a backup, or start the run anew"
        super().__init__(why, sequence=sequence, run_id=run_id, mend=mend)


class NewerLog(LogUnreadable):
    code = "newer_log"
    status = 503
    told = "a newer release wrote the log from event {sequence} on"

    def __init__(self, why: str, *, sequence: int, run_id: str = "") -> None:
        mend = "deploy a release that knows it: the run rests unchanged until then"
        super().__init__(why, sequence=sequence, run_id=run_id, mend=mend, retry_after_ms=60_000)


class LimitExceeded(SteplessError):
    """A bound of `limits` was reached; `place` says by what."""

    code = "limit_exceeded"
    status = 413


class EngineBug(SteplessError):
    """What must not happen happened. Nothing was written."""

    code = "engine_bug"
