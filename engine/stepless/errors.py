"""Defines every error that Stepless raises, grouped by who must act.

    SteplessError                 the base class; never raised directly
    ├── AuthorError               fix the workflow or the node's code
    │   ├── DocumentRefused       a document with findings (all of them at once)
    │   ├── ExpressionError       an expression that failed during evaluation
    │   └── ConfigError           a node's parameters that are invalid after rendering
    ├── CallerError               fix the request
    │   ├── InvalidRequest        400, 413, 422: malformed, too large, rejected by a schema
    │   ├── Forbidden             401, 403: an invalid signature, key or token
    │   ├── NotFound              404
    │   ├── Conflict              409: another request was first
    │   ├── Refused               429: a limit of the workflow is reached; try again later
    │   └── Gone                  410: expired, or the run has ended
    ├── TransientError            try again; the request itself is valid
    │   ├── StoreUnavailable      throttled, locked or unreachable
    │   └── CollectorUnavailable  telemetry was not accepted
    ├── Fenced                    another writer owns this run; discard the state in memory
    │   ├── AppendConflict        a batch already starts at this sequence number
    │   └── LeaseLost             the lease was taken over or has expired
    ├── StoreUnusable             the operator must act: the store is damaged, foreign, too new or inaccessible
    │   └── Damaged               one stored value is damaged; everything else in the store can be used
    ├── LogUnreadable             the operator must act: the run stays unchanged until its log can be read
    │   ├── DamagedLog            a batch of the log, or a value stored with it, is corrupt
    │   │   ├── DamagedHeader     the header of a run is corrupt
    │   │   └── DamagedVersion    a published version of a workflow is corrupt
    │   └── NewerLog              a newer release wrote it
    │       └── NewerVersion      a newer release published the version of the workflow
    ├── LimitExceeded             a limit of limits.py
    └── EngineBug                 a bug in Stepless; please report it

Each error carries a stable `code` (listed in docs/run/errors.md), a `place` (where it is) and a `mend` (how to fix it).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

DAMAGED_RETRY_MS: Final = 60_000  # what damaged values tell a caller that retries by itself


class SteplessError(Exception):
    """The base of all errors. `code` is stable, `place` says where the error is, `mend` says how to fix it."""

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
        return f"{where}{self.message}{self._fix_text}"

    @property
    def _fix_text(self) -> str:
        return f" ({self.mend})" if self.mend else ""


class AuthorError(SteplessError):
    """The workflow's author must act."""

    code = "author_error"
    status = 422


class DocumentRefused(AuthorError):
    """A document was not published. `findings` holds all of its faults, in document order."""

    code = "document_refused"

    def __init__(self, findings: Sequence[Any]) -> None:
        self.findings = tuple(findings)
        lines = "\n".join(f"  {finding}" for finding in self.findings)
        super().__init__(f"the document was refused with {len(self.findings)} finding(s):\n{lines}")


class ExpressionError(AuthorError):
    """An expression failed. `offset` is the position in `source`, in characters. `respelling`: what was misspelled, and how it is
    spelled, None if that is not known."""

    code = "expression_error"

    def __init__(
        self, message: str, *, source: str = "", offset: int = 0, code: str | None = None, mend: str = "",
        respelling: tuple[str, str | None] | None = None,
    ) -> None:
        super().__init__(message, code=code, place=f"at character {offset + 1} of {source!r}" if source else "", mend=mend)
        self.source = source
        self.offset = offset
        self.respelling = respelling

    def __str__(self) -> str:
        """The cause first: lists of failures show the beginning alone, and the expression is long."""
        where = f", {self.place}" if self.place else ""
        return f"{self.message}{where}{self._fix_text}"


class ConfigError(AuthorError):
    """A node's parameters are invalid after references were resolved."""

    code = "invalid_config"


class CallerError(SteplessError):
    """The caller must fix the request."""

    code = "bad_request"
    status = 400


class InvalidRequest(CallerError):
    """The request is malformed, too large or rejected by a schema."""

    code = "invalid_request"


class Forbidden(CallerError):
    """A signature, key or token is invalid. The message gives no details that could help an attacker."""

    code = "forbidden"
    status = 403


class NotFound(CallerError):
    code = "not_found"
    status = 404


class Conflict(CallerError):
    """Another request was first. `facts` holds its decision."""

    code = "conflict"
    status = 409


class VersionMoved(Conflict):
    """The newest version of a workflow is another one than the caller expected."""

    code = "version_moved"

    def __init__(self, workflow_id: str, expected: int, newest: int) -> None:
        message = f"the newest version is {newest}, not {expected}: the workflow was published meanwhile"
        mend = "look at what was published, then publish again"
        super().__init__(message, place=f"workflow {workflow_id}", mend=mend, expected=expected, newest=newest)


class Refused(CallerError):
    """A limit on starts is reached. `retry_after_ms` says when to try again."""

    code = "too_many_requests"
    status = 429


class Gone(CallerError):
    """The resource existed, and has expired or ended."""

    code = "gone"
    status = 410


class TransientError(SteplessError):
    """Try again: the request itself is valid."""

    code = "unavailable"
    status = 503


class StoreUnavailable(TransientError):
    code = "store_unavailable"


class CollectorUnavailable(TransientError):
    """Spans or metrics were not accepted. No run waits for that."""

    code = "collector_unavailable"


class CodeNotReturned(SteplessError):
    """The code of an attempt goes on long after the attempt has ended. Only the end of its process ends it."""

    code = "code_not_returned"


class Fenced(SteplessError):
    """Another writer owns this run: discard the state in memory, write nothing, and load the run again if asked to."""

    code = "fenced"
    status = 409


class AppendConflict(Fenced):
    """A batch already starts at this sequence number."""

    code = "append_conflict"


class LeaseLost(Fenced):
    code = "lease_lost"


class StoreUnusable(SteplessError):
    """The store is damaged, is not a Stepless store, was written by a newer release or may not be opened. A retry does not help.
    `place` is the file or table."""

    code = "store_unusable"


class Damaged(StoreUnusable):
    """One stored value is damaged. `place` names it: the table and the column, or the item and the attribute, and the key."""

    code = "damaged"
    status = 503

    def __init__(self, why: str, *, place: str, mend: str, code: str | None = None, what: str = "a stored value") -> None:
        super().__init__(f"{what} is damaged: {why}", code=code, place=place, mend=mend, retry_after_ms=DAMAGED_RETRY_MS)
        self.why = why


class LogUnreadable(SteplessError):
    """This release cannot read a run's log. The engine appends nothing to it and continues all other runs. `sequence` is the
    first sequence number of the unreadable batch."""

    code = "log_unreadable"
    summary: ClassVar[str] = "the log cannot be read from event {sequence} on"

    def __init__(self, why: str, *, sequence: int, run_id: str = "", mend: str = "", **facts: Any) -> None:
        place = f"{run_id}#{sequence}" if run_id else f"sequence {sequence}"
        super().__init__(f"{self.summary.format(sequence=f'{sequence:,}')}: {why}", place=place, mend=mend, **facts)
        if run_id:
            self.facts["run_id"] = run_id
        self.why = why
        self.sequence = sequence

    def of(self, run_id: str) -> LogUnreadable:
        """Returns the same error with the run's id, for a caller that raised it from the bytes alone."""
        return type(self)(self.why, sequence=self.sequence, run_id=run_id)


class DamagedLog(LogUnreadable):
    code = "damaged_log"
    status = 503
    summary = "the log is damaged from event {sequence} on"

    def __init__(self, why: str, *, sequence: int, run_id: str = "") -> None:
        mend = "restore the run's log from a backup, or start the run again"
        super().__init__(why, sequence=sequence, run_id=run_id, mend=mend, retry_after_ms=DAMAGED_RETRY_MS)


class DamagedHeader(DamagedLog):
    """The header of a run, or another value that it needs, is corrupt in the store. `place` names the column or the attribute."""

    code = "damaged"
    summary = "a stored value of the run is damaged"

    def __init__(self, why: str, *, sequence: int = 1, run_id: str = "", place: str = "") -> None:
        super().__init__(why, sequence=sequence, run_id=run_id)
        self.mend = "restore the store from a backup, or erase the run; the run stays unchanged until then"
        self.place = place or f"the header of the run {run_id}"

    def of(self, run_id: str) -> DamagedHeader:
        return type(self)(self.why, run_id=run_id, place=self.place)


class DamagedVersion(DamagedLog):
    """The published version of a workflow is corrupt in the store. `place` is its hash."""

    code = "damaged"
    summary = "the published version is damaged"

    def __init__(self, why: str, *, sequence: int = 1, run_id: str = "", place: str = "") -> None:
        super().__init__(why, sequence=sequence, run_id=run_id)
        self.mend = "publish the same document again, or restore the store from a backup; its runs stay unchanged until then"
        if not run_id:
            self.place = place


class NewerLog(LogUnreadable):
    code = "newer_log"
    status = 503
    summary = "a newer release wrote the log from event {sequence} on"
    common_fix: ClassVar[str] = "deploy a release that can read it; the run stays unchanged until then"

    def __init__(self, why: str, *, sequence: int, run_id: str = "") -> None:
        super().__init__(why, sequence=sequence, run_id=run_id, mend=self.common_fix, retry_after_ms=60_000)


class NewerVersion(NewerLog):
    """This release cannot execute the published version of a workflow. `why` names the node."""

    summary = "this release cannot execute the published version"
    common_fix = "deploy the release that published it, or install the package with the kind; its runs stay unchanged until then"

    def __init__(self, why: str, *, sequence: int = 1, run_id: str = "", place: str = "") -> None:
        super().__init__(why, sequence=sequence, run_id=run_id)
        if not run_id:
            self.place = place


class LimitExceeded(SteplessError):
    """A limit of `limits` was reached. `place` says what reached it."""

    code = "limit_exceeded"
    status = 413


class EngineBug(SteplessError):
    """An impossible state: a bug in Stepless. Nothing was written."""

    code = "engine_bug"
