"""Defines the errors of the client: what the API refuses, and calls without an answer.

    ClientError                the base class
    ├── InvalidSetting         an argument or environment variable of the client is missing or invalid
    ├── InvalidRequest         400, 405, 408, 413, 415, 416, 422: the request does not fit
    ├── Unauthorized           401: no valid API key or token
    ├── Forbidden              403: the key lacks a role, or the caller is no approver
    ├── NotFound               404
    ├── Conflict               409: an earlier request, or the state of the run
    ├── Gone                   410: expired, or the run has ended
    ├── TooManyRequests        429, for longer than the client tries again
    ├── ServerError            500, and any answer that is not of a Stepless API
    │   └── Unavailable        502, 503, 504, for longer than the client tries again
    ├── Unreachable            no answer, for longer than the client tries again, and the call has had no effect
    ├── OutcomeUnknown         no answer, and the call may have had its effect
    └── StillRunning           the run neither ended nor paused within the time of `wait`

They are no subclasses of `stepless.errors.SteplessError`: a step of a workflow may use the client, and the engine would take an
error of another installation for its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, cast

from stepless.client.contract import DecisionOut, Problem, RunOut

_PROBLEM: Final = "application/problem+json"


class ClientError(Exception):
    """The base of all errors of the client. `code` is stable, `detail` says what happened, `mend` how to fix it, and `place`
    where it is. `status` is that of the response, None if there was none. `problem` is the whole body of the response, with
    further fields like `violations`; empty if there was none."""

    code: str = "error"

    def __init__(
        self, detail: str, *, code: str | None = None, title: str = "", mend: str = "", place: str = "",
        status: int | None = None, problem: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(detail)
        self.code = code or self.code
        self.title = title or self.code.replace("_", " ").capitalize()
        self.detail = detail
        self.mend = mend
        self.place = place
        self.status = status
        self.problem = cast(Problem, problem or {})

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        mend = f" ({self.mend})" if self.mend else ""
        return f"{where}{self.detail} [{self.code}]{mend}"


class InvalidSetting(ClientError):
    """An argument or environment variable of the client is missing or invalid."""

    code = "setting_invalid"


class InvalidRequest(ClientError):
    """The request does not fit. `problem` may have `violations`."""

    code = "invalid_request"


class Unauthorized(ClientError):
    """The API key or token is missing or invalid."""

    code = "unauthorized"


class Forbidden(ClientError):
    """The key lacks a role, or the caller is none of the approvers."""

    code = "forbidden"


class NotFound(ClientError):
    """There is no such run, pause or workflow."""

    code = "not_found"


class Conflict(ClientError):
    """An earlier request was first, or the state of the run does not allow this one."""

    code = "conflict"

    @property
    def first(self) -> DecisionOut | None:
        """The decision of a pause that was already answered."""
        return self.problem.get("first")


class Gone(ClientError):
    """What was asked for has expired, or the run has ended."""

    code = "gone"


class TooManyRequests(ClientError):
    """A limit was reached, for longer than the client tries again."""

    code = "rate_limited"


class ServerError(ClientError):
    """The server failed, or what answered is not a Stepless API."""

    code = "internal_error"


class Unavailable(ServerError):
    """The server, or its store, was unavailable for longer than the client tries again."""

    code = "store_unavailable"


class Unreachable(ClientError):
    """There was no answer for longer than the client tries again. The call has had no effect: the server has not received it,
    or it reads."""

    code = "unreachable"


class OutcomeUnknown(ClientError):
    """The connection was lost after the server may have received the call, and no later try was answered. The call may have had
    its effect."""

    code = "outcome_unknown"


class StillRunning(ClientError):
    """The run neither ended nor paused in time. `run` is its last known state."""

    code = "still_running"

    def __init__(self, run: RunOut, timeout_s: float) -> None:
        mend = "wait again, with a longer `timeout_s` or none; the run goes on"
        super().__init__(f"the run {run['id']} is still {run['status']} after {timeout_s:g} s", mend=mend)
        self.run = run


_FAMILIES: Final[Mapping[int, type[ClientError]]] = {
    401: Unauthorized, 403: Forbidden, 404: NotFound, 409: Conflict, 410: Gone, 429: TooManyRequests,
    502: Unavailable, 503: Unavailable, 504: Unavailable,
}  # fmt: skip


def is_problem(headers: Mapping[str, str]) -> bool:
    """Returns whether a response is a problem document, as every error of a Stepless API is."""
    return headers.get("content-type", "").startswith(_PROBLEM)


def family_of(status: int) -> type[ClientError]:
    """Returns the class of the errors with a status."""
    return _FAMILIES.get(status, InvalidRequest if 400 <= status < 500 else ServerError)


def refusal(status: int, headers: Mapping[str, str], body: bytes) -> ClientError:
    """Returns the error that a response describes."""
    if not is_problem(headers):
        return no_stepless(status, headers)
    try:
        problem: Any = json.loads(body)
    except ValueError:
        return no_stepless(status, headers)
    texts = {name: str(problem.get(name, "")) for name in ("code", "title", "mend", "place")}
    return family_of(status)(str(problem.get("detail", "")), **texts, status=status, problem=problem)


def no_stepless(status: int, headers: Mapping[str, str]) -> ClientError:
    """Returns the error for a response that no Stepless API sends: a gateway, a proxy or another service has answered."""
    mend = "check the address of the client: `stepless dev` prints it, and a stack has it as its output Url"
    if 300 <= status < 400:
        mend = f"it redirects to {headers.get('location')}: give that address"
    elif status in (401, 403):
        mend = "the gateway refused the credentials: give a valid API key or token"
    kind = family_of(status) if status >= 400 else ServerError
    return kind(f"the response {status} is not that of a Stepless API", code="no_stepless", status=status, mend=mend)
